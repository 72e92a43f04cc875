"""Convolutions fused with a Pad before, beside runs of single kernels."""

import numpy as np
import pytest

from tests.core.runtime.optimize.beside_kernels import drawn, program, rectified
from tfg import GraphBuilder, Session
from tfg.core.runtime.optimize.step_fusion import PadFused
from tfg.core.runtime.optimize.tiers import SETTLING_RUN
from tfg.core.support.errors import InvalidArgumentError

pytestmark = pytest.mark.usefixtures("same_draws", "fused_from_the_first_run")

AROUND = [[0, 0], [0, 1], [2, 1], [0, 0]]


def ints(b, values):
    return b.constant(np.array(values, np.int32))


def filters(b, kind, *window, depth=8):
    return b.constant(drawn(*window, depth, 1 if kind == "DepthwiseConv2dNative" else 6))


def padded_convolution(b, x, pads=AROUND, kind="Conv2D", padding="VALID", pad="Pad"):
    attrs = {"mode": "REFLECT"} if pad == "MirrorPad" else {}
    rest = [np.float32(1)] if pad == "PadV2" else []
    padded = getattr(b, pad)(x, ints(b, pads), *rest, **attrs, name="before")
    w = filters(b, kind, 3, 3, depth=8 + sum(pads[-1]))
    return getattr(b, kind)(padded, w, strides=[1, 2, 2, 1], padding=padding, name="convolved")


IMAGES = (3, 7, 6, 8)
FRAMES = {
    "zeros": (padded_convolution, {}, IMAGES, 6),
    "zeros, by channel": (padded_convolution, {"kind": "DepthwiseConv2dNative"}, IMAGES, 8),
}


def pad_fused(session):
    """Return the fused convolutions with their replaced ops."""
    steps = [inner for step in program(session).fused_steps for inner in (step, *getattr(step, "steps", ()))]
    return [step for step in steps if isinstance(step, PadFused)]


def assert_same(session, single, fetches, feeds):
    for value, want in zip(session.run(fetches, feeds), single.run(fetches, feeds)):
        assert value.shape == want.shape
        np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("follows", [True, False])
@pytest.mark.parametrize("kind", FRAMES)
def test_a_convolution_does_what_stands_around_it(kind, follows):
    make, options, shape, channels = FRAMES[kind]
    b = GraphBuilder()
    y = make(b, b.Placeholder(dtype="float32", shape=None, name="x"), **options)
    if follows:
        y = rectified(b, y, channels)
    b.Identity(y, name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for images in (3, 3, 3, 1, 1, 0, 3):
        assert_same(session, single, ["y:0"], {"x:0": drawn(images, *shape[1:])})
    (step,) = pad_fused(session)
    assert step.steps[0].node.name == "before"
    for wrong in (shape[1:], (*shape[:-1], 5)):
        with pytest.raises(InvalidArgumentError) as result:
            session.run("y:0", {"x:0": drawn(*wrong)})
        with pytest.raises(InvalidArgumentError) as expected:
            single.run("y:0", {"x:0": drawn(*wrong)})
        assert str(result.value) == str(expected.value)


OTHERS = {
    "zeros of channels": (padded_convolution, {"pads": [*AROUND[:3], [1, 0]]}, IMAGES),
    "zeros of the batch": (padded_convolution, {"pads": [[1, 0], *AROUND[1:]]}, IMAGES),
    "zeros by windows too": (padded_convolution, {"padding": "SAME"}, IMAGES),
    "other numbers around": (padded_convolution, {"pad": "PadV2"}, IMAGES),
    "a mirror around": (padded_convolution, {"pad": "MirrorPad"}, IMAGES),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_steps_stay(kind):
    make, options, shape = OTHERS[kind]
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=shape, name="x")
    b.Neg(make(b, x, **options), name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for _ in range(SETTLING_RUN):
        assert_same(session, single, ["y:0"], {"x:0": drawn(*shape)})
    assert not pad_fused(session)


@pytest.mark.parametrize("kind", FRAMES)
def test_what_others_read_too_is_there_for_them(kind):
    make, options, shape, _ = FRAMES[kind]
    b = GraphBuilder()
    y = make(b, b.Placeholder(dtype="float32", shape=shape, name="x"), **options)
    b.Neg(b.graph["before"].output(), name="other")
    b.Neg(y, name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for _ in range(SETTLING_RUN):
        assert_same(session, single, ["y:0", "other:0", "before:0"], {"x:0": drawn(*shape)})
    assert len(pad_fused(session)) == 1


@pytest.mark.parametrize("kind", FRAMES)
def test_what_is_fetched_on_the_way_is_made(kind):
    make, options, shape, _ = FRAMES[kind]
    b = GraphBuilder()
    b.Neg(make(b, b.Placeholder(dtype="float32", shape=shape, name="x"), **options), name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for _ in range(SETTLING_RUN):
        assert_same(session, single, ["y:0", "convolved:0"], {"x:0": drawn(*shape)})


def convolved_with_itself(b, x):
    padded = b.Pad(x, ints(b, [[0, 0], [1, 1], [0, 0], [0, 0]]))
    return b.Conv2D(padded, padded, strides=[1] * 4, padding="VALID")


def test_filters_may_be_what_is_convolved():
    b = GraphBuilder()
    b.Neg(convolved_with_itself(b, b.Placeholder(dtype="float32", shape=None, name="x")), name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for _ in range(SETTLING_RUN):
        assert_same(session, single, ["y:0"], {"x:0": drawn(2, 1, 2, 2)})
