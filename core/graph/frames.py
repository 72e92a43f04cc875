"""The frames of V1 loops, the nodes in each frame, and values that are copies of others.

Frames follow TensorFlow's own rules, and are refused where TensorFlow refuses them.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ..registry.op_facts import has_fact, ops_with
from ..support import dataclasses
from ..support.errors import InvalidArgumentError, UnimplementedError
from ..support.hints import Hint
from .graph import Graph, Node, Output
from .reference_ops import REPAIRS
from .traversal import predecessors, trail_end

ENTER: Final = ops_with("enter")
EXIT: Final = ops_with("exit")
MERGE: Final = ops_with("merge")
SWITCH: Final = ops_with("switch")
NEXT_ITERATION: Final = ops_with("next_iteration")
OWN_FRAMES: Final = Hint(REPAIRS, " gives each loop its own frame")
LOOP_OPS: Final = (*ENTER, *EXIT, *NEXT_ITERATION)


@dataclasses.dataclass(eq=False)
class Frame:
    """A loop's frame, or the root frame, which has no name.

    Enter nodes belong to the loop entered, Exit nodes to the loop left.
    """

    name: str
    parent: Frame | None
    nodes: list[Node] = dataclasses.field(default_factory=list)
    children: list[Frame] = dataclasses.field(default_factory=list)

    @property
    def op(self) -> str:
        """The text in place of an op type in messages."""
        return "while loop"

    def with_op(self, ops: Sequence[str]) -> list[Node]:
        return [node for node in self.nodes if node.op in ops]

    def nodes_within(self) -> list[Node]:
        """Return the nodes of this loop and of all nested loops."""
        nodes: list[Node] = []
        pending = [self]
        while pending:
            inner = pending.pop()
            nodes += inner.nodes
            pending += reversed(inner.children)
        return nodes

    @property
    def enclosing(self) -> Frame | None:
        """The loop around this loop; None if only the root frame is around."""
        return self.parent if self.parent is not None and self.parent.parent is not None else None

    @property
    def outermost(self) -> Frame:
        """The loop around this loop that no loop is around; the loop itself if only the root frame is around."""
        return self if self.enclosing is None else self.enclosing.outermost

    @property
    def depth(self) -> int:
        """The number of loops around this loop."""
        return 0 if self.enclosing is None else 1 + self.enclosing.depth

    @property
    def invariants(self) -> list[Node]:
        """The Enter nodes of values that are the same in every iteration."""
        return [node for node in self.with_op(ENTER) if node.attr("is_constant")]

    @functools.cached_property
    def is_sequential(self) -> bool:
        """True if each iteration begins after the end of the last, in this loop and in all loops around."""
        # TensorFlow begins an iteration as soon as its inputs are there, up to this number at a time.
        if any(enter.attr("parallel_iterations") != 1 for enter in self.with_op(ENTER)):
            return False
        return self.enclosing is None or self.enclosing.is_sequential

    @property
    def loop_condition(self) -> Node | None:
        """The loop's LoopCond, None for a loop without a LoopCond."""
        return next((node for node in self.nodes if node.is_loop_condition), None)

    @property
    def condition(self) -> Node:
        """The loop's LoopCond; UnimplementedError for a loop without a LoopCond."""
        condition = self.loop_condition
        if condition is not None:
            return condition
        raise UnimplementedError(f"loop '{self.name}' has no LoopCond", node=self.nodes[0].name, op=self.nodes[0].op)

    def is_inside(self, frame: Frame) -> bool:
        """True for `frame` itself and every loop within."""
        ancestor: Frame | None = self
        while ancestor is not None and ancestor is not frame:
            ancestor = ancestor.parent
        return ancestor is frame


def assign_frames(nodes: Iterable[Node], inputs: Callable[[Node], Sequence[Node | None]]) -> tuple[Frame, dict[Node, Frame]]:
    """Return the root frame, and the frame of every node that can be reached.

    `inputs` gives a node's predecessors, None for a value that is fed. InvalidArgumentError if a node takes inputs from
    different frames, an Exit lies in no loop, or two loops share a frame.
    """
    search = _FrameSearch(list(nodes), inputs)
    return search.root, search.frame_of


