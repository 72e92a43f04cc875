"""Lowerings to ONNX, and `tfg convert` to ONNX files, in onnxruntime. Skipped without onnxruntime."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
pytestmark = pytest.mark.engine

import onnx  # noqa: E402

import tfg  # noqa: E402
from tests import opcases  # noqa: E402
from tests.cli.running import SAMPLES  # noqa: E402
from tests.cli.running import tfg as run  # noqa: E402
from tests.comparison import assert_same  # noqa: E402
from tests.core.engines.networks import network  # noqa: E402
from tests.recorded_answers import answers  # noqa: E402
from tests.security import kills  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.onnx.exporting import export  # noqa: E402
from tfg.core.onnx.opsets import OPSET  # noqa: E402
from tfg.core.registry import registry  # noqa: E402
from tfg.core.runtime.session.session import Session  # noqa: E402
from tfg.core.support.errors import InvalidArgumentError, UnimplementedError  # noqa: E402
from tfg.core.types.dtypes import from_name  # noqa: E402
from tfg.core.types.tensors import Tensor  # noqa: E402
from tfg.formats import onnx_model  # noqa: E402
from tfg.formats.onnx_model import as_pairs, run_onnx, save_onnx  # noqa: E402

TRIED = 3
"""How many cases of each op are run."""
CONSTANTS = (("ib", "x0:"), ("ib", "none"), ("ibfO", "x0:"))
"""The constant inputs of a case: the integers except the first input, all inputs, or all except the first."""
UNTRIED = (
    "NoOp", "Assert", "PrintV2", "ControlTrigger", "RegexFullMatch", "StaticRegexFullMatch", "StringLower", "StringUpper",
    "QuantizedResizeBilinear",
)  # fmt: skip
"""Ops without outputs, with cases on bytes other than text, or with integers that only other ops make."""
UNDEFINED = {
    **dict.fromkeys(("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2"), lambda x: bool((x != x).any())),
    "StringToNumber": lambda text: b"".join(text.flat).strip() != b"".join(text.flat),
    **dict.fromkeys(
        (f"SparseSegment{how}Grad" for how in ("Sum", "Mean", "SqrtN")), lambda grad, rows, ids, count: ids.max() >= len(grad)
    ),
    "GatherV2": lambda params, indices, axis: not params.size and indices.max(initial=-1) >= params.shape[axis.item()],
}
"""Inputs with undefined results in ONNX: NaN elements, indices out of range ..."""
UP_TO_A_FACTOR = ("Svd", "SelfAdjointEigV2")
"""Ops whose matrices have columns that are unique up to a factor of size 1."""
NARROWED = 1e-5
"""The tolerance of computations in 32 bits by onnxruntime, relative to the largest value."""


NOT_COMPLEX = ("AsString", "ClipByValue")
"""Ops that ONNX has for real numbers only: complex numbers have no order, and no operator formats them."""


def cases_by_op():
    by_name = {}
    for family in opcases.families():
        for case in opcases.load_cases(family):
            if case.is_single_op and registry.onnx_lowering(case.op) is not None:
                by_name.setdefault(case.op, []).append((family, case))
    return by_name


CASES = cases_by_op()


@pytest.mark.parametrize("op", sorted(CASES))
def test_lowerings(op, tmp_path):
    """The first cases that ONNX can express equal TensorFlow's results; there is a case of each op that TensorFlow runs."""
    cases = [(case, recorded) for case, recorded in recorded_cases(op) if not is_undefined(op, case)]
    tried = count_equal(cases, tmp_path / "case.onnx")
    assert tried or op in UNTRIED or all(recorded["error"] for _, recorded in cases)


@pytest.mark.parametrize("op", sorted(set(CASES) - set(NOT_COMPLEX)))
def test_lowerings_of_complex_numbers(op, tmp_path):
    """Operators on the parts of complex numbers equal TensorFlow's results."""
    cases = [(case, recorded) for case, recorded in recorded_cases(op) if not recorded["error"] and is_complex(case, recorded)]
    assert count_equal(cases, tmp_path / "case.onnx") or not cases


def recorded_cases(op):
    return [(case, answers(family).steps(case.key)[0]) for family, case in CASES[op]]


def is_undefined(op, case):
    undefined = UNDEFINED.get(op)
    return undefined is not None and undefined(*list(case.feeds.values())[: undefined.__code__.co_argcount])


def is_complex(case, recorded):
    return any(np.asarray(value).dtype.kind == "c" for value in (*case.feeds.values(), *recorded["results"]))


@pytest.mark.parametrize(
    "op",
    [
        "ArgMax",
        "ArgMin",
        "Bucketize",
        "Cumprod",
        "Cumsum",
        "Einsum",
        "EuclideanNorm",
        "FloorDiv",
        "FloorMod",
        "LowerBound",
        "Pow",
        "UpperBound",
    ],
)
def test_all_cases_of_lowerings_with_corners(op, tmp_path):
    """Integers near their limits wrap around, NaN has TensorFlow's place, and labels that an output repeats are diagonals."""
    cases = [(case, recorded) for case, recorded in recorded_cases(op) if not is_undefined(op, case)]
    assert count_equal(cases, tmp_path / "case.onnx", most=len(cases)) > TRIED


