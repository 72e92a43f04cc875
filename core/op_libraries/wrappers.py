"""Python wrappers of ops, written from their interfaces alone: typed and documented functions that add nodes to a graph.

`mat_mul(g, a, b, transpose_b=True)` of the file written is `g.MatMul(a, b, transpose_b=True)` of a GraphBuilder `g`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..registry.catalog import CATALOG, AttrDef, OpDef
from ..support.arguments import expect
from ..support.errors import InvalidArgumentError, NotFoundError
from .op_listing import arg_type

_HEADER = '''"""Wrappers of {count} ops, written by tfg from their interfaces.

Each takes the GraphBuilder that is to hold the node; inputs are Outputs, tensor names, variables or values, which become
constants. Attributes that are None follow from the inputs or have the default that the docstring states.
"""

# ruff: noqa: E501, E741

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from {package} import GraphBuilder
from {package}.core.types.dtypes import DType
from {package}.core.graph.graph import Node, Output
from {package}.core.building.built_variables import BuiltVariable

TensorLike: TypeAlias = Output | Node | BuiltVariable | np.ndarray | np.generic | str | bytes | complex | Sequence[Any]
'''
_PYTHON_TYPES = {
    "int": "int", "float": "float", "bool": "bool", "string": "str | bytes", "type": "DType | str", "shape": "Any",
    "tensor": "Any", "func": "Any",
}  # fmt: skip
# Names of the written module, which a parameter must not hide.
_TAKEN = {"g", "name", "GraphBuilder", "DType", "Node", "Output", "Any", "Sequence", "TensorLike", "BuiltVariable", "np"}
_PACKAGE = __name__.partition(".core")[0]


def write_wrappers(ops: Sequence[str] = ()) -> str:
    """Return the text of a module with a wrapper for each of `ops`, by default every declared op; NotFoundError for others."""
    # A name alone is a sequence of letters, and is meant as one op.
    names = sorted({ops} if isinstance(ops, str) else set(ops) or set(CATALOG))
    expect(str, *names)
    for name in names:
        if name not in CATALOG:
            raise NotFoundError(f"no op is called '{name}'", hint="tfg.ops() lists the ops")
    functions = [_function(CATALOG[name]) for name in names]
    return "\n\n".join([_HEADER.format(count=len(names), package=_PACKAGE), *functions])


def function_name(op: str) -> str:
    """Return the wrapper's name: words in lower case with underscores, with a further underscore after a Python keyword."""
    # Conv2D is conv2d, not conv2_d.
    plain = re.sub(r"\dD", lambda match: match[0].lower(), op.replace(">", "_"))
    words = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3_\2", plain)
    return _identifier(words.lower())


def _identifier(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) or name in _TAKEN else name


def _function(definition: OpDef) -> str:
    # Required ones first, as a reader looks for what must be given.
    attrs = sorted(definition.attrs.values(), key=lambda attr: not definition.needs(attr))
    lines = [f"def {function_name(definition.name)}("]
    lines += [f"    {parameter}," for parameter in _parameters(definition, attrs)]
    lines += [f") -> {_result(definition)}:", *_docstring(definition, attrs), f"    return {_call(definition, attrs)}"]
    return "\n".join(lines) + "\n"


def _parameters(definition: OpDef, attrs: Sequence[AttrDef]) -> Iterator[str]:
    yield "g: GraphBuilder"
    for arg in definition.inputs:
        yield f"{_identifier(arg.name)}: {'Sequence[TensorLike]' if arg.is_list else 'TensorLike'}"
    yield "*"
    for attr in attrs:
        kind = _python_type(attr.type)
        if definition.needs(attr):
            yield f"{_attr_name(definition, attr)}: {kind}"
        else:
            default = _literal(attr)
            optional = " | None" if default == "None" and kind != "Any" else ""
            yield f"{_attr_name(definition, attr)}: {kind}{optional} = {default}"
    yield "name: str | None = None"


def _attr_name(definition: OpDef, attr: AttrDef) -> str:
    name = _identifier(attr.name)
    # An op may have an input and an attribute of one name, and a function has one parameter of a name.
    return f"{name}_" if name in {_identifier(arg.name) for arg in definition.inputs} else name


def _python_type(type_: str) -> str:
    if type_.startswith("list("):
        return f"Sequence[{_PYTHON_TYPES[type_[5:-1]]}]"
    return _PYTHON_TYPES[type_]


def _literal(attr: AttrDef) -> str:
    """Return the default as Python source.

    None, for an attribute without a plain default, leaves the default to the interface.
    """
    value = attr.default
    if isinstance(value, bytes):
        return repr(_text(value))
    # NaN and infinities have no literal in Python.
    if isinstance(value, float) and value - value != 0:
        return "None"
    return repr(value) if attr.has_default and isinstance(value, (bool, int, float)) else "None"


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode("ascii")
    except UnicodeDecodeError:
        return value


def _docstring(definition: OpDef, attrs: Sequence[AttrDef]) -> list[str]:
    arguments = ", ".join(f"{arg.name}: {arg_type(arg)}" for arg in definition.inputs)
    results = ", ".join(f"{arg.name}: {arg_type(arg)}" for arg in definition.outputs)
    summary = f"{definition.name}({arguments}) -> ({results})"
    details = [f"    {_attr_name(definition, attr)}: {_about(definition, attr)}" for attr in attrs]
    if definition.flags:
        details += [*([""] if details else []), f"    Flags: {', '.join(sorted(definition.flags))}."]
    if not details:
        return [f'    """{summary}"""']
    return [f'    """{summary}', "", *details, '    """']


def _about(definition: OpDef, attr: AttrDef) -> str:
    words = [f"{attr.type}"]
    if attr.minimum is not None:
        words.append(f"at least {attr.minimum}")
    if attr.allowed:
        words.append(f"one of {', '.join(map(_shown, attr.allowed))}")
    if attr.has_default:
        words.append(f"default {_shown(attr.default)}")
    elif not definition.needs(attr):
        words.append("follows from the inputs")
    return "; ".join(words)


def _shown(value: Any) -> str:
    text = repr(_text(value)) if isinstance(value, bytes) else str(value)
    return text.replace("\\", "\\\\").replace('"', "'")


def _result(definition: OpDef) -> str:
    # As GraphBuilder returns: the node itself where there is no output to hand on.
    if not definition.outputs:
        return "Node"
    if any(arg.is_list for arg in definition.outputs):
        return "Output | tuple[Output, ...] | Node"
    if len(definition.outputs) == 1:
        return "Output"
    return f"tuple[{', '.join(['Output'] * len(definition.outputs))}]"


def _call(definition: OpDef, attrs: Sequence[AttrDef]) -> str:
    if "name" in definition.attrs:
        raise InvalidArgumentError("attribute 'name' collides with the name of the node", op=definition.name)
    inputs = [_identifier(arg.name) for arg in definition.inputs]
    plain = [f"{attr.name}={_attr_name(definition, attr)}" for attr in attrs if not keyword.iskeyword(attr.name)]
    # An attribute called as a keyword of Python can only be passed in a dictionary.
    odd = [f'"{attr.name}": {_attr_name(definition, attr)}' for attr in attrs if keyword.iskeyword(attr.name)]
    keywords = [*plain, "name=name", *([f"**{{{', '.join(odd)}}}"] if odd else [])]
    return f"g.apply({', '.join([f'{chr(34)}{definition.name}{chr(34)}', *inputs, *keywords])})"
