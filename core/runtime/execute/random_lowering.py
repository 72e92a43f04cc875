"""Lowering of function calls and loops that draw random numbers, as TensorFlow lowers them before a run.

The nodes of a function replace each of its calls, so that each call has random streams of its own. A While with
`_lower_using_switch_merge` becomes a V1 loop around the nodes of its condition and its body. Iterations of the loop
overlap, and the executor decides which iteration draws first. Calls and loops without draws stay, and so do calls of
functions with V1 control flow of their own.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ...graph.call_kinds import CALL_KINDS, INLINED, call_site, function_inputs
from ...graph.frames import LOOP_OPS, SWITCH
from ...graph.graph import Function, Graph, Node, Output
from ...graph.instantiation import instantiate, with_attrs
from ...graph.traversal import nodes_of_kind, topological_order
from ...planning.effects import DRAW, accesses
from ...planning.reachability import needed_nodes
from ...support import dataclasses
from ...types.dtypes import resource
from ...types.tensors import FuncRef

_PARALLEL_ITERATIONS: Final = 10
"""Iterations at a time of a lowered loop that says no number, as in TensorFlow."""
MAX_NODES: Final = 1 << 16
"""The largest number of nodes that lowering adds; functions that call each other twice grow without end."""


def lowered(graph: Graph) -> Graph:
    """Return a lowered copy of the graph; the graph itself if nothing draws random numbers."""
    if not any(_is_lowered(graph, node) for node in nodes_of_kind(graph, lambda kind: kind.op in CALL_KINDS)):
        return graph
    lowering = _Lowering(graph.copy())
    lowering.run()
    return lowering.graph


def lowered_function(function: Function) -> Function:
    """Return the function with a lowered body; the function itself if nothing draws random numbers."""
    if not any(_is_lowered(function.body, node) for node in function.body):
        return function
    # A copy is lowered, because the library's function is the one that the user sees, saves and differentiates.
    made = instantiate(function, {})
    made.body.functions = function.body.functions
    # Control results are kept by name: lowering may replace the nodes, and a replacement takes over the name.
    named = [node.name for node in made.control_results]
    ends = [_end(made.body, value) for value in made.results]
    _Lowering(made.body).run()
    results, controls = [end.output() for end in ends], [made.body.node(name) for name in named]
    return dataclasses.replace(made, results=results, control_results=controls)


def _end(body: Graph, value: Output) -> Node:
    """Add an Identity that hands on a result, whatever node computes the result."""
    return body.add_node(body.unique_name(f"{value.node.name}/result"), "Identity", [value], (), {"T": value.dtype})


def _is_lowered(graph: Graph, node: Node) -> bool:
    """True for a loop or a call that TensorFlow puts into the graph and that draws."""
    kind = CALL_KINDS.get(node.op)
    if kind is None or not (kind.is_inlined or (kind.is_loop and call_site(node).is_lowered)):
        return False
    # TensorFlow's lowering gives a handle no Switch, so a V1 loop of handles alone could not end. As a call it makes the same
    # draws.
    if kind.is_loop and all(value.dtype is resource for value in node.inputs):
        return False
    if not any(access.kind == DRAW for access in accesses(graph, [node])):
        return False
    functions = [_function(graph, reference) for reference in kind.references(node)]
    # Only calls and loops that draw are lowered: a planned call or loop is several times as fast as dataflow.
    return all(function is not None and _is_put_into_graphs(function) for function in functions)


def _is_put_into_graphs(function: Function) -> bool:
    """True for a function with results or control results and without V1 control flow, since frames have names."""
    has_ends = bool(function.results or function.control_results)
    return has_ends and not any(inner.op in LOOP_OPS for inner in function.body)


def _function(graph: Graph, reference: object) -> Function | None:
    """Return the function that an attribute names, its types filled in."""
    function = graph.functions.get(reference.name) if isinstance(reference, FuncRef) else None
    if function is None or not isinstance(reference, FuncRef):
        return None
    return with_attrs(function, reference)


class _Lowering:
    """A graph on the way."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.pending = collections.deque(graph)
        self.most = len(graph) + MAX_NODES

    def run(self) -> None:
        while self.pending and len(self.graph) < self.most:
            node = self.pending.popleft()
            if _is_lowered(self.graph, node):
                if node.op in INLINED:
                    self.lower_call(node)
                else:
                    self.lower_while(node)

    def lower_call(self, call: Node) -> None:
        """Replace a call by the nodes of its function."""
        function = _function(self.graph, call.attr("f"))
        assert function is not None
        # A node of the function without inputs would otherwise run also where the call is dead.
        pivots = [*map(self.living, call.inputs), *call.control_inputs]
        results, controls = self.body(call, function, call.inputs, pivots, "")
        self.replace(call, results, controls)

    def living(self, value: Output) -> Node:
        """Return a node that is alive when a value is alive; a Switch itself is alive in both branches."""
        if value.node.op not in SWITCH:
            return value.node
        return self.add(value.node, "taken", "Identity", [value], {"T": value.dtype})

    def lower_while(self, loop: Node) -> None:
        """Replace a While by a V1 loop. A resource stays the same in all iterations."""
        cond, body = (_function(self.graph, loop.attr(name)) for name in ("cond", "body"))
        assert cond is not None and body is not None
        enters = [self.enter(loop, value) for value in loop.inputs]
        merges = [None if value.dtype is resource else self.merge(loop, value) for value in enters]
        first = next(merge.node for merge in merges if merge is not None)
        values = [merge if merge is not None else enter for merge, enter in zip(merges, enters)]
        (decided,), _ = self.body(loop, cond, values, [first], "cond")
        predicate = self.add(loop, "LoopCond", "LoopCond", [decided], {}).output()
        switches = [None if merge is None else self.switch(loop, merge, predicate) for merge in merges]
        taken = next(switch for switch in switches if switch is not None)
        pivot = self.add(loop, "loop_body_control", "Identity", [taken.output(1)], {"T": taken.output_dtypes[1]})
        going = [enter if switch is None else switch.output(1) for switch, enter in zip(switches, enters)]
        results, controls = self.body(loop, body, going, [pivot], "body")
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
            # As in TensorFlow's lowering: a handle enters once for all iterations.
            "is_constant": value.dtype is resource,
            "parallel_iterations": loop.attr("parallel_iterations", _PARALLEL_ITERATIONS),
        }
        return self.add(loop, "enter", "Enter", [value], attrs, loop.control_inputs).output()

    def merge(self, loop: Node, value: Output) -> Output:
        # The second input is a stand-in until the NextIteration exists.
        return self.add(loop, "merge", "Merge", [value, value], {"T": value.dtype, "N": 2}).output()

    def switch(self, loop: Node, value: Output, predicate: Output) -> Node:
        return self.add(loop, "switch", "Switch", [value, predicate], {"T": value.dtype})

    def body(
        self, call: Node, function: Function, args: Sequence[Output], pivots: Sequence[Node], scope: str
    ) -> tuple[list[Output], list[Node]]:
        """Copy a function's nodes; return the results and the control results.

        Nodes that wait for nothing wait for `pivots`.
        """
        operands = dict(zip(function_inputs(function), args))
        needed = needed_nodes([*function.results, *function.control_results], list(operands))
        made: dict[Node, Node] = {}

        def copies(node: Node) -> Sequence[Node]:
            return pivots if node.is_argument else [made[node]]

        def value_of(value: Output) -> Output:
            return operands[value] if value in operands else made[value.node].output(value.index)

        for node in topological_order([n for n in function.body if n in needed and n not in function.args]):
            controls = [source for control in node.control_inputs for source in copies(control)]
            waits = controls or ([] if node.inputs else pivots)
            # `_class` names nodes of the body to be placed with; in the graph these names may be other nodes.
            attrs = {key: value for key, value in node.attrs.items() if key != "_class"}
            made[node] = self.add(call, f"{scope}/{node.name}".strip("/"), node.op, map(value_of, node.inputs), attrs, waits)
        ran = [source for node in function.control_results for source in copies(node)]
        return [value_of(value) for value in function.results], ran

    def replace(self, call: Node, outputs: Sequence[Output], controls: Sequence[Node]) -> None:
        """Let users of a call take `outputs`; the call's name goes to a node that waits for all outputs and for `controls`."""
        for i, output in enumerate(outputs):
            self.graph.replace_all_uses(call.output(i), output)
        # Control edges are put aside while the node that takes over the name does not exist: names are unique in a graph.
        waiting = {user: user.control_inputs for user in call.uses}
        for user, before in waiting.items():
            self.graph.set_inputs(user, user.inputs, [control for control in before if control is not call])
        self.graph.remove_node(call)
        op, attrs = ("IdentityN", {"T": [output.dtype for output in outputs]}) if outputs else ("NoOp", {})
        joined = self.graph.add_node(call.name, op, outputs, controls, attrs, call.device)
        for user, before in waiting.items():
            self.graph.set_inputs(user, user.inputs, [joined if control is call else control for control in before])

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
        node = self.graph.add_node(name, op, inputs, dict.fromkeys(controls), dict(attrs), call.device)
        self.pending.append(node)
        return node
