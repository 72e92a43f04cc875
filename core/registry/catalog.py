"""The interface of every op: argument names, types, attributes with defaults, and flags.

`catalog.txt` holds a line for each op, in the notation of custom op libraries:

    MatMul(a: T, b: T) -> (product: T) {transpose_a: bool = false, transpose_b: bool = false, T: {half, float}}
    AddN(inputs: N * T) -> (sum: T) {N: int >= 1, T: {float, double}} commutative aggregate
    Assign(ref: Ref(T), value: T) -> (output_ref: Ref(T)) {T: type, use_locking: bool = true} uninitialized_input

Flags: stateful, commutative, aggregate, uninitialized_input.
"""

from __future__ import annotations

import functools
import os.path
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..support import dataclasses
from ..support.errors import AlreadyExistsError, InvalidArgumentError
from ..types import dtypes
from ..types.dtypes import DType
from ..types.shapes import Shape
from ..types.tensors import FuncRef, Placeholder, Tensor

MAX_LENGTH = 1 << 16
"""The largest number of inputs or outputs of an argument. The number is an attribute, which a damaged file may set to any
value.
"""
FLAGS = ("stateful", "commutative", "aggregate", "uninitialized_input")


@dataclasses.dataclass(frozen=True, slots=True)
class ArgDef:
    """An input or output: of a fixed dtype, of attribute `type_attr`, repeated `number_attr` times, or a value for each
    dtype of attribute `type_list_attr`.
    """

    name: str
    dtype: DType | None = None
    type_attr: str | None = None
    number_attr: str | None = None
    type_list_attr: str | None = None
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        return self.number_attr is not None or self.type_list_attr is not None

    @property
    def attr_names(self) -> tuple[str | None, ...]:
        """The attributes that the values decide."""
        return self.type_attr, self.number_attr, self.type_list_attr


@dataclasses.dataclass(frozen=True, slots=True)
class AttrDef:
    """An attribute: its type in TensorFlow's notation (`int`, `list(type)`, `func` ...), its default, minimum and allowed
    values.
    """

    name: str
    type: str
    default: Any = None
    has_default: bool = False
    minimum: int | None = None
    allowed: tuple[Any, ...] | None = None

    def is_default(self, value: object) -> bool:
        """Return True for the value that a node without the attribute has."""
        return self.has_default and bool(self.default == value)


