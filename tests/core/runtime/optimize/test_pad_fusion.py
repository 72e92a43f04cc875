"""Convolutions fused with surrounding ops that move positions, beside runs of single kernels."""

import numpy as np
import pytest

from tests.core.runtime.optimize.beside_kernels import drawn, program, rectified
from tfg import GraphBuilder, Session
from tfg.core.runtime.optimize.pad_fusion import PadFused
from tfg.core.runtime.optimize.step_fusion import all_steps
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


def dilated_convolution(
    b, x, kind="Conv2D", block=(2, 3), pads=((2, 3), (3, 6)), crops=((0, 1), (0, 3)), back=None, padding="VALID", stride=1
):
    apart = b.SpaceToBatchND(x, ints(b, block), ints(b, pads), name="before")
    convolved = getattr(b, kind)(
        apart, filters(b, kind, 3, 3), strides=[1, stride, stride, 1], padding=padding, name="convolved"
    )
    return b.BatchToSpaceND(convolved, ints(b, back or block), ints(b, crops))


def line_convolution(b, x, axis=-3, squeezed=(-3,), padding="SAME", size=3):
    wide = b.ExpandDims(x, ints(b, axis), name="before")
    window = (1, size) if axis % 4 == 1 else (size, 1)
    convolved = b.Conv2D(wide, filters(b, "Conv2D", *window), strides=[1] * 4, padding=padding, name="convolved")
    return b.Squeeze(convolved, squeeze_dims=list(squeezed))


def dilated_line(b, x, axis=1, size=2):
    """Return a causal convolution, as Keras writes the op."""
    padded = b.Pad(x, ints(b, [[0, 0], [3, 0], [0, 0]]), name="before")
    apart = b.SpaceToBatchND(padded, ints(b, [3]), ints(b, [[0, 2]]))
    return b.BatchToSpaceND(line_convolution(b, apart, axis, [axis], "VALID", size), ints(b, [3]), ints(b, [[0, 2]]))


