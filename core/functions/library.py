"""Functions of a graph's library: a signature and a body that is a graph of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from ..catalog import OpDef
from ..errors import InvalidArgumentError
from ..graph import Graph, Node, Output
from ..tensors import FuncRef, Placeholder


@dataclasses.dataclass(slots=True)
class Function:
    """A function: its interface as an OpDef, its body, and which outputs and nodes of the body it returns.

    `args` are the body's `_Arg` nodes in order, `results` the outputs returned, `control_results` the nodes that must have
    run before a call counts as done. A polymorphic body holds `tensors.Placeholder` attribute values.
    """

    signature: OpDef
    body: Graph
    args: list[Node]
    results: list[Output]
    control_results: list[Node] = dataclasses.field(default_factory=list)
    attrs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    arg_attrs: Mapping[int, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    gradient: str | None = None
    """The function that TensorFlow is to call for this one's gradient, where one is declared."""
    source: Any = None
    """Whatever a format keeps to write the function back unchanged."""

    @property
    def name(self) -> str:
        return self.signature.name


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


ORIGIN: Final = "_derived_from"
"""The attribute of a function that holds the name of the one it was made of, whose nodes it still has."""


def origin_of(function: Function) -> str:
    """The name of the function that this one was made of, its own where it was made of none."""
    found = function.attrs.get(ORIGIN, b"")
    return found.decode() or function.name


def instantiate(function: Function, attrs: Mapping[str, Any]) -> Function:
    """The function with its own attributes given: every `Placeholder` in its body replaced by a value."""
    signature = function.signature
    given = {name: signature.attr(attrs, name) for name in signature.attrs}
    body = function.body.copy()
    for node in body:
        node.attrs = {key: _filled(value, given, function.name) for key, value in node.attrs.items()}
    return dataclasses.replace(
        function,
        body=body,
        args=[body.node(arg.name) for arg in function.args],
        results=[Output(body.node(value.node.name), value.index) for value in function.results],
        control_results=[body.node(control.name) for control in function.control_results],
    )


def _filled(value: Any, given: Mapping[str, Any], function: str) -> Any:
    if isinstance(value, Placeholder):
        if value.name not in given:
            raise InvalidArgumentError(f"function '{function}' leaves attribute '{value.name}' to its caller, who gives none")
        return given[value.name]
    if isinstance(value, FuncRef):
        return FuncRef(value.name, {key: _filled(item, given, function) for key, item in value.attrs.items()})
    if isinstance(value, list):
        return [_filled(item, given, function) for item in value]
    return value
