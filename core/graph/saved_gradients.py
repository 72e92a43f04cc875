"""Gradients that are saved with a graph as functions of its library (tf.custom_gradient)."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Capture:
    """A value that a registered gradient reads besides the gradients that arrive.

    `tensor` is one of the library function `function`; without one it is the name of a variable.
    """

    tensor: str
    function: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class RegisteredGradient:
    """A gradient that nodes name in `_gradient_op_type`: the function (gradients of outputs, captures) -> gradients of inputs.

    `captures` and `returns`, whether it returns a gradient for each input of the node, are None where only the lost objects
    of a SavedModel would tell.
    """

    function: str
    captures: tuple[Capture, ...] | None = None
    returns: tuple[bool, ...] | None = None