IMAGES, LINES = (3, 7, 6, 8), (3, 10, 8)
FRAMES = {
    "zeros": (padded_convolution, {}, IMAGES, 6),
    "zeros, by channel": (padded_convolution, {"kind": "DepthwiseConv2dNative"}, IMAGES, 8),
    "places apart": (dilated_convolution, {}, IMAGES, 6),
    "places apart, by channel": (dilated_convolution, {"kind": "DepthwiseConv2dNative"}, IMAGES, 8),
    "lines of places apart": (dilated_convolution, {"block": [2], "pads": [[2, 3]], "crops": [[0, 0]]}, IMAGES, 6),
    "an axis": (line_convolution, {}, LINES, 6),
    "an axis behind": (line_convolution, {"axis": 2, "squeezed": [2], "padding": "VALID"}, LINES, 6),
    "all": (dilated_line, {}, LINES, 6),
    "all, the axis behind": (dilated_line, {"axis": 2, "size": 3}, LINES, 6),
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
    if follows and len(shape) == 4:
        y = rectified(b, y, channels)
    elif follows:
        y = b.Relu(b.BiasAdd(y, b.constant(drawn(channels))))
    b.Identity(y, name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for images in (3, 3, 3, 1, 1, 0, 3):
        assert_same(session, single, ["y:0"], {"x:0": drawn(images, *shape[1:])})
    (step,) = pad_fused(session)
    assert next(inner.node.name for inner in all_steps(step)) == "before"
    for wrong in (shape[1:], (*shape[:-1], 5)):
        with pytest.raises(InvalidArgumentError) as result:
            session.run("y:0", {"x:0": drawn(*wrong)})
        with pytest.raises(InvalidArgumentError) as expected:
            single.run("y:0", {"x:0": drawn(*wrong)})
        assert str(result.value) == str(expected.value)


@pytest.mark.parametrize("shape", [(3, 8, 6, 8), (3, 7, 7, 8), (3, 1, 6, 8), (3, 0, 0, 8)])
def test_images_that_do_not_come_out_even_are_refused_all_the_same(shape):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    y = dilated_convolution(b, x, pads=((0, 1), (0, 0)), crops=((0, 1), (0, 0)))
    b.Relu(b.BiasAdd(y, b.constant(drawn(6))), name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for _ in range(SETTLING_RUN):
        assert_same(session, single, ["y:0"], {"x:0": drawn(2, 11, 9, 8)})
    assert pad_fused(session)
    errors = []
    for one in (session, single):
        with pytest.raises(InvalidArgumentError) as error:
            one.run("y:0", {"x:0": drawn(*shape)})
        errors.append(str(error.value))
    assert errors[0] == errors[1]


OTHERS = {
    "zeros of channels": (padded_convolution, {"pads": [*AROUND[:3], [1, 0]]}, IMAGES),
    "zeros of the batch": (padded_convolution, {"pads": [[1, 0], *AROUND[1:]]}, IMAGES),
    "zeros by windows too": (padded_convolution, {"padding": "SAME"}, IMAGES),
    "other numbers around": (padded_convolution, {"pad": "PadV2"}, IMAGES),
    "a mirror around": (padded_convolution, {"pad": "MirrorPad"}, IMAGES),
    "more is cut off than was put around": (dilated_convolution, {"crops": ((3, 0), (0, 3))}, IMAGES),
    "places that come back otherwise": (
        dilated_convolution,
        {"block": (2, 3), "back": (3, 2), "crops": ((0, 0), (0, 0))},
        IMAGES,
    ),
    "places apart, windows too": (dilated_convolution, {"stride": 2}, IMAGES),
    "places apart, with zeros by windows": (dilated_convolution, {"padding": "SAME"}, IMAGES),
    "an axis of channels": (line_convolution, {"axis": 3, "squeezed": [1], "padding": "VALID"}, (3, 1, 8)),
    "any axis of one place": (line_convolution, {"squeezed": []}, LINES),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_steps_stay(kind):
    make, options, shape = OTHERS[kind]
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=shape, name="x")
    if kind == "an axis of channels":
        w = b.constant(drawn(1, 8, 1, 6))
        y = b.Squeeze(b.Conv2D(b.ExpandDims(x, ints(b, 3)), w, strides=[1] * 4, padding="VALID"), squeeze_dims=[1])
    else:
        y = make(b, x, **options)
    b.Neg(y, name="y")
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


def explicit_line(b, x):
    padding = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1, 0, 0, 0, 0]}
    wide = b.Conv2D(b.ExpandDims(x, ints(b, 1)), filters(b, "Conv2D", 1, 3), strides=[1] * 4, **padding)
    return b.Squeeze(wide, squeeze_dims=[1])


def negative(b, x, **numbers):
    return dilated_convolution(b, x, **{"block": (2, 1), "pads": ((0, 1), (0, 0))} | numbers)


REFUSED = {
    "an axis that is none": (line_convolution, {"axis": -7}, LINES, "out of range"),
    "an axis behind that is none": (line_convolution, {"squeezed": [5]}, LINES, "out of range"),
    "an axis with zeros around": (explicit_line, {}, LINES, "Can not squeeze"),
    "less than no zeros": (
        negative,
        {"pads": ((-1, 2), (0, 0)), "crops": ((-1, 0), (0, 0))},
        IMAGES,
        "paddings must be non-negative",
    ),
    "less than nothing cut off": (negative, {"crops": ((-1, 0), (0, 0))}, IMAGES, "crops must be non-negative"),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("images", [3, 0])
def test_what_a_step_refuses_is_refused_in_each_run(kind, images):
    make, options, shape, message = REFUSED[kind]
    b = GraphBuilder()
    b.Neg(make(b, b.Placeholder(dtype="float32", shape=None, name="x"), **options), name="y")
    session = Session(b.graph)
    for _ in range(SETTLING_RUN):
        with pytest.raises(InvalidArgumentError, match=message):
            session.run("y:0", {"x:0": drawn(images, *shape[1:])})
