"""Differences between two models outside of their graphs: signatures, variables and assets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..graph.graph import Graph
from ..graph.metagraph import Signature, SignatureTensor
from ..support import dataclasses
from .node_changes import FieldChange, Renaming, same_value


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
    """A variable that is `added`, `removed` or `changed`: dtype and shape before and after, None where absent.

    `largest_difference` is of the elements; None for other shapes, and for texts.
    """

    name: str
    """The name in the first model, or of an added variable."""
    change: str
    """`added`, `removed` or `changed`."""
    before: str | None
    """The dtype and the shape in the first model; None where the variable is absent."""
    after: str | None
    """The dtype and the shape in the second model; None where the variable is absent."""
    largest_difference: float | None = None
    """The largest difference of two elements; None for other shapes, and for texts."""
    new_name: str | None = None
    """The name in the second model, where it differs."""


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
    """Yield the functions of the models' objects, `__call__` for instance, that one model lacks or that stand for another
    function.
    """
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
