"""Repair of the remains of training in a graph, so that TensorFlow imports the graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from ..graph.frames import ENTER, EXIT, loop_conditions
from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_constant_beside
from ..graph.reference_ops import lacks_handle, lacks_reference, plain_op, read_as, slice_op
from ..graph.traversal import predecessors
from ..registry.op_facts import ABSENT, has_fact
from ..registry.validation import expected_inputs
from ..support.errors import InvalidArgumentError
from ..transforms.frozen_handles import FrozenValue, Values, become_initialized, replace_handles, takes_value
from ..transforms.subgraphs import cut_at, forget_locations
from ..types.dtypes import DType, int32
from ..types.shapes import UNKNOWN
from ..types.tensors import Tensor
from .base.graph_pass import Pass, PassContext, become, identity_of


class Repair(Pass):
    """Let nodes that would write to frozen variables compute instead, put placeholders in the place of missing inputs, and
    remove locations of missing nodes.

    A node without readers becomes a NoOp if no op computes the same.
    """

    name: ClassVar[str] = "repair"
    summary: ClassVar[str] = "repair training leftovers in a frozen graph"
    in_default_pipeline: ClassVar[bool] = False
    mends: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        self._stand_in(graph, ctx)
        self._pass_values(graph, ctx)
        self._separate_frames(graph, ctx)
        # A mended node gives a value where it gave a reference, so its readers may lack a reference now. They are looked at
        # again.
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

    def _stand_in(self, graph: Graph, ctx: PassContext) -> None:
        """Put placeholders in the place of inputs that the file lacks, and let no node wait for nodes that it lacks."""
        for node in [node for node in graph if node.op == ABSENT]:
            for user in graph.control_consumers(node):
                graph.remove_control_input(user, node)
                ctx.fire("absent", user, f"it waits no more for '{node.name}', which is missing")
            read = dict.fromkeys(value.name for user in node.uses for value in user.inputs if value.node is node)
            try:
                placeholders = cut_at(graph, list(read))
            except InvalidArgumentError as error:
                ctx.refuse("absent", node, error.message)
                continue
            for name, placeholder in placeholders.items():
                ctx.fire(
                    "absent", placeholder, f"placeholder {placeholder.name} takes the place of '{name}', which is missing"
                )
                ctx.notes.append(f"placeholder '{placeholder.name}' takes the place of '{name}', which is missing")
            graph.remove_node(node)

    def _pass_values(self, graph: Graph, ctx: PassContext) -> None:
        """Let nodes that take the handles of frozen variables take the values, and nodes that write to them become NoOps."""
        values: Values = {}
        for node in list(graph):
            for place in _places(node, lacks_handle):
                if not (takes_value(graph, node) or any(graph.consumers(value) for value in node.outputs())):
                    ctx.fire("handle", node, f"it needs a variable, which {node.op} has no more")
                    _hand_on(graph, node, ())
                    break
                given = node.inputs[place]
                op, attrs = identity_of([given.base_dtype])
                # `replace_handles` follows handles from outputs of their own. The frozen value may have other readers, which
                # must not be taken for readers of the handle.
                stand_in = graph.add_node(graph.unique_name("value"), op, [given], (), attrs)
                graph.set_input(node, place, stand_in.output())
                values[stand_in.output()] = FrozenValue(given.node.name, given.base_dtype, UNKNOWN)
                ctx.fire("handle", node, "it takes the value of the frozen variable")
        stand_ins = [value.node for value in values]
        replace_handles(graph, values)
        for node in stand_ins:
            for user in graph.control_consumers(node):
                graph.remove_control_input(user, node)
            graph.replace_all_uses(node.output(), node.inputs[0])
            graph.remove_node(node)

    def _separate_frames(self, graph: Graph, ctx: PassContext) -> None:
        """Give a frame of its own to each loop that shares the name of another, as in a graph that was imported twice."""
        taken = {enter.attrs["frame_name"] for enter in graph if enter.op in ENTER}
        for name, loops in _loops_by_frame(graph).items():
            for number, enters in enumerate(loops[1:], 1):
                # TensorFlow tells loops apart by the names of their frames alone: two loops of one name run as one, with the
                # values of both.
                own = next(one for one in (name + b"_%d" % i for i in itertools.count(number)) if one not in taken)
                taken.add(own)
                for enter in enters:
                    enter.set_attr("frame_name", own)
                ctx.fire("frame", enters[0], f"its loop gets the frame {own.decode('utf-8', 'replace')}")

    def _mend(self, graph: Graph, ctx: PassContext, node: Node) -> bool:
        """Give a node a type that takes values; False, with the reason, if there is none."""
        written, plain = node.op, plain_op(node.op)
        if plain is not None:
            read_as(node, plain)
        elif has_fact(written, "initialization_test"):
            become_initialized(graph, node)
        elif (scattering := slice_op(written)) is not None:
            _take_columns(graph, node)
            read_as(node, scattering)
        elif has_fact(written, "selects_input"):
            _gather_selected(graph, node)
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


def _gather_selected(graph: Graph, node: Node) -> None:
    """Let a node take the row of its inputs, stacked, whose number is the first input."""
    index, *values = node.inputs
    attrs = {"T": node.attrs["T"], "N": len(values), "axis": 0}
    rows = graph.add_node(graph.unique_name(f"{node.name}/rows"), "Pack", values, (), attrs, node.device)
    axis = add_constant_beside(graph, f"{node.name}/axis", Tensor.from_numpy(np.int32(0)), node, index.node)
    types = {"Tparams": node.attrs["T"], "Tindices": int32, "Taxis": int32}
    become(graph, node, "GatherV2", (rows.output(), index, axis.output()), types)


def _take_columns(graph: Graph, node: Node) -> None:
    """Put the numbers of slices into a column: the op for values takes a row of numbers for each slice."""
    last = add_constant_beside(graph, f"{node.name}/axis", Tensor.from_numpy(np.int32(-1)), node, node.inputs[1].node)
    inputs, attrs = [node.inputs[1], last.output()], {"T": node.attrs["Tindices"], "Tdim": int32}
    column = graph.add_node(graph.unique_name(f"{node.name}/column"), "ExpandDims", inputs, (), attrs, node.device)
    graph.set_input(node, 1, column.output())


def _lacks_reference(node: Node) -> bool:
    """Return True for a node that would write to a variable and gets a value instead."""
    return any(arg.is_ref for arg in node.op_def.inputs) and bool(_places(node, lacks_reference)) if node.op_def else False


def _places(node: Node, lacks: Callable[[DType | None, DType | None], bool]) -> list[int]:
    """Return the places of the inputs that lack what the node's op wants."""
    try:
        expected = expected_inputs(node.op_def, node.attrs, len(node.inputs)) if node.op_def is not None else None
    except InvalidArgumentError:
        return []
    return [i for i, (value, want) in enumerate(zip(node.inputs, expected or ())) if lacks(value.dtype, want)]


