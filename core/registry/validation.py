"""Validation of nodes against their op's interface: kinds and bounds of attributes, numbers and dtypes of inputs.

Kernels, shape functions, gradients and passes rely on the checks here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..support.keyed_cache import KeyedCache
from ..support.words import counted
from ..types.dtypes import DType
from ..types.shapes import Shape
from ..types.tensors import FuncRef, Placeholder, Tensor
from .catalog import CATALOG, ArgDef, AttrDef, OpDef

# Graphs inside TensorFlow and bodies of functions have names that its import refuses, such as those with an underscore in
# front: for these there is `is_importable`.
_NODE_NAME: Final = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.\\/>-]*")
_IMPORTABLE: Final = re.compile(r"[A-Za-z0-9.][\w./-]*(>[A-Za-z0-9.][\w./-]*)*", re.ASCII)
_OP_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.\\/>-]*")
_MISSING: Final = object()
_KINDS: Final[Mapping[str, type]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "string": bytes,
    "type": DType,
    "shape": Shape,
    "tensor": Tensor,
    "func": FuncRef,
}


_Check: TypeAlias = Callable[[AttrDef, Any], None]


class _Rule(NamedTuple):
    """The rule for an attribute; `check` looks further at a value of the right kind."""

    name: str
    kind: type
    is_optional: bool
    attr: AttrDef
    check: _Check | None


_rules: dict[int, tuple[OpDef, tuple[_Rule, ...]]] = {}


@dataclasses.dataclass(eq=False, slots=True)
class Checked:
    """The result of checking nodes with these attributes: the dtypes of their inputs, None for an unknown op.

    `outputs` are the dtypes of the outputs; `opened` names the attributes left to the callers of the surrounding function.
    An op that nobody declared is not `is_declared`.
    """

    op: str
    attrs: Mapping[str, Any]
    inputs: tuple[DType, ...] | None = None
    outputs: tuple[DType, ...] = ()
    opened: Sequence[str] = ()
    is_declared: bool = True

    def holds(self, op: str, attrs: Mapping[str, Any]) -> bool:
        """Return True while the op and the attributes are the same as at the check."""
        return self.attrs is attrs and self.op == op


def check_node(op: str, attrs: Mapping[str, Any], count: int) -> Checked:
    """Check a node with `count` inputs apart from its edges; InvalidArgumentError if the node breaks its op's interface."""
    definition = CATALOG.get(op)
    if definition is None:
        check_op_name(op)
        check_colocation(attrs.get("_class", ()))
        # An unknown op is legal in a graph: only a run, a shape or a gradient needs its interface.
        return Checked(op, attrs, is_declared=False)
    if not definition.takes_functions:
        return _checked(definition, attrs, count)
    # Each call names another function, and is otherwise like the calls before it.
    try:
        key = id(definition), count, *map(_apart_from_functions, attrs.items())
        known = _calls.get(key)
    except TypeError:  # a value without a hash
        return _checked(definition, attrs, count)
    if known is None:
        known = _calls[key] = definition, _checked(definition, attrs, count)
    checked = known[1]
    return Checked(op, attrs, checked.inputs, checked.outputs, checked.opened)


_calls: Final[KeyedCache[Hashable, tuple[OpDef, Checked]]] = KeyedCache(1000)
"""Results of checks, each with the interface, to keep alive what the key identifies."""


def _apart_from_functions(item: tuple[str, Any]) -> Hashable:
    """Return what a check depends on in an attribute: its name, and its value unless it is a function."""
    name, value = item
    if isinstance(value, list):
        return name, tuple([(one.__class__, None if one.__class__ is FuncRef else one) for one in value])
    # With the class, as 1, 1.0 and True are equal.
    return name, value.__class__, None if value.__class__ is FuncRef else value