@pytest.mark.parametrize("rows", [None, 3000])
@pytest.mark.parametrize("dtype, largest", [("half", 2048), ("bfloat16", 256)])
def test_running_sums_of_16_bits_are_rounded_row_after_row(dtype, largest, rows, tmp_path):
    """Sums of ones end where 1 is half of the distance to the next number."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, rows], name="x")
    y = g.Cast(g.Cumsum(g.Cast(x, DstT=dtype), g.constant(np.int32(1)), reverse=True), DstT="float32")
    save_onnx(export(g.graph, {"x": x}, {"y": y}), tmp_path / "m.onnx")
    (sums,) = run_onnx(tmp_path / "m.onnx", {"x": np.ones((2, 3000), np.float32)})
    np.testing.assert_array_equal(sums[:, ::-1], np.minimum(np.arange(1, 3001), largest)[None].repeat(2, 0))


@pytest.mark.parametrize("shape", [(2, 0), (0, 2)])
def test_scans_of_no_elements(shape, tmp_path):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, None], name="x")
    save_onnx(export(g.graph, {"x": x}, {"y": g.Cumprod(x, g.constant(np.int32(1)))}), tmp_path / "m.onnx")
    (products,) = run_onnx(tmp_path / "m.onnx", {"x": np.zeros(shape, np.float32)})
    assert products.shape == shape


def test_an_unsorted_top_k_has_the_same_elements(tmp_path):
    """TensorFlow's order is that of a heap; ONNX has the greatest first, and places NaN otherwise."""
    named = [each for each in recorded_cases("TopKV2") if "sorted=False" in each[0].key]
    unsorted = [each for each in named if not any(np.isnan(value).any() for value in each[0].feeds.values())]
    for case, recorded in unsorted:
        for got, want in zip(result_of(case, tmp_path / "case.onnx", *CONSTANTS[0], OPSET), recorded["results"], strict=True):
            assert_same(np.sort(got, -1), np.sort(want, -1))
    assert len(unsorted) == 7


def has_nothing(case, recorded):
    return not recorded["error"] and any(not np.size(value) for value in (*case.feeds.values(), *recorded["results"]))


@pytest.mark.parametrize("op", [op for op in sorted(CASES) if any(has_nothing(*each) for each in recorded_cases(op))])
def test_all_cases_of_empty_tensors(op, tmp_path):
    """Sums, means and extremes of nothing are TensorFlow's, and sizes of -1 beside a 0 are found."""
    cases = [(case, recorded) for case, recorded in recorded_cases(op) if has_nothing(case, recorded)]
    count_equal([each for each in cases if not is_undefined(op, each[0])], tmp_path / "case.onnx", most=len(cases))


@pytest.mark.parametrize("dtype", ["float32", "half", "bfloat16"])
@pytest.mark.parametrize("rows", [None, 0])
def test_the_mean_of_no_rows_is_nan(rows, dtype, tmp_path):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[rows, 3], name="x")
    y = g.Cast(g.Mean(g.Cast(x, DstT=dtype), [0]), DstT="float32")
    save_onnx(export(g.graph, {"x": x}, {"y": y}), tmp_path / "m.onnx")
    (nothing,) = run_onnx(tmp_path / "m.onnx", {"x": np.zeros((0, 3), np.float32)})
    assert np.isnan(nothing).all() and nothing.shape == (3,)


@pytest.mark.parametrize("rows", [None, 0])
@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_the_moving_moments_of_no_batch_are_nan(rows, factor, tmp_path):
    """TensorFlow's: NaN for the moving moments, 0 for those of the batch."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[rows, 2, 2, 3], name="x")
    vectors = [g.constant(np.ones(3, np.float32))] * 2 + [g.constant(np.ones(3 if factor < 1 else 0, np.float32))] * 2
    outputs = g.FusedBatchNormV3(x, *vectors, exponential_avg_factor=factor)
    save_onnx(export(g.graph, {"x": x}, {f"y{i}": outputs[i] for i in range(5)}), tmp_path / "m.onnx")
    _, *moving, mean, variance = run_onnx(tmp_path / "m.onnx", {"x": np.zeros((0, 2, 2, 3), np.float32)})
    assert np.isnan(moving).all() and not mean.any() and not variance.any()


def test_a_size_beside_a_zero_is_found(tmp_path):
    """The diagonals of no matrices are cut from (0, 12) elements."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[0, 3, 4], name="x")
    y = g.MatrixDiagPart(x, name="y")
    save_onnx(export(g.graph, {"x": x}, {"y": y}), tmp_path / "m.onnx")
    assert run_onnx(tmp_path / "m.onnx", {"x": np.zeros((0, 3, 4), np.float32)})[0].shape == (0, 3)


OPSETS = (13, 15, 17, 18, 20, onnx.defs.onnx_opset_version())


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("op", "opset"), list(zip(sorted(CASES), itertools.cycle(OPSETS))))
def test_lowerings_in_other_opsets(op, opset, tmp_path):
    """A case in another opset equals TensorFlow's result, or the error names the first opset that has what it needs."""
    cases = [(case, recorded) for case, recorded in recorded_cases(op) if not is_undefined(op, case)]
    try:
        tried = count_equal(cases, tmp_path / "case.onnx", 1, opset)
    except UnimplementedError as error:
        refusals = re.findall(rf"opset {opset} of ONNX has no [A-Z]\w+.*; opset (\d+) has", str(error))
        assert refusals and all(int(first) > opset for first in refusals)
    else:
        assert not tried or ("", opset) in opsets_of(onnx.load(tmp_path / "case.onnx"))


