"""Programs on matrices of unknown sizes give NumPy's values in ONNX and JAX, for any sizes."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.core.inference.unknown_sizes import FED, INPUTS, ROWS, Program, arrays, expected
from tests.core.passes.rewriting import placeholder
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines.engine_registry import jax_functions
from tfg.core.onnx.exporting import export
from tfg.core.support.errors import UnimplementedError
from tfg.formats.onnx_model import run_onnx, save_onnx

pytestmark = pytest.mark.engine
SEEDS = range(100)


def assert_values(results, program, fed):
    for result, value in zip(results, expected(program.results, fed), strict=True):
        assert np.shape(result) == value.shape
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)


def feeds(program, seed):
    """The arrays whose sizes fit in a program: none where a Reshape fails for any."""
    return [fed for rows in ROWS if expected(program.results, fed := arrays(rows, seed)) is not None]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_models_of_onnx(seed, tmp_path):
    """One model takes all sizes."""
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    program = Program(seed)
    runs = feeds(program, seed)
    if not runs:
        return
    inputs = {name.removesuffix(":0"): program.graph.output(name) for name in FED}
    save_onnx(export(program.graph, inputs, {f"r{i}": v.output for i, v in enumerate(program.results)}), tmp_path / "m.onnx")
    for fed in runs:
        assert_values(run_onnx(tmp_path / "m.onnx", fed), program, fed)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_functions_of_jax(seed):
    """Each combination of sizes is traced by itself."""
    jax = pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    program = Program(seed)
    function, parameters = tfg.to_jax(program.graph, [value.output.name for value in program.results], FED)
    for fed in feeds(program, seed)[::2]:
        with jax.enable_x64(True):
            results = function(parameters, *(fed[name] for name in INPUTS))
        assert_values(results, program, fed)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(60))
def test_programs_of_stablehlo(seed):
    """A program takes batches of any sizes, or of equal sizes where it needs them; all others are refused, never wrong."""
    pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    program = Program(seed, steps=4)
    outputs = {f"r{i}": value.output.name for i, value in enumerate(program.results)}
    function, _ = tfg.to_jax(program.graph, outputs, dict(zip(INPUTS, FED)))
    try:
        written = function.exported({}, {})
    except UnimplementedError:
        return
    batches = len({dims[0] for dims in jax_functions().exported_dims(written)})
    for fed in feeds(program, seed):
        rows = [len(fed[name]) for name in INPUTS]
        if min(rows) > 0 and (batches == len(rows) or len(set(rows)) == 1):
            assert_values(jax_functions().run_exported(written, list(fed.values())).values(), program, fed)
        else:
            with pytest.raises(ValueError, match="shapes do not match"):
                jax_functions().run_exported(written, list(fed.values()))


def test_the_size_of_an_input_leaves_a_program_of_stablehlo():
    pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    g = GraphBuilder()
    shape = g.Shape(placeholder(g, "x", (None, 3)))
    function, _ = tfg.to_jax(g.graph, {"shape": shape.name}, {"x": "x:0"})
    results = jax_functions().run_exported(function.exported({}, {}), [np.zeros((5, 3), np.float32)])
    np.testing.assert_array_equal(results["shape"], np.array([5, 3], np.int32))


TWO_BATCHES = {
    "rows of both": (lambda g, x, y: g.ConcatV2([x, y], 0), ["batch_x", "batch_y"]),
    "products": (lambda g, x, y: g.MatMul(x, y, transpose_b=True), ["batch_x", "batch_y"]),
    "sum": (lambda g, x, y: g.AddV2(x, y), ["batch", "batch"]),
    "columns of both": (lambda g, x, y: g.ConcatV2([x, y], 1), ["batch", "batch"]),
}


@pytest.mark.parametrize("name", TWO_BATCHES)
def test_two_inputs_of_stablehlo_have_two_batches_unless_they_must_be_equal(name):
    pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    make, batches = TWO_BATCHES[name]
    g = GraphBuilder()
    result = make(g, placeholder(g, "x", (None, 3)), placeholder(g, "y", (None, 3)))
    function, _ = tfg.to_jax(g.graph, {"r": result.name}, {"x": "x:0", "y": "y:0"})
    written = function.exported({}, {})
    assert jax_functions().exported_dims(written) == [[batch, 3] for batch in batches]
    sizes = (4, 2) if batches[0] != batches[1] else (4, 4)
    fed = [np.arange(3.0 * size, dtype=np.float32).reshape(size, 3) for size in sizes]
    (expected,) = tfg.Session(g.graph).run([result.name], {"x:0": fed[0], "y:0": fed[1]})
    np.testing.assert_allclose(jax_functions().run_exported(written, fed)["r"], expected)


def test_what_jax_refuses_after_the_trace_is_told():
    """The decomposition of a matrix depends on which of the sizes is larger."""
    pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    g = GraphBuilder()
    result = g.Qr(placeholder(g, "x", (None, None)), full_matrices=True)[0]
    function, _ = tfg.to_jax(g.graph, {"q": result.name}, {"x": "x:0"})
    with pytest.raises(UnimplementedError, match=r"JAX cannot write the program: .*inconclusive"):
        function.exported({}, {})


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


@pytest.mark.parametrize("shape", [(None,), None])
@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeNearestNeighbor"])
def test_resizing_of_onnx_to_sizes_of_unknown_number(op, shape, tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    g = GraphBuilder()
    x, sizes = placeholder(g, "x", (None, None, None, 1)), g.Placeholder(dtype="int32", shape=shape, name="sizes")
    resized = g.apply(op, x, sizes)
    save_onnx(export(g.graph, {"x": x, "sizes": sizes}, {"r": resized}), tmp_path / "m.onnx")
    array = np.float32([[1, 3], [5, 7]]).reshape(1, 2, 2, 1)
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": array, "sizes": np.int32([2, 4])})
    between = {"ResizeBilinear": [[1, 2, 3, 3], [5, 6, 7, 7]], "ResizeNearestNeighbor": [[1, 1, 3, 3], [5, 5, 7, 7]]}
    np.testing.assert_allclose(result[0, :, :, 0], between[op])


@pytest.mark.parametrize("equation", ["i->ii", "a...->a...a"])
def test_diagonals_of_einsum_have_the_size_of_the_run(tmp_path, equation):
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    g = GraphBuilder()
    x = placeholder(g, "x", (None,))
    save_onnx(export(g.graph, {"x": x}, {"r": g.Einsum([x], equation=equation)}), tmp_path / "m.onnx")
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": np.float32([1, 2, 3])})
    np.testing.assert_array_equal(result, np.diag(np.float32([1, 2, 3])))
