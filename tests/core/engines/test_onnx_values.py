"""Values of lowerings to ONNX at the edges: the results that TensorFlow gave, in onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.onnx.exporting import export
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import UnimplementedError
from tfg.formats.onnx_model import run_onnx, save_onnx

pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
pytestmark = pytest.mark.engine


def run(builder, feeds, outputs, path):
    """Return the outputs of a builder's graph in onnxruntime, exported with the feeds as inputs."""
    graph = builder.graph
    inputs = {name: graph.output(name) for name in feeds}
    save_onnx(export(graph, inputs, {f"y{i}": value for i, value in enumerate(outputs)}), path)
    return run_onnx(path, feeds)


def placeholder(b, name, value):
    return b.Placeholder(dtype=value.dtype.name, shape=list(value.shape), name=name)


def test_hues_of_numbers_outside_0_to_1(tmp_path):
    """The smallest and the largest channel keep their values, negative or not."""
    pixels = np.array([[[1, -3, 2], [-1, -1, 0]], [[-3, 3, 0], [6, -1, -3]]], np.float32)
    wants = {
        3.0: [[[0.9999962, -3, 2], [-1, -1, 0]], [[-3, 3, 0], [6, -1.0000076, -3]]],
        0.25: [[[2, -1.5, -3], [0, -1, -0.5]], [[-3, -3, 3], [-0.5, 6, -3]]],
        -0.7: [[[2, 0, -3], [0, -1, -0.8]], [[-1.2, -3, 3], [-3, 6, -2.8]]],
    }  # fmt: skip
    b = GraphBuilder()
    y = b.AdjustHue(placeholder(b, "x", pixels), b.Placeholder(dtype="float", shape=[], name="delta"))
    for delta, want in wants.items():
        (result,) = run(b, {"x": pixels, "delta": np.float32(delta)}, [y], tmp_path / "m.onnx")
        np.testing.assert_allclose(result, np.array(want, np.float32), rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    ("lower", "adjoint", "want"),
    [
        (True, True, [[np.inf, np.inf], [-np.inf, -np.inf], [2, 0.5]]),
        (True, False, [[0.5, 1], [np.inf, -np.inf], [-np.inf, np.inf]]),
        (False, True, [[0.5, 1], [np.inf, np.nan], [-np.inf, np.nan]]),
        (False, False, [[np.nan, np.nan], [-np.inf, -np.inf], [2, 0.5]]),
    ],
)
def test_a_zero_on_the_diagonal_of_a_triangle_divides(lower, adjoint, want, tmp_path):
    matrix, rhs = np.float32([[2, 0, 0], [1, 0, 5], [3, 4, 2]]), np.float32([[1, 2], [1, 0], [4, 1]])
    b = GraphBuilder()
    y = b.MatrixTriangularSolve(placeholder(b, "m", matrix), placeholder(b, "r", rhs), lower=lower, adjoint=adjoint)
    (result,) = run(b, {"m": matrix, "r": rhs}, [y], tmp_path / "m.onnx")
    np.testing.assert_array_equal(result, np.float32(want))


@pytest.mark.parametrize("has_batch", [True, False])
def test_triangles_of_unknown_size_and_broadcast_batches(has_batch, tmp_path):
    """A batch of matrices and a single right side; by hand, 2 x = 4, and then 1 x + 4 y = 10."""
    matrix, rhs = np.float64([[[2, 9], [1, 4]], [[1, 9], [0, 2]]]), np.float64([[4], [10]])
    want = [[[2], [2]], [[4], [5]]]
    b = GraphBuilder()
    shape = [None] * 3 if has_batch else [2, None, None]
    inputs = b.Placeholder(dtype="double", shape=shape, name="m"), b.Placeholder(dtype="double", shape=[None] * 2, name="r")
    y = b.MatrixTriangularSolve(*inputs)
    (result,) = run(b, {"m": matrix, "r": rhs}, [y], tmp_path / "m.onnx")
    np.testing.assert_array_equal(result, want)