def opsets_of(proto):
    return [(one.domain, one.version) for one in proto.opset_import]


def count_equal(cases, path, most=TRIED, opset=OPSET):
    """Return the number of first cases that ONNX can express; all of them must equal TensorFlow's results."""
    tried = 0
    for case, recorded in cases:
        if recorded["error"] or tried == most:
            continue
        attempts = (result_of(case, path, *which, opset) for which in CONSTANTS)
        result = next((values for values in attempts if values is not None), None)
        if result is not None:
            tried += 1
            for got, want in zip(result, recorded["results"], strict=True):
                assert_close(aligned(got, want) if case.op in UP_TO_A_FACTOR and want.ndim > 1 else got, want, case)
    return tried


def aligned(got, want):
    """The columns of matrices, each with the factor of size 1 that brings it nearest to the wanted column."""
    vectors = got[..., 0] + 1j * got[..., 1] if want.dtype.kind == "c" else got
    products = (vectors.conj() * want).sum(-2, keepdims=True)
    turned = (vectors * products / np.maximum(np.abs(products), 1e-30)).astype(want.dtype)
    return as_pairs(np.where(np.abs(products) > 0.99, turned, vectors).astype(want.dtype))


def result_of(case, path, kinds, fed, opset):
    """Return onnxruntime's result of a case; None for a refusal, a case without outputs, or values that cannot be fed.

    Inputs of `kinds` become constants, except inputs whose names begin with `fed`.
    """
    builder = GraphBuilder()
    ((*fetches,),) = case.build(builder)
    graph, feeds = builder.graph, with_constants(builder.graph, case.feeds, kinds, fed)
    if ":" not in fetches[0]:
        return None
    try:
        model = export(graph, {name[:-2]: graph.output(name) for name in feeds}, {f: graph.output(f) for f in fetches})
    except UnimplementedError as error:
        assert "(op)" in str(error)
        return None
    save_onnx(model, path, opset)
    values = [*feeds.values(), *(value.array for value in model.outputs.values())]
    if any(is_unfed(value) for value in values if value is not None):
        return None
    return run_onnx(path, {name[:-2]: value for name, value in feeds.items()})


def is_unfed(value):
    """Return True for values that onnxruntime's Python does not accept: bytes other than text."""
    return value.dtype == object and "\ufffd" in b"".join(value.flat).decode(errors="replace")


def with_constants(graph, feeds, kinds, fed):
    """Return the feeds of a case without the inputs that become constants, as in most graphs."""
    left = dict(feeds)
    for name, value in feeds.items():
        if value.dtype.kind in kinds and not name.startswith(fed):
            node = graph.output(name).node
            node.change_op("Const")
            node.attrs = {"dtype": Tensor.from_numpy(value).dtype, "value": Tensor.from_numpy(value)}
            del left[name]
    return left


def assert_close(got, want, case):
    want = as_pairs(want)
    if got.dtype.kind == "f" and got.size:
        scale = np.max(np.abs(want[np.isfinite(want)]), initial=0)
        tolerance = {2: 2e-2}.get(got.dtype.itemsize, NARROWED) * max(scale, 1)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance)
    else:
        assert_same(got, want, case.tolerance)


def written(builder, inputs, outputs, path, opset=OPSET):
    """Return the ModelProto of a builder's graph, as read from the file."""
    graph = builder.graph
    model = export(graph, {name: graph.output(name) for name in inputs}, {name: graph.output(name) for name in outputs})
    save_onnx(model, path, opset)
    return onnx.load(path)


def ops_of(proto):
    return [node.op_type for node in proto.graph.node]


def test_a_network_with_a_symbolic_batch(tmp_path):
    """Images are transposed to channels first, and back before a flattening op."""
    graph, x = network()
    save_onnx(export(graph, {"x": graph.output("x")}, {"logits": graph.output("logits")}), tmp_path / "m.onnx")
    proto = onnx.load(tmp_path / "m.onnx")
    assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "x_dim0"
    assert ops_of(proto).count("Transpose") == 2
    for batch in (x, x[:1]):
        (result,) = run_onnx(tmp_path / "m.onnx", {"x": batch})
        expected = Session(graph).run("logits:0", {"x:0": batch})
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_transposes_between_convolutions_cancel(tmp_path):
    b = GraphBuilder()
    y = b.Placeholder(dtype="float32", shape=[1, 8, 8, 4], name="x")
    for seed in range(3):
        w = b.constant(np.random.default_rng(seed).standard_normal((3, 3, 4, 4)).astype("f"))
        y = b.Relu(b.BiasAdd(b.Conv2D(y, w, strides=[1] * 4, padding="SAME"), b.constant(np.arange(4, dtype="f"))))
    pooled = b.MaxPool(y, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    b.ConcatV2([pooled, pooled], b.constant(np.int32(3)), name="y")
    assert ops_of(written(b, ["x"], ["y"], tmp_path / "m.onnx")).count("Transpose") == 2
    x = np.random.default_rng(0).standard_normal((1, 8, 8, 4)).astype("f")
    expected = Session(b.graph).run("y:0", {"x:0": x})
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": x})
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_equal_weights_are_one_initializer(tmp_path):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 3], name="x")
    weights = [b.constant(np.arange(9, dtype="f").reshape(3, 3)) for _ in range(2)]
    b.AddV2(b.MatMul(x, weights[0]), b.Neg(b.MatMul(b.Abs(x), weights[1])), name="y")
    assert len(written(b, ["x"], ["y"], tmp_path / "m.onnx").graph.initializer) == 1