def _checked(definition: OpDef, attrs: Mapping[str, Any], count: int) -> Checked:
    opened = check_attrs(definition, attrs)
    expected = expected_inputs(definition, attrs, count)
    return Checked(definition.name, attrs, expected, tuple(definition.output_dtypes(attrs)), opened)


is_name: Final[Callable[[str], object]] = _NODE_NAME.fullmatch
"""Return something true for a name that TensorFlow takes for a node."""


def check_name(name: str) -> None:
    """Raise InvalidArgumentError for a name that TensorFlow refuses for a node."""
    if not is_name(name):
        raise InvalidArgumentError(f"'{name}' is not a valid node name")


def is_importable(name: str) -> bool:
    """Return True for a name that TensorFlow accepts for a node on import of a graph; functions accept more names."""
    return _IMPORTABLE.fullmatch(name) is not None


def check_op_name(op: str) -> None:
    """Raise InvalidArgumentError for a name that neither an op nor a function can have."""
    if not _OP_NAME.fullmatch(op):
        raise InvalidArgumentError(f"'{op}' is not a valid op type")


def check_attrs(definition: OpDef, attrs: Mapping[str, Any]) -> Sequence[str]:
    """Raise InvalidArgumentError if an attribute is missing, of the wrong kind or out of bounds.

    A `Placeholder`, an attribute left to a function's caller, passes for any value; the names of the placeholders are
    returned.
    """
    opened = _check_rules(definition.name, _rules_of(definition), attrs)
    check_colocation(attrs.get("_class", ()))
    # Const, and ops like it, state the dtype of their value a second time.
    if "value" in definition.attrs and "dtype" in definition.attrs:
        _check_constant(attrs.get("value"), attrs.get("dtype"))
    return opened


def _check_constant(value: Any, dtype: Any) -> None:
    if isinstance(value, Tensor) and isinstance(dtype, DType) and value.dtype is not dtype:
        raise InvalidArgumentError(f"attribute 'value' is a tensor of {value.dtype}, attribute 'dtype' is {dtype}")


def attribute_faults(definition: OpDef, attrs: Mapping[str, Any], left_open: Collection[str] = ()) -> Iterator[str]:
    """Yield the faults of each attribute in the words of `check_attrs`; `left_open` names attributes set by a function's
    caller.
    """
    for rule in _rules_of(definition):
        try:
            opened = _check_rules(definition.name, (rule,), attrs)
        except InvalidArgumentError as error:
            yield error.message
        else:
            for name in opened:
                if name not in left_open:
                    yield f"attribute '{name}' needs a value from a caller, but the graph has no caller"
    try:
        check_colocation(attrs.get("_class", ()))
    except InvalidArgumentError as error:
        yield error.message


def _check_rules(op: str, rules: Sequence[_Rule], attrs: Mapping[str, Any]) -> Sequence[str]:
    opened = []
    for name, kind, is_optional, attr, check in rules:
        value = attrs.get(name, _MISSING)
        # By class: for isinstance, True is an int. And a check of each attribute of a million nodes must be short.
        if value.__class__ is kind:
            if check is not None:
                check(attr, value)
        elif value is _MISSING:
            if not is_optional:
                raise InvalidArgumentError(f"{op} needs attribute '{name}'")
        elif value.__class__ is not Placeholder:
            raise InvalidArgumentError(f"attribute '{name}' must be {attr.type}, not {_described(value)}")
        else:
            opened.append(value.name)
    return opened


def check_value(attr: AttrDef, value: Any) -> None:
    """Raise InvalidArgumentError if a value of the declared kind is out of the attribute's bounds."""
    check = _check_of(attr)
    if check is not None:
        check(attr, value)