def _loops_by_frame(graph: Graph) -> dict[bytes, list[list[Node]]]:
    """Return the Enter nodes of each loop that has a condition, by the names of the loops' frames."""
    loops: dict[bytes, list[list[Node]]] = {}
    done: set[Node] = set()
    for enter in graph:
        if enter.op not in ENTER or enter in done:
            continue
        nodes = _loop_around(enter)
        name = enter.attrs["frame_name"]
        enters = [node for node in nodes if node.op in ENTER and node.attrs["frame_name"] == name]
        done.update(enters)
        if loop_conditions(nodes):
            loops.setdefault(name, []).append(enters)
    return loops


def _loop_around(enter: Node) -> list[Node]:
    """Return the nodes of a loop and of the loops in it: what is connected to an Enter on this side of the Exits."""
    depths, pending = {enter: 1}, [enter]
    for node in pending:
        depth = depths[node]
        after = depth - (node.op in EXIT)
        # At depth 0 the walk has left the loop; Enters and Exits of inner loops go one level deeper and back.
        before = depth - (node.op in ENTER)
        around = [(user, after + (user.op in ENTER)) for user in node.uses] if after else []
        around += [(source, before + (source.op in EXIT)) for source in predecessors(node)] if before else []
        for other, level in around:
            if other not in depths:
                depths[other] = level
                pending.append(other)
    return pending
