"""The checkpoint keys of values that a graph restores."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..types.tensors import Tensor
from .graph import Node, Output
from .variable_nodes import ASSIGN_OPS


def restored_values(restore: Node) -> Iterator[tuple[Output, str, str]]:
    """Yield (output, checkpoint key, slice) of a RestoreV2; nothing for other nodes, and where keys or slices are no
    constants.
    """
    if restore.op != "RestoreV2":
        return
    names, slices = (value.node.attr_of(Tensor, "value") for value in restore.inputs[1:])
    if names is not None and slices is not None:
        texts = (map(os.fsdecode, value.numpy().ravel().tolist()) for value in (names, slices))
        yield from zip(restore.outputs(), *texts)


def assigned_handles(value: Output) -> Iterator[Output]:
    """Return the references and handles of the variables that a value is assigned to, directly or through an Identity."""
    for user in value.node.uses:
        if user.is_identity and value in user.inputs:
            yield from assigned_handles(user.output())
        elif user.op in ASSIGN_OPS and user.inputs[1] == value:
            yield user.inputs[0]
