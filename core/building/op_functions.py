"""Functions that add nodes of an op, with a signature and a docstring from the op's interface."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..registry.catalog import CATALOG, ArgDef, AttrDef, OpDef

_described: Final[dict[str, tuple[OpDef, str, inspect.Signature]]] = {}
"""Docstring and signature by op, with the interface that they are about."""


def op_function(apply: Callable[..., Any], op: str) -> Callable[..., Any]:
    """Return a function that calls `apply` with the op's name, and with a name, docstring and signature of its own."""

    def add(*inputs: Any, **options: Any) -> Any:
        return apply(op, *inputs, **options)

    definition = CATALOG[op]
    if op not in _described or _described[op][0] is not definition:
        _described[op] = (definition, docstring(definition), signature(definition))
    add.__name__ = add.__qualname__ = op
    _, add.__doc__, described = _described[op]
    function: Any = add
    function.__signature__ = described
    return add


def signature(definition: OpDef) -> inspect.Signature:
    """Return the signature: inputs by position, attributes and the node's name by keyword."""
    positional, keyword = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(arg.name, positional) for arg in definition.inputs]
    taken = {arg.name for arg in definition.inputs}
    attrs = sorted(definition.attrs.values(), key=lambda attr: not is_needed(definition, attr))
    for attr in attrs:
        if attr.name not in taken and attr.name != "name" and attr.name.isidentifier():
            default = inspect.Parameter.empty if is_needed(definition, attr) else _default(attr)
            parameters.append(inspect.Parameter(attr.name, keyword, default=default))
    return inspect.Signature([*parameters, inspect.Parameter("name", keyword, default=None)])


def is_needed(definition: OpDef, attr: AttrDef) -> bool:
    """Return True for an attribute without a default that no input decides."""
    decided = {name for arg in definition.inputs for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    return not attr.has_default and attr.name not in decided


def docstring(definition: OpDef) -> str:
    """Return the docstring: the effect, the result, and the inputs and attributes with types and defaults."""
    outputs = definition.outputs
    several = "a tuple of Outputs" if outputs else "the Node"
    returned = "the Output" if len(outputs) == 1 and not outputs[0].is_list else several
    head = f"Add a node of type {definition.name} and return {returned}."
    parts = {
        "Inputs": list(map(_argument, definition.inputs)),
        "Outputs": list(map(_argument, outputs)),
        "Attributes": list(_attrs(definition)),
    }
    blocks = [f"{title}:\n" + "\n".join(f"    {line}" for line in lines) for title, lines in parts.items() if lines]
    return "\n\n".join([head, *blocks])


def _argument(arg: ArgDef) -> str:
    kind = str(arg.dtype) if arg.dtype is not None else arg.type_attr or arg.type_list_attr or "any dtype"
    several = f", {arg.number_attr or 'several'} of them" if arg.is_list else ""
    return f"{arg.name}: {kind}{several}{', a reference to a variable' if arg.is_ref else ''}"


def _attrs(definition: OpDef) -> Iterator[str]:
    for attr in definition.attrs.values():
        decided = "" if is_needed(definition, attr) else ", by the inputs"
        default = f", {_default(attr)!r} by default" if attr.has_default else decided
        allowed = f", one of {', '.join(map(_text, attr.allowed))}" if attr.allowed else ""
        least = f", at least {attr.minimum}" if attr.minimum is not None else ""
        yield f"{attr.name}: {attr.type}{allowed}{least}{default}"


def _default(attr: AttrDef) -> Any:
    return _text(attr.default) if isinstance(attr.default, bytes) else attr.default


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
