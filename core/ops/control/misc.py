"""Ops of the process around the graph: time, version, transfers between devices, and Python functions, which no graph has."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ...graph.foreign_ops import supply_hint
from ...graph.send_recv import RECEIVES, SENDS
from ...registry.registry import facts, kernel, not_differentiable, without_gradient, zero_cost
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result


@kernel("Timestamp", shape="-> ()", flops=zero_cost)
def timestamp(ctx: KernelContext) -> Result:
    """Seconds since 1970."""
    return np.float64(time.time())


@kernel("GraphDefVersion", shape="-> ()", flops=zero_cost)
def graph_def_version(ctx: KernelContext) -> Result:
    """The version of the program that made the graph."""
    versions = ctx.session.graph.versions
    return np.int32(versions.producer if versions is not None else 0)


@kernel("PyFunc", "PyFuncStateless", "EagerPyFunc", shape="-> * [Tout]", flops=zero_cost, facts=("calls_python",))
def py_func(input: list[Array], *, token: str) -> Sequence[Result]:
    raise InvalidArgumentError(
        f"the Python function behind token '{token}' lives in the process that built the graph, not in the graph",
        hint=supply_hint("PyFunc"),
    )


# A partition of a graph by devices begins and ends with these ops. A session connects those that match (graph/send_recv).


@kernel(*SENDS, flops=zero_cost)
def send(value: Array) -> None:
    """Do nothing: in a single graph the receiver takes the value from its producer."""


@kernel(*RECEIVES, shape="-> *", flops=zero_cost)
def receive(ctx: KernelContext, *, tensor_name: str, send_device: str) -> Result:
    problem = f"no node of this graph sends '{tensor_name}' from {send_device}"
    raise InvalidArgumentError(f"{problem}: feed '{ctx.name}'")


facts("side_effect", of=("PyFunc", "EagerPyFunc"))
# Never folded or merged: each run has its own time.
facts("random", of=("Timestamp",))
not_differentiable("Timestamp", "GraphDefVersion", "PyFunc", "PyFuncStateless", *SENDS, *RECEIVES)
without_gradient("EagerPyFunc")  # TensorFlow's gradient lives in the process that built the graph.