def check_colocation(value: Any) -> None:
    """Raise InvalidArgumentError if `_class` is no list of names."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, bytes) for item in value):
        raise InvalidArgumentError(f"attribute '_class' must be list(string), not {_described(value)}")


def expected_inputs(definition: OpDef, attrs: Mapping[str, Any], count: int) -> tuple[DType, ...] | None:
    """Return the dtypes of the inputs; InvalidArgumentError if the interface has more or fewer inputs than `count`.

    None if a function's caller decides the number or the dtypes.
    """
    if any(_is_open(definition, attrs, arg) for arg in definition.inputs):
        return None
    expected = sum(definition.length(arg, attrs) for arg in definition.inputs)
    if expected != count:
        raise InvalidArgumentError(f"it has {counted(count, 'input')}, but its op takes {expected}")
    return tuple(definition.input_dtypes(attrs))


def _is_open(definition: OpDef, attrs: Mapping[str, Any], arg: ArgDef) -> bool:
    return any(isinstance(definition.attr(attrs, name), Placeholder) for name in arg.attr_names if name is not None)


def _rules_of(definition: OpDef) -> tuple[_Rule, ...]:
    # By address, as the hash of an interface would be computed for every node.
    entry = _rules.get(id(definition))
    if entry is None:
        # The entry keeps the interface alive, so that no other object gets its address.
        entry = _rules[id(definition)] = (definition, tuple(map(_rule, definition.attrs.values())))
    return entry[1]


def _rule(attr: AttrDef) -> _Rule:
    kind = list if attr.type.startswith("list(") else _KINDS[attr.type]
    return _Rule(attr.name, kind, attr.has_default, attr, _check_of(attr))


def _check_of(attr: AttrDef) -> _Check | None:
    if attr.type.startswith("list("):
        return _check_list
    if attr.allowed is not None:
        return _check_allowed
    if attr.minimum is not None:
        return _check_minimum
    return _CHECKS.get(attr.type)


def _check_allowed(attr: AttrDef, value: Any) -> None:
    assert attr.allowed is not None
    if value not in attr.allowed:
        allowed = ", ".join(map(_text, attr.allowed))
        raise InvalidArgumentError(f"attribute '{attr.name}' is {_text(value)}, not one of {allowed}")


def _check_minimum(attr: AttrDef, value: int) -> None:
    if attr.minimum is not None and value < attr.minimum:
        raise InvalidArgumentError(f"attribute '{attr.name}' is {value}, which is less than {attr.minimum}")


def _check_no_reference(attr: AttrDef, value: DType) -> None:
    if value.is_ref:
        raise InvalidArgumentError(f"attribute '{attr.name}' is {value}, a reference type")


def _check_size(attr: AttrDef, value: Shape) -> None:
    # TensorFlow refuses such a shape, and code that allocates relies on 64 bits.
    if value.dims and math.prod(d for d in value.dims if isinstance(d, int)) >= 1 << 63:
        raise InvalidArgumentError(f"attribute '{attr.name}' is {value}, of more elements than 64 bits can count")


_CHECKS: Final[Mapping[str, _Check]] = {"type": _check_no_reference, "shape": _check_size}


def _check_list(attr: AttrDef, values: Sequence[Any]) -> None:
    if attr.minimum is not None and len(values) < attr.minimum:
        raise InvalidArgumentError(f"attribute '{attr.name}' has {counted(len(values), 'element')}, fewer than {attr.minimum}")
    element = attr.type[5:-1]
    kind = _KINDS[element]
    for value in values:
        if value.__class__ is not kind and value.__class__ is not Placeholder:
            raise InvalidArgumentError(f"attribute '{attr.name}' must be {attr.type}, not {_described(values)}")
    # Placeholders passed above: the caller of the function has the value.
    _check_elements(attr, element, [value for value in values if value.__class__ is kind])


def _check_elements(attr: AttrDef, element: str, values: Iterable[Any]) -> None:
    check = _check_allowed if attr.allowed is not None else _CHECKS.get(element)
    if check is not None:
        for value in values:
            check(attr, value)


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _described(value: Any) -> str:
    """Describe a value of the wrong kind for a message, at most a line long."""
    if value is None:
        return "empty"
    # A constant of megabytes may stand where a number belongs.
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
