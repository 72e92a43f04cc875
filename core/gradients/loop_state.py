"""V1 loops under differentiation: frames of the graph, and nodes that backward loops added to forward loops."""

from __future__ import annotations

from collections.abc import Iterable

from ..building.builder import GraphBuilder
from ..control_flow.deadness import Deadness, is_choice, predicate_source
from ..control_flow.frames import ENTER, Frame, find_frames, frame_of_outputs
from ..control_flow.loop_variables import loop_variables
from ..graph.graph import Graph, Node, Output


class LoopState:
    """The loops of a graph under differentiation, and the nodes that backward loops added to forward loops."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.has_loops = any(node.op in ENTER for node in graph)
        self.has_branches = any(is_choice(node) for node in graph)
        self._places: dict[Node, int] = {}
        self._frames: dict[Node, Frame] = find_frames(graph) if self.has_loops else {}
        self._adopted: dict[Node, Frame | None] = {}
        self.deadness = Deadness(predicate=predicate_source)
        self.pivots: dict[Frame | None, Node] = {}
        """A node of each forward loop that runs in every iteration."""
        self.keeps_slices = False
        """True where IndexedSlices of what a loop reads leave the backward loop as IndexedSlices."""

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """Return nodes in the order of the graph; sweeps only add nodes, so places never change."""
        for node in self.graph.since(len(self._places)):
            self._places[node] = len(self._places)
        return sorted(nodes, key=self._places.__getitem__)

    def adopt(self, node: Node, frame: Frame | None) -> None:
        """Record that a new node belongs to the forward graph."""
        self._adopted[node] = frame

    def is_adopted(self, node: Node) -> bool:
        return node in self._adopted

    def frame_of(self, node: Node) -> Frame | None:
        """Return the innermost forward loop that a node lies in."""
        return self._adopted[node] if node in self._adopted else self._frames.get(node)

    def frame_of_value(self, value: Output) -> Frame | None:
        """Return the innermost forward loop in which a value is visible; an Exit's value is visible around the loop."""
        node = value.node
        return self._adopted[node] if node in self._adopted else frame_of_outputs(node, self._frames)

    def outermost_within(self, node: Node, enclosing: Frame | None) -> Frame | None:
        """Return the loop directly inside `enclosing` that holds a node, None for a node in no inner loop."""
        frame = self.frame_of(node)
        while frame is not None and frame is not enclosing and frame.enclosing is not enclosing:
            frame = frame.enclosing
        return None if frame is enclosing else frame


def loop_values(frame: Frame) -> tuple[list[Output], list[Output]]:
    """Return the inputs and the results of a loop: the inputs of Enters and the outputs of Exits."""
    exits = [variable.exit.output() for variable in loop_variables(frame) if variable.exit is not None]
    return [enter.inputs[0] for enter in frame.with_op(ENTER)], exits


# Adding variables to V1 loops: Enter -> Merge -> Switch -> ... -> NextIteration -> Merge, and Exit.


def enter_and_merge(g: GraphBuilder, value: Output, frame_name: str, parallel_iterations: int) -> Output:
    """Add Enter and Merge of a new variable. The second input of the Merge is set by `close_variable`."""
    entered = g.Enter(value, frame_name=frame_name, is_constant=False, parallel_iterations=parallel_iterations)
    result = g.Merge([entered, entered])[0]
    return result


def close_variable(g: GraphBuilder, switch: Node, value: Output) -> Output:
    """Make `value` the variable's next iteration and return the Exit; `switch` is the Switch of the variable's Merge."""
    back = g.NextIteration(value)
    g.graph.set_input(switch.inputs[0].node, 1, back)
    return g.Exit(switch.output(0))
