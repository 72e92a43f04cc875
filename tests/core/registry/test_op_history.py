"""What releases of TensorFlow knew, against lines of their own OpLists."""

from __future__ import annotations

import re

import pytest

from tfg.core.registry.catalog import CATALOG, parse_op
from tfg.core.registry.op_history import Release, dtype_came, graph_versions, history, release_named
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes

# What TF_GetAllOpList of the releases returns for these ops, in the notation of the catalog.
KNOWN = [
    ("1.0", (
        'Add(x: T, y: T) -> (z: T) {T: {half, float, double, uint8, int8, int16, int32, int64, complex64, '
        'complex128, string}}'
    )),
    ("1.0", 'FFT(input: complex64) -> (output: complex64)'),
    ("1.0", 'Placeholder() -> (output: dtype) {dtype: type, shape: shape = []}'),
    ("1.4", (
        'Gather(params: Tparams, indices: Tindices) -> (output: Tparams) {validate_indices: bool = true, Tparams: '
        'type, Tindices: {int32, int64}}'
    )),
    ("1.4", (
        'Equal(x: T, y: T) -> (z: bool) {T: {half, float, double, uint8, int8, int16, int32, int64, complex64, '
        'quint8, qint8, qint32, string, bool, complex128}} commutative'
    )),
    ("1.4", (
        'SparseSegmentMean(data: T, indices: Tidx, segment_ids: int32) -> (output: T) {T: {float, double}, Tidx: '
        '{int32, int64} = int32}'
    )),
    ("1.4", 'Pad(input: T, paddings: Tpaddings) -> (output: T) {T: type, Tpaddings: {int32, int64} = int32}'),
    ("1.13", (
        'AddV2(x: T, y: T) -> (z: T) {T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, '
        'complex64, complex128}} commutative aggregate'
    )),
    ("1.13", (
        'Conv2D(input: T, filter: T) -> (output: T) {T: {half, bfloat16, float, double}, strides: list(int), '
        'use_cudnn_on_gpu: bool = true, padding: {"SAME", "VALID"}, data_format: {"NHWC", "NCHW"} = "NHWC", '
        'dilations: list(int) = [1, 1, 1, 1]}'
    )),
    ("1.13", (
        'TopKV2(input: T, k: int32) -> (values: T, indices: int32) {sorted: bool = true, T: {float, double, int32,'
        ' uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}}'
    )),
    ("1.13", (
        'While(input: T) -> (output: T) {T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = '
        '[]} stateful'
    )),
    ("1.13", (
        'Equal(x: T, y: T) -> (z: bool) {T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, '
        'complex64, quint8, qint8, qint32, string, bool, complex128}} commutative'
    )),
    ("2.3", (
        'Conv2D(input: T, filter: T) -> (output: T) {T: {half, bfloat16, float, double, int32}, strides: '
        'list(int), use_cudnn_on_gpu: bool = true, padding: {"SAME", "VALID", "EXPLICIT"}, explicit_paddings: '
        'list(int) = [], data_format: {"NHWC", "NCHW"} = "NHWC", dilations: list(int) = [1, 1, 1, 1]}'
    )),
    ("2.3", (
        'RaggedTensorToVariant(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues) -> '
        '(encoded_ragged: variant) {RAGGED_RANK: int >= 0, Tvalues: type, Tsplits: {int32, int64} = int64, '
        'batched_input: bool}'
    )),
    ("2.3", 'StringJoin(inputs: N * string) -> (output: string) {N: int >= 1, separator: string = ""}'),
    ("2.3", (
        'Equal(x: T, y: T) -> (z: bool) {T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, '
        'uint16, uint32, uint64, complex64, quint8, qint8, qint32, string, bool, complex128}, '
        'incompatible_shape_error: bool = true} commutative'
    )),
    ("2.3", (
        'MatrixDiagV3(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> (output: T) '
        '{T: type, align: {"LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"} = "RIGHT_LEFT"}'
    )),
]  # fmt: skip
COUNTS = {
    "1.0": 613, "1.4": 771, "1.8": 886, "1.13": 1043, "1.15": 1259, "2.0": 1255, "2.4": 1416, "2.10": 1687,
}  # fmt: skip
"""How many ops of TensorFlow 2.21 the releases have, its own tests' ops aside."""


@pytest.mark.parametrize(("release", "line"), KNOWN, ids=lambda text: re.match(r"[\w.]+", text)[0])
def test_attributes_and_values_are_those_of_the_release(release, line):
    then, old = release_named(release), parse_op(line)
    now, known = CATALOG[old.name], history(old.name)
    assert known.first <= then
    assert {name for name in now.attrs if known.attr_came(name) <= then} == set(old.attrs)
    for name, attr in old.attrs.items():
        is_default = attr.has_default and bool(attr.default == now.attrs[name].default)
        assert (known.default_came(name) <= then) == is_default or not now.attrs[name].has_default
        values = now.attrs[name].allowed or attr.allowed or ()
        assert [value for value in values if known.value_came(name, value) <= then] == [
            value for value in values if attr.allowed is None or value in attr.allowed
        ]
        if attr.minimum and attr.type == "int":
            assert known.value_came(name, attr.minimum) <= then < known.value_came(name, attr.minimum - 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("release", "count"), COUNTS.items())
def test_ops_are_those_of_the_release(release, count):
    """An op whose arguments changed since counts from the change, and one that came back from its return: a few."""
    histories = filter(None, map(history, CATALOG))  # other tests declare ops of their own
    known = [one for one in histories if one.first <= release_named(release)]
    assert 0.97 * count <= len(known) <= count


@pytest.mark.parametrize(
    ("op", "first"),
    [
        ("AddV2", "1.5"), ("SelectV2", "1.14"), ("FusedBatchNormV3", "1.14"), ("StatefulPartitionedCall", "1.10"),
        ("TensorListStack", "1.14"), ("MapDataset", "1.4"), ("BatchMatMulV3", "2.6"), ("_Arg", "1.0"),
    ],
)  # fmt: skip
def test_an_op_counts_from_the_release_with_its_present_arguments(op, first):
    assert str(history(op).first) == first


def test_releases_have_a_graph_version_each():
    assert graph_versions()[Release(1, 13)] == 27 and graph_versions()[Release(2, 0)] == 119
    assert release_named("1.13") == release_named("1.13.1") == Release(1, 13)
    assert release_named("2") == Release(2, 0)
    for text in ("1.99", "", "x", "0.12", "1.-3"):
        with pytest.raises(InvalidArgumentError, match="not a known release"):
            release_named(text)
    assert dtype_came(dtypes.uint32) == (1, 5) and dtype_came(dtypes.float32.ref) == (1, 0)
    assert history("Unknown") is None
