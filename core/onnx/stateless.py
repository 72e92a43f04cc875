"""Stateless graphs: an ONNX model keeps no variables, so their values become inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..graph.graph import Graph, Node, Output
from ..graph.traversal import closure, topological_order
from ..planning.effects import READ, WRITE, Access, accesses, handle_owners
from ..planning.planner import compile_plan
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..support.errors import UnimplementedError
from ..support.hints import Hint, option

_INCREMENTS: Final = {"AssignAddVariableOp": "AddV2", "AssignSubVariableOp": "Sub"}
"""The ops on plain values in the place of increments of variables."""


def updates(graph: Graph, outputs: Sequence[str]) -> list[Access]:
    """Return the writes to variables and tables in a run of `outputs`."""
    return [access for access in _accesses(graph, outputs) if access.kind == WRITE]


def without_updates(graph: Graph, outputs: Sequence[str]) -> tuple[Graph, dict[str, str]]:
    """Return a copy without updates, and for each variable that a run reads and changes the tensor of the value after the
    run.

    Such a variable becomes a placeholder for the value before the run. Updates without influence on `outputs`, as of a
    counter of calls, are dropped. UnimplementedError names a node with any other access to such a variable than reading,
    replacing and adding.
    """
    touched = _accesses(graph, outputs)
    writers = {access.state: access.node for access in touched if access.kind == WRITE}
    taken = _behind(graph, outputs)
    read_and_written = {
        access.state for access in touched if access.kind == READ and access.node in taken and access.state in writers
    }
    result = graph.copy()
    after = _Values(result, [access for access in touched if access.state in read_and_written]).along(_order(result, outputs))
    for name in {writer.name for state, writer in writers.items() if state not in read_and_written}:
        writer = result.node(name)
        # Nobody reads the variable after the update, so that only control edges lead to it: without them no output needs it.
        for user in [user for user in writer.uses if writer in user.control_inputs]:
            result.remove_control_input(user, writer)
    return result, after


def _order(graph: Graph, outputs: Sequence[str]) -> list[str]:
    """Return the nodes of a run in order of execution."""
    return [step.node.name for step in compile_plan(graph, [graph.output(name) for name in outputs]).steps]


class _Values:
    """The values of variables in the course of a run, in a graph whose accesses are rewritten to plain values."""

    def __init__(self, graph: Graph, accesses: Sequence[Access]) -> None:
        self.graph = graph
        self.by_node = {access.node.name: access for access in accesses}
        self.values: dict[str, Output] = {}

    def along(self, order: Sequence[str]) -> dict[str, str]:
        """Return the last value of each variable."""
        missing = next((access for name, access in self.by_node.items() if name not in order), None)
        if missing is not None:
            raise _refusal(missing)
        for name in order:
            if name in self.by_node:
                self.step(self.graph.node(name), self.by_node[name])
        return {name: value.name for name, value in self.values.items()}

    def step(self, node: Node, access: Access) -> None:
        """Rewrite an access to a variable as an access to a value."""
        name = access.state.name
        if name not in self.values:
            self.values[name] = self.before(node, access)
        current = self.values[name]
        operand = node.inputs[1] if len(node.inputs) > 1 else current
        increment = _INCREMENTS.get(node.op)
        if has_fact(node.op, "assignment"):
            self.change(node, "Identity", [operand])
        elif increment is not None:
            self.change(node, increment, [current, operand])
        elif node.op == "ReadVariableOp":
            self.change(node, "Identity", [current])
        else:
            raise _refusal(access)
        self.values[name] = node.output() if access.kind == WRITE else current

    def before(self, node: Node, access: Access) -> Output:
        owner, *others = handle_owners(node.inputs[0])
        if others or owner.op != "VarHandleOp":
            raise _refusal(access)
        attrs = {"dtype": owner.attrs["dtype"], "shape": owner.attrs["shape"]}
        place = self.graph.unique_name(f"{access.state.name}_before")
        return self.graph.add_node(place, "Placeholder", (), (), attrs).output()

    def change(self, node: Node, op: str, inputs: Sequence[Output]) -> None:
        self.graph.set_inputs(node, inputs, node.control_inputs)
        node.change_op(op, {"T": inputs[0].base_dtype})


def _refusal(access: Access) -> UnimplementedError:
    message = f"an output depends on variable '{access.state.name}', which it {access.kind}, but ONNX keeps no state"
    hint = Hint("choose other outputs with ", option("to"))
    return UnimplementedError(message, node=access.node.name, op=access.node.op, hint=hint)


def _accesses(graph: Graph, outputs: Sequence[str]) -> list[Access]:
    """Return the accesses in a run of `outputs`, without the initializers of tables, which fill them the same each time."""
    needed = needed_nodes([graph.output(name) for name in outputs])
    touched = accesses(graph, topological_order([node for node in graph if node in needed]))
    return [access for access in touched if not has_fact((access.through or access.node).op, "fills_table")]


def _behind(graph: Graph, outputs: Sequence[str]) -> set[Node]:
    """Return the nodes that the outputs are computed from; of an inlined call only the nodes for the requested results."""

    def sources(value: Output) -> Sequence[Output]:
        return [value.node.inputs[value.index]] if has_fact(value.node.op, "passes_each_on") else value.node.inputs

    return {value.node for value in closure(map(graph.output, outputs), sources)}
