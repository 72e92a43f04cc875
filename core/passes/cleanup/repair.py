"""Repair of the remains of training in a graph, so that TensorFlow imports the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...graph.graph import Graph, Node, Output
from ...graph.node_making import add_constant
from ...graph.reference_ops import lacks_reference, plain_op, read_as
from ...registry.catalog import CATALOG
from ...registry.op_facts import has_fact
from ...registry.validation import expected_inputs
from ...support.errors import InvalidArgumentError
from ...transforms.subgraphs import forget_locations
from ...types.dtypes import int32
from ...types.tensors import Tensor
from ..base.graph_pass import Pass, PassContext, become, identity_of


@dataclasses.dataclass(frozen=True)
class Repair(Pass):
    """Let nodes that would write to frozen variables compute instead, and remove locations of missing nodes.

    A node without readers becomes a NoOp where no op computes the same.
    """

    name: ClassVar[str] = "repair"
    summary: ClassVar[str] = "repair training leftovers in a frozen graph"
    in_default_pipeline: ClassVar[bool] = False
    mends: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        pending = list(graph)
        for node in pending:
            if _lacks_reference(node):
                users = list(node.uses)
                if self._mend(graph, ctx, node):
                    pending += users
        dangling = [node for node in graph if any(name not in graph for name in node.colocation)]
        forget_locations(graph)
        for node in dangling:
            ctx.fire("location", node)

    def _mend(self, graph: Graph, ctx: PassContext, node: Node) -> bool:
        """Give a node a type that takes values; False, with the reason, where there is none."""
        written, plain = node.op, plain_op(node.op)
        if plain is not None:
            read_as(node, plain)
        elif (scattering := _of_slices(written)) is not None:
            _take_columns(graph, node)
            read_as(node, scattering)
        elif has_fact(written, "assignment") and len(node.inputs) == 2:
            _hand_on(graph, node, node.inputs[1:])
        elif not any(graph.consumers(value) for value in node.outputs()):
            _hand_on(graph, node, ())
        else:
            ctx.refuse("reference", node, "a node needs its value, which cannot be computed without a variable")
            return False
        ctx.fire("reference", node, f"{node.op} replaces {written}, which needs a variable")
        return True


def _hand_on(graph: Graph, node: Node, values: Sequence[Output]) -> None:
    """Let a node give the values as they are."""
    op, attrs = identity_of([node.attrs["T"] for _ in values])
    become(graph, node, op, values, attrs)


def _of_slices(op: str) -> str | None:
    """Return the op that computes the result of ScatterUpdate and similar ops, with a number for each slice as second
    input.
    """
    plain = f"Tensor{op}"
    return plain if plain in CATALOG else None


def _take_columns(graph: Graph, node: Node) -> None:
    """Put the numbers of slices into a column: the op for values takes a row of numbers for each slice."""
    last = add_constant(graph, f"{node.name}/axis", Tensor.from_numpy(np.int32(-1)), device=node.device)
    inputs, attrs = [node.inputs[1], last.output()], {"T": node.attrs["Tindices"], "Tdim": int32}
    column = graph.add_node(graph.unique_name(f"{node.name}/column"), "ExpandDims", inputs, (), attrs, node.device)
    graph.set_input(node, 1, column.output())


def _lacks_reference(node: Node) -> bool:
    """Return True for a node that would write to a variable and gets a value instead."""
    if node.op_def is None or not any(arg.is_ref for arg in node.op_def.inputs):
        return False
    try:
        expected = expected_inputs(node.op_def, node.attrs, len(node.inputs))
    except InvalidArgumentError:
        return False
    return any(lacks_reference(value.dtype, want) for value, want in zip(node.inputs, expected or ()))
