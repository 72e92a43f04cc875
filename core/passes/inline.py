"""Put the bodies of called functions into the graph around them, and let calls name the functions that run on a CPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from ..graph.call_kinds import INLINED, call_site
from ..graph.callers import captured_functions
from ..graph.frames import SWITCH
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import name_implementations, with_attrs
from ..graph.node_making import add_identity
from ..graph.traversal import descendants, nodes_of_kind
from ..planning.effects import READ, WRITE, accesses
from ..planning.live_edges import LiveEdges
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..types.tensors import FuncRef
from .base.graph_pass import Pass, PassContext, identity_of


class Inline(Pass):
    """Replace PartitionedCall, StatefulPartitionedCall and calls by name by the nodes of the function, `limit` at most.

    A function with several callers is copied: `copies` nodes at most, including copies into other functions. As in
    TensorFlow only nodes that lead to a result or a control output come along; they wait for the call's inputs, and nodes
    that waited for the call wait for all of them. Recursive functions stay, and so do functions with random ops and several
    callers, as copies would draw from separate streams.
    """

    name: ClassVar[str] = "inline"
    summary: ClassVar[str] = "replace calls by the bodies of the functions"
    follows: ClassVar[str] = "implementations"
    requires: ClassVar[tuple[str, ...]] = ("implementations",)
    limit: int = 10_000
    copies: int = 1_000

    def run(self, graph: Graph, ctx: PassContext) -> None:
        # Before the first call is inlined: afterwards the accesses of its body would count as accesses of the graph around.
        late = _late_arguments(graph, ctx)
        for node in _calls(graph, ctx):
            reference = _called(graph, node)
            function = graph.functions.get(reference.name) if reference is not None else None
            if function is None or reference is None:
                continue
            # The nodes are read: those of a function that equals others are made in the graph alone.
            shared = function.pattern
            reason = self._blocker(graph, ctx, node, function.name, shared)
            if reason is not None:
                ctx.refuse("inline", node, reason)
                continue
            if ctx.is_shared(function.name):
                ctx.shared.copied += len(shared.body)
            _Inlining(graph, ctx, node, function.name, with_attrs(shared, reference), late.get(node, {})).make()

    def _blocker(self, graph: Graph, ctx: PassContext, node: Node, name: str, function: Function) -> str | None:
        if node.name in ctx.start:
            return "it runs only when a session starts"
        if any(map(ctx.is_fed, (node.output(i) for i in range(len(function.results))))):
            return "its result may be fed"
        if len(function.body) > self.limit:
            return f"the function has more than {self.limit} nodes"
        is_shared = ctx.is_shared(name)
        if is_shared and ctx.shared.copied + len(function.body) > self.copies:
            return f"copies of functions that are called from several places take more than {self.copies} nodes"
        # An Identity in the place of the call would read the variable.
        if any(arg.is_ref for arg in function.signature.outputs):
            return "it returns a reference"
        if ctx.calls_itself(name):
            return "the function calls itself"
        # Gradients of the call are taken by that function, which inlining would lose.
        if function.gradient is not None:
            return "a gradient is declared for the function"
        if name in captured_functions(graph):
            return "a saved gradient reads its nodes"
        # A copy would leave out the effects that no result needs: TensorFlow inlines no call by name, and none of a body
        # without results.
        if call_site(node).runs_effects(function) and any(ctx.acts(n) for n in function.body):
            return "the call runs effects that no result may need"
        if _has_branches(function) and not all(map(LiveEdges(function.body).has_live_end, function.control_results)):
            return "its callers wait for a node on a branch whose other branches are unknown"
        is_random = any(has_fact(n.op, "random") for n in function.body)
        if is_random and is_shared:
            return "it draws random numbers and is called from several places"
        return None


def _has_branches(function: Function) -> bool:
    return any(node.op in SWITCH for node in function.body)


def _calls(graph: Graph, ctx: PassContext) -> list[Node]:
    """Return the nodes whose ops may call a function, in topological order."""
    return nodes_of_kind(ctx.order(), lambda kind: kind.op in INLINED or kind.op in graph.functions)


def _called(graph: Graph, node: Node) -> FuncRef | None:
    """Return the function that a node calls; None for a node that does more."""
    if node.op in INLINED:
        reference = node.attr("f")
        return reference if isinstance(reference, FuncRef) else None
    return FuncRef(node.op, node.attrs) if node.op_def is None and node.op in graph.functions else None


def _late_arguments(graph: Graph, ctx: PassContext) -> dict[Node, dict[str, list[int]]]:
    """Return the inputs of each call that come after accesses to state: for nodes that read, and for nodes that write.

    A read has to come after all writes, a write after all accesses that the call waited for.
    """
    calls = [node for node in _calls(graph, ctx) if _called(graph, node) is not None]
    active = accesses(graph, ctx.order()) if calls else []
    behind = {
        READ: descendants({access.node for access in active if access.kind == WRITE}),
        WRITE: descendants({access.node for access in active if access.kind in (READ, WRITE)}),
    }
    return {
        call: {kind: [i for i, value in enumerate(call.inputs) if value.node in nodes] for kind, nodes in behind.items()}
        for call in calls
    }


class _Inlining:
    """The inlining of a single call; `late` has the inputs that a read or a write in the body has to wait for."""

    def __init__(
        self, graph: Graph, ctx: PassContext, call: Node, name: str, function: Function, late: Mapping[str, Sequence[int]]
    ) -> None:
        self.graph, self.ctx, self.call, self.name, self.function = graph, ctx, call, name, function
        self.late = {kind: [function.args[i] for i in places] for kind, places in late.items() if places}
        self.copies: dict[Node, Node] = {}
        self.ends: dict[Node, Node] = {}
        """The nodes that end after control results on branches."""

    def make(self) -> None:
        """Add the body's nodes, let consumers take their outputs, and drop the call.

        A call ends whichever branches its body takes, and so does a node that waits for a control result on a branch.
        """
        self._arguments()
        # In two passes, since nodes of a V1 loop in the body name each other in a cycle.
        for node in self._needed():
            self._copy(node)
        for node in self.copies:
            if node not in self.function.args:
                self._connect(node)
        if self.late:
            self._keep_order()
        if _has_branches(self.function):
            edges = LiveEdges(self.graph)
            condition = edges.condition(self.call)
            for node in self.function.control_results:
                self.ends[node] = edges.live_behind(self.copies[node], condition) or self.copies[node]
        self._redirect([self._result(value) for value in self.function.results])

    def _keep_order(self) -> None:
        """Let accesses of the body wait for arguments that they do not read, as the call did."""
        waiting = {kind: self._all_of([self.copies[arg] for arg in args]) for kind, args in self.late.items()}
        for access in accesses(self.function.body, list(self.function.body)):
            if access.kind in waiting and access.node in self.copies:
                self.graph.add_control_input(self.copies[access.node], waiting[access.kind])

    def _all_of(self, nodes: Sequence[Node]) -> Node:
        """Return a node that waits for all nodes."""
        if len(nodes) == 1:
            return nodes[0]
        return self.graph.add_node(self._name("arguments"), "NoOp", (), nodes, {}, self.call.device)

    def _result(self, value: Output) -> Output:
        """Return the replacement of a result: a reader makes all control results run, as the call did."""
        copy = Output(self.copies[value.node], value.index)
        waited = needed_nodes([value])
        left = [c for c in self.function.control_results if any(map(self.ctx.acts, needed_nodes([c]) - waited))]
        if not left or value.dtype is None:
            return copy
        controls, dtype = [self.ends.get(c, self.copies[c]) for c in left], value.dtype.base
        name = f"{self.call.name}/{value.node.name}/result"
        return add_identity(self.graph, name, copy, dtype, controls, self.call.device).output()

    def _needed(self) -> Iterator[Node]:
        args = dict.fromkeys(self.function.args)
        needed = needed_nodes([*self.function.results, *self.function.control_results], [arg.output() for arg in args])
        return (node for node in self.function.body if node in needed and node not in args)

    def _name(self, name: str) -> str:
        return self.graph.unique_name(f"{self.call.name}/{name}")

    def _arguments(self) -> None:
        # As TensorFlow inlines: an Identity waits for what the call waited for, so the body need not.
        for arg, value in zip(self.function.args, self.call.inputs):
            name, dtype = f"{self.call.name}/{arg.name}", arg.output_dtypes[0].base
            self.copies[arg] = add_identity(self.graph, name, value, dtype, self.call.control_inputs, self.call.device)

    def _copy(self, node: Node) -> None:
        attrs = node.attrs
        # The names after `loc:@` are those of the body's nodes, which get other names here.
        if "_class" in attrs:
            attrs = {key: value for key, value in attrs.items() if key != "_class"}
        self.copies[node] = self.graph.add_node(self._name(node.name), node.op, (), (), attrs, node.device or self.call.device)

    def _connect(self, node: Node) -> None:
        """Connect a copy; a copy without edges waits for the call's control inputs and arguments."""
        inputs = [Output(self.copies[value.node], value.index) for value in node.inputs]
        controls = [self.copies[c] for c in node.control_inputs]
        if not inputs and not controls:
            # A node without inputs would run at once, in no loop and on no branch, though the call may lie in one.
            controls = [self.copies[arg] for arg in self.function.args] or list(self.call.control_inputs)
            # A constant that waits for nothing can be folded, and here nobody can tell when it runs.
            if node.is_constant and not self.ctx.is_inside(self.call) and not self._waits():
                controls = []
        self.graph.set_inputs(self.copies[node], inputs, controls)

    def _waits(self) -> bool:
        return any(self.ctx.has_effects(control) for control in self.call.control_inputs)

    def _redirect(self, results: list[Output]) -> None:
        call, graph = self.call, self.graph
        # As TensorFlow's InlineFunctionBody: nodes that waited for the call wait for its control outputs, or for its inputs if
        # there are none.
        done = [self.ends.get(node, self.copies[node]) for node in self.function.control_results or self.function.args]
        waiting = graph.control_consumers(call)
        if self.ctx.is_preserved(call):
            self._keep_name(results, done)
        else:
            for i, value in enumerate(results):
                graph.replace_all_uses(call.output(i), value)
            for consumer in waiting:
                graph.remove_control_input(consumer, call)
                for node in done or self.call.control_inputs:
                    graph.add_control_input(consumer, node)
            graph.remove_node(call)
        self.ctx.fire("call", call, f"inlined: replaced by the nodes of function {self.name}")

    def _keep_name(self, results: list[Output], done: list[Node]) -> None:
        """Turn a fetched or kept call into an Identity of the results, or a NoOp if no result is read or fetched."""
        is_read = any(user for i in range(len(results)) for user in self.graph.consumers(self.call.output(i)))
        is_read |= any(self.call.output(i).name in self.ctx.fetched_outputs for i in range(len(results)))
        types = [value.dtype.base for value in results if value.dtype is not None] if is_read else []
        self.call.change_op(*identity_of(types))
        self.graph.set_inputs(self.call, results if types else (), dict.fromkeys(done))


class Implementations(Pass):
    """Call the CPU's function by name if functions implement an interface for several devices, as a run does.

    Passes that change functions work on copies, and a copy implements no interface any more.
    """

    name: ClassVar[str] = "implementations"
    summary: ClassVar[str] = "call the CPU implementations of functions"
    follows: ClassVar[str] = "prune"

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node, function in name_implementations(graph):
            ctx.fire("call", node, f"calls {function}, the implementation for CPUs")