def test_large_weights_stand_beside_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_model, "LARGEST", 1 << 12)
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 64], name="x")
    weights = np.random.default_rng(0).standard_normal((64, 64)).astype("f")
    b.MatMul(x, b.constant(weights), name="y")
    graph = b.graph
    save_onnx(export(graph, {"x": graph.output("x")}, {"y": graph.output("y")}), tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").stat().st_size < 1 << 12 < (tmp_path / "m.onnx.data").stat().st_size
    given = np.ones((2, 64), "f")
    np.testing.assert_allclose(run_onnx(tmp_path / "m.onnx", {"x": given})[0], given @ weights, rtol=1e-4, atol=1e-4)


def test_a_killed_writer_leaves_one_large_model_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_model, "LARGEST", 1 << 12)
    path, given = tmp_path / "m.onnx", np.ones((2, 64), "f")

    def write(generation):
        b = GraphBuilder()
        b.MatMul(b.Placeholder(dtype="float32", shape=[2, 64], name="x"), np.full((64, 64), generation, "f"), name="y")
        graph = b.graph
        save_onnx(export(graph, {"x": graph.output("x")}, {"y": graph.output("y")}), path)

    write(1)
    writer = kills.Writer(lambda folder, generation: write(generation), lambda folder: 0)
    for moment in itertools.count():
        killed = kills.killed_at_call(writer, tmp_path, 2, moment)
        assert run_onnx(path, {"x": given})[0][0, 0] in (64, 128)
        if not killed:
            break
        write(1)
    assert moment > 3 and len(list(tmp_path.iterdir())) == 2


def test_convert_and_verify(tmp_path):
    target = tmp_path / "m.onnx"
    done = run("convert", SAMPLES / "xor.pbtxt", target, "--to", "probability", "--init", "--verify")
    assert done.code == 0 and "probability" in done.out
    proto = onnx.load(target)
    assert [value.name for value in proto.graph.output] == ["probability"]


def test_a_difference_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "tfg.formats.api.model_export.run_onnx", lambda path, feeds: [value + 1 for value in run_onnx(path, feeds)]
    )
    done = run("convert", SAMPLES / "xor.pbtxt", tmp_path / "m.onnx", "--to", "probability", "--init", "--verify")
    assert done.code == 3 and "no" in done.out


@pytest.mark.parametrize("opset", [13, 18])
def test_axes_are_attributes_before_they_are_inputs(opset, tmp_path):
    b = GraphBuilder()
    b.Max(b.Placeholder(dtype="float32", shape=[None, 3], name="x"), b.constant(np.int32([1])), name="y")
    (node,) = written(b, ["x"], ["y"], tmp_path / "m.onnx", opset).graph.node
    assert (len(node.input), "axes" in [attribute.name for attribute in node.attribute]) == (
        (1, True) if opset < 18 else (2, False)
    )
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": np.float32([[1, 3, 2]])})
    assert result.tolist() == [3]


def test_no_axes_are_no_reduction_in_every_opset(tmp_path):
    b = GraphBuilder()
    b.Mean(b.Placeholder(dtype="float32", shape=[None, 3], name="x"), b.constant(np.zeros(0, np.int32)), name="y")
    x = np.float32([[1, 3, 2]])
    for opset in OPSETS:
        written(b, ["x"], ["y"], tmp_path / "m.onnx", opset)
        np.testing.assert_array_equal(run_onnx(tmp_path / "m.onnx", {"x": x})[0], x)


def test_dtypes_that_an_opset_lacks_are_computed_in_wider_ones(tmp_path):
    b = GraphBuilder()
    x, y = (b.Placeholder(dtype="int8", shape=[None], name=name) for name in "xy")
    b.AddV2(x, y, name="z")
    assert ops_of(written(b, ["x", "y"], ["z"], tmp_path / "m.onnx", 13)) == ["Cast", "Cast", "Add", "Cast"]
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": np.int8([100, 1]), "y": np.int8([100, 2])})
    np.testing.assert_array_equal(result, np.int8([-56, 3]))
    assert ops_of(written(b, ["x", "y"], ["z"], tmp_path / "m.onnx", 14)) == ["Add"]


