"""Numbers at the ends of their dtypes, and variants of strangers: TensorFlow's answer, or a refusal that names the node."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from tests.core.passes.rewriting import placeholder
from tests.pipelines import numbers
from tfg import GraphBuilder, Session
from tfg.core.building.builder import GraphBuilder as Builder
from tfg.core.inference.inference import infer
from tfg.core.numerics import sdca
from tfg.core.numerics.float_mode import can_flush
from tfg.core.numerics.sdca import LOSSES, poisson_dual
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import (
    DeadlineExceededError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    TfgError,
)

LOW, HIGH = -(2**63), 2**63 - 1
ONES, VECTOR = np.ones((2, 3), np.float32), np.ones(3, np.float32)
IMAGE = np.ones((1, 4, 4, 2), np.float32)


def ragged(g: Builder, values, *nested):
    splits = [g.constant(np.array(part, np.int64)) for part in nested]
    return g.RaggedTensorToVariant(splits, g.constant(values), batched_input=False)


def joined(g: Builder, inner, *variants):
    attrs = {"input_ragged_rank": inner, "output_ragged_rank": inner + 1, "Tvalues": "float32", "Tsplits": "int64"}
    return g.RaggedTensorFromVariant(g.Pack(list(variants)), **attrs)[1]


def towards(g: Builder, variant, dims):
    return g.RaggedTensorToVariantGradient(g.Pack([variant]), np.int64([0, 2]), np.int32(dims), Tvalues="float32")


REFUSED = {
    "ranges of more numbers than there are": lambda g: g.RaggedRange(
        np.int64([0, 0]), np.int64([HIGH, HIGH]), np.int64([1, 1]), Tsplits="int64"
    )[0],
    "a range longer than 63 bits": lambda g: g.RaggedRange(
        *(g.constant(np.int64(bound)) for bound in (LOW, HIGH, 1)), Tsplits="int64"
    )[0],
    "rows of a scalar": lambda g: g.RaggedTensorToTensor(
        np.int64(-1), np.float32(0), np.float32(0), [g.constant(np.int64([0, 1]))], row_partition_types=["ROW_SPLITS"]
    ),
    "splits that are a scalar": lambda g: joined(g, 1, ragged(g, ONES, 0)),
    "splits that are empty": lambda g: joined(g, 1, ragged(g, ONES, [])),
    "values that are a scalar": lambda g: joined(g, 0, ragged(g, np.float32(0))),
    "rows of other lengths": lambda g: joined(g, 0, ragged(g, ONES), ragged(g, ONES[:, :2])),
    "rows of other ranks": lambda g: joined(g, 0, ragged(g, ONES), ragged(g, ONES[0])),
    "gradients that are text": lambda g: towards(g, ragged(g, np.array([b"a", b"b"], object)), [2]),
    "gradients of fewer than no rows": lambda g: towards(g, ragged(g, ONES[0, :2]), [-1, -2]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    g = GraphBuilder()
    with pytest.raises(InvalidArgumentError) as caught:
        Session(g.graph).run(REFUSED[case](g).name)
    assert not isinstance(caught.value, InternalError)
    assert caught.value.node


def test_a_range_whose_ends_are_far_apart():
    g = GraphBuilder()
    splits, values = g.RaggedRange(np.int64([LOW]), np.int64([HIGH]), np.int64([2**62]), Tsplits="int64")
    result = Session(g.graph).run([splits.name, values.name])
    assert result[0].tolist() == [0, 4]
    assert result[1].tolist() == [LOW, LOW // 2, 0, 2**62]


def test_zeros_of_ragged_text_are_empty():
    g = GraphBuilder()
    zeros = g.ZerosLike(ragged(g, np.array([b"a", b"b"], object)))
    attrs = {"input_ragged_rank": 0, "output_ragged_rank": 0, "Tvalues": "string", "Tsplits": "int64"}
    (result,) = g.RaggedTensorFromVariant(zeros, **attrs)
    assert Session(g.graph).run(result.name).tolist() == [b"", b""]


@pytest.mark.parametrize("op", ["ExtractGlimpse", "ExtractGlimpseV2"])
@pytest.mark.parametrize("offset", [3e38, -3e38])
def test_a_glimpse_from_beyond_all_numbers(op, offset):
    g = GraphBuilder()
    offsets = np.float32([[offset, 0]])
    attrs = {"centered": False, "normalized": True, "uniform_noise": False, "noise": "zero"}
    node = g.apply(op, np.ones((1, 4, 4, 1), np.float32), np.int32([2, 2]), offsets, **attrs)
    assert not np.any(Session(g.graph).run(node.name))


def test_crops_without_channels_have_an_empty_gradient():
    g = GraphBuilder()
    boxes, place, dims = np.float32([[0, 0, 1, 1]]), np.int32([0]), np.int32([1, 4, 5, 0])
    node = g.CropAndResizeGradImage(np.ones((1, 2, 3, 0), np.float32), boxes, place, dims, T="float32")
    assert Session(g.graph).run(node.name).shape == tuple(dims)


def test_an_image_whose_scale_has_no_inverse_is_empty():
    g = GraphBuilder()
    tiny = np.float32([1e-45, 1])
    node = g.ScaleAndTranslate(np.ones((1, 4, 4, 1), np.float32), np.int32([3, 3]), tiny, np.zeros(2, np.float32))
    try:
        assert not np.any(Session(g.graph).run(node.name))
    except TfgError as error:
        assert not isinstance(error, InternalError)


@pytest.mark.parametrize(("shape", "block"), [((0, 2, 3, 2), 2**40), ((0, 0, 3, 2), 2**40), ((0, 2, 3, 2), 2)])
def test_blocks_of_an_empty_batch(shape, block):
    """Their places are counted, or are too many; none is moved."""
    g = GraphBuilder()
    node = g.BatchToSpace(np.ones(shape), np.int32([[0, 0], [0, 0]]), block_size=block)
    try:
        assert Session(g.graph).run(node.name).shape == (0, shape[1] * block, shape[2] * block, shape[3])
    except TfgError as error:
        assert isinstance(error, ResourceExhaustedError)


def test_an_empty_batch_in_blocks():
    g = GraphBuilder()
    node = g.SpaceToBatch(np.ones((0, 0, 0, 1)), np.int32([[0, 0], [0, 0]]), block_size=2**40)
    with contextlib.suppress(ResourceExhaustedError):
        assert Session(g.graph).run(node.name).size == 0


def stepped(g: Builder, weights, loss):
    attrs = {"loss_type": loss, "adaptative": True, "l1": 0.1, "l2": 1.0, "num_loss_partitions": 1, "num_inner_iterations": 1}
    rows, state = g.constant(np.ones((2, 1), np.float32)), np.zeros((2, 4), np.float32)
    given = [[], [], [], [rows], np.float32(weights), np.float32([0, 1]), [], [], [g.constant(np.zeros(1, np.float32))], state]
    return g.SdcaOptimizer(*given, **attrs)[0]


@pytest.mark.parametrize("loss", ["logistic_loss", "hinge_loss", "smooth_hinge_loss"])
def test_examples_that_count_less_than_nothing(loss):
    g = GraphBuilder()
    assert Session(g.graph, seed=-1).run(stepped(g, [-1, 5], loss).name).shape == (2, 4)


TEXT = "a b c d e f g h " * 100


@pytest.mark.parametrize(
    ("attrs", "text"),
    [({"window_size": 0}, ""), ({"window_size": -1}, TEXT), ({"batch_size": -5}, TEXT), ({"window_size": 2**40}, TEXT)],
)
def test_pairs_of_no_text(attrs, text, tmp_path):
    (tmp_path / "x").write_text(text)
    g = GraphBuilder()
    node = g.Skipgram(**{"filename": str(tmp_path / "x"), "batch_size": 3, "subsample": 0.0, **attrs})
    with pytest.raises(InvalidArgumentError) as caught:
        Session(g.graph, files=FileAccess.everything()).run(node[0].name)
    assert not isinstance(caught.value, InternalError)


@pytest.mark.slow
@pytest.mark.parametrize("attrs", [{"batch_size": 2**31}, {"batch_size": 3, "subsample": 2e-38}])
def test_pairs_that_take_too_long(attrs, tmp_path):
    (tmp_path / "x").write_text(TEXT)
    g = GraphBuilder()
    node = g.Skipgram(**{"filename": str(tmp_path / "x"), "subsample": 0.0, **attrs})
    with pytest.raises(DeadlineExceededError):
        Session(g.graph, files=FileAccess.everything(), timeout=0.5).run(node[0].name)


def scaled_image(op, scale):
    g = GraphBuilder()
    given = [IMAGE, np.int32([4, 4])] if op == "ScaleAndTranslate" else [IMAGE, IMAGE]
    g.apply(op, *given, np.full(2, scale, np.float32), np.zeros(2, np.float32), antialias=True, name="op")
    return Session(g.graph).run("op:0")


@pytest.mark.parametrize("op", ["ScaleAndTranslate", "ScaleAndTranslateGrad"])
def test_an_image_made_smaller_than_any_number_says(op):
    """The least scale leaves no pixel. A subnormal scale counts as zero, which TensorFlow refuses."""
    assert not scaled_image(op, 2e-38).any()
    if can_flush():
        with pytest.raises(InvalidArgumentError, match="scale must be positive"):
            scaled_image(op, 1e-45)


def test_leading_zeros_of_an_integer():
    g = GraphBuilder()
    g.StringToNumber(np.array(b"-" + b"0" * 5000 + b"12", object), out_type="int32", name="op")
    assert Session(g.graph).run("op:0") == -12


def test_a_value_of_dimensions_beyond_its_dtype():
    g = GraphBuilder()
    size = g.Shape(placeholder(g, "x", [None]), out_type="int64")
    sizes = g.ConcatV2([size, g.constant(np.int64([2**62]))], np.int32(0))
    g.Mul(sizes, np.int64([0, 4]), name="op")
    assert "int64" in infer(g.graph).reasons["op"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e30])
def test_an_image_moved_by_no_distance_is_empty(number):
    """TensorFlow's answer, zeros: no pixel of the input lies where that leads."""
    g = GraphBuilder()
    moved = g.ScaleAndTranslate(IMAGE, [3, 3], np.ones(2, np.float32), np.array([number, 0], np.float32))
    assert not np.any(Session(g.graph).run([moved.name])[0])


