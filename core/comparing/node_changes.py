"""Differences between two nodes, under the new names of nodes and functions; and between models outside of their graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..explaining.node_listing import RECORDED_SHAPES, value_text
from ..graph.graph import Graph, Node
from ..graph.metagraph import Signature, SignatureTensor
from ..support import dataclasses
from ..types.shapes import Shape
from ..types.tensors import FuncRef, Tensor
from .matching import NAMING, GraphMatch, stem, without_uuids

_NO_NAME: Final = ""
"""The new name of a node or function without a counterpart; no node is called so."""
_GENERATED: Final = frozenset((*NAMING, "api_implements", "_gradient_op_type", "_user_specified_name"))
"""Attributes with names that TensorFlow makes."""
_NAMES_FUNCTIONS: Final = frozenset(("forward_function_name", "backward_function_name"))
_COLOCATED: Final = "loc:@"


@dataclasses.dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of a node (op, device, inputs, control_inputs or an attribute) before and after; None if it was absent."""

    field: str
    """`op`, `device`, `inputs`, `control_inputs`, or the name of an attribute."""
    before: str | None
    """The text in the first graph; None if it lacks the field."""
    after: str | None
    """The text in the second graph; None if it lacks the field."""

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
        # A function without a counterpart equals none, also if the other graph has one of its name.
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
        # Only the names that change, as most graphs are compared with themselves after a small change.
        nodes = {node.name: other.name for node, other in matched.items() if node.name != other.name}
        # Another node has this name in the second graph, and edges from these two must not count as equal.
        nodes |= {node.name: _NO_NAME for node in before if node not in matched and node.name in after}
        return dataclasses.replace(self, nodes=nodes)

    def tensor(self, text: str) -> str:
        """Return the new name of the tensor or node `a`, `a:1` or `^a`."""
        if not self.nodes:
            return text
        # An empty text, or the sign of a control input.
        mark = text[: text.startswith("^")]
        name, colon, index = text[len(mark) :].partition(":")
        return f"{mark}{self.nodes.get(name, name)}{colon}{index}"

    def is_new_name(self, old: str, new: str) -> bool:
        """Return True if two names of the same object differ by more than numbers that TensorFlow adds."""
        return old != new and (self.strict or stem(old) != stem(new))

    def same_value(self, attribute: str, old: Any, new: Any) -> bool:
        """Return True if two values of an attribute mean the same."""
        # Names may be equal and mean different functions; other values that are equal need no translation.
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
        texts = ([text if ":" in text else f"{text}:0" for text in names] for names in (inputs, new_inputs))
        yield FieldChange("inputs", *map(", ".join, texts))
    # As sets: the order of control inputs means nothing.
    if {renaming.tensor(text) for text in controls} != set(new_controls):
        yield FieldChange("control_inputs", *(", ".join(f"^{name}" for name in names) for names in (controls, new_controls)))
    yield from attribute_changes(old.attrs, new.attrs, renaming)


def attribute_changes(old: Mapping[str, Any], new: Mapping[str, Any], renaming: Renaming) -> Iterator[FieldChange]:
    """Yield the attributes in which two nodes or functions differ."""
    for name in dict.fromkeys((*old, *new)):
        values = old.get(name), new.get(name)
        present = name in old, name in new
        # An export records shapes, and a newly built graph has none: that says nothing of the computation.
        if name == RECORDED_SHAPES and not all(present):
            continue
        if present[0] != present[1] or not renaming.same_value(name, *values):
            yield FieldChange(name, *(value_text(v) if p else None for v, p in zip(values, present)))


def same_value(a: Any, b: Any) -> bool:
    """Return True if two attribute values mean the same; an unknown dimension is as good as another, and so is a NaN."""
    if isinstance(a, Shape) and isinstance(b, Shape):
        # By their texts, in which all unknown sizes are `?`.
        return str(a) == str(b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, FuncRef) and isinstance(b, FuncRef):
        names = [*a.attrs]
        return a.name == b.name and names == [*b.attrs] and all(same_value(a.attrs[n], b.attrs[n]) for n in names)
    # True equals 1 for Python, and an attribute true is not an attribute 1.
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
        # A saver's prefix of temporary files is such a constant, another one in each process.
        return [without_uuids(item) for item in value.numpy().ravel() if isinstance(item, bytes)]
    return value


