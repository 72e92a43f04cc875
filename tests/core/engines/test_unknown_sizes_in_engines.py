"""Programs on matrices of unknown sizes give NumPy's values in ONNX and JAX, for any sizes."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.core.inference.unknown_sizes import FED, INPUTS, ROWS, Program, arrays, expected
from tests.core.passes.rewriting import placeholder
from tests.sampling import mostly_slow
from tfg.core.building.builder import GraphBuilder
from tfg.core.onnx.exporting import export
from tfg.formats.onnx_model import run_onnx, save_onnx

pytestmark = pytest.mark.engine


def assert_values(results, program, fed):
    for result, value in zip(results, expected(program.results, fed), strict=True):
        assert np.shape(result) == value.shape
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", mostly_slow(range(200), every=5))
def test_models_of_onnx(seed, tmp_path):
    """One model takes all sizes."""
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    program = Program(seed)
    inputs = {name.removesuffix(":0"): program.graph.output(name) for name in FED}
    save_onnx(export(program.graph, inputs, {f"r{i}": v.output for i, v in enumerate(program.results)}), tmp_path / "m.onnx")
    for rows in ROWS:
        fed = arrays(rows, seed)
        if expected(program.results, fed) is not None:
            assert_values(run_onnx(tmp_path / "m.onnx", fed), program, fed)


@pytest.mark.parametrize("seed", mostly_slow(range(200), every=5))
def test_functions_of_jax(seed):
    """Each combination of sizes is traced by itself."""
    jax = pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    program = Program(seed)
    function, parameters = tfg.to_jax(program.graph, [value.output.name for value in program.results], FED)
    for rows in ROWS[::2]:
        fed = arrays(rows, seed)
        if expected(program.results, fed) is not None:
            with jax.enable_x64(True):
                results = function(parameters, *(fed[name] for name in INPUTS))
            assert_values(results, program, fed)


def rows(g, x):
    return g.StridedSlice(g.Shape(x), [0], [1], [1], shrink_axis_mask=1)


RESHAPED = {
    "sizes of two tensors": lambda g, x, y, w: g.Reshape(x, g.Pack([rows(g, y), rows(g, x)])),
    "rows of another tensor": lambda g, x, y, w: g.Reshape(x, g.Pack([rows(g, y), np.int32(-1)])),
    "fed sizes": lambda g, x, y, w: g.Reshape(x, w),
    "fed sizes of a vector": lambda g, x, y, w: g.Reshape(g.Reshape(x, [-1]), w),
    "none and the rest": lambda g, x, y, w: g.Reshape(x, [0, -1]),
}


@pytest.mark.parametrize(
    ("name", "x", "y", "w", "shape"),
    [
        ("sizes of two tensors", (2, 4), 4, (0, 0), (4, 2)),
        ("sizes of two tensors", (3, 0), 0, (0, 0), (0, 3)),
        ("rows of another tensor", (2, 6), 3, (0, 0), (3, 4)),
        ("rows of another tensor", (0, 4), 0, (0, 0), (0, 4)),
        ("rows of another tensor", (3, 0), 0, (0, 0), (0, 3)),
        ("fed sizes", (2, 6), 0, (3, -1), (3, 4)),
        ("fed sizes", (2, 6), 0, (-1, 6), (2, 6)),
        ("fed sizes", (0, 4), 0, (0, -1), (0, 4)),
        ("fed sizes", (3, 0), 0, (0, 5), (0, 5)),
        ("fed sizes of a vector", (0, 4), 0, (0, -1), (0, 1)),
        ("fed sizes of a vector", (2, 4), 0, (-1, 2), (4, 2)),
        ("none and the rest", (0, 4), 0, (0, 0), (0, 4)),
        ("none and the rest", (3, 0), 0, (0, 0), (0, 3)),
    ],
)
def test_reshapes_of_onnx(name, x, y, w, shape, tmp_path):
    """A size of 0 is none, also beside a -1, which is then the product of the sizes that are not 0."""
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    g = GraphBuilder()
    inputs = {"x": placeholder(g, "x", (None, None)), "y": placeholder(g, "y", (None, 3))}
    inputs["w"] = g.Placeholder(dtype="int32", shape=(2,), name="w")
    save_onnx(export(g.graph, inputs, {"r": RESHAPED[name](g, *inputs.values())}), tmp_path / "m.onnx")
    array = np.arange(np.prod(x), dtype=np.float32).reshape(x)
    fed = {"x": array, "y": np.zeros((y, 3), np.float32), "w": np.array(w, np.int32)}
    (result,) = run_onnx(tmp_path / "m.onnx", fed)
    np.testing.assert_array_equal(result, array.reshape(shape))