class _FrameSearch:
    """Frames spread from the nodes without inputs along all edges."""

    def __init__(self, nodes: list[Node], inputs: Callable[[Node], Sequence[Node | None]]) -> None:
        self.root = Frame("", None)
        self.frames: dict[str, Frame] = {}
        self.frame_of: dict[Node, Frame] = {}
        self.reached_from: dict[Node, str] = {}
        self.queue: collections.deque[Node] = collections.deque()
        consumers: dict[Node, list[Node]] = {}
        for node in nodes:
            sources = inputs(node)
            for source in sources:
                if source is not None:
                    consumers.setdefault(source, []).append(node)
            # A fed value comes from outside, so its consumer lies in the root frame like a node without inputs.
            if not sources or None in sources:
                self.visit(node, self.root, "a value that is fed")
        while self.queue:
            node = self.queue.popleft()
            frame = self.after(node)
            for consumer in consumers.get(node, ()):
                self.visit(consumer, frame, f"'{node.name}'")
        for node in nodes:
            if node in self.frame_of:
                # In the order of the graph and not of the search, which depends on the edges.
                self.frame_of[node].nodes.append(node)
        self.check_conditions()

    def after(self, node: Node) -> Frame:
        """Return the frame of a node's outputs."""
        frame = self.frame_of[node]
        if node.op not in EXIT:
            return frame
        if frame.parent is None:
            raise InvalidArgumentError("Invalid Exit op: cannot find a corresponding Enter op", node=node.name, op=node.op)
        return frame.parent

    def visit(self, node: Node, frame: Frame, source: str) -> None:
        assigned = self.frame_of.get(node)
        if assigned is None:
            self.frame_of[node] = self.entered(node, frame) if node.op in ENTER else frame
            # The message names both inputs, because only the author knows which of them is wrong.
            self.reached_from[node] = source
            self.queue.append(node)
            return
        # An Enter belongs to the frame that it opens, and its inputs to the frame around.
        expected = assigned.parent if node.op in ENTER else assigned
        if expected is not frame:
            assert expected is not None
            raise InvalidArgumentError(
                f"it has inputs from different frames: {source} is in frame '{frame.name}', "
                f"{self.reached_from[node]} is in frame '{expected.name}'",
                node=node.name,
                op=node.op,
            )

    def entered(self, node: Node, parent: Frame) -> Frame:
        # Enters with one name enter one loop: the frame is the name, as in TensorFlow's executor.
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
                hint=OWN_FRAMES,
            )
        return frame

    def check_conditions(self) -> None:
        for frame in self.frames.values():
            conditions = loop_conditions(frame.nodes)
            if len(conditions) > 1:
                first, second = conditions[:2]
                raise InvalidArgumentError(
                    f"loop frame '{frame.name}' is used twice: it has more than one LoopCond, "
                    f"'{first.name}' and '{second.name}'",
                    node=second.name,
                    op=second.op,
                    hint=OWN_FRAMES,
                )


def loop_conditions(nodes: Iterable[Node]) -> list[Node]:
    """Return the LoopConds of which a frame has one.

    The loops that count iterations for a gradient share the frame of the loop that they count. TensorFlow knows them by the
    name alone (ValidateControlFlowInfo in core/graph/control_flow.cc).
    """
    return [node for node in nodes if node.is_loop_condition and "LoopCounter" not in node.name]


def find_frames(graph: Graph) -> dict[Node, Frame]:
    """Return the innermost loop of every node inside a loop.

    Enter nodes belong to the loop entered, Exit nodes to the loop left.
    """
    root, frames = assign_frames(graph, predecessors)
    return {node: frame for node, frame in frames.items() if frame is not root}


def frame_of_outputs(node: Node, frames: Mapping[Node, Frame]) -> Frame | None:
    """Return the innermost loop in which a node's outputs are visible; those of an Exit are visible around its loop."""
    frame = frames.get(node)
    return frame.enclosing if frame is not None and node.op in EXIT else frame


# An Exit is none: its value is that of the last iteration, and no copy of what came in.
_LETTING_IN: Final = (*ENTER, *SWITCH, "LoopCond")


def is_transparent(node: Node) -> bool:
    """True for a node that returns the input unchanged and needs no step."""
    return has_fact(node.op, "transparent")


def hands_in(node: Node) -> bool:
    """True if each live output is the first input: for copies, Enter, Switch and LoopCond."""
    return node.op in _LETTING_IN or is_transparent(node)


def handed_in(value: Output) -> Output:
    """Return the tensor that a value copies, before the nodes through which the tensor enters loops and branches."""
    while hands_in(value.node):
        value = value.node.inputs[0]
    return value


def source_of(value: Output, trails: dict[Output, Output] | None = None) -> Output:
    """Return the value before all nodes that only pass the value on; `trails` caches the results of `trail_end`."""
    return trail_end(value, _passed_on, trails)


def _passed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if is_transparent(value.node) and value.node.inputs else None