@pytest.mark.parametrize("opset", [13, 14])
def test_computed_sizes_of_zero(opset, tmp_path):
    """Opset 13 reads a size of 0 as the size of the input there."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, None], name="x")
    b.Reshape(x, b.Placeholder(dtype="int32", shape=[3], name="sizes"), name="y")
    b.StridedSlice(b.Shape(x), b.constant(np.int32([1])), b.constant(np.int32([2])), b.constant(np.int32([1])), name="columns")
    written(b, ["x", "sizes"], ["y", "columns"], tmp_path / "m.onnx", opset)
    for shape, sizes in (((2, 6), (3, 2, 2)), ((0, 6), (6, 0, 5)), ((5, 0), (0, 7, 2)), ((0, 0), (4, 4, 0))):
        given = {"x": np.zeros(shape, "f"), "sizes": np.int32(sizes)}
        result, columns = run_onnx(tmp_path / "m.onnx", given)
        assert (result.shape, columns.tolist()) == (sizes, [shape[1]])


def test_what_an_opset_lacks_is_named(tmp_path):
    b = GraphBuilder()
    x, y = (b.Placeholder(dtype="int32", shape=[2], name=name) for name in "xy")
    b.BitwiseAnd(x, y, name="both")
    b.TensorScatterAdd(x, b.Reshape(y, [2, 1]), x, name="sums")
    with pytest.raises(UnimplementedError, match="does not support 2 nodes") as error:
        written(b, ["x", "y"], ["both", "sums"], tmp_path / "m.onnx", 15)
    assert "both: opset 15 of ONNX has no BitwiseAnd; opset 18 has" in str(error.value)
    assert "sums: opset 15 of ONNX has no ScatterND with reduction=add; opset 16 has" in str(error.value)
    assert not (tmp_path / "m.onnx").exists()


def test_convert_to_an_opset(tmp_path):
    target = tmp_path / "m.onnx"
    done = run("convert", SAMPLES / "xor.pbtxt", target, "--to", "probability", "--init", "--opset", 13, "--verify")
    assert done.code == 0 and "of opset 13 and" in done.err
    proto = onnx.load(target)
    assert (opsets_of(proto), proto.ir_version) == ([("", 13)], 7)
    newest = onnx.defs.onnx_opset_version()
    done = run("convert", SAMPLES / "xor.pbtxt", target, "--to", "probability", "--init", "--opset", newest + 1)
    assert done.code == 1 and f"opset {newest + 1} of ONNX is not between 13 and {newest}" in done.err
    with pytest.raises(InvalidArgumentError, match=r"does not end in \.onnx"):
        tfg.convert(tfg.GraphBuilder().graph, tmp_path / "g.pb", opset=17)


AXES = {
    "GatherV2": lambda b, x, axis: b.GatherV2(x, b.constant(np.int32([1, 0])), axis, name="y"),
    "ConcatV2": lambda b, x, axis: b.ConcatV2([x, b.Neg(x)], axis, name="y"),
    "Split": lambda b, x, axis: b.Split(axis, x, num_split=2, name="y"),
    "SplitV": lambda b, x, axis: b.SplitV(x, b.constant(np.int32([1, -1])), axis, num_split=2, name="y"),
    "ArgMax": lambda b, x, axis: b.ArgMax(x, axis, name="y"),
    "Cumprod": lambda b, x, axis: b.Cumprod(x, axis, name="y"),
    "CumulativeLogsumexp": lambda b, x, axis: b.CumulativeLogsumexp(x, axis, name="y"),
    "Sum": lambda b, x, axis: b.Sum(x, axis, name="y"),
    "ReverseV2": lambda b, x, axis: b.ReverseV2(x, b.Reshape(axis, b.constant(np.int32([1]))), name="y"),
    "Roll": lambda b, x, axis: b.Roll(x, b.constant(np.int32([5, -2])), b.Pack([axis, b.constant(np.int32(0))]), name="y"),
}


@pytest.mark.parametrize("op", sorted(AXES))
def test_an_axis_may_be_computed(op, tmp_path):
    b = GraphBuilder()
    axis = b.Placeholder(dtype="int32", shape=[], name="axis")
    AXES[op](b, b.Placeholder(dtype="float32", shape=[2, 4, 6], name="x"), axis)
    written(b, ["x", "axis"], ["y"], tmp_path / "m.onnx")
    x = np.random.default_rng(0).standard_normal((2, 4, 6)).astype("f")
    for place in range(-3, 3):
        (result,) = run_onnx(tmp_path / "m.onnx", {"x": x, "axis": np.int32(place)})
        np.testing.assert_allclose(result, Session(b.graph).run("y:0", {"x:0": x, "axis:0": np.int32(place)}), rtol=1e-5)


def test_what_is_reversed_may_be_computed(tmp_path):
    b = GraphBuilder()
    x, dims = b.Placeholder(dtype="int32", shape=[2, 3], name="x"), b.Placeholder(dtype="bool", shape=[2], name="dims")
    b.Reverse(x, dims, name="y")
    written(b, ["x", "dims"], ["y"], tmp_path / "m.onnx")
    given = np.arange(6, dtype=np.int32).reshape(2, 3)
    for chosen in itertools.product([False, True], repeat=2):
        (result,) = run_onnx(tmp_path / "m.onnx", {"x": given, "dims": np.array(chosen)})
        np.testing.assert_array_equal(result, np.flip(given, np.flatnonzero(chosen)))


def test_shapes_leave_one_axis_to_join_along(tmp_path):
    b = GraphBuilder()
    parts = [b.Placeholder(dtype="float32", shape=[2, size], name=f"x{size}") for size in (1, 3)]
    b.ConcatV2(parts, b.Placeholder(dtype="int32", shape=[], name="axis"), name="y")
    assert ops_of(written(b, ["x1", "x3", "axis"], ["y"], tmp_path / "m.onnx")) == ["Concat"]


@pytest.mark.parametrize(("op", "side"), [("LowerBound", "left"), ("UpperBound", "right")])
@pytest.mark.parametrize("size", [7, 8, None])
def test_bounds_in_rows(op, side, size, tmp_path):
    b = GraphBuilder()
    rows = b.Placeholder(dtype="float32", shape=[2, size], name="rows")
    b.apply(op, rows, b.Placeholder(dtype="float32", shape=[2, 4], name="values"), name="y")
    written(b, ["rows", "values"], ["y"], tmp_path / "m.onnx")
    values = np.float32([[-1, 2, 3.5, 99], [1, 1, 6, 7]])
    for count in (size,) if size else (0, 1, 9):
        given = np.tile(np.arange(count, dtype="f"), (2, 1))
        (result,) = run_onnx(tmp_path / "m.onnx", {"rows": given, "values": values})
        np.testing.assert_array_equal(result, [np.searchsorted(row, line, side) for row, line in zip(given, values)])


DOUBLES = {
    "Tan": [-1.5, 0, 1e-9, 1.57], "Atan": [-1e300, -1, -0.3, 0, 1e-9, 2, np.inf], "Asin": [-1, -0.5, 0, 1e-9, 1],
    "Acos": [-1, -0.5, 0, 0.999999, 1], "Sinh": [-20, -1, -1e-9, 0, 0.3, 1, 2], "Cosh": [-20, 0, 0.3],
    "Asinh": [-1e200, -3, 0, 0.1, 1e200], "Acosh": [1, 1.5, 1e200], "Atanh": [-0.9, 0, 0.5], "Softplus": [-800, -1, 0, 800],
    "Elu": [-800, -1, 0, 800], "Selu": [-2, 0, 2], "LeakyRelu": [-2, 0, 2], "Softsign": [-2, 0, 2],
}  # fmt: skip


@pytest.mark.parametrize("op", sorted(DOUBLES))
def test_64_bits_stay_64(op, tmp_path):
    b = GraphBuilder()
    b.apply(op, b.Placeholder(dtype="double", shape=[None], name="x"), name="y")
    graph = b.graph
    model = export(graph, {"x": graph.output("x")}, {"y": graph.output("y")})
    assert not model.narrowed
    save_onnx(model, tmp_path / "m.onnx")
    x = np.array([*DOUBLES[op], np.nan])
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": x})
    np.testing.assert_allclose(result, Session(graph).run("y:0", {"x:0": x}), rtol=1e-13, atol=1e-15)


def test_regular_expressions(tmp_path):
    b = GraphBuilder()
    b.StaticRegexFullMatch(b.Placeholder(dtype="string", shape=[3], name="x"), pattern="a+b?", name="y")
    written(b, ["x"], ["y"], tmp_path / "m.onnx")
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": np.array([b"aab", b"ba", "aé".encode()], object)})
    assert result.tolist() == [True, False, False]


def test_only_ascii_letters_change_their_case(tmp_path):
    b = GraphBuilder()
    x = b.Placeholder(dtype="string", shape=[None, 1], name="x")
    b.StringUpper(x, name="upper")
    b.StringLower(x, name="lower")
    written(b, ["x"], ["upper", "lower"], tmp_path / "m.onnx")
    for words in (["aBé 1", "", "ß"], []):
        given = np.array([word.encode() for word in words], object).reshape(-1, 1)
        upper, lower = run_onnx(tmp_path / "m.onnx", {"x": given})
        assert (upper.shape, lower.shape) == (given.shape, given.shape)
        assert upper.ravel().tolist() == [word.upper() for word in given.ravel()]  # bytes have letters of ASCII only
        assert lower.ravel().tolist() == [word.lower() for word in given.ravel()]


def test_letters_beyond_ascii_are_refused(tmp_path):
    b = GraphBuilder()
    b.StringUpper(b.Placeholder(dtype="string", shape=[2], name="x"), encoding="utf-8", name="y")
    with pytest.raises(UnimplementedError, match="letters of ASCII only"):
        written(b, ["x"], ["y"], tmp_path / "m.onnx")


def test_unique_strings(tmp_path):
    b = GraphBuilder()
    b.UniqueWithCounts(b.Placeholder(dtype="string", shape=[None], name="x"), name="u")
    written(b, ["x"], ["u:0", "u:1", "u:2"], tmp_path / "m.onnx")
    result, places, counts = run_onnx(tmp_path / "m.onnx", {"x": np.array([b"b", b"a", b"b", b"c", b"a", b"b"], object)})
    assert (result.tolist(), places.tolist(), counts.tolist()) == ([b"b", b"a", b"c"], [0, 1, 0, 2, 1, 0], [3, 2, 1])


@pytest.mark.parametrize(
    ("begin", "end", "strides"), [([0, 1], [2, 5], [1, 2]), ([-1, 4], [-3, 0], [-1, -2]), ([1, 1], [1, 4], [1, 1])]
)
def test_bounds_and_strides_of_a_slice_may_be_computed(begin, end, strides, tmp_path):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, None], name="x")
    bounds = [b.Placeholder(dtype="int32", shape=[2], name=name) for name in ("begin", "end", "strides")]
    b.StridedSlice(x, *bounds, name="taken")
    b.StridedSlice(x, *bounds, begin_mask=1, end_mask=2, name="masked")
    b.TensorStridedSliceUpdate(x, *bounds, b.constant(np.float32(-1)), name="updated")
    names = ["taken", "masked", "updated"]
    written(b, ["x", "begin", "end", "strides"], names, tmp_path / "m.onnx")
    feeds = {"x": np.arange(15, dtype="f").reshape(3, 5)}
    feeds |= {name: np.int32(value) for name, value in (("begin", begin), ("end", end), ("strides", strides))}
    expected = Session(b.graph).run([f"{name}:0" for name in names], {f"{name}:0": value for name, value in feeds.items()})
    for result, want in zip(run_onnx(tmp_path / "m.onnx", feeds), expected, strict=True):
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("op", ["SpaceToBatchND", "BatchToSpaceND"])
@pytest.mark.parametrize("place", [0, 1])
def test_some_edges_of_blocks_may_be_computed(op, place, tmp_path):
    """Inference knows some numbers of the matrix, which has a row for each dimension."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4, 4, 1], name="x")
    n = g.Placeholder(dtype="int32", shape=[], name="n")
    edges = g.Pack([g.Pack([n, np.int32(0)] if place == 0 else [np.int32(0), n]), np.array([1, 1], np.int32)])
    g.apply(op, x, np.array([2, 2], np.int32), edges, name="y")
    graph = g.graph
    save_onnx(export(graph, {"x": x, "n": n}, {"y": graph.output("y:0")}), tmp_path / "b.onnx")
    feeds = {"x": np.arange(128, dtype=np.float32).reshape(8, 4, 4, 1), "n": np.array(2, np.int32)}
    expected = Session(graph).run("y:0", {f"{name}:0": value for name, value in feeds.items()})
    np.testing.assert_array_equal(run_onnx(tmp_path / "b.onnx", feeds)[0], expected)


