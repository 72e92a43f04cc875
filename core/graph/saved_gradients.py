"""Gradients saved with a graph as functions of its library (tf.custom_gradient)."""

from __future__ import annotations

from ..support import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Capture:
    """A value that a registered gradient reads besides the incoming gradients.

    `tensor` is a tensor of the library function `function`; without a function, the name of a variable.
    """

    tensor: str
    function: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class RegisteredGradient:
    """A gradient named by nodes in `_gradient_op_type`: the function (gradients of outputs, captures) -> gradients of
    inputs.

    `captures` and `returns` (whether the function returns a gradient for each input of the node) are None if the
    SavedModel's objects, the only source, are lost.
    """

    function: str
    captures: tuple[Capture, ...] | None = None
    returns: tuple[bool, ...] | None = None
