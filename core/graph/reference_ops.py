"""Ops that take references to variables, and the ops that compute the same of plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..support.hints import Hint, step
from ..types.dtypes import DType, resource, variant

if TYPE_CHECKING:
    from .node import Node

_COMPUTING: Final = {"AssignAdd": "AddV2", "AssignSub": "Sub"}
_REPAIRABLE: Final = ("assignment", "initialization_test", "selects_input")
"""Facts of ops on references without a plain op that a node without the reference can stand for."""
REPAIRS: Final = step("optimize", passes="repair")
# RefSwitch becomes Switch, ScatterNdAdd becomes TensorScatterAdd.
_PREFIXES: Final = (("Ref", ""), ("ScatterNd", "TensorScatter"))


def plain_op(op: str) -> str | None:
    """Return the op that computes on values as `op` does on references, with equally many inputs; None without a match."""
    for prefix, plain_prefix in _PREFIXES:
        plain = plain_prefix + op.removeprefix(prefix)
        if op.startswith(prefix) and _takes_as_many(op, plain):
            return plain
    return _COMPUTING.get(op)


def _takes_as_many(op: str, plain: str) -> bool:
    """Return True if both ops take the same inputs, apart from references: Select takes other inputs than RefSelect."""
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
        # Attributes with an underscore, such as `_class`, belong to no op.
        if not name.startswith("_") and name not in CATALOG[op].attrs:
            node.remove_attr(name)


def lacks_reference(got: DType | None, want: DType | None) -> bool:
    """Return True if an input needs a reference to a variable and gets a value of the same dtype, as after freezing."""
    return got is not None and want is not None and want.is_ref and not got.is_ref and got.base is want.base


def lacks_handle(got: DType | None, want: DType | None) -> bool:
    """Return True if an input needs the handle of a variable and gets a value, as after freezing."""
    return got is not None and want is resource and got.base not in (resource, variant)


def handle_hint(got: DType | None, want: DType | None) -> str | None:
    """Return a hint about an input that needs the handle of a variable; None for another input."""
    return (
        Hint("freezing left a reader of a variable: ", REPAIRS, " lets it take the value") if lacks_handle(got, want) else None
    )


def is_repairable(node: Node) -> bool:
    """Return True for a node that needs a reference or a handle and can do without, by pass `repair`."""
    if not any(value.node is node for user in node.uses for value in user.inputs):
        return True
    return bool(plain_op(node.op) or slice_op(node.op)) or any(has_fact(node.op, fact) for fact in _REPAIRABLE)


def slice_op(op: str) -> str | None:
    """Return the op that computes the result of ScatterUpdate and similar ops, with a number for each slice as second
    input.
    """
    plain = f"Tensor{op}"
    return plain if plain in CATALOG else None


def leftover_hint(*nodes: Node) -> str:
    """Return a hint about nodes that need references, in a frozen graph without variables."""
    plain = {node.op: plain_op(node.op) for node in nodes}
    reads = ("; ", step("map_ops", ops=plain), " reads these nodes as plain ops") if all(plain.values()) else ()
    repairs = ("; ", REPAIRS, " repairs all of them") if all(map(is_repairable, nodes)) else ()
    kept = step("extract_output"), " keeps only the nodes that an output needs"
    return Hint("freezing left a training node: ", *kept, *reads, *repairs)