def lists_of_two_lengths(b):
    """Return a list of 1, 2 and a list of 3."""
    shape = b.constant(np.zeros(0, np.int32))
    return [b.TensorListFromTensor(b.constant(np.float32(row)), shape) for row in ([1, 2], [3])]


def stacks(b, vector, count):
    parts = b.Unpack(vector, num=count)
    return [b.TensorListStack(part, np.int32(-1), element_dtype="float") for part in parts]


def test_vectors_of_lists_of_several_lengths(tmp_path):
    b = GraphBuilder()
    first, second = lists_of_two_lengths(b)
    vector, turned = b.Pack([first, second]), b.Pack([second, first])
    joined = b.TensorListConcatLists(vector, turned, element_dtype="float")
    x = b.Placeholder(dtype="float", shape=[2], name="x")
    pushed = b.TensorListPushBackBatch(vector, x)
    fetches = [*stacks(b, vector, 2), *stacks(b, joined, 2), *stacks(b, pushed, 2)]
    results = run(b, {"x": np.float32([7, 8])}, fetches, tmp_path / "m.onnx")
    wants = [[1, 2], [3], [1, 2, 3], [3, 1, 2], [1, 2, 7], [3, 8]]
    assert [result.tolist() for result in results] == wants


@pytest.mark.parametrize("op", ["ExpandDims", "Reshape", "Fill", "Select"])
def test_ops_of_tensors_refuse_lists(op):
    """The elements of a list are a tensor in the model, which no op may take for the list."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[2], name="x")
    handle = b.TensorListFromTensor(x, b.constant(np.zeros(0, np.int32)))
    arguments = {
        "ExpandDims": [handle, np.int32(0)],
        "Reshape": [handle, np.int32([1])],
        "Fill": [np.int32([1]), handle],
        "Select": [b.Placeholder(dtype="bool", shape=[], name="c"), handle, handle],
    }
    value = getattr(b, op)(*arguments[op])
    value = b.TensorListLength(value if op == "Select" else b.Unpack(value, num=1)[0])
    names = [node for node in b.graph if node.is_placeholder]
    with pytest.raises(UnimplementedError, match=rf"{op} \(.*\): ONNX has no tensors of lists"):
        export(b.graph, {node.name: node.output() for node in names}, {"y": value})


def test_lists_of_unwritten_elements_have_the_given_lengths(tmp_path):
    """TensorFlow's zeros: elements of lengths 2, 3 and 5; a written element of length 3 does not fit others."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[3, 2], name="x")
    reserved = b.TensorListReserve(np.int32(-1), np.int32(3), element_dtype="float")
    written = b.TensorListSetItem(reserved, np.int32(1), x)

    def joined(handle, dims, lengths):
        lengths = np.array(lengths, np.int64)
        return b.TensorListConcatV2(handle, np.int32(dims), lengths, element_dtype="float", shape_type="int32")

    fetches = [*joined(reserved, [-1, 2], [2, 3, 5]), joined(written, [-1, 2], [])[0], joined(reserved, [4, 1], [])[0]]
    rows = np.ones((3, 2), np.float32)
    tensor, lengths, middle, even = run(b, {"x": rows}, fetches, tmp_path / "m.onnx")
    assert (tensor.shape, lengths.tolist(), tensor.any()) == ((10, 2), [2, 3, 5], False)
    np.testing.assert_array_equal(middle, np.concatenate([0 * rows, rows, 0 * rows]))
    assert (even.shape, even.any()) == ((12, 1), False)
    with pytest.raises(UnimplementedError, match="have other lengths than the written elements"):
        run(b, {"x": rows}, [joined(written, [-1, 2], [2, 3, 5])[0]], tmp_path / "m.onnx")


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_rounded_integers(dtype, tmp_path):
    """TensorFlow rounds each integer to 0."""
    x, b = np.array([-3, 0, 7], dtype), GraphBuilder()
    (result,) = run(b, {"x": x}, [b.Round(placeholder(b, "x", x))], tmp_path / "m.onnx")
    assert (result.dtype, result.tolist()) == (x.dtype, [0, 0, 0])