def test_a_range_longer_than_64_bits():
    g = GraphBuilder()
    low, high = g.constant(np.int64(-(2**63))), g.constant(np.int64(2**63 - 1))
    numbers = g.RangeDataset(low, high, g.constant(np.int64(1)), output_types=["int64"], output_shapes=[[]])
    assert Session(g.graph).run([g.DatasetCardinality(numbers).name])[0] == -1


def test_a_histogram_of_an_endless_range():
    g = GraphBuilder()
    counts = g.HistogramFixedWidth(VECTOR, np.array([-np.inf, 1], np.float32), 3, name="op")
    assert Session(g.graph).run([counts.name])[0].sum() == 3


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_has_no_range_is_not_quantized(number):
    g = GraphBuilder()
    rhs = g.Bitcast(np.int8([[1]]), type="qint8")
    limits = {"rhs_quantization_min_val": -127, "rhs_quantization_max_val": 127}
    g.UniformQuantizedDotHybrid(np.float32([[number]]), rhs, np.float32(1), np.int32(0), Tout="float32", name="op", **limits)
    infer(g.graph)
    with pytest.raises(InvalidArgumentError, match=r"'op'.*finite") as caught:
        Session(g.graph).run(["op:0"])
    assert not isinstance(caught.value, InternalError)


