"""Deadness analysis: the branches of conditionals on which a node of V1 control flow is alive.

A condition is a set of literals (predicate, branch). A value is alive if every predicate takes the branch of the literal.
The functions follow TensorFlow's executor. A Switch puts each output on a branch. A Merge is alive if any input is alive.
Any other node is alive if all inputs are alive.

`Deadness` applies the rules to the nodes of a graph, and `planning.frame_steps` to the nodes and loops of a frame. The
ONNX export applies the rules to the slots of a plan, in which some predicates are known.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from ..support import dataclasses
from ..support.errors import InvalidArgumentError, UnimplementedError
from .frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame, source_of
from .graph import Graph, Node, Output

Literal = tuple[Output | Node, int]
Condition = frozenset[Literal]
ALWAYS: Final[Condition] = frozenset()

K = TypeVar("K", bound=Hashable)


def on_branch(
    condition: frozenset[tuple[K, int]], predicate: K, branch: int, taken: int | None = None
) -> frozenset[tuple[K, int]]:
    """Return the condition of an output of a Switch that is alive under `condition`.

    `taken` is the branch that the predicate takes in every run, where known: the condition of an output on another branch
    is a contradiction.
    """
    if taken == branch:
        return condition
    # Both literals for another branch: two branches of one predicate are how a contradiction is told.
    literals = {(predicate, branch)} if taken is None else {(predicate, branch), (predicate, taken)}
    return condition | literals


def joined(merge: K, conditions: Sequence[frozenset[tuple[K, int]]], arity: Mapping[K, int]) -> frozenset[tuple[K, int]]:
    """Return the condition of a Merge: the common part of its inputs' conditions, where they cover all branches of a
    predicate.

    `arity` has the number of branches of predicates with more or fewer than two. Where the inputs cover less, the condition
    has the literal (`merge`, 0), which no other node has.
    """
    # An input that is dead in every run adds nothing to a Merge.
    possible = [c for c in conditions if not is_contradiction(c)] or list(conditions[:1])
    common = frozenset.intersection(*possible)
    rests = [c - common for c in possible]
    # This input is alive whenever the common part holds, and so is the Merge.
    if any(not rest for rest in rests):
        return common
    predicates = {key for rest in rests for key, _ in rest}
    if all(len(rest) == 1 for rest in rests) and len(predicates) == 1:
        key = predicates.pop()
        # All branches of one predicate are there, so one of the inputs is alive in each run.
        if len({branch for rest in rests for _, branch in rest}) == arity.get(key, 2):
            return common
    # The Merge gets a literal of its own, because no other condition describes the runs in which it is alive.
    return common | {(merge, 0)}


def is_contradiction(condition: frozenset[tuple[K, int]]) -> bool:
    """Return True for the condition of a node that is dead in every run: a predicate would have to take two branches."""
    return len({key for key, _ in condition}) < len(condition)


def branch_of(condition: frozenset[tuple[K, int]], predicate: K) -> int | None:
    """Return the branch that `predicate` takes where the condition holds; None if any branch is possible."""
    return next((branch for key, branch in condition if key == predicate), None)


def predicate_of(switch: Node, trails: dict[Output, Output] | None = None) -> Output | Node:
    """Return the predicate of a Switch behind copies, or the Switch itself if the predicate is a reference.

    The value of a reference may change between two Switches. `trails` caches the results of `trail_end`.
    """
    source = predicate_source(switch, trails)
    return switch if source.is_reference else source


def predicate_source(switch: Node, trails: dict[Output, Output] | None = None) -> Output:
    """Return the value that the predicate of a Switch is a copy of; `trails` caches the results of `trail_end`."""
    return source_of(switch.inputs[1], trails)


def is_choice(node: Node, trails: dict[Output, Output] | None = None) -> bool:
    """Return True for a conditional's Switch.

    The predicate of a loop's Switch is a LoopCond. `trails` caches the results of `trail_end`.
    """
    return node.op in SWITCH and not predicate_source(node, trails).node.is_loop_condition


class Deadness:
    """The conditions of nodes in a graph, computed on demand; back edges and conditions of loops do not count.

    `nodes` are the nodes of the run, None for all nodes of the graph; `fed` are the fed values, which are always alive;
    `predicate` returns the predicate of a Switch. `counts_loops` adds the conditions of loops, as predicates of the nodes
    in the body: then a value that a loop reads but does not change is alive more often than a value of the body.
    """

    def __init__(
        self,
        nodes: Container[Node] | None = None,
        fed: Container[Output] = (),
        predicate: Callable[[Node, dict[Output, Output]], Output | Node] = predicate_of,
        counts_loops: bool = False,
    ) -> None:
        self._nodes = nodes
        self._fed = fed
        self._predicate = predicate
        self._counts_loops = counts_loops
        self._conditions: dict[Node, Condition] = {}
        self._predicates: dict[Output, Output] = {}

    def of_node(self, node: Node) -> Condition:
        """Return the condition of a node; InvalidArgumentError if the node waits for itself."""
        # The walk keeps a stack, because chains of nodes may be longer than Python's recursion may be deep.
        stack = [] if node in self._conditions else [node]
        entered: set[Node] = set()
        while stack:
            last = stack[-1]
            missing = [source for source in self._sources(last) if source not in self._conditions]
            if not missing:
                self._conditions[last] = self._after_sources(last)
                stack.pop()
            # Its sources were pushed before and are still missing, so they wait for it.
            elif last in entered:
                raise InvalidArgumentError("it is part of a cycle", node=last.name, op=last.op)
            else:
                entered.add(last)
                stack += missing
        return self._conditions[node]

    def of_value(self, value: Output) -> Condition:
        """Return the condition of an output: the condition of its node, with the branch where the node is a conditional's
        Switch.
        """
        if value in self._fed:
            return ALWAYS
        condition = self.of_node(value.node)
        is_counted = value.node.op in SWITCH if self._counts_loops else is_choice(value.node, self._predicates)
        if not is_counted:
            return condition
        return on_branch(condition, self._predicate(value.node, self._predicates), value.index)

    def of_values(self, values: Iterable[Output]) -> Condition:
        """Return the condition under which all values are alive."""
        return ALWAYS.union(*map(self.of_value, values))

    def _sources(self, node: Node) -> list[Node]:
        """Return the nodes that a node waits for, without the back edges of loops."""
        # A ControlTrigger runs whatever its inputs are.
        if node.is_control_trigger:
            return []
        sources = (*(value.node for value in node.inputs if value not in self._fed), *node.control_inputs)
        # The Merge of a loop is alive if the loop is entered, which its other input tells.
        return [s for s in sources if s.op not in NEXT_ITERATION and (self._nodes is None or s in self._nodes)]

    def _after_sources(self, node: Node) -> Condition:
        sources = self._sources(node)
        arriving = [self.of_value(value) for value in node.inputs if value in self._fed or value.node in sources]
        if node.op in MERGE and arriving:
            return joined(node, arriving, {})
        if node.op in EXIT and self._counts_loops:
            # The condition of a loop ends with the loop, as its literals name values of single iterations.
            return self._conditions[node.inputs[0].node]
        return ALWAYS.union(*arriving, *(self._conditions[control] for control in node.control_inputs if control in sources))


def always_alive(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes that have a value in every run: not on a branch of a conditional, where a run may not go."""
    # Graphs of TensorFlow 2 have no branches of this kind, and are not walked through.
    if not any(node.op in SWITCH for node in graph):
        return list(nodes)
    deadness = Deadness()
    try:
        return [node for node in nodes if all(deadness.of_value(value) == ALWAYS for value in node.outputs())]
    except InvalidArgumentError:  # nodes wait for each other: the graph has no runs
        return list(nodes)