WINDOWS = [{"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"},
           {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
           {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}]  # fmt: skip


def special_images(dtype="float32"):
    """Return images with windows of -inf and NaN alone, and with NaN as first and as last element of windows."""
    x = np.random.default_rng(0).integers(-5, 5, (2, 6, 5, 3)).astype(dtype)
    x[0, :3, :3, 0], x[0, :, :, 1], x[1, 2:, 1:, 0], x[1, 0, 0, 1], x[1, 3, 4, 2] = -np.inf, np.nan, np.nan, np.nan, np.inf
    return x


@pytest.mark.parametrize("includes_batch", [False, True])
@pytest.mark.parametrize("sizes", [[2, 6, 5, 3], [None, None, None, None]])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_places_of_the_largest_elements(window, sizes, includes_batch, tmp_path):
    """The interpreter's results are TensorFlow's, for NaN and infinities too."""
    x, b = special_images(), GraphBuilder()
    images = b.Placeholder(dtype="float", shape=sizes, name="x")
    largest, places = b.MaxPoolWithArgmax(images, include_batch_in_index=includes_batch, **window, name="largest")
    ones = b.Fill(b.Shape(largest), np.float32(1))
    grad = b.MaxPoolGradWithArgmax(images, ones, places, include_batch_in_index=includes_batch, **window)
    plain = b.MaxPoolGrad(images, largest, ones, **window)
    outputs = [largest, places, grad, plain, b.MaxPoolGradGrad(images, largest, images, **window)]
    wants = Session(b.graph).run([output.name for output in outputs], {"x:0": x})
    for result, want in zip(run(b, {"x": x}, outputs, tmp_path / "m.onnx"), wants, strict=True):
        np.testing.assert_array_equal(result, want)


def test_in_three_dimensions_the_gradient_goes_to_all_that_are_near(tmp_path):
    """As in TensorFlow: to elements less than 1e-5 from the largest; in a window of -inf alone to none."""
    near = np.array([1, 1 + 5e-6, 1 - 2e-6, 0.5, *[-np.inf] * 4], np.float32).reshape(2, 4, 1, 1, 1)
    b = GraphBuilder()
    x = placeholder(b, "x", near)
    attrs = {"ksize": [1, 4, 1, 1, 1], "strides": [1, 4, 1, 1, 1], "padding": "VALID"}
    largest = np.array([1 + 5e-6, -np.inf], np.float32).reshape(2, 1, 1, 1, 1)
    grad = b.MaxPool3DGrad(x, largest, np.ones_like(largest), **attrs)
    (result,) = run(b, {"x": near}, [grad], tmp_path / "m.onnx")
    assert result.ravel().tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("samples", [40, 5, 0])
@pytest.mark.parametrize(("size", "stride", "is_squared"), [(8, 3, True), (7, 9, False)])
def test_spectrograms_of_any_length(samples, size, stride, is_squared, tmp_path):
    x, b = np.random.default_rng(0).standard_normal((samples, 2)).astype("f"), GraphBuilder()
    sound = b.Placeholder(dtype="float", shape=[None, 2], name="x")
    spectrogram = b.AudioSpectrogram(sound, window_size=size, stride=stride, magnitude_squared=is_squared)
    coefficients = b.Mfcc(spectrogram, np.int32(16000), upper_frequency_limit=4000, lower_frequency_limit=20,
                          filterbank_channel_count=2, dct_coefficient_count=2)  # fmt: skip
    outputs = [spectrogram, coefficients]
    wants = Session(b.graph).run([output.name for output in outputs], {"x:0": x})
    for result, want in zip(run(b, {"x": x}, outputs, tmp_path / "m.onnx"), wants, strict=True):
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("most", "total", "pads"), [(4, 9, True), (1, 20, False), (30, 5, False)])
def test_suppression_in_all_classes(most, total, pads, shared, tmp_path):
    """Equal scores of several classes, an image without scores above the threshold, and images of unknown number."""
    rng, b = np.random.default_rng(0), GraphBuilder()
    scores = rng.integers(0, 9, (3, 12, 4)).astype("f") / 8
    scores[1] = 0.01
    corners = rng.random((3, 12, 1 if shared else 4, 2)).astype("f")
    boxes = np.concatenate([corners, corners + rng.random(corners.shape).astype("f")], -1)
    inputs = [b.Placeholder(dtype="float", shape=[None, None, *value.shape[2:]], name=name)
              for name, value in (("boxes", boxes), ("scores", scores))]  # fmt: skip
    outputs = b.CombinedNonMaxSuppression(*inputs, *np.int32([most, total]), *np.float32([0.3, 0.1]), pad_per_class=pads)
    feeds = {"boxes": boxes, "scores": scores}
    wants = Session(b.graph).run([output.name for output in outputs], {f"{name}:0": value for name, value in feeds.items()})
    for result, want in zip(run(b, feeds, outputs, tmp_path / "m.onnx"), wants, strict=True):
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("merges", [True, False])
@pytest.mark.parametrize("batch", [3, 0])
def test_greedy_decoding_of_any_batch(batch, merges, tmp_path):
    x = np.random.default_rng(0).standard_normal((7, batch, 3)).astype("f")
    feeds, b = {"x": x, "lengths": np.array([7, 0, 4], np.int32)[:batch]}, GraphBuilder()
    inputs = [b.Placeholder(dtype=value.dtype.name, shape=[None] * value.ndim, name=name) for name, value in feeds.items()]
    outputs = b.CTCGreedyDecoder(*inputs, merge_repeated=merges, blank_index=-1)
    wants = [np.zeros((0, 2)), np.zeros(0), [0, 0], np.zeros((0, 1))]
    if batch:
        names = {f"{name}:0": value for name, value in feeds.items()}
        wants = Session(b.graph).run([output.name for output in outputs], names)
    for result, want in zip(run(b, feeds, outputs, tmp_path / "m.onnx"), wants, strict=True):
        np.testing.assert_allclose(result, want, rtol=1e-5)