def test_a_sparse_tensor_of_more_places_than_there_are_numbers():
    g = GraphBuilder()
    g.SparseReshape(np.zeros((0, 2), np.int64), np.int64([2**62, 2**62]), np.int64([4, -1]), name="op")
    with pytest.raises(TfgError) as caught:
        infer(g.graph)
        Session(g.graph).run(["op:1"])
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("unit", ["in", "cm"])
def test_a_density_that_a_picture_cannot_hold_wraps_around(unit):
    """The density wraps around as in TensorFlow, where the header has 16 bits."""
    g = GraphBuilder()
    pixels = np.zeros((2, 2, 3), np.uint8)
    few, many = (g.EncodeJpeg(pixels, x_density=d, y_density=3, density_unit=unit) for d in (300, 300 + (5 << 16)))
    first, second = Session(g.graph).run([few.name, many.name])
    assert first == second


def test_a_loss_that_overflows_is_infinite():
    assert poisson_dual(1.0, 0.5, 1e6, 1.0) != 0  # NaN or infinite, as C's
    assert LOSSES["poisson_loss"].primal_loss(1e6, 1.0) == np.inf


def test_a_number_of_elements_wraps_around():
    """The number wraps around as in TensorFlow, with 64 bits."""
    g = GraphBuilder()
    attrs = {"output_types": ["int64"], "output_shapes": [[]]}
    many = g.RepeatDataset(numbers(g, 5), g.constant(np.int64(2**62)), **attrs)
    assert Session(g.graph).run(g.DatasetCardinality(many).name) == 2**62


