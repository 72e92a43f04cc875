"""Numbers at the ends of their dtypes, and variants of strangers: TensorFlow's answer, or a refusal that names the node."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.building.builder import GraphBuilder as Builder
from tfg.core.errors import DeadlineExceededError, InternalError, InvalidArgumentError, ResourceExhaustedError, TfgError
from tfg.core.runtime.files import FileAccess

LOW, HIGH = -(2**63), 2**63 - 1
ONES = np.ones((2, 3), np.float32)


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
    found = Session(g.graph).run([splits.name, values.name])
    assert found[0].tolist() == [0, 4]
    assert found[1].tolist() == [LOW, LOW // 2, 0, 2**62]


def test_zeros_of_ragged_text_are_empty():
    g = GraphBuilder()
    zeros = g.ZerosLike(ragged(g, np.array([b"a", b"b"], object)))
    attrs = {"input_ragged_rank": 0, "output_ragged_rank": 0, "Tvalues": "string", "Tsplits": "int64"}
    (found,) = g.RaggedTensorFromVariant(zeros, **attrs)
    assert Session(g.graph).run(found.name).tolist() == [b"", b""]


@pytest.mark.parametrize("op", ["ExtractGlimpse", "ExtractGlimpseV2"])
@pytest.mark.parametrize("offset", [3e38, -3e38])
def test_a_glimpse_from_beyond_all_numbers(op, offset):
    g = GraphBuilder()
    offsets = np.float32([[offset, 0]])
    attrs = {"centered": False, "normalized": True, "uniform_noise": False, "noise": "zero"}
    found = g.apply(op, np.ones((1, 4, 4, 1), np.float32), np.int32([2, 2]), offsets, **attrs)
    assert not np.any(Session(g.graph).run(found.name))


def test_crops_without_channels_have_an_empty_gradient():
    g = GraphBuilder()
    boxes, place, dims = np.float32([[0, 0, 1, 1]]), np.int32([0]), np.int32([1, 4, 5, 0])
    found = g.CropAndResizeGradImage(np.ones((1, 2, 3, 0), np.float32), boxes, place, dims, T="float32")
    assert Session(g.graph).run(found.name).shape == tuple(dims)


def test_an_image_whose_scale_has_no_inverse_is_empty():
    g = GraphBuilder()
    tiny = np.float32([1e-45, 1])
    found = g.ScaleAndTranslate(np.ones((1, 4, 4, 1), np.float32), np.int32([3, 3]), tiny, np.zeros(2, np.float32))
    try:
        assert not np.any(Session(g.graph).run(found.name))
    except TfgError as error:
        assert not isinstance(error, InternalError)


@pytest.mark.parametrize(("shape", "block"), [((0, 2, 3, 2), 2**40), ((0, 0, 3, 2), 2**40), ((0, 2, 3, 2), 2)])
def test_blocks_of_an_empty_batch(shape, block):
    """Their places are counted, or are too many; none is moved."""
    g = GraphBuilder()
    found = g.BatchToSpace(np.ones(shape), np.int32([[0, 0], [0, 0]]), block_size=block)
    try:
        assert Session(g.graph).run(found.name).shape == (0, shape[1] * block, shape[2] * block, shape[3])
    except TfgError as error:
        assert isinstance(error, ResourceExhaustedError)


def test_an_empty_batch_in_blocks():
    g = GraphBuilder()
    found = g.SpaceToBatch(np.ones((0, 0, 0, 1)), np.int32([[0, 0], [0, 0]]), block_size=2**40)
    with contextlib.suppress(ResourceExhaustedError):
        assert Session(g.graph).run(found.name).size == 0


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
    found = g.Skipgram(**{"filename": str(tmp_path / "x"), "batch_size": 3, "subsample": 0.0, **attrs})
    with pytest.raises(InvalidArgumentError) as caught:
        Session(g.graph, files=FileAccess.everything()).run(found[0].name)
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("attrs", [{"batch_size": 2**31}, {"batch_size": 3, "subsample": 1e-38}])
def test_pairs_that_take_too_long(attrs, tmp_path):
    (tmp_path / "x").write_text(TEXT)
    g = GraphBuilder()
    found = g.Skipgram(**{"filename": str(tmp_path / "x"), "subsample": 0.0, **attrs})
    with pytest.raises(DeadlineExceededError):
        Session(g.graph, files=FileAccess.everything(), timeout=0.5).run(found[0].name)