_MAX_TEXTS: Final = 100
"""String constants of more elements are no names of TensorFlow."""


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclasses.dataclass(frozen=True, slots=True)
class SignatureChange:
    """A signature that is `added`, `removed` or `changed`."""

    name: str
    """The name of the signature."""
    change: str
    """`added`, `removed` or `changed`."""
    changes: tuple[FieldChange, ...] = ()
    """The fields that differ."""


@dataclasses.dataclass(frozen=True, slots=True)
class VariableChange:
    """A variable that is `added`, `removed` or `changed`: dtype and shape before and after, None if absent.

    `largest_difference` is of the elements; None for other shapes, and for texts.
    """

    name: str
    """The name in the first model, or of an added variable."""
    change: str
    """`added`, `removed` or `changed`."""
    before: str | None
    """The dtype and the shape in the first model; None if the variable is absent."""
    after: str | None
    """The dtype and the shape in the second model; None if the variable is absent."""
    largest_difference: float | None = None
    """The largest difference of two elements; None for other shapes, and for texts."""
    new_name: str | None = None
    """The name in the second model, if it differs."""


@dataclasses.dataclass(frozen=True, slots=True)
class AssetChange:
    """A file that is `added` to a model, `removed` from the model, or has other contents (`changed`)."""

    filename: str
    """The name of the file."""
    change: str
    """`added`, `removed` or `changed`."""


def diff_signatures(before: Graph, after: Graph, renaming: Renaming) -> tuple[SignatureChange, ...]:
    """Return the differences of the signatures of two models, and of the functions that Python calls, by name."""
    mine, theirs = signatures_of(before), signatures_of(after)
    changes = [SignatureChange(name, "removed") for name in mine if name not in theirs]
    for name, signature in theirs.items():
        fields = tuple(_signature_changes(mine[name], signature, renaming)) if name in mine else ()
        if name not in mine or fields:
            changes.append(SignatureChange(name, "changed" if name in mine else "added", fields))
    return (*changes, *_callable_changes(before, after, renaming))


def _callable_changes(before: Graph, after: Graph, renaming: Renaming) -> Iterator[SignatureChange]:
    """Yield the functions of the models' objects, as `__call__`, that one model lacks or that stand for other functions."""
    mine, theirs = (graph.meta.called_functions if graph.meta is not None else {} for graph in (before, after))
    for name in dict.fromkeys((*mine, *theirs)):
        old, new = mine.get(name), theirs.get(name)
        if old is None or new is None:
            yield SignatureChange(f"function {name}", "added" if old is None else "removed")
        elif renaming.functions.get(old, old) != new:
            yield SignatureChange(f"function {name}", "changed", (FieldChange("function", old, new),))


def signatures_of(graph: Graph) -> Mapping[str, Signature]:
    """Return the signatures of a model by name; none of a plain graph."""
    return graph.meta.signatures if graph.meta is not None else {}


def _signature_changes(old: Signature, new: Signature, renaming: Renaming) -> Iterator[FieldChange]:
    for kind, mine, theirs in (("inputs", old.inputs, new.inputs), ("outputs", old.outputs, new.outputs)):
        for key in dict.fromkeys((*mine, *theirs)):
            a, b = mine.get(key), theirs.get(key)
            if a is None or b is None or _spec(a) != _spec(b):
                yield FieldChange(f"{kind}.{key}", _spec(a), _spec(b))
            elif [renaming.tensor(name) for name in _tensors(a)] != _tensors(b):
                yield FieldChange(f"{kind}.{key}.tensor", ", ".join(_tensors(a)), ", ".join(_tensors(b)))
    if old.method_name != new.method_name:
        yield FieldChange("method_name", old.method_name, new.method_name)
    for key in dict.fromkeys((*old.defaults, *new.defaults)):
        if not same_value(old.defaults.get(key), new.defaults.get(key)):
            texts = (str(values[key].numpy()) if key in values else None for values in (old.defaults, new.defaults))
            yield FieldChange(f"defaults.{key}", *texts)


def _spec(tensor: SignatureTensor | None) -> str | None:
    return None if tensor is None else f"{tensor.dtype or 'composite'} {tensor.shape}"


def _tensors(tensor: SignatureTensor) -> list[str]:
    return [*tensor.components] or [tensor.tensor]