@pytest.mark.parametrize("values", [[], [1, np.nan, 4, 9.5], [3, np.nan], [0, 0], [-8, 8], [1e-30, 3e30]], ids=str)
def test_ranges_and_histograms_for_calibration(values, tmp_path):
    """The interpreter's results are TensorFlow's."""
    x, b = np.array(values, np.float32), GraphBuilder()
    aggregated = b.CustomAggregator(
        b.Placeholder(dtype="float", shape=[None], name="x"), id="a", calibration_method=3, num_bins=4, min_percentile=0.0,
        max_percentile=1.0,
    )  # fmt: skip
    wants = Session(b.graph).run([output.name for output in aggregated], {"x:0": x})
    for result, want in zip(run(b, {"x": x}, aggregated, tmp_path / "m.onnx"), wants, strict=True):
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize(
    ("op", "dtype", "of_nothing"),
    [
        ("Mean", "float", np.nan), ("Sum", "float", 0), ("Prod", "float", 1), ("Max", "float", -np.inf),
        ("Min", "float", np.inf), ("EuclideanNorm", "float", 0), ("All", "bool", True), ("Any", "bool", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("keep_dims", [False, True])
def test_reductions_of_no_rows(op, dtype, of_nothing, keep_dims, tmp_path):
    """TensorFlow's values: NaN for a mean, and what changes nothing for the others."""
    b = GraphBuilder()
    x = b.Placeholder(dtype=dtype, shape=[None, 3], name="x")
    outputs = [b.apply(op, x, axes, keep_dims=keep_dims) for axes in ([0], [0, 1], [1])]
    results = run(b, {"x": np.zeros((0, 3), x.dtype.numpy)}, outputs, tmp_path / "m.onnx")
    for result, shape in zip(results, ((1, 3), (1, 1), (0, 1)) if keep_dims else ((3,), (), (0,))):
        np.testing.assert_array_equal(result, np.full(shape, of_nothing, x.dtype.numpy))
    (rows,) = run(b, {"x": np.eye(3, dtype=x.dtype.numpy)[:2]}, outputs[2:], tmp_path / "m.onnx")
    of_a_one_and_two_zeros = {"Mean": 1 / 3, "Prod": 0, "Min": 0, "All": False}.get(op, 1)
    np.testing.assert_allclose(rows.ravel(), [of_a_one_and_two_zeros] * 2)