def test_what_is_drawn_becomes_an_input(tmp_path):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 3], name="x")
    drawn = b.RandomUniform(b.Shape(x), dtype="float32", name="drawn")
    b.Mul(x, b.Cast(b.Less(drawn, b.constant(np.float32(0.5))), DstT="float32"), name="y")
    tfg.save(b.graph, tmp_path / "graph.pb")
    refused = run("convert", tmp_path / "graph.pb", tmp_path / "m.onnx", "--to", "y")
    assert refused.code == 1 and "RandomUniform (drawn)" in refused.err and "--from drawn" in refused.err
    words = ("--to", "y", "--from", "drawn", "--shape", "drawn=?,3", "--verify")
    assert run("convert", tmp_path / "graph.pb", tmp_path / "m.onnx", *words).code == 0
    assert sorted(value.name for value in onnx.load(tmp_path / "m.onnx").graph.input) == ["drawn", "x"]
    given = np.float32([[1, 2, 3]])
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": given, "drawn": np.float32([[0.1, 0.9, 0.2]])})
    np.testing.assert_array_equal(result, [[1, 0, 3]])


def test_a_signature_names_inputs_and_outputs(tmp_path):
    words = ("--to", "StatefulPartitionedCall_1:1", "--verify")
    assert run("convert", SAMPLES / "scaler_saved_model", tmp_path / "m.onnx", *words).code == 0
    assert [value.name for value in onnx.load(tmp_path / "m.onnx").graph.input] == ["x"]


