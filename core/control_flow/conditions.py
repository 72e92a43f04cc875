"""Which nodes of a run lie in which frame of a V1 loop, and under which conditions a node is alive.

Frames are found by TensorFlow's own rules and refused where TensorFlow refuses them. Conditions are sets of literals
(predicate, branch): a node is alive where every Switch on the way to it took that branch.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from ..graph.graph import Node, Output
from ..graph.traversal import trail_end
from ..registry.op_facts import has_fact, ops_with
from ..support.errors import InvalidArgumentError, UnimplementedError

ENTER: Final = ops_with("enter")
EXIT: Final = ops_with("exit")
MERGE: Final = ops_with("merge")
SWITCH: Final = ops_with("switch")
NEXT_ITERATION: Final = ops_with("next_iteration")
LOOP_OPS: Final = (*ENTER, *EXIT, *NEXT_ITERATION)
_LETTING_IN: Final = (*ENTER, *SWITCH, "LoopCond")

Literal = tuple[Output | Node, int]
Condition = frozenset[Literal]
ALWAYS: Final[Condition] = frozenset()


@dataclasses.dataclass(eq=False)
class Frame:
    """A loop's frame, or the root frame, which has no name. Enter and Exit belong to the loop they lead into or out of."""

    name: str
    parent: Frame | None
    nodes: list[Node] = dataclasses.field(default_factory=list)
    children: list[Frame] = dataclasses.field(default_factory=list)

    @property
    def op(self) -> str:
        """What stands for an op type in messages."""
        return "while loop"

    def with_op(self, ops: Sequence[str]) -> list[Node]:
        return [node for node in self.nodes if node.op in ops]

    @property
    def enclosing(self) -> Frame | None:
        """The loop around this one; None where that is the root frame."""
        return self.parent if self.parent is not None and self.parent.parent is not None else None

    @property
    def depth(self) -> int:
        """How many loops there are around this one."""
        return 0 if self.enclosing is None else 1 + self.enclosing.depth

    @property
    def invariants(self) -> list[Node]:
        """The Enter nodes of values that are the same in every iteration."""
        return [node for node in self.with_op(ENTER) if node.attr("is_constant")]

    @functools.cached_property
    def is_sequential(self) -> bool:
        """True where an iteration begins when the one before is done, of this loop and of those around it."""
        if any(enter.attr("parallel_iterations") != 1 for enter in self.with_op(ENTER)):
            return False
        return self.enclosing is None or self.enclosing.is_sequential

    @property
    def loop_condition(self) -> Node | None:
        """The loop's LoopCond, where it has one."""
        return next((node for node in self.nodes if node.is_loop_condition), None)

    @property
    def condition(self) -> Node:
        """The loop's LoopCond; UnimplementedError where it has none."""
        found = self.loop_condition
        if found is not None:
            return found
        raise UnimplementedError(f"loop '{self.name}' has no LoopCond", node=self.nodes[0].name, op=self.nodes[0].op)

    def is_inside(self, frame: Frame) -> bool:
        """True for `frame` itself and every loop within it."""
        found: Frame | None = self
        while found is not None and found is not frame:
            found = found.parent
        return found is frame


def assign_frames(nodes: Iterable[Node], inputs: Callable[[Node], Sequence[Node | None]]) -> tuple[Frame, dict[Node, Frame]]:
    """The root frame, and the frame of every node that can be reached.

    `inputs` gives a node's predecessors, None for a value that is fed. InvalidArgumentError where a node takes inputs
    from different frames, an Exit lies in no loop, or two loops share a frame.
    """
    search = _FrameSearch(list(nodes), inputs)
    return search.root, search.found


class _FrameSearch:
    """Frames spread from the nodes without inputs along all edges."""

    def __init__(self, nodes: list[Node], inputs: Callable[[Node], Sequence[Node | None]]) -> None:
        self.root = Frame("", None)
        self.frames: dict[str, Frame] = {}
        self.found: dict[Node, Frame] = {}
        self.reached_from: dict[Node, str] = {}
        self.queue: collections.deque[Node] = collections.deque()
        consumers: dict[Node, list[Node]] = {}
        for node in nodes:
            sources = inputs(node)
            for source in sources:
                if source is not None:
                    consumers.setdefault(source, []).append(node)
            if not sources or None in sources:
                self.visit(node, self.root, "a value that is fed")
        while self.queue:
            node = self.queue.popleft()
            frame = self.after(node)
            for consumer in consumers.get(node, ()):
                self.visit(consumer, frame, f"'{node.name}'")
        for node in nodes:
            if node in self.found:
                self.found[node].nodes.append(node)
        self.check_conditions()

    def after(self, node: Node) -> Frame:
        """The frame that a node's outputs are in."""
        frame = self.found[node]
        if node.op not in EXIT:
            return frame
        if frame.parent is None:
            raise InvalidArgumentError("Invalid Exit op: cannot find a corresponding Enter op", node=node.name, op=node.op)
        return frame.parent

    def visit(self, node: Node, frame: Frame, source: str) -> None:
        known = self.found.get(node)
        if known is None:
            self.found[node] = self.entered(node, frame) if node.op in ENTER else frame
            self.reached_from[node] = source
            self.queue.append(node)
            return
        expected = known.parent if node.op in ENTER else known
        if expected is not frame:
            assert expected is not None
            raise InvalidArgumentError(
                f"it has inputs from different frames: {source} is in frame '{frame.name}', "
                f"{self.reached_from[node]} is in frame '{expected.name}'",
                node=node.name,
                op=node.op,
            )

    def entered(self, node: Node, parent: Frame) -> Frame:
        name = node.attrs["frame_name"].decode("utf-8", "surrogateescape")
        if not name:
            raise InvalidArgumentError("it must have a frame name", node=node.name, op=node.op)
        frame = self.frames.get(name)
        if frame is None:
            frame = self.frames[name] = Frame(name, parent)
            parent.children.append(frame)
        elif frame.parent is not parent:
            assert frame.parent is not None
            raise InvalidArgumentError(
                f"loop frame '{name}' is used twice: in frame '{parent.name}' and in frame '{frame.parent.name}'",
                node=node.name,
                op=node.op,
            )
        return frame

    def check_conditions(self) -> None:
        for frame in self.frames.values():
            conditions = [n for n in frame.nodes if n.is_loop_condition and "LoopCounter" not in n.name]
            if len(conditions) > 1:
                first, second = conditions[:2]
                raise InvalidArgumentError(
                    f"loop frame '{frame.name}' is used twice: it has more than one LoopCond, "
                    f"'{first.name}' and '{second.name}'",
                    node=second.name,
                    op=second.op,
                )


