"""References to V1 variables: which inputs follow them, which nodes pass them on or write through them."""

from __future__ import annotations

from typing import Final

from .catalog import OpDef
from .control_flow import LOOP_OPS
from .graph import Node, Output
from .registry import has_fact

_PASSING_REFERENCES: Final = ("RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSelect")


def dereferenced_inputs(node: Node, definition: OpDef) -> tuple[int, ...]:
    """The positions of inputs where a reference arrives and its value is wanted."""
    references = [i for i, value in enumerate(node.inputs) if value.dtype is not None and value.dtype.is_ref]
    if not references:
        return ()
    wanted = definition.input_dtypes(node.attrs)
    return tuple(i for i in references if not wanted[i].is_ref)


def passed_references(node: Node) -> tuple[int, ...]:
    """The positions of references that a node passes on though it wants their variables initialized."""
    if node.op not in _PASSING_REFERENCES:
        return ()
    return tuple(i for i, value in enumerate(node.inputs) if value.dtype is not None and value.dtype.is_ref)


def referenced_variable(reference: Output) -> Node:
    """The node that owns the memory a reference leads to."""
    node = reference.node
    while node.inputs and (dtype := node.inputs[0].dtype) is not None and dtype.is_ref:
        node = node.inputs[0].node
    return node


def written_reference(node: Node) -> Node | None:
    """The variable that a node writes to through the reference it takes first."""
    definition = node.op_def
    if definition is None or not node.inputs or node.op in (*_PASSING_REFERENCES, *LOOP_OPS):
        return None
    dtype = node.inputs[0].dtype
    if dtype is None or not dtype.is_ref or not has_fact(node.op, "side_effect"):
        return None
    return referenced_variable(node.inputs[0])
