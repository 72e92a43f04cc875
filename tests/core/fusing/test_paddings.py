"""Convolutions that put the zeros around their images, beside runs by single kernels."""

import numpy as np
import pytest

from tests.core.fusing.beside_kernels import drawn, program, rectified
from tfg import GraphBuilder, Session
from tfg.core.errors import InvalidArgumentError
from tfg.core.runtime.executor import _RUNS_TO_SETTLE
from tfg.core.runtime.fusing import all_steps


def padded_convolution(b, x, pads, kind="Conv2D", padding="VALID", pad="Pad"):
    attrs = {"mode": "REFLECT"} if pad == "MirrorPad" else {}
    rest = [np.float32(1)] if pad == "PadV2" else []
    padded = getattr(b, pad)(x, b.constant(np.array(pads, np.int32)), *rest, **attrs, name="padded")
    channels = 8 + sum(pads[-1])
    w = b.constant(drawn(3, 3, channels, 1 if kind == "DepthwiseConv2dNative" else 6))
    return getattr(b, kind)(padded, w, strides=[1, 2, 2, 1], padding=padding, name="convolved")


AROUND = [[0, 0], [0, 1], [2, 1], [0, 0]]


@pytest.mark.parametrize("follows", [True, False])
@pytest.mark.parametrize("kind", ["Conv2D", "DepthwiseConv2dNative"])
def test_a_convolution_pads_what_is_padded_for_it(kind, follows):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    y = padded_convolution(b, x, AROUND, kind)
    channels = 6 if kind == "Conv2D" else 8
    b.Neg(rectified(b, y, channels), name="y") if follows else b.Identity(y, name="y")
    session, single = Session(b.graph), Session(b.graph, fuse=False)
    for images in (3, 3, 3, 1, 1, 3):
        feeds = {"x:0": drawn(images, 7, 6, 8)}
        np.testing.assert_allclose(session.run("y:0", feeds), single.run("y:0", feeds), rtol=1e-5, atol=1e-5)
    (step,) = (step for step in program(session)._fused_calls if step.lead is not None)
    assert step.padding == (0, 0, 0, 1, 2, 1, 0, 0) and next(all_steps(step)).node.op == "Pad"
    for shape, name in (((7, 6, 8), "padded"), ((3, 7, 6, 5), "convolved")):
        with pytest.raises(InvalidArgumentError, match=name):
            session.run("y:0", {"x:0": drawn(*shape)})


OTHERS = {
    "of channels": {"pads": [*AROUND[:3], [1, 0]]},
    "of the batch": {"pads": [[1, 0], *AROUND[1:]]},
    "by windows too": {"padding": "SAME"},
    "with a number": {"pad": "PadV2"},
    "by a mirror": {"pad": "MirrorPad"},
}


@pytest.mark.parametrize("kind", [*OTHERS, "read twice"])
def test_other_paddings_take_a_step(kind):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 7, 6, 8], name="x")
    b.Neg(padded_convolution(b, x, **{"pads": AROUND} | OTHERS.get(kind, {})), name="y")
    fetches = ["y:0"] + (["padded:0"] if kind == "read twice" else [])
    session, single, feeds = Session(b.graph), Session(b.graph, fuse=False), {"x:0": drawn(2, 7, 6, 8)}
    for _ in range(_RUNS_TO_SETTLE):
        found = session.run(fetches, feeds)
    for value, want in zip(found, single.run(fetches, feeds)):
        np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-5)
    assert not any(step.padding for step in program(session)._fused_calls)