def is_transparent(node: Node) -> bool:
    """True for a node whose output is its input: it takes no step of its own."""
    return has_fact(node.op, "transparent")


def hands_in(node: Node) -> bool:
    """True where each output that is there is the first input: of copies, and of what lets into a loop or onto a branch."""
    return node.op in _LETTING_IN or is_transparent(node)


def handed_in(value: Output) -> Output:
    """The tensor that a value copies, before the nodes that let it into loops and onto branches."""
    while hands_in(value.node):
        value = value.node.inputs[0]
    return value


def predicate_of(switch: Node, known: dict[Output, Output] | None = None) -> Output | Node:
    """What decides a Switch: its predicate past all nodes that only pass it on. A reference may change: the Switch itself.

    `known` is for `trail_end`.
    """
    found = predicate_source(switch, known)
    return switch if found.dtype is not None and found.dtype.is_ref else found


def predicate_source(switch: Node, known: dict[Output, Output] | None = None) -> Output:
    """The predicate of a Switch past all nodes that only pass it on; `known` is for `trail_end`."""
    return source_of(switch.inputs[1], known)


def source_of(value: Output, known: dict[Output, Output] | None = None) -> Output:
    """The value past nodes that only pass it on; `known` is for `trail_end`."""
    return trail_end(value, _passed_on, known)


def _passed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if is_transparent(value.node) and value.node.inputs else None


def joined(node: Node, conditions: Sequence[Condition], arity: Mapping[Output | Node, int]) -> Condition:
    """When a Merge is alive, from when its inputs are: without a predicate all of whose branches arrive.

    `arity` tells how many branches a predicate has. Where nothing is known, the Merge itself stands for a literal.
    """
    possible = [c for c in conditions if not is_contradiction(c)] or list(conditions[:1])
    common = frozenset.intersection(*possible)
    rests = [c - common for c in possible]
    if any(not rest for rest in rests):
        return common
    predicates = {key for rest in rests for key, _ in rest}
    if all(len(rest) == 1 for rest in rests) and len(predicates) == 1:
        key = predicates.pop()
        if len({branch for rest in rests for _, branch in rest}) == arity.get(key, 2):
            return common
    return common | {(node, 0)}


class Conditions:
    """When nodes are alive, found as they are asked for; back edges and the conditions of loops decide nothing.

    `nodes` are those that matter, all of them where it is None; `predicate` tells the predicate of a Switch.
    """

    def __init__(
        self,
        nodes: Container[Node] | None = None,
        predicate: Callable[[Node, dict[Output, Output]], Output | Node] = predicate_of,
    ) -> None:
        self._nodes = nodes
        self._predicate = predicate
        self._found: dict[Node, Condition] = {}
        self._predicates: dict[Output, Output] = {}

    def of_node(self, node: Node) -> Condition:
        """When a node runs; InvalidArgumentError where it waits for itself."""
        stack = [] if node in self._found else [node]
        entered: set[Node] = set()
        while stack:
            last = stack[-1]
            missing = [source for source in self._sources(last) if source not in self._found]
            if not missing:
                self._found[last] = self._after_sources(last)
                stack.pop()
            elif last in entered:
                raise InvalidArgumentError("it is part of a cycle", node=last.name, op=last.op)
            else:
                entered.add(last)
                stack += missing
        return self._found[node]

    def of_value(self, value: Output) -> Condition:
        """When an output has a value: where its node runs, and on one branch only where that is a Switch."""
        condition = self.of_node(value.node)
        if not is_choice(value.node, self._predicates):
            return condition
        return condition | {(self._predicate(value.node, self._predicates), value.index)}

    def _sources(self, node: Node) -> list[Node]:
        """What a node waits for, the back edges of loops apart."""
        if node.is_control_trigger:
            return []
        sources = (*(value.node for value in node.inputs), *node.control_inputs)
        return [s for s in sources if s.op not in NEXT_ITERATION and (self._nodes is None or s in self._nodes)]

    def _after_sources(self, node: Node) -> Condition:
        sources = self._sources(node)
        arriving = [self.of_value(value) for value in node.inputs if value.node in sources]
        if node.op in MERGE and arriving:
            return joined(node, arriving, {})
        return ALWAYS.union(*arriving, *(self._found[control] for control in node.control_inputs if control in sources))


def is_choice(node: Node, known: dict[Output, Output] | None = None) -> bool:
    """True for the Switch of a conditional; that of a loop follows a LoopCond. `known` is for `trail_end`."""
    return node.op in SWITCH and not predicate_source(node, known).node.is_loop_condition


def is_contradiction(condition: Condition) -> bool:
    """True where two branches of one predicate would have to be taken at once."""
    return len({key for key, _ in condition}) < len(condition)
