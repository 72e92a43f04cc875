"""Differences between two nodes, under the new names of nodes and functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..explaining.node_listing import RECORDED_SHAPES, value_text
from ..graph.graph import Graph, Node
from ..support import dataclasses
from ..types.shapes import Shape
from ..types.tensors import FuncRef, Tensor
from .function_matching import GraphMatch
from .generated_names import NAMING, stem, without_uuids

_NO_NAME: Final = ""
"""The new name of a node or function without a counterpart; no node is called so."""
_GENERATED: Final = frozenset((*NAMING, "api_implements", "_gradient_op_type", "_user_specified_name"))
"""Attributes with names that TensorFlow makes."""
_NAMES_FUNCTIONS: Final = frozenset(("forward_function_name", "backward_function_name"))
_COLOCATED: Final = "loc:@"


@dataclasses.dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a node (op, device, inputs, control_inputs or an attribute) before and after; None where the field was
    absent.
    """

    field: str
    """`op`, `device`, `inputs`, `control_inputs`, or the name of an attribute."""
    before: str | None
    """The text in the first graph; None where it lacks the field."""
    after: str | None
    """The text in the second graph; None where it lacks the field."""

    def __str__(self) -> str:
        return f"{self.field}: {'-' if self.before is None else self.before} -> {'-' if self.after is None else self.after}"


@dataclasses.dataclass(frozen=True, slots=True)
class Renaming:
    """The names in the second graph of nodes, functions and gradients of the first; absent names stay.

    A `strict` renaming compares names as they are. Without it, the numbers that TensorFlow adds to names do not count.
    """

    nodes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    functions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    gradients: Mapping[str, str] = dataclasses.field(default_factory=dict)
    strict: bool = False

    @staticmethod
    def of(match: GraphMatch) -> Renaming:
        """Return the new names of functions and gradients, and of the graph's own nodes."""
        functions = {name: match.functions.get(name, _NO_NAME) for name in match.before.functions}
        named = {registered.function: name for name, registered in match.after.registered_gradients.items()}
        gradients = {
            name: named[functions[registered.function]]
            for name, registered in match.before.registered_gradients.items()
            if functions.get(registered.function) in named
        }
        return Renaming({}, functions, gradients).within(match.before, match.after, match.nodes)

    def within(self, before: Graph, after: Graph, matched: Mapping[Node, Node]) -> Renaming:
        """Return the renaming with the new names of the nodes of another graph or body."""
        if self.strict:
            return self
        nodes = {node.name: other.name for node, other in matched.items() if node.name != other.name}
        nodes |= {node.name: _NO_NAME for node in before if node not in matched and node.name in after}
        return dataclasses.replace(self, nodes=nodes)

    def tensor(self, text: str) -> str:
        """Return the new name of the tensor or node `a`, `a:1` or `^a`."""
        if not self.nodes:
            return text
        mark = text[: text.startswith("^")]
        name, colon, index = text[len(mark) :].partition(":")
        return f"{mark}{self.nodes.get(name, name)}{colon}{index}"

    def is_new_name(self, old: str, new: str) -> bool:
        """Return True where two names of the same object differ by more than numbers that TensorFlow adds."""
        return old != new and (self.strict or stem(old) != stem(new))

    def same_value(self, attribute: str, old: Any, new: Any) -> bool:
        """Return True where two values of an attribute mean the same."""
        holds_names = isinstance(old, (list, bytes, FuncRef)) and not self.strict
        if not holds_names and same_value(old, new):
            return True
        return not self.strict and same_value(self._translated(attribute, old), _normal(attribute, new))

    def _translated(self, attribute: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._translated(attribute, item) for item in value]
        if isinstance(value, FuncRef):
            attrs = {name: self._translated(name, item) for name, item in value.attrs.items()}
            return FuncRef(self.functions.get(value.name, value.name), attrs)
        if isinstance(value, bytes):
            return self._translated_text(attribute, value.decode("utf-8", "surrogateescape"))
        return _normal(attribute, value)

    def _translated_text(self, attribute: str, text: str) -> Any:
        if attribute == "_class" and text.startswith(_COLOCATED):
            return _encoded(_COLOCATED + self.tensor(text.removeprefix(_COLOCATED)))
        if attribute in _NAMES_FUNCTIONS:
            return _encoded(self.functions.get(text, text))
        if attribute == "_gradient_op_type":
            text = self.gradients.get(text, text)
        return _normal(attribute, _encoded(text))


STRICT: Final = Renaming(strict=True)
"""The renaming of two graphs whose nodes and functions match by name."""


def node_changes(old: Node, new: Node, renaming: Renaming = STRICT) -> Iterator[FieldChange]:
    """Yield the fields in which two nodes differ; of inputs only the names are compared."""
    if renaming.is_new_name(old.name, new.name):
        yield FieldChange("name", old.name, new.name)
    if old.op != new.op and renaming.functions.get(old.op) != new.op:
        yield FieldChange("op", old.op, new.op)
    if old.device != new.device:
        yield FieldChange("device", old.device or None, new.device or None)
    (inputs, controls), (new_inputs, new_controls) = old.input_names(), new.input_names()
    if [renaming.tensor(text) for text in inputs] != new_inputs:
        yield FieldChange("inputs", *(", ".join(map(_tensor_name, names)) for names in (inputs, new_inputs)))
    if {renaming.tensor(text) for text in controls} != set(new_controls):
        yield FieldChange("control_inputs", *(", ".join(f"^{name}" for name in names) for names in (controls, new_controls)))
    yield from attribute_changes(old.attrs, new.attrs, renaming)


def attribute_changes(old: Mapping[str, Any], new: Mapping[str, Any], renaming: Renaming) -> Iterator[FieldChange]:
    """Yield the attributes in which two nodes or functions differ."""
    for name in dict.fromkeys((*old, *new)):
        values = old.get(name), new.get(name)
        present = name in old, name in new
        if name == RECORDED_SHAPES and not all(present):
            continue
        if present[0] != present[1] or not renaming.same_value(name, *values):
            yield FieldChange(name, *(value_text(v) if p else None for v, p in zip(values, present)))


def _tensor_name(text: str) -> str:
    return text if ":" in text else f"{text}:0"


def same_value(a: Any, b: Any) -> bool:
    """Return True where two attribute values mean the same; an unknown dimension is as good as another, and so is a NaN."""
    if isinstance(a, Shape) and isinstance(b, Shape):
        return str(a) == str(b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, FuncRef) and isinstance(b, FuncRef):
        names = [*a.attrs]
        return a.name == b.name and names == [*b.attrs] and all(same_value(a.attrs[n], b.attrs[n]) for n in names)
    return type(a) is type(b) and bool(a == b or (isinstance(a, float) and a != a and b != b))


def _normal(attribute: str, value: Any) -> Any:
    """Return a value without what TensorFlow makes at random or by counting."""
    if isinstance(value, list):
        return [_normal(attribute, item) for item in value]
    if isinstance(value, FuncRef):
        return FuncRef(value.name, {name: _normal(name, item) for name, item in value.attrs.items()})
    if isinstance(value, bytes) and attribute in _GENERATED:
        return _encoded(stem(value.decode("utf-8", "surrogateescape")))
    if isinstance(value, Tensor) and value.dtype.is_object and value.size < _MAX_TEXTS:
        return [without_uuids(item) for item in value.numpy().ravel() if isinstance(item, bytes)]
    return value


_MAX_TEXTS: Final = 100
"""String constants of more elements are no names of TensorFlow."""


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
