"""Instances of functions with given attributes, and the record of their origins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..graph.graph import Function, Graph, Node, Output
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..types.tensors import FuncRef, Placeholder

ORIGIN: Final = "_derived_from"
"""The attribute of a function that holds the name of its origin: the function that the nodes come from."""


def origin_of(function: Function) -> str:
    """Return the name of a function's origin, its own name for a function without an origin."""
    origin = function.attrs.get(ORIGIN)
    return origin.decode("utf-8", "surrogateescape") if isinstance(origin, bytes) and origin else function.name


def instantiate(function: Function, attrs: Mapping[str, Any]) -> Function:
    """Return the function with its own attributes given: every `Placeholder` in the body is replaced by a value."""
    signature = function.signature
    values = {name: signature.attr(attrs, name) for name in signature.attrs}
    made = copied(function)
    filled: dict[int, Mapping[str, Any]] = {}
    for node in made.body:
        key = id(node.attrs)
        if key not in filled:
            filled[key] = _filled_attrs(node.attrs, values, function.name)
        node.attrs = filled[key]
    return made


def with_attrs(function: Function, reference: FuncRef) -> Function:
    """Return the function that a reference calls: an instance where the function has attributes of its own, else itself."""
    return instantiate(function, reference.attrs) if function.signature.attrs else function


def copied(function: Function) -> Function:
    """Return a copy of the function with nodes of its own."""
    body = function.body.copy(function.body.functions)
    return dataclasses.replace(
        function,
        body=body,
        args=[body.node(arg.name) for arg in function.args],
        results=[Output(body.node(value.node.name), value.index) for value in function.results],
        control_results=[body.node(control.name) for control in function.control_results],
    )


def nodes_to_change(graph: Graph, is_changed: Callable[[Node], bool]) -> Iterator[Node]:
    """Yield the nodes of the graph and its functions that `is_changed` selects.

    Functions with selected nodes are copied first, since graphs that were copied from each other share their functions.
    """
    yield from filter(is_changed, list(graph))
    for name, function in list(graph.functions.items()):
        if any(map(is_changed, function.body)):
            own = graph.functions[name] = copied(function)
            own.body.functions = graph.functions
            yield from filter(is_changed, list(own.body))


def _filled_attrs(attrs: Mapping[str, Any], values: Mapping[str, Any], function: str) -> Mapping[str, Any]:
    """Return the attributes of a node with values filled in; the same object where nothing is to fill in."""
    if not any(map(_is_open, attrs.values())):
        return attrs
    return {key: _filled(value, values, function) for key, value in attrs.items()}


def _is_open(value: Any) -> bool:
    """True where a `Placeholder` is, or is in, an attribute's value."""
    if isinstance(value, list):
        return any(map(_is_open, value))
    return any(map(_is_open, value.attrs.values())) if isinstance(value, FuncRef) else isinstance(value, Placeholder)


def _filled(value: Any, values: Mapping[str, Any], function: str) -> Any:
    if isinstance(value, Placeholder):
        if value.name not in values:
            raise InvalidArgumentError(f"function '{function}' needs attribute '{value.name}', which its caller lacks")
        return values[value.name]
    if isinstance(value, FuncRef):
        return FuncRef(value.name, {key: _filled(item, values, function) for key, item in value.attrs.items()})
    if isinstance(value, list):
        return [_filled(item, values, function) for item in value]
    return value
