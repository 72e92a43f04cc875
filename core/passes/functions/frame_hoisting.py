"""Loop-invariant code motion for V1 while loops."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence, Set

from ...functions.purity import CONTROL_FLOW
from ...graph.deadness import LoopVariable
from ...graph.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame, is_transparent
from ...graph.graph import Graph, Node, Output
from ...graph.references import written_variables
from ...graph.traversal import closure, topological_order
from ..base.graph_pass import PassContext
from .invariance import Invariants, bound_to_loop, is_reference, may_fail, passed_on

RULE = "invariant"


def body_nodes(graph: Graph, frame: Frame) -> set[Node]:
    """Return the nodes that run only where the loop's condition is true."""
    predicate = frame.condition.output()
    switches = [switch for switch in frame.with_op(SWITCH) if switch.inputs[1] == predicate]
    return _after(frame, (user for switch in switches for user in graph.consumers(switch.output(1))))


def _branch_nodes(graph: Graph, frame: Frame) -> set[Node]:
    """Return the nodes on branches within an iteration and their descendants, and nodes that run after the last iteration
    only.
    """
    predicate = frame.condition.output()
    starts: list[Node] = []
    for switch in frame.with_op(SWITCH):
        users = graph.consumers(switch.output(0)) if switch.inputs[1] == predicate else list(switch.uses)
        starts += [user for user in users if user.op not in EXIT]
    return _after(frame, starts)


def _after(frame: Frame, starts: Iterable[Node]) -> set[Node]:
    """Return the starts, and their descendants in the same iteration."""
    within, last = set(frame.nodes_within()), set(frame.with_op(NEXT_ITERATION))
    return closure(starts, lambda node: () if node in last else within.intersection(node.uses))


