"""Lookup tables in ONNX models: the contents that initializers fill in."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.support.errors import UnimplementedError
from tfg.formats.onnx_model import run_onnx

pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
pytestmark = pytest.mark.engine

STRINGS = np.array([b"red", b"green", b"blue"], object)


def table(b, keys, values, fill="InitializeTableV2", kind="HashTableV2"):
    """Return the handle of a table that an initializer outside the outputs fills."""
    constants = [b.constant(np.asarray(array)) for array in (keys, values)]
    dtypes = [constant.base_dtype.name for constant in constants]
    handle = getattr(b, kind)(key_dtype=dtypes[0], value_dtype=dtypes[1], shared_name="colours")
    getattr(b, fill)(handle, *constants)
    return handle


def converted(b, outputs, path):
    """Convert a builder's graph to a model, which ONNX's checker accepts."""
    return tfg.convert(b.graph, str(path), outputs=outputs)


@pytest.mark.parametrize("kind", [("InitializeTableV2", "HashTableV2"), ("LookupTableImportV2", "MutableHashTableV2")])
def test_keys_of_strings(kind, tmp_path):
    b = GraphBuilder()
    handle = table(b, STRINGS, np.int64([10, 20, 30]), *kind)
    x = b.Placeholder(dtype="string", shape=[None], name="x")
    numbers = b.LookupTableFindV2(handle, x, np.int64(-7))
    converted(b, {"numbers": numbers.name, "size": b.LookupTableSizeV2(handle).name}, tmp_path / "m.onnx")
    words = np.array([b"blue", b"pink", b"red", b""], object)
    numbers, size = run_onnx(str(tmp_path / "m.onnx"), {"x": words})
    assert (numbers.tolist(), size) == ([30, -7, 10, -7], 3)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_keys_of_integers(dtype, tmp_path):
    """The values are strings, and the keys a matrix; the verification compares with the interpreter."""
    b = GraphBuilder()
    handle = table(b, np.array([4, -1, 9], dtype), STRINGS)
    x = b.Placeholder(dtype=dtype, shape=[2, 2], name="x")
    y = b.LookupTableFindV2(handle, x, np.array(b"?", object))
    model = converted(b, [y.name], tmp_path / "m.onnx")
    (result,) = run_onnx(str(tmp_path / "m.onnx"), {"x": np.array([[9, 4], [0, -1]], dtype)})
    assert result.tolist() == [[b"blue", b"red"], [b"?", b"green"]]
    assert all(comparison.passed for comparison in model.verify())


def test_a_lookup_that_no_output_depends_on_is_left_out(tmp_path):
    """The other output of a classifier comes after the lookup by a control edge."""
    b = GraphBuilder()
    handle = table(b, STRINGS, np.int64([1, 2, 3]))
    x = b.Placeholder(dtype="string", shape=[1], name="x")
    lookup = b.LookupTableFindV2(handle, x, np.int64(0))
    number = b.Placeholder(dtype="float", shape=[], name="number")
    y = b.Neg(number)
    b.graph.add_control_input(y.node, lookup.node)
    assert converted(b, [y.name], tmp_path / "m.onnx").operations == 1


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("fed", "the contents of its table are not constant"),
        ("inserted", "ONNX keeps no state"),
        ("bytes", "a key of its table has other bytes"),
    ],
)
def test_tables_that_onnx_cannot_hold_are_refused(way, reason, tmp_path):
    b = GraphBuilder()
    keys = np.array([b"\xff", b"a", b"b"], object) if way == "bytes" else np.int64([1, 2, 3])
    dtype = b.constant(keys).base_dtype.name
    x = b.Placeholder(dtype=dtype, shape=[3], name="x")
    if way == "fed":
        handle = b.HashTableV2(key_dtype=dtype, value_dtype="int64", shared_name="t")
        before = b.InitializeTableV2(handle, x, np.int64([4, 5, 6]))
    else:
        handle = table(b, keys, np.int64([4, 5, 6]), "LookupTableImportV2", "MutableHashTableV2")
        before = b.LookupTableInsertV2(handle, x, np.int64([7, 8, 9])) if way == "inserted" else handle.node
    y = b.LookupTableFindV2(handle, x, np.int64(0))
    b.graph.add_control_input(y.node, before)
    with pytest.raises(UnimplementedError, match=reason):
        converted(b, [y.name], tmp_path / "m.onnx")
