"""Instructions of the executor's loop: a step and its call as a tuple, because tuples unpack fast."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...planning.plan import Loop, Step

Call = Callable[..., Any]
# An addition of two numbers takes about 50 ns by an operator and 450 ns by a ufunc.
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
"""Python operators that compute the same as a ufunc for rank 0, in a tenth of the time."""

Instruction = tuple[int, Call, Any, Any, Any, Any, Step]
"""(inputs, call, slot or slots of inputs, slot of a second input, slot or slots of outputs, slot or slots to clear, step).

`inputs` is the number of inputs, 1 or 2, of a call with a single output; most steps of a graph are so. 0 marks the general
form.
"""


def instruction_of(step: Step, call: Call, initial: Sequence[Any]) -> Instruction:
    """Return the instruction of a step.

    The instruction does not clear the slots that `initial` fills, since a loop may read them again.
    """
    # A ufunc spends most of its time on a scalar in finding loops and casts; Python's operator goes straight to the scalar's
    # own.
    call = _OPERATORS.get(call, call)
    inputs = step.inputs + step.controls
    outputs: Any = step.outputs
    released: Any = tuple([slot for slot in step.released if initial[slot] is None]) if initial else step.released
    released = released[0] if len(released) == 1 else released or None
    if len(outputs) == 1 and not step.tells_deadness and not isinstance(step, Loop):
        outputs = outputs[0]
        if len(inputs) == 1:
            return (1, call, inputs[0], None, outputs, released, step)
        if len(inputs) == 2:
            return (2, call, inputs[0], inputs[1], outputs, released, step)
    return (0, call, inputs, None, outputs, released, step)


def released_slots(instruction: Instruction) -> tuple[int, ...]:
    """Return the slots that an instruction clears."""
    released = instruction[5]
    if released is None:
        return ()
    return (released,) if released.__class__ is int else released