@dataclasses.dataclass(frozen=True, slots=True)
class OpDef:
    """The interface of an op."""

    name: str
    inputs: tuple[ArgDef, ...]
    outputs: tuple[ArgDef, ...]
    attrs: Mapping[str, AttrDef]
    flags: frozenset[str]
    takes_functions: bool = dataclasses.field(init=False, repr=False, compare=False)
    """True if attributes name functions."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "takes_functions", any("func" in attr.type for attr in self.attrs.values()))

    @property
    def is_stateful(self) -> bool:
        return "stateful" in self.flags

    @property
    def is_commutative(self) -> bool:
        return "commutative" in self.flags

    def needs(self, attr: AttrDef) -> bool:
        """Return True for an attribute without a default that no input decides."""
        return not attr.has_default and not any(attr.name in arg.attr_names for arg in self.inputs)

    def attr(self, attrs: Mapping[str, Any], name: str) -> Any:
        """Return the value of an attribute, or its default; InvalidArgumentError if both are missing."""
        if name in attrs:
            return attrs[name]
        definition = self.attrs.get(name)
        if definition is None or not definition.has_default:
            raise InvalidArgumentError(f"{self.name} needs attribute '{name}'")
        return definition.default

    def input_dtypes(self, attrs: Mapping[str, Any]) -> list[DType]:
        """Return the dtypes of all inputs, list arguments expanded."""
        return [dtype for arg in self.inputs for dtype in self.arg_dtypes(arg, attrs)]

    def output_dtypes(self, attrs: Mapping[str, Any]) -> list[DType]:
        """Return the dtypes of all outputs, list arguments expanded."""
        return [dtype for arg in self.outputs for dtype in self.arg_dtypes(arg, attrs)]

    def arg_dtypes(self, arg: ArgDef, attrs: Mapping[str, Any]) -> list[DType]:
        """Return the dtypes of an argument's values."""
        if not arg.is_list:
            dtype = arg.dtype if arg.dtype is not None else self.attr(attrs, str(arg.type_attr))
            if dtype.__class__ is DType:  # the usual case: the general one below takes three times as long
                return [dtype.ref if arg.is_ref else dtype]
        count = self.length(arg, attrs) if arg.is_list else 1
        if arg.type_list_attr is not None:
            dtypes_of_arg = list(self.attr(attrs, arg.type_list_attr))
        else:
            # Before the list is made: the number comes from the file.
            if count > MAX_LENGTH:
                raise InvalidArgumentError(f"attribute '{arg.number_attr}' is {count}, more than the limit of {MAX_LENGTH}")
            dtypes_of_arg = [arg.dtype if arg.dtype is not None else self.attr(attrs, str(arg.type_attr))] * count
        if not all(isinstance(dtype, (DType, Placeholder)) for dtype in dtypes_of_arg):
            raise InvalidArgumentError(f"attribute '{arg.type_list_attr or arg.type_attr}' holds a value that is not a dtype")
        return [dtype.ref if isinstance(dtype, DType) else dtype for dtype in dtypes_of_arg] if arg.is_ref else dtypes_of_arg

    def length(self, arg: ArgDef, attrs: Mapping[str, Any]) -> int:
        """Return the number of values of an argument; InvalidArgumentError if its attribute is of another kind."""
        name = arg.type_list_attr or arg.number_attr
        if name is None:
            return 1
        value = self.attr(attrs, name)
        if not isinstance(value, (list, tuple) if arg.type_list_attr else int):
            raise InvalidArgumentError(f"attribute '{name}' does not give the number of values of '{arg.name}'")
        return int(value) if isinstance(value, int) else len(value)


class Catalog:
    """OpDefs by name, parsed at first touch."""

    def __init__(self) -> None:
        self._custom: dict[str, OpDef] = {}
        self._specs: dict[str, str] = {}
        self._known: dict[str, OpDef] = {}

    def __contains__(self, op: object) -> bool:
        return op in self._custom or op in _lines()

    def __iter__(self) -> Iterator[str]:
        yield from _lines()
        yield from self._custom

    def get(self, op: str) -> OpDef | None:
        """Return the interface of an op, or None for an undeclared op."""
        # A line is parsed when its op is first asked for: all 1,900 lines would take as long as a short command.
        definition = self._known.get(op)
        if definition is None and (definition := self._custom.get(op) or _builtin(op)) is not None:
            self._known[op] = definition
        return definition

    def __getitem__(self, op: str) -> OpDef:
        definition = self.get(op)
        if definition is None:
            raise InvalidArgumentError(f"op '{op}' is not declared", op=op)
        return definition

    def is_builtin(self, op: str) -> bool:
        """Return True for an op of TensorFlow."""
        return op in _lines()

    def register(self, spec: str) -> OpDef:
        """Declare an op from a spec line; AlreadyExistsError for a known name."""
        try:
            # Only a user's spec is checked further: the lines of catalog.txt come from TensorFlow, and are right.
            definition = _checked(parse_op(spec))
        except (ValueError, KeyError, IndexError) as error:
            raise InvalidArgumentError(f"op spec '{spec.strip()}' cannot be read: {error}") from None
        # Two libraries with one op of different interfaces could not both be right about a node.
        if definition.name in self:
            raise AlreadyExistsError(f"op '{definition.name}' is already registered", op=definition.name)
        self._custom[definition.name] = definition
        # The text itself, as wrappers and error messages show the author's own.
        self._specs[definition.name] = " ".join(spec.split())
        return definition

    def spec(self, op: str) -> str:
        """Return the one-line spec of an op; InvalidArgumentError for an undeclared op."""
        # The look-up raises the error about an undeclared op.
        self[op]
        return self._specs.get(op) or _lines()[op]

    def custom(self) -> tuple[str, ...]:
        """Return the ops that `register` declared."""
        return tuple(self._custom)

    def unregister(self, op: str) -> None:
        """Forget an op that `register` declared."""
        del self._custom[op], self._specs[op]
        self._known.pop(op, None)


