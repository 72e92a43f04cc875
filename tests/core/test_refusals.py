"""What an op is given that it cannot take: its run, its shape function and a fold refuse it with an error that names the node.

Inputs that TensorFlow's kernels refuse, or do not survive, and that recorded answers therefore lack.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.rewriting import placeholder
from tfg import GraphBuilder, Session, optimize
from tfg.core.catalog import CATALOG
from tfg.core.errors import InternalError, InvalidArgumentError
from tfg.core.inference import infer
from tfg.core.shapes import UNKNOWN

IMAGE, FILTER = np.ones((1, 4, 4, 2), np.float32), np.ones((1, 1, 2, 3), np.float32)
FUSED = {"strides": [1, 1, 1, 1], "padding": "SAME", "num_host_args": 0}
NORM = {"fused_ops": ["FusedBatchNorm"], "num_args": 4, "TArgs": ["float32"] * 4}
EMPTY, VECTOR = np.zeros(0, np.float32), np.ones(3, np.float32)
TEXT = np.array([b"NCHW"], object)

REFUSED = {
    "a norm of no channels": ("_FusedConv2D", [IMAGE, FILTER, [EMPTY] * 4, []], {**NORM, **FUSED}),
    "a norm by one of other channels": (
        "_FusedConv2D", [IMAGE, FILTER, [VECTOR, VECTOR[:2], VECTOR, VECTOR], []], {**NORM, **FUSED},
    ),
    "fewer arguments than fused ops": (
        "_FusedMatMul", [VECTOR[None].T, VECTOR[None], []], {"fused_ops": ["BiasAdd"], "num_args": 0},
    ),
    "paddings in a row": ("FusedPadConv2D", [IMAGE, np.int32([0]), FILTER], {"mode": "REFLECT", **FUSED}),
    "text as a shape": ("NonDeterministicInts", [TEXT], {}),
}  # fmt: skip


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, is_known):
    op, inputs, attrs = REFUSED[case]
    g = GraphBuilder()
    feeds = {}

    def value(array):
        if is_known:
            return g.constant(array)
        made = placeholder(g, f"x{len(feeds)}", None, array.dtype if array.dtype != object else "string")
        made.node.set_attr("shape", UNKNOWN)
        feeds[made.name] = array
        return made

    given = [[value(one) for one in item] if isinstance(item, list) else value(item) for item in inputs]
    accepted = {name: attr for name, attr in attrs.items() if name in CATALOG[op].attrs}
    node = g.add(op, given, accepted, "op")
    infer(g.graph)
    optimize(g.graph, ["op:0"], list(feeds))
    with pytest.raises(InvalidArgumentError, match="'op'") as caught:
        Session(g.graph).run([node.output().name], feeds)
    assert not isinstance(caught.value, InternalError)
