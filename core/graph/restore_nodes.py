"""The checkpoint keys of values that a graph restores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from ..registry.op_facts import has_fact
from ..types.tensors import Tensor
from .graph import Graph, Node, Output
from .table_nodes import restored_key
from .variable_nodes import ASSIGN_OPS

READERS: Final = {
    "BoostedTreesDeserializeEnsemble": ("IsBoostedTreesEnsembleInitialized", "BoostedTreesSerializeEnsemble"),
    "BoostedTreesQuantileStreamResourceDeserialize": (
        "IsBoostedTreesQuantileStreamResourceInitialized",
        "BoostedTreesQuantileStreamResourceGetBucketBoundaries",
    ),
}
"""The ops that tell whether a resource has contents, and that return the contents, by the op that restores the resource."""


def restored_values(restore: Node) -> Iterator[tuple[Output, str, str]]:
    """Yield (output, checkpoint key, slice) of a RestoreV2; nothing for other nodes, and where keys or slices are no
    constants.
    """
    if restore.op != "RestoreV2":
        return
    names, slices = (value.node.attr_of(Tensor, "value") for value in restore.inputs[1:])
    # Only constants: names that are computed are known in a run alone.
    if names is not None and slices is not None:
        texts = (map(os.fsdecode, value.numpy().ravel().tolist()) for value in (names, slices))
        yield from zip(restore.outputs(), *texts)


def restored_resources(graph: Graph) -> Iterator[tuple[Node, dict[Output, str]]]:
    """Yield the nodes that give a resource, such as a tree ensemble, what a checkpoint holds: the node, and the checkpoint key
    of each input.
    """
    for node in graph:
        if has_fact(node.op, "restores_resource"):
            keys = {value: restored_key(value) for value in node.inputs[1:]}
            known = {value: key for value, key in keys.items() if key is not None}
            if len(known) == len(keys):
                yield node, known


def assigned_handles(value: Output) -> Iterator[Output]:
    """Return the references and handles of the variables that a value is assigned to, directly or through an Identity."""
    for user in value.node.uses:
        if user.is_identity and value in user.inputs:
            yield from assigned_handles(user.output())
        elif user.op in ASSIGN_OPS and user.inputs[1] == value:
            yield user.inputs[0]
