"""What the loop of the executor goes through: a step with its call, as a tuple that is quickly taken apart."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...planning.plan import Loop, Step

Call = Callable[..., Any]
_OPERATORS: Final[dict[Call, Call]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.negative: operator.neg,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.logical_and: operator.and_,
    np.logical_or: operator.or_,
}
"""What does the same as a ufunc, of numbers of rank 0 in a tenth of the time."""

Instruction = tuple[int, Call, Any, Any, Any, Any, Step]
"""(inputs, call, slot or slots of inputs, slot of a second input, slot or slots of outputs, slot or slots to clear, step).

`inputs` is 1 or 2 where one output follows from that many inputs, which is most of a graph, and 0 for the general form.
It is ON_SLOTS where the call takes the list of all slots, reads from it and writes to it by itself.
"""

ON_SLOTS: Final = -1
"""The number, in place of a slot's, of a call that works on the list of slots."""


def instruction_of(step: Step, call: Call, initial: Sequence[Any]) -> Instruction:
    """The instruction of a step; what is there from the start stays, for a loop may need it again."""
    call = _OPERATORS.get(call, call)
    inputs = step.inputs + step.controls
    outputs: Any = step.outputs
    released = _released([slot for slot in step.released if not initial or initial[slot] is None])
    if len(outputs) == 1 and not step.tells_deadness and not isinstance(step, Loop):
        outputs = outputs[0]
        if len(inputs) == 1:
            return (1, call, inputs[0], None, outputs, released, step)
        if len(inputs) == 2:
            return (2, call, inputs[0], inputs[1], outputs, released, step)
    return (0, call, inputs, None, outputs, released, step)


def _released(slots: Sequence[int]) -> Any:
    if len(slots) == 1:
        return slots[0]
    return tuple(slots) or None


def released_slots(instruction: Instruction) -> tuple[int, ...]:
    """The slots that an instruction clears."""
    released = instruction[5]
    if released is None:
        return ()
    return (released,) if released.__class__ is int else released


def releasing(instruction: Instruction, slots: Sequence[int]) -> Instruction:
    """The same instruction with other slots to clear."""
    return (*instruction[:5], _released(slots), instruction[6])