def test_a_loss_without_regularization_is_no_fault():
    with np.errstate(all="ignore"):
        for l1, want in ((0.0, np.nan), (1.0, 0.0)):
            result = sdca.SdcaSettings(LOSSES["squared_loss"], l1, np.float64(0), 1).shrink(VECTOR)
            np.testing.assert_array_equal(result, np.full(3, want))


@pytest.mark.parametrize("high", [1e20, 1e30])
def test_integers_of_a_range_that_no_other_can_hold_wrap_around(high):
    """As TensorFlow's fixed point of 64 bits."""
    g = GraphBuilder()
    q = g.Bitcast(np.int32([-5, 0, 7]), type="qint32")
    g.Requantize(q, -high, high, -1e-30, 1e-30, out_type="quint8", name="op")
    assert Session(g.graph).run("op:0").shape == (3,)


@pytest.mark.parametrize("ratio", [1e30, 1e-30, np.inf])
def test_a_crop_of_an_aspect_that_no_image_has_is_the_whole_image(ratio):
    g = GraphBuilder()
    box = np.float32([[[0, 0, 1, 1]]])
    g.SampleDistortedBoundingBoxV2(
        np.int32([64, 48, 3]), box, 0.1, aspect_ratio_range=[ratio, ratio], use_image_if_no_bounding_boxes=True, name="op"
    )
    begin, size = Session(g.graph).run(["op:0", "op:1"])
    assert (begin.tolist(), size.tolist()) == ([0, 0, 0], [64, 48, -1])


@pytest.mark.parametrize("values", [[np.nan] * 6, [np.inf, 1, 0, 0, 1, 0], [-np.inf] * 6])
def test_what_is_not_finite_has_no_least_squares(values):
    """The matrix is the only infinite matrix of the batch: TensorFlow, too, solves the others."""
    g = GraphBuilder()
    matrices = np.stack([np.reshape(values, (3, 2)), np.eye(3, 2)])
    result = Session(g.graph).run(g.MatrixSolveLs(matrices, np.ones((2, 3, 1)), 0.0, fast=False))
    assert np.isnan(result[0]).all()
    np.testing.assert_allclose(result[1], np.ones((2, 1)))


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_the_last_of_very_many_rows_is_within_the_image(method):
    """In single precision the number of the row rounds to the next row."""
    image = np.zeros((1, 2**24 + 4, 1, 1), np.uint8)
    image[0, -1] = 7
    g = GraphBuilder()
    crop = g.CropAndResize(image, np.float32([[1, 0, 1, 0]]), np.int32([0]), np.int32([1, 1]), method=method)
    assert Session(g.graph).run(crop).item() == 7


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (4, 1), (4, 5)])
def test_powers_of_one_half_are_no_roots(dtype, shape):
    """TensorFlow gives infinity for minus infinity and 0 for -0, as C does; a root gives NaN and -0."""
    x = np.tile(np.array([-np.inf, -0.0, np.inf, -1, 4], dtype), (4, 1))
    want = np.tile(np.array([np.inf, 0.0, np.inf, np.nan, 2], dtype), (4, 1))
    g = GraphBuilder()
    got = Session(g.graph).run(g.Pow(g.constant(x), g.constant(np.full(shape, 0.5, dtype))).name)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got[:, 1]), False)


@pytest.mark.parametrize(
    ("values", "message"),
    [([np.inf, np.nan], "Infinity in Histogram for: tag"), ([1, np.nan, -np.inf], "Nan in summary histogram for: tag")],
)
def test_a_histogram_names_the_first_number_that_is_not_finite(values, message):
    g = GraphBuilder()
    g.HistogramSummary(g.constant(b"tag"), g.constant(np.float32(values)), name="h")
    with pytest.raises(InvalidArgumentError, match=message):
        Session(g.graph).run("h:0")
