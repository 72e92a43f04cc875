"""Functions that implement the same interface for several devices, and the choice among them.

A library function may name its interface (`api_implements`) and its device (`api_preferred_device`). TensorFlow's
implementation selector, on by default, lets a call that is placed on a CPU run the function for CPUs, whatever function the
call names; tfg runs everything on the CPU and does the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from ..graph.graph import Function, Graph, Node
from ..graph.traversal import function_names
from ..registry.catalog import ArgDef
from ..support import dataclasses
from ..support.grouping import grouped
from ..types.tensors import FuncRef, attribute_key
from .instantiation import nodes_to_change

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


def implementation(functions: Mapping[str, Function], name: str) -> str:
    """Return the function that runs where `name` is called: the function itself, or the implementation for CPUs.

    As in TensorFlow, nothing changes in a library where implementations of the same interface have different signatures.
    The forward and the backward function of a gradient exchange intermediate values of the implementation. Both are
    replaced only where the two implementations keep values of the same types; TensorFlow does not check these types.
    """
    function = functions.get(name)
    if function is None or INTERFACE not in function.attrs or _is_for_cpu(function):
        return name
    families = _families(functions)
    chosen = next((f.name for f in families[_interface(function)] if _is_for_cpu(f) and _types(f) == _types(function)), name)
    return chosen if all(map(_agree, families, families.values())) else name


def function_called(functions: Mapping[str, Function], name: str) -> Function | None:
    """Return the function that runs where `name` is called; None without a function of this name."""
    return functions.get(implementation(functions, name))


def name_implementations(graph: Graph) -> list[tuple[str, str]]:
    """Retarget every call to the function that runs; return pairs of a node and the function that the node now names."""
    chosen = {name: implementation(graph.functions, name) for name in graph.functions}
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


def _types(function: Function) -> tuple[list[ArgDef], list[ArgDef]]:
    """Return the types of arguments and results; their names do not matter."""
    signature = function.signature
    return _nameless(signature.inputs), _nameless(signature.outputs)


def _nameless(args: Sequence[ArgDef]) -> list[ArgDef]:
    return [dataclasses.replace(arg, name="") for arg in args]


def _agree(interface: tuple[Hashable, str], family: Sequence[Function]) -> bool:
    """True where the implementations have the signatures that TensorFlow asks for: the kept values apart, all the same."""
    parts = _COMPARED[interface[1]]
    return all(_types(function)[part] == _types(family[0])[part] for function in family for part in parts)