class FrameMotion:
    """A loop with invariant nodes that are moved before the loop.

    A value that entered as a constant, or as a variable that the body does not change, has the same value before the loop.
    A node that depends on nothing else moves there, and a new constant Enter brings in the node's result. The consumers
    wait for the nodes that the moved node waited for, so that the consumers are alive in the same iterations as before.
    """

    def __init__(
        self, graph: Graph, ctx: PassContext, frame: Frame, variables: Sequence[LoopVariable], entered: bool | None
    ) -> None:
        self.graph = graph
        self.ctx = ctx
        self.frame = frame
        self.enters: dict[Output, Node] = {}
        """The Enter of each value that is the same in every iteration."""
        self.constants: dict[Node, Node] = {}
        """The replacement, before the loop, of each constant of the loop."""
        self.witnesses: dict[Node, Node] = {}
        """A node, for each moved node, that still runs in every iteration."""
        self.body = body_nodes(graph, frame)
        self.branches = _branch_nodes(graph, frame)
        sources = [enter.inputs[0].node for enter in frame.with_op(ENTER)]
        self.is_reached = frame.enclosing is None and not any(map(ctx.is_inside, sources))
        """True if the loop lies in no other loop and on no branch: a run that needs the loop starts the loop."""
        self.entered = entered
        """True if the started loop surely has a first iteration, None where that is unknown."""
        self.writes_references = any(written_variables(node) for node in frame.nodes_within())
        self.invariants = Invariants(self._blocker, functools.partial(ctx.refuse, RULE))
        self.unchanged = [v for v in variables if passed_on(v.body_output) == v.body_input]
        self._seed()

    def run(self) -> None:
        """Move worthwhile nodes, and read unchanged variables past the loop."""
        for variable in self.unchanged:
            self._read_past(variable)
        for node in topological_order(self.frame.nodes):
            if node.op not in CONTROL_FLOW:
                self.invariants.consider(node)
        moved = self.invariants.worthwhile()
        for node, waits in moved.items():
            self._move(node, waits, moved.keys())

    def _seed(self) -> None:
        """Seed the invariants: constants that enter, and variables that no iteration changes."""
        for enter in self.frame.invariants:
            self._add(enter.output(), enter)
        for variable in self.unchanged:
            self._add(variable.merge.output(), variable.enter)
            for user in self.graph.consumers(variable.body_input):
                if is_transparent(user):
                    self._add(user.output(), variable.enter, [user])

    def _read_past(self, variable: LoopVariable) -> None:
        """Let consumers after the loop read the entering value of a variable, unless they may have to wait for the loop."""
        graph, ctx, exit_node, source = self.graph, self.ctx, variable.exit, variable.enter.inputs[0]
        users = [] if exit_node is None else graph.consumers(exit_node.output())
        if exit_node is None or not users or is_reference(source):
            return
        enters = self.frame.with_op(ENTER)
        # A consumer of the Exit runs after the loop. Past the loop it would run before the loop's effects.
        if not self.is_reached or any(map(ctx.has_effects, enters)) or any(map(ctx.acts, self.frame.nodes_within())):
            ctx.refuse("unchanged", exit_node, "its consumer may have to wait for the loop")
            return
        graph.replace_all_uses(exit_node.output(), source)
        for user in users:
            ctx.fire("unchanged", user)

    def _add(self, value: Output, enter: Node, waits: Iterable[Node] = ()) -> None:
        source = passed_on(enter.inputs[0])
        # A constant Enter of a reference shows in each iteration what the iterations before have written.
        if enter.op == "Enter" and not (self.writes_references and _reads_reference(source)):
            self.enters[value] = enter
            self.invariants.add(value, waits)

    def _blocker(self, node: Node) -> str | None:
        """Return the reason why a node with invariant inputs stays in the loop."""
        reason = bound_to_loop(self.graph, node)
        if reason is not None:
            return reason
        if self.ctx.is_preserved(node):
            return "its name is needed in the loop"
        if node in self.branches:
            return "it lies on a branch within the loop"
        if any(user.op in (*MERGE, *EXIT, "LoopCond") for user in node.uses):
            return "a Merge, an Exit or the loop's condition reads it directly"
        if self.is_reached and (self.entered or node not in self.body):
            return None
        reason = may_fail(node, self.ctx.inference)
        return None if reason is None else f"{reason}, and the loop may never run"

    def _move(self, node: Node, waits: Sequence[Node], moved: Set[Node]) -> None:
        """Put a node before the loop, after the moved inputs, and let consumers in the loop read the entering result."""
        graph = self.graph
        staying = [user for user in node.uses if user not in moved]
        sources = self.invariants.sources(node)
        inside = next(value.node for value in sources if not value.node.is_constant)
        # Once moved, the node runs before the loop, so a control edge from it no longer says that the iteration has begun.
        self.witnesses[node] = self.witnesses.get(inside, inside)
        controls = [c for value in sources if value in self.enters for c in self.enters[value].control_inputs]
        graph.set_inputs(node, [self._before(value, moved) for value in sources], controls)
        for output in node.outputs():
            self._bring_in(output, [user for user in staying if output in user.inputs])
        for user in staying:
            if node in user.control_inputs:
                graph.remove_control_input(user, node)
                graph.add_control_input(user, self.witnesses[node])
            for wait in waits:
                graph.add_control_input(user, wait)
        self.ctx.fire(RULE, node, f"moved before loop '{self.frame.name}': it is the same in every iteration")

    def _before(self, value: Output, moved: Set[Node]) -> Output:
        """Return the value before the loop of an invariant value."""
        if value in self.enters:
            return self.enters[value].inputs[0]
        return self._constant(value.node, moved).output() if value.node.is_constant else value

    def _constant(self, constant: Node, moved: Set[Node]) -> Node:
        """Return the constant, or a copy where the loop has other readers of the constant."""
        if constant not in self.constants:
            # In an outer loop the constant waits for a value that enters this loop: with neither inputs nor controls the
            # constant would lie in no loop.
            around = [self.frame.with_op(ENTER)[0].inputs[0].node] if self.frame.enclosing is not None else []
            if self.ctx.is_preserved(constant) or any(user not in moved for user in constant.uses):
                name = self.graph.unique_name(f"{constant.name}/before")
                made = self.graph.add_node(name, "Const", (), around, constant.attrs, constant.device)
            else:
                made = constant
                self.graph.set_inputs(made, (), around)
            self.constants[constant] = made
        return self.constants[constant]

    def _bring_in(self, value: Output, users: Sequence[Node]) -> None:
        if not users:
            return
        assert value.dtype is not None
        like = self.frame.with_op(ENTER)[0]
        attrs = {
            "T": value.dtype.base, "frame_name": like.attrs["frame_name"], "is_constant": True,
            "parallel_iterations": like.attr("parallel_iterations"),
        }  # fmt: skip
        name = self.graph.unique_name(f"{value.node.name}/Enter")
        enter = self.graph.add_node(name, "Enter", [value], (), attrs, value.node.device)
        for user in users:
            self.graph.set_inputs(user, (enter.output() if taken == value else taken for taken in user.inputs))


def _reads_reference(value: Output) -> bool:
    """Return True for a value read from a variable by reference: a write changes the value even after the read."""
    node = value.node
    references = [value, *(node.inputs if is_transparent(node) else ())]
    return any(map(is_reference, references))