# The variables of a loop that is built as tf.while_loop builds loops.


@dataclasses.dataclass(frozen=True, slots=True)
class LoopVariable:
    """A variable of a loop: Enter -> Merge -> Switch -> body -> NextIteration -> Merge, and Exit where used after the loop."""

    enter: Node
    merge: Node
    switch: Node
    next_iteration: Node
    exit: Node | None

    @property
    def body_input(self) -> Output:
        """The value at the start of an iteration."""
        return self.switch.output(1)

    @property
    def body_output(self) -> Output:
        """The value at the end of an iteration."""
        return self.next_iteration.inputs[0]


def loop_variables(frame: Frame) -> list[LoopVariable]:
    """Return the loop's variables; UnimplementedError for a loop in another form than tf.while_loop's.

    TensorFlow's gradients leave Enters behind that nothing reads: they are no variables.
    """
    return [_loop_variable(enter) for enter in frame.with_op(ENTER) if enter.uses and not enter.attr("is_constant")]


def _loop_variable(enter: Node) -> LoopVariable:
    merge = _only(enter, [n for n in enter.uses if n.op in MERGE])
    switch = _only(merge, [n for n in merge.uses if _is_loop_switch(n) and merge.output() in n.inputs[:1]])
    # tf.while_loop makes an Exit for each variable, and pruning drops those that nothing reads.
    exits = [n for n in switch.uses if n.op in EXIT]
    back = _only(merge, [value.node for value in merge.inputs if value.node.op in NEXT_ITERATION])
    return LoopVariable(enter, merge, switch, back, exits[0] if exits else None)


def _is_loop_switch(node: Node) -> bool:
    """True for the Switch that ends a loop; a conditional in the loop's condition has others."""
    return node.op in SWITCH and not is_choice(node)


def _only(node: Node, candidates: list[Node]) -> Node:
    if len(candidates) != 1:
        raise UnimplementedError("the loop around it does not have the form of tf.while_loop", node=node.name, op=node.op)
    return candidates[0]