@pytest.mark.parametrize(("dtype", "name"), [
    ("float", "FLOAT"), ("double", "DOUBLE"), ("half", "FLOAT16"), ("bfloat16", "BFLOAT16"), ("bool", "BOOL"),
    ("string", "STRING"), ("int4", "INT4"), ("uint4", "UINT4"), ("int8", "INT8"), ("uint16", "UINT16"), ("uint64", "UINT64"),
    ("float8_e4m3fn", "FLOAT8E4M3FN"), ("float8_e5m2", "FLOAT8E5M2"), ("float8_e4m3fnuz", "FLOAT8E4M3FNUZ"),
])  # fmt: skip
def test_every_dtype_is_onnxs_own(dtype, name, tmp_path):
    b = GraphBuilder()
    b.Reshape(b.Placeholder(dtype=dtype, shape=[2, 3], name="x"), b.constant(np.int32([3, 2])), name="y")
    proto = written(b, ["x"], ["y"], tmp_path / "m.onnx")
    types = {value.type.tensor_type.elem_type for value in (*proto.graph.input, *proto.graph.output)}
    assert types == {getattr(onnx.TensorProto, name)}


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"])
def test_numbers_that_numpy_lacks_are_fed_and_given(dtype, tmp_path):
    b = GraphBuilder()
    x, scalar = b.Placeholder(dtype=dtype, shape=[None], name="x"), b.Placeholder(dtype=dtype, shape=[], name="scalar")
    b.Reshape(x, b.constant(np.int32([-1, 1])), name="y")
    b.Reshape(scalar, b.constant(np.int32([])), name="same")
    b.Cast(x, DstT="float32", name="z")
    written(b, ["x", "scalar"], ["y", "same", "z"], tmp_path / "m.onnx")
    number = from_name(dtype).numpy.type(0.25)
    for given in (np.array([1, -2, 0.5]), np.array([])):
        y, same, z = run_onnx(tmp_path / "m.onnx", {"x": given.astype(number.dtype), "scalar": np.asarray(number)})
        assert y.dtype == number.dtype and same.shape == () and same == number
        np.testing.assert_array_equal(y.astype(float), given[:, None])
        np.testing.assert_array_equal(z, given)


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
def test_integers_of_four_bits_come_out(dtype, tmp_path):
    values = np.array([1, 7, -8 if dtype == "int4" else 15], from_name(dtype).numpy)
    b = GraphBuilder()
    b.Cast(b.Placeholder(dtype="float32", shape=[3], name="x"), DstT=dtype, name="y")
    written(b, ["x"], ["y"], tmp_path / "m.onnx")
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": values.astype("f")})
    assert result.tolist() == values.tolist()


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
def test_weights_of_four_bits_are_packed(dtype, tmp_path):
    values = np.array([1, 2, 3, 4, 5], from_name(dtype).numpy)
    b = GraphBuilder()
    b.Identity(b.constant(values), name="y")
    (weights,) = written(b, [], ["y"], tmp_path / "m.onnx").graph.initializer
    assert len(weights.raw_data) == 3
    assert onnx.numpy_helper.to_array(weights).astype(int).tolist() == [1, 2, 3, 4, 5]


