"""Instances of functions with given attributes, the record of their origins, and implementations for several devices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..registry.catalog import ArgDef
from ..support.errors import InvalidArgumentError
from ..support.grouping import grouped
from ..types.tensors import FuncRef, Placeholder, attribute_key
from .graph import DeclaredFunctions, Function, Graph, Node
from .traversal import function_names

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
        # Nodes with equal attributes share one mapping, and their instances share one again.
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
    body, args, results, controls = function.pattern.parts_copied()
    return Function(
        function.signature,
        body,
        args,
        results,
        controls,
        function.attrs,
        function.arg_attrs,
        function.gradient,
        function.source,
    )


def nodes_to_change(graph: Graph, is_changed: Callable[[Node], bool]) -> Iterator[Node]:
    """Yield the nodes of the graph and its functions that `is_changed` selects.

    Functions with selected nodes are copied first, since graphs that were copied from each other share their functions.
    """
    yield from filter(is_changed, list(graph))
    for name, function in list(graph.functions.items()):
        if any(map(is_changed, function.pattern.body)):
            own = graph.functions[name] = copied(function)
            # The copy's calls must find the copies of other functions that are changed.
            own.body.functions = graph.functions
            yield from filter(is_changed, list(own.body))


def _filled_attrs(attrs: Mapping[str, Any], values: Mapping[str, Any], function: str) -> Mapping[str, Any]:
    """Return the attributes of a node with values filled in; the same object where nothing is to fill in."""
    if not any(map(_is_open, attrs.values())):
        return attrs
    return {key: _filled(value, values, function) for key, value in attrs.items()}


def _is_open(value: Any) -> bool:
    """True if a `Placeholder` is, or is in, an attribute's value."""
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


# Functions that implement the same interface for several devices, and the choice among them.
# A library function may name its interface (`api_implements`) and its device (`api_preferred_device`). TensorFlow's
# implementation selector, on by default, lets a call that is placed on a CPU run the function for CPUs, whatever function the
# call names; tfg runs everything on the CPU and does the same.

INTERFACE: Final = "api_implements"
_DEVICE: Final = "api_preferred_device"
_INPUTS, _OUTPUTS = 0, 1
_COMPARED: Final = {"": (_INPUTS, _OUTPUTS), "backward_function_name": (_INPUTS,), "forward_function_name": (_OUTPUTS,)}
"""The types that must agree among functions of the same interface: types of plain functions, of forward functions (which
name their backward function) and of backward functions.
"""
_GRADIENT_KINDS: Final = tuple(filter(None, _COMPARED))
OF_AN_INTERFACE: Final = (INTERFACE, *_GRADIENT_KINDS)
"""The attributes that tie a function to others of its interface; a copy with another signature loses them."""


class FunctionChoice:
    """The functions of a library that run in the place of others.

    As in TensorFlow, nothing changes in a library where implementations of the same interface have different signatures.
    The forward and the backward function of a gradient exchange intermediate values of the implementation. Both are
    replaced only where the two implementations keep values of the same types; TensorFlow does not check these types.
    """

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions

    def of(self, name: str) -> str:
        """Return the function that runs where `name` is called: the function itself, or the implementation for CPUs."""
        function = self._functions.get(name)
        # Nearly all functions end here, and avoid the search below, which walks over the whole library.
        if function is None or INTERFACE not in function.attrs or _is_for_cpu(function):
            return name
        return self._for_cpu.get((_interface(function), _types(function)), name)

    def called(self, name: str) -> Function | None:
        """Return the function that runs where `name` is called; None without a function of this name."""
        return self._functions.get(self.of(name))

    @functools.cached_property
    def _for_cpu(self) -> dict[Hashable, str]:
        """The functions for CPUs by their interface and types; empty if the implementations of an interface disagree."""
        families = _families(self._functions)
        if not all(map(_agree, families, families.values())):
            return {}
        chosen: dict[Hashable, str] = {}
        for interface, family in families.items():
            for function in filter(_is_for_cpu, family):
                chosen.setdefault((interface, _types(function)), function.name)
        return chosen


def implementation(functions: Mapping[str, Function], name: str) -> str:
    """Return the function that runs where `name` is called, as `FunctionChoice` finds it."""
    if not isinstance(functions, DeclaredFunctions):
        return FunctionChoice(functions).of(name)
    # Kept with the library: the search walks over all functions, and analyses ask for each of thousands of calls.
    choice: FunctionChoice | None = functions.derived.get(FunctionChoice)
    if choice is None:
        choice = functions.derived[FunctionChoice] = FunctionChoice(functions)
    return choice.of(name)


def function_called(functions: Mapping[str, Function], name: str) -> Function | None:
    """Return the function that runs where `name` is called; None without a function of this name."""
    return functions.get(implementation(functions, name))


def name_implementations(graph: Graph) -> list[tuple[str, str]]:
    """Retarget every call to the function that runs; return pairs of a node and the function that the node now names."""
    choice = FunctionChoice(graph.functions)
    chosen = {name: choice.of(name) for name in graph.functions}
    others = {name: implementation_name for name, implementation_name in chosen.items() if implementation_name != name}

    def named(node: Node) -> set[str]:
        return others.keys() & set(function_names(graph, node))

    changed = []
    for node in nodes_to_change(graph, lambda node: bool(others and named(node))):
        changed += [(node.name, others[name]) for name in named(node)]
        _retarget(node, others)
    return changed


def _retarget(node: Node, others: Mapping[str, str]) -> None:
    if node.op in others:
        node.change_op(others[node.op])
    for key, value in node.attrs.items():
        if isinstance(value, list):
            node.set_attr(key, [_renamed(item, others) for item in value])
        else:
            node.set_attr(key, _renamed(value, others))


def _renamed(value: Any, others: Mapping[str, str]) -> Any:
    is_other = isinstance(value, FuncRef) and value.name in others
    return FuncRef(others[value.name], value.attrs) if is_other else value


def _is_for_cpu(function: Function) -> bool:
    return function.attrs.get(_DEVICE) == b"CPU"


def _interface(function: Function) -> tuple[Hashable, str]:
    """Return a function's interface and role: the function itself, or the forward or backward function of its gradient."""
    return attribute_key(function.attrs.get(INTERFACE)), next((kind for kind in _GRADIENT_KINDS if kind in function.attrs), "")


def _families(functions: Mapping[str, Function]) -> dict[tuple[Hashable, str], list[Function]]:
    return grouped((_interface(function), function) for function in functions.values() if INTERFACE in function.attrs)


def _types(function: Function) -> tuple[Hashable, Hashable]:
    """Return the types of arguments and results; their names do not matter."""
    signature = function.signature
    return _nameless(signature.inputs), _nameless(signature.outputs)


def _nameless(args: Sequence[ArgDef]) -> Hashable:
    return tuple((arg.dtype, *arg.attr_names, arg.is_ref) for arg in args)


def _agree(interface: tuple[Hashable, str], family: Sequence[Function]) -> bool:
    """True if the implementations have the signatures that TensorFlow asks for: the kept values apart, all the same."""
    parts = _COMPARED[interface[1]]
    return len({tuple(_types(function)[part] for part in parts) for function in family}) == 1