@functools.cache
def _lines() -> dict[str, str]:
    # As bytes: a text file looks for other ends of lines, which takes a quarter of the time.
    with open(os.path.join(os.path.dirname(__file__), "catalog.txt"), "rb") as file:
        text = file.read().decode("ascii")
    return {line.partition("(")[0]: line for line in text.splitlines()}


def _builtin(op: str) -> OpDef | None:
    line = _lines().get(op)
    return None if line is None else parse_op(line)


CATALOG = Catalog()


def parse_op(spec: str) -> OpDef:
    """Parse the one-line spec of an op; InvalidArgumentError names the fault of the spec."""
    head, attr_text, flags = _split_spec(spec)
    match = re.fullmatch(r"\s*([A-Za-z_>][\w>]*)\s*\((.*)\)\s*->\s*\((.*)\)\s*", head)
    if match is None:
        raise InvalidArgumentError(f"op spec '{spec.strip()}' is not of the form 'Name(a: T) -> (b: T) {{T: type}} flags'")
    name, inputs, outputs = match.groups()
    attrs = _parse_attrs(attr_text)
    definition = OpDef(
        name,
        tuple(_parse_arg(text, attrs) for text in split_top(inputs)),
        tuple(_parse_arg(text, attrs) for text in split_top(outputs)),
        attrs,
        frozenset(flags.split()),
    )
    if unknown := definition.flags - set(FLAGS):
        raise InvalidArgumentError(f"op spec of {name}: unknown flag '{min(unknown)}'; flags are {', '.join(FLAGS)}")
    return definition


def _checked(definition: OpDef) -> OpDef:
    """Return the OpDef if its attributes have known types and the repeat counts of its arguments are attributes."""
    for attr in definition.attrs.values():
        element = attr.type[5:-1] if attr.type.startswith("list(") else attr.type
        if element not in _VALUE_PARSERS:
            types = ", ".join(_VALUE_PARSERS)
            message = f"op spec of {definition.name}: attribute '{attr.name}' is '{attr.type}', not one of {types}"
            raise InvalidArgumentError(message)
    for arg in (*definition.inputs, *definition.outputs):
        if arg.number_attr is not None and arg.number_attr not in definition.attrs:
            message = f"op spec of {definition.name}: '{arg.name}' needs an attribute '{arg.number_attr}: int'"
            raise InvalidArgumentError(message)
    return definition


def _split_spec(spec: str) -> tuple[str, str, str]:
    """Return the signature, the text between the attribute braces, and the flags."""
    # Flags without attributes stand behind the results.
    if "{" not in spec:
        close = spec.rfind(")") + 1
        return spec[:close], "", spec[close:]
    start, end = spec.index("{"), spec.rindex("}")
    return spec[:start], spec[start + 1 : end], spec[end + 1 :]


# Quotes first, so that brackets and commas in a string count for nothing.
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"?|[()\[\]{},]')
_NESTED = re.compile(r'["()\[\]{}]')
_WITH_DEFAULT = re.compile(r"((?:\{[^}]*\}|(?<=>)=|[^{=])*+)=(.*)", re.DOTALL)
"""A type, and the default behind an equals sign outside braces that is not part of `>=`."""


def split_top(text: str) -> list[str]:
    """Return the parts of `text` between commas that stand outside brackets and quotes, stripped."""
    if _NESTED.search(text) is None:  # the usual case
        return [stripped for part in text.split(",") if (stripped := part.strip())]
    parts, depth, start = [], 0, 0
    for mark in _MARKS.finditer(text):
        depth += (mark[0] in "([{") - (mark[0] in ")]}")
        if mark[0] == "," and depth == 0:
            parts.append(text[start : mark.start()])
            start = mark.end()
    parts.append(text[start:])
    return [stripped for part in parts if (stripped := part.strip())]