def test_complex_numbers_are_pairs(tmp_path):
    b = GraphBuilder()
    b.Mul(b.Placeholder(dtype="complex64", shape=[None], name="x"), b.constant(np.complex64(1j)), name="y")
    proto = written(b, ["x"], ["y"], tmp_path / "m.onnx")
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    assert (dims[0].dim_param, dims[1].dim_value) == ("x_dim0", 2)
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": np.array([1 + 2j, 3], np.complex64)})
    assert result.tolist() == [[-2, 1], [0, 3]]


def test_quantized_weights_stay_in_eight_bits(tmp_path):
    """The weights of quantize_weights are uint8 behind a DequantizeLinear, and onnxruntime computes as Dequantize does."""
    g = GraphBuilder()
    weights = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
    g.MatMul(g.Placeholder(dtype="float32", shape=[2, 64], name="x"), weights, name="y")
    graph = tfg.optimize(g.graph, ["y:0"], ["x:0"], "quantize_weights")[0]
    save_onnx(export(graph, {"x": graph.output("x:0")}, {"y": graph.output("y:0")}), tmp_path / "q.onnx")
    proto = onnx.load(str(tmp_path / "q.onnx"))
    assert [node.op_type for node in proto.graph.node] == ["DequantizeLinear", "MatMul"]
    assert onnx.TensorProto.UINT8 in {tensor.data_type for tensor in proto.graph.initializer if list(tensor.dims) == [64, 32]}
    x = np.random.default_rng(1).normal(size=(2, 64)).astype(np.float32)
    np.testing.assert_allclose(
        run_onnx(tmp_path / "q.onnx", {"x": x})[0], Session(graph).run("y:0", {"x:0": x}), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(("op", "inputs"), [
    ("StatelessRandomUniform", {}), ("StatelessRandomNormal", {}),
    ("StatelessRandomUniformInt", {"minval": -5, "maxval": 1000, "dtype": "int32"}),
])  # fmt: skip
def test_numbers_of_a_fed_seed_are_tensorflows(op, inputs, tmp_path):
    """The kernels' numbers are TensorFlow's, by recorded answers; the model draws them for other seeds and sizes."""
    g = GraphBuilder()
    size = g.Placeholder(dtype="int32", shape=[2], name="size")
    seed = g.Placeholder(dtype="int64", shape=[2], name="seed")
    bounds = [np.int32(inputs[key]) for key in ("minval", "maxval") if key in inputs]
    g.apply(op, size, seed, *bounds, name="y")
    graph = g.graph
    fed = {"size": graph.output("size:0"), "seed": graph.output("seed:0")}
    save_onnx(export(graph, fed, {"y": graph.output("y:0")}), tmp_path / "r.onnx")
    for number in (0, -7, 1 << 40):
        feeds = {"size": np.array([5, 7], np.int32), "seed": np.array([number, 3 - number], np.int64)}
        drawn = Session(graph).run("y:0", {f"{name}:0": value for name, value in feeds.items()})
        np.testing.assert_allclose(run_onnx(tmp_path / "r.onnx", feeds)[0], drawn, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("value", [2.5, [1.0, -2.0], 1 + 2j], ids=str)
def test_an_input_with_a_default_may_be_left_out(value, tmp_path):
    """A constant default is the input's value in the model, too; a computed one makes the input a required one."""
    value = np.array(value, np.complex64 if np.iscomplexobj(value) else np.float32)
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2], name="x")
    k = g.PlaceholderWithDefault(g.constant(value), shape=[None] * value.ndim, name="k")
    computed = g.PlaceholderWithDefault(g.Square(x), shape=[2], name="computed")
    y = g.AddV2(g.Mul(g.Cast(x, DstT=value.dtype.name), k), g.Cast(computed, DstT=value.dtype.name))
    save_onnx(export(g.graph, {"x": x, "k": k, "computed": computed}, {"y": y}), tmp_path / "m.onnx")
    feeds = {"x": np.float32([3, 4]), "computed": np.float32([9, 16])}
    for k_fed in (value, value * 3):
        fed = feeds if k_fed is value else feeds | {"k": as_pairs(k_fed)}
        np.testing.assert_allclose(run_onnx(tmp_path / "m.onnx", fed)[0], as_pairs(feeds["x"] * k_fed + feeds["computed"]))
