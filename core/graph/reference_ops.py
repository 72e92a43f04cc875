"""Ops that take references to variables, and the ops that compute the same of plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..registry.catalog import CATALOG
from ..types.dtypes import DType

if TYPE_CHECKING:
    from .node import Node

_COMPUTING: Final = {"AssignAdd": "AddV2", "AssignSub": "Sub"}
_PREFIXES: Final = (("Ref", ""), ("ScatterNd", "TensorScatter"))


def plain_op(op: str) -> str | None:
    """Return the op that computes on values as `op` does on references, with equally many inputs; None without a match."""
    for prefix, plain_prefix in _PREFIXES:
        plain = plain_prefix + op.removeprefix(prefix)
        if op.startswith(prefix) and _takes_as_many(op, plain):
            return plain
    return _COMPUTING.get(op)


def _takes_as_many(op: str, plain: str) -> bool:
    """Return True where both ops take the same inputs, apart from references: Select takes other inputs than RefSelect."""
    old, new = CATALOG.get(op), CATALOG.get(plain)
    if old is None or new is None or not any(arg.is_ref for arg in old.inputs) or any(arg.is_ref for arg in new.inputs):
        return False
    return [(arg.type_attr, arg.number_attr, arg.dtype) for arg in old.inputs] == [
        (arg.type_attr, arg.number_attr, arg.dtype) for arg in new.inputs
    ]


def read_as(node: Node, op: str) -> None:
    """Change a node's op type, keep the inputs, and drop the attributes that the new type lacks."""
    node.change_op(op)
    for name in list(node.attrs):
        if not name.startswith("_") and name not in CATALOG[op].attrs:
            node.remove_attr(name)


def lacks_reference(got: DType | None, want: DType | None) -> bool:
    """Return True where an input needs a reference to a variable and gets a value of the same dtype, as after freezing."""
    return got is not None and want is not None and want.is_ref and not got.is_ref and got.base is want.base


def leftover_hint(*ops: str) -> str:
    """Return a hint about nodes of these types, which need references, in a frozen graph without variables."""
    plain = [(op, plain_op(op)) for op in dict.fromkeys(ops)]
    mapped = " ".join(f"--map-op {op}={other}" for op, other in plain)
    reads = f"; `{mapped}` reads these nodes as plain ops" if all(other for _, other in plain) else ""
    return (
        "freezing left a training node: `tfg convert GRAPH OUT --to OUTPUT` keeps only the nodes that an output needs"
        f"{reads}; `tfg optimize GRAPH -o OUT --passes repair` repairs all of them"
    )
