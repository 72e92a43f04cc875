"""Lists among the inputs of nodes: in a model a list is the tensor of its elements, which few ops may take for the list."""

from __future__ import annotations

from ..graph.graph import Node
from ..registry.catalog import OpDef
from ..registry.op_facts import has_fact
from ..types import dtypes


def has_misplaced_list(node: Node, definition: OpDef) -> bool:
    """Return True for a list as an input for tensors of any dtype: the lowering would move the elements of the list."""
    if has_fact(node.op, "of_lists") or has_fact(node.op, "sum_of_inputs"):
        return False
    if has_fact(node.op, "forwarding") or has_fact(node.op, "passes_each_on"):
        return False
    open_args = [arg for arg in definition.inputs if arg.dtype is None]
    return any(dtypes.variant in definition.arg_dtypes(arg, node.attrs) for arg in open_args)
