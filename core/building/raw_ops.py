"""The ops of the catalog as methods; raw_ops.pyi has a signature of each for type checkers and editors."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..registry.catalog import CATALOG, ArgDef, AttrDef, OpDef, op_sentence
from ..types import dtypes

# Functions that add nodes of an op, with a signature and a docstring from the op's interface.
# Annotations are text, as everywhere: the names are of `built_variables`.

_described: Final[dict[str, tuple[OpDef, str, inspect.Signature]]] = {}
"""Docstring and signature by op, with the interface that they are about."""


def op_function(apply: Callable[..., Any], op: str) -> Callable[..., Any]:
    """Return a function that calls `apply` with the op's name, and with a name, docstring and signature of its own."""

    def add(*inputs: Any, **options: Any) -> Any:
        return apply(op, *inputs, **options)

    definition = CATALOG[op]
    # A library may be loaded again after a mistake, with another interface of the op.
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
    parameters = [inspect.Parameter(arg.name, positional, annotation=_input_type(arg)) for arg in definition.inputs]
    taken = {arg.name for arg in definition.inputs}
    attrs = sorted(definition.attrs.values(), key=lambda attr: not definition.needs(attr))
    for attr in attrs:
        if attr.name not in taken and attr.name != "name" and attr.name.isidentifier():
            default = inspect.Parameter.empty if definition.needs(attr) else _default(attr)
            annotation = _attr_type(attr) + (" | None" if default is None else "")
            parameters.append(inspect.Parameter(attr.name, keyword, default=default, annotation=annotation))
    name = inspect.Parameter("name", keyword, default=None, annotation="str | None")
    return inspect.Signature([*parameters, name], return_annotation=result_type(definition))


def result_type(definition: OpDef) -> str:
    """Return the type of a call: the only Output, a tuple of Outputs, or the Node where there are no outputs."""
    outputs = definition.outputs
    if not outputs:
        return "Node"
    if not any(arg.is_list for arg in outputs):
        return "Output" if len(outputs) == 1 else f"tuple[{', '.join(['Output'] * len(outputs))}]"
    lengths = [definition.attrs[arg.type_list_attr or arg.number_attr or ""].minimum for arg in outputs if arg.is_list]
    # All outputs are lists that may have no element: then the call returns the node.
    may_be_empty = len(lengths) == len(outputs) and not any(lengths)
    return "OutputsOrNode" if may_be_empty else "tuple[Output, ...]"


def _input_type(arg: ArgDef) -> str:
    """Return the type of an input: a tensor of the graph where no value can become the tensor."""
    is_handle = arg.is_ref or arg.dtype in (dtypes.resource, dtypes.variant)
    element = "OutputLike" if is_handle else "TensorLike"
    return f"Sequence[{element}]" if arg.is_list else element


_ATTR_TYPES: Final = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "string": "str | bytes",
    "type": "DTypeLike",
    "shape": "ShapeLike",
    "tensor": "Tensor | ArrayLike",
    "func": "FuncRef | str",
}


def _attr_type(attr: AttrDef) -> str:
    element = _ATTR_TYPES[attr.type.removeprefix("list(").removesuffix(")")]
    # Texts in files are bytes, and a value read from a node is passed on as it is.
    if attr.allowed and element == "str | bytes":
        element = f"Literal[{', '.join(repr(_text(value)) for value in attr.allowed)}] | bytes"
    return f"Sequence[{element}]" if attr.type.startswith("list(") else element


def docstring(definition: OpDef) -> str:
    """Return the docstring: the op's sentence, the result, and the inputs and attributes with types and defaults."""
    outputs = definition.outputs
    several = "a tuple of Outputs" if outputs else "the Node"
    returned = "the Output" if len(outputs) == 1 and not outputs[0].is_list else several
    head = [op_sentence(definition.name), f"Add a node of type {definition.name} and return {returned}."]
    parts = {
        "Inputs": list(map(_argument, definition.inputs)),
        "Outputs": list(map(_argument, outputs)),
        "Attributes": list(_attrs(definition)),
    }
    blocks = [f"{title}:\n" + "\n".join(f"    {line}" for line in lines) for title, lines in parts.items() if lines]
    return "\n\n".join(filter(None, [*head, *blocks]))


def _argument(arg: ArgDef) -> str:
    kind = str(arg.dtype) if arg.dtype is not None else arg.type_attr or arg.type_list_attr or "any dtype"
    several = f", {arg.number_attr or 'several'} of them" if arg.is_list else ""
    return f"{arg.name}: {kind}{several}{', a reference to a variable' if arg.is_ref else ''}"


def _attrs(definition: OpDef) -> Iterator[str]:
    for attr in definition.attrs.values():
        decided = "" if definition.needs(attr) else ", by the inputs"
        default = f", {_default(attr)!r} by default" if attr.has_default else decided
        allowed = f", one of {', '.join(map(_text, attr.allowed))}" if attr.allowed else ""
        least = f", at least {attr.minimum}" if attr.minimum is not None else ""
        yield f"{attr.name}: {attr.type}{allowed}{least}{default}"


def _default(attr: AttrDef) -> Any:
    return _text(attr.default) if isinstance(attr.default, bytes) else attr.default


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


# The ops as methods.


def op_names() -> list[str]:
    """Return the declared ops whose names Python takes for public methods."""
    return [name for name in CATALOG if name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")]


class RawOps:
    """Adds a node of an op by the method with the op's name."""

    def __getattr__(self, op: str) -> Callable[..., Any]:
        # copy, pickle and inspect ask any object for special methods.
        if op.startswith("__") or op not in CATALOG:
            raise AttributeError(f"'{op}' is neither a method of GraphBuilder nor a declared op")
        return op_function(self.apply, op)

    def __dir__(self) -> list[str]:
        """Return the methods and the declared ops, for tab completion."""
        return sorted({*super().__dir__(), *op_names()})

    def apply(self, op: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        """Add a node of type `op`."""
        raise NotImplementedError
