"""Loops that draw random numbers, put into the graph as TensorFlow puts them there before it runs it.

A While with `_lower_using_switch_merge` becomes a V1 loop around the nodes of its condition and its body, whose iterations
overlap: which of them draws first is then for the executor to say. What draws nothing stays as it is, as does a While whose
functions hold V1 control flow of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..control_flow.conditions import LOOP_OPS
from ..dtypes import resource
from ..functions.call_kinds import CALL_KINDS, INLINED
from ..functions.call_sites import call_site
from ..functions.instantiation import instantiate
from ..graph import Function, Graph, Node, Output
from ..ordering.effects import DRAW, accesses
from ..planning.needed import needed_nodes
from ..tensors import FuncRef
from ..traversal import topological_order

_PARALLEL_ITERATIONS = 10


def lowered(graph: Graph) -> Graph:
    """A copy of the graph with the loops that draw random numbers as V1 loops; the graph itself where there are none."""
    if not any(_is_lowered(graph, node) for node in graph):
        return graph
    lowering = _Lowering(graph.copy())
    lowering.run()
    return lowering.graph


def _is_lowered(graph: Graph, node: Node) -> bool:
    """True for a loop, or a call around one, that TensorFlow puts into the graph and that draws."""
    kind = CALL_KINDS.get(node.op)
    is_loop = kind is not None and kind.is_loop and call_site(node).is_lowered
    if kind is None or not (kind.is_inlined or is_loop):
        return False
    if not any(access.kind == DRAW for access in accesses(graph, [node])):
        return False
    functions = [_function(graph, reference) for reference in kind.references(node)]
    if any(function is None or any(inner.op in LOOP_OPS for inner in function.body) for function in functions):
        return False
    bodies = [function.body for function in functions if function is not None]
    return is_loop or any(_is_lowered(graph, inner) for body in bodies for inner in body)


def _function(graph: Graph, reference: object) -> Function | None:
    """The function that an attribute names, its types filled in."""
    found = graph.functions.get(reference.name) if isinstance(reference, FuncRef) else None
    if found is None or not isinstance(reference, FuncRef):
        return None
    return instantiate(found, reference.attrs) if found.signature.attrs else found


class _Lowering:
    """A graph on the way."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def run(self) -> None:
        pending = list(self.graph)
        while pending:
            node = pending.pop(0)
            if _is_lowered(self.graph, node):
                before = len(self.graph)
                if node.op in INLINED:
                    self.lower_call(node)
                else:
                    self.lower_while(node)
                pending += list(self.graph)[before:]

    def lower_call(self, call: Node) -> None:
        """The nodes of a function in the place of its call."""
        function = _function(self.graph, call.attr("f"))
        assert function is not None
        pivot = self.add(call, "input_control", "NoOp", (), {}, [v.node for v in call.inputs] + list(call.control_inputs))
        results, controls = self.body(call, function, call.inputs, pivot, "")
        self.replace(call, results, controls)

    def lower_while(self, loop: Node) -> None:
        """A V1 loop in the place of a While. A resource stays what it is in all iterations."""
        cond, body = (_function(self.graph, loop.attr(name)) for name in ("cond", "body"))
        assert cond is not None and body is not None
        enters = [self.enter(loop, value) for value in loop.inputs]
        merges = [None if value.dtype is resource else self.merge(loop, value) for value in enters]
        first = next(merge.node for merge in merges if merge is not None)
        values = [merge if merge is not None else enter for merge, enter in zip(merges, enters)]
        (decided,), _ = self.body(loop, cond, values, first, "cond")
        predicate = self.add(loop, "LoopCond", "LoopCond", [decided], {}).output()
        switches = [None if merge is None else self.switch(loop, merge, predicate) for merge in merges]
        taken = next(switch for switch in switches if switch is not None)
        pivot = self.add(loop, "loop_body_control", "Identity", [taken.output(1)], {"T": taken.output_dtypes[1]})
        going = [enter if switch is None else switch.output(1) for switch, enter in zip(switches, enters)]
        results, controls = self.body(loop, body, going, pivot, "body")
        outputs = list(loop.inputs)
        for i, (merge, switch) in enumerate(zip(merges, switches)):
            if merge is not None and switch is not None:
                dtype = {"T": merge.dtype}
                again = self.add(loop, "next_iteration", "NextIteration", [results[i]], dtype, [pivot, *controls])
                self.graph.set_inputs(merge.node, [enters[i], again.output()])
                outputs[i] = self.add(loop, "exit", "Exit", [switch.output(0)], dtype).output()
        self.replace(loop, outputs, [])

    def enter(self, loop: Node, value: Output) -> Output:
        attrs = {
            "T": value.dtype,
            "frame_name": loop.name.encode(),
            "is_constant": value.dtype is resource,
            "parallel_iterations": loop.attr("parallel_iterations", _PARALLEL_ITERATIONS),
        }
        return self.add(loop, "enter", "Enter", [value], attrs, loop.control_inputs).output()

    def merge(self, loop: Node, value: Output) -> Output:
        return self.add(loop, "merge", "Merge", [value, value], {"T": value.dtype, "N": 2}).output()

    def switch(self, loop: Node, value: Output, predicate: Output) -> Node:
        return self.add(loop, "switch", "Switch", [value, predicate], {"T": value.dtype})

    def body(
        self, call: Node, function: Function, args: Sequence[Output], pivot: Node, scope: str
    ) -> tuple[list[Output], list[Node]]:
        """Copies of a function's nodes: its results, and what must have run. What waits for nothing waits for `pivot`."""
        given = dict(zip((arg.output() for arg in function.args), args))
        needed = needed_nodes([*function.results, *function.control_results], list(given))
        made: dict[Node, Node] = dict.fromkeys(function.args, pivot)

        def value_of(value: Output) -> Output:
            return given[value] if value in given else made[value.node].output(value.index)

        for node in topological_order([n for n in function.body if n in needed and n not in made]):
            controls = [made[control] for control in node.control_inputs]
            waits = controls or ([] if node.inputs else [pivot])
            attrs = {key: value for key, value in node.attrs.items() if key != "_class"}
            made[node] = self.add(call, f"{scope}/{node.name}".strip("/"), node.op, map(value_of, node.inputs), attrs, waits)
        return [value_of(value) for value in function.results], [made[node] for node in function.control_results]

    def replace(self, call: Node, outputs: Sequence[Output], controls: Sequence[Node]) -> None:
        """Let users of a call take `outputs`; its name goes to what waits for all of them and for `controls`."""
        name = call.name
        self.graph.rename_node(call, self.graph.unique_name(f"{name}/call"))
        op, attrs = ("IdentityN", {"T": [output.dtype for output in outputs]}) if outputs else ("NoOp", {})
        joined = self.graph.add_node(name, op, outputs, controls, attrs, call.device)
        for i, output in enumerate(outputs):
            self.graph.replace_all_uses(call.output(i), output)
        self.graph.replace_control_uses(call, joined)
        self.graph.remove_node(call)

    def add(
        self,
        call: Node,
        name: str,
        op: str,
        inputs: Iterable[Output],
        attrs: Mapping[str, Any],
        controls: Iterable[Node] = (),
    ) -> Node:
        name = self.graph.unique_name(f"{call.name}/{name}")
        return self.graph.add_node(name, op, inputs, dict.fromkeys(controls), dict(attrs), call.device)