def _parse_arg(text: str, attrs: Mapping[str, AttrDef]) -> ArgDef:
    name, _, kind = (part.strip() for part in text.partition(":"))
    # Around the number too: Ref(N * T) is a list of references.
    is_ref = kind.startswith("Ref(")
    if is_ref:
        kind = kind[4:-1]
    number, star, element = (part.strip() for part in kind.partition("*"))
    number_attr, element = (number, element) if star else (None, number)
    if element in attrs:
        if attrs[element].type == "list(type)":
            return ArgDef(name, type_list_attr=element, is_ref=is_ref)
        return ArgDef(name, type_attr=element, number_attr=number_attr, is_ref=is_ref)
    return ArgDef(name, dtype=dtypes.from_name(element), number_attr=number_attr, is_ref=is_ref)


@functools.cache
def _parse_attrs(text: str) -> Mapping[str, AttrDef]:
    """Return the attributes between an op's braces; many ops have the same."""
    return {attr.name: attr for attr in map(_parse_attr, split_top(text))}


def _parse_attr(text: str) -> AttrDef:
    name, _, rest = (part.strip() for part in text.partition(":"))
    with_default = _WITH_DEFAULT.fullmatch(rest)
    kind, default_text = (rest, "") if with_default is None else with_default.groups()
    kind, has_minimum, minimum = (part.strip() for part in kind.partition(">"))
    type_, allowed = _parse_attr_type(kind)
    default = None if with_default is None else parse_value(type_, default_text.strip())
    bound = int(minimum.lstrip("= ")) if has_minimum else None
    return AttrDef(name, type_, default, with_default is not None, bound, allowed)


@functools.cache
def _parse_attr_type(kind: str) -> tuple[str, tuple[Any, ...] | None]:
    """Parse a type with allowed values: `{float, half}` is a type, `{"SAME"}` a string, `list(...)` a list of either."""
    is_list = kind.startswith("list(")
    element = kind[5:-1] if is_list else kind
    allowed = None
    if element.startswith("{"):
        items = split_top(element[1:-1])
        element = "string" if items[0].startswith('"') else "type"
        allowed = tuple(parse_value(element, item) for item in items)
    return (f"list({element})" if is_list else element), allowed


def parse_value(type_: str, text: str) -> Any:
    """Parse an attribute value of type `type_` from a spec's text."""
    if type_.startswith("list("):
        return [parse_value(type_[5:-1], item) for item in split_top(text[1:-1])]
    return _VALUE_PARSERS[type_](text)


def _parse_shape(text: str) -> Shape:
    return Shape() if text == "?" else Shape(None if d == "?" else int(d) for d in split_top(text[1:-1]))


def _unquote(text: str) -> str:
    """Return the text between quotes, JSON's escapes resolved."""
    # Nearly all texts have no escape, and do without the import of json.
    if text[:1] == text[-1:] == '"' and "\\" not in text and len(text) > 1:
        return text[1:-1]
    import json

    return str(json.loads(text))


def _parse_tensor(text: str) -> Tensor:
    import json

    dtype, _, values = text.partition(" ")
    return Tensor.from_numpy(json.loads(values), dtypes.from_name(dtype))


_VALUE_PARSERS: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": lambda text: text == "true",
    # Strings of attributes are bytes, which the file writes as the characters of the same numbers.
    "string": lambda text: _unquote(text).encode("latin-1"),
    "type": dtypes.from_name,
    "shape": _parse_shape,
    "func": lambda text: FuncRef(_unquote(text)),
    "tensor": _parse_tensor,
}


# Descriptions of TensorFlow's ops, a sentence each from the documentation.
# scripts/make_op_sentences.py writes op_sentences.txt.


def op_sentence(op: str) -> str:
    """Return a sentence on what an op computes; empty for ops that TensorFlow does not document."""
    return _sentences().get(op, "")


@functools.cache
def _sentences() -> Mapping[str, str]:
    lines = pathlib.Path(__file__).with_name("op_sentences.txt").read_text(encoding="utf-8").splitlines()
    return {op: sentence for op, _, sentence in (line.partition(" ") for line in lines)}
