"""The variables of a V1 loop that is built as tf.while_loop builds loops."""

from __future__ import annotations

from ..graph.graph import Node, Output
from ..support import dataclasses
from ..support.errors import UnimplementedError
from .deadness import is_choice
from .frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame


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
