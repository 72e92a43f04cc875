"""The checkpoint keys of a graph's variables, by the graph's own Restore ops and assignments."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping

from ...functions.call_kinds import Form, call_kind
from ...graph.graph import Graph, Node, Output
from ...graph.traversal import reachable
from ...types.tensors import Tensor

_ASSIGNS = ("Assign", "AssignVariableOp")
_Owner = Callable[[Output], Node | None]


def restored_variables(graph: Graph) -> dict[str, str]:
    """Return the names of the nodes that own the variables, by the checkpoint keys from which a SavedModel restores them.

    Variables of objects have keys such as `layer/kernel/.ATTRIBUTES/VARIABLE_VALUE`, without the nodes' names. The result
    is empty for a graph that restores nothing, or whose restore op was pruned. Slices of a variable are left out, since
    several slices share a key.
    """
    saver = graph.meta.saver if graph.meta is not None else None
    restore = None if saver is None else graph.get(saver.restore_op.partition(":")[0])
    roots = list(graph) if saver is None else [restore] if restore is not None else []
    return {key: owner.name for key, owner in _restored(graph, roots, lambda handle: handle.node)}


def read_instead(graph: Graph) -> dict[str, str]:
    """Map each variable that a TF2 model's functions read to the variable that the graph's calls of the functions read.

    Keras exports each weight twice: functions loaded by Python read the first copy, the signatures of the graph the second.
    """
    keys = graph.meta.read_keys if graph.meta is not None else {}
    owners = restored_variables(graph) if keys else {}
    return {owners[key]: name for name, key in keys.items() if owners.get(key, name) != name and name in graph}


def unrestored(graph: Graph) -> dict[str, str]:
    """Return the entries of `read_instead` whose second variable the graph does not restore.

    Only Python, with a single variable in place of both, gives the second variable a value.

    A compiled model of Keras 3, written by tf.saved_model.save, has entries of this kind.
    """
    owners = set(restored_variables(graph).values()) if graph.meta is not None and graph.meta.read_keys else set()
    return {restored: read for restored, read in read_instead(graph).items() if read not in owners}


def _restored(library: Graph, roots: list[Node], owner: _Owner) -> Iterator[tuple[str, Node]]:
    """Yield (key, owner of the variable) for all variables that the roots restore, also in called functions."""
    for node in reachable(roots):
        if node.op == "RestoreV2":
            yield from _assigned_keys(node, owner)
            continue
        kind = call_kind(library.functions, node)
        if kind is None or kind.form is not Form.CALL:
            continue
        function = library.functions.get(kind.references(node)[0].name)
        if function is not None:
            operands = dict(zip(function.args, kind.arguments(node.inputs)))
            yield from _restored(library, list(function.body), functools.partial(_outer, operands=operands, owner=owner))


def _outer(handle: Output, *, operands: Mapping[Node, Output], owner: _Owner) -> Node | None:
    """Return the node that owns a handle in a function's body: a node of the body, or the owner of the caller's argument."""
    outside = operands.get(handle.node)
    return handle.node if outside is None else owner(outside)


def _assigned_keys(restore: Node, owner: _Owner) -> Iterator[tuple[str, Node]]:
    for value, key, spec in restored_values(restore):
        for handle in () if spec else assigned_handles(value):
            variable = owner(handle)
            if variable is not None:
                yield key, variable


def restored_values(restore: Node) -> Iterator[tuple[Output, str, str]]:
    """Yield (output, checkpoint key, slice) of a RestoreV2; nothing where keys or slices are no constants."""
    names, slices = (value.node.attr_of(Tensor, "value") for value in restore.inputs[1:])
    if names is not None and slices is not None:
        texts = (map(os.fsdecode, value.numpy().ravel().tolist()) for value in (names, slices))
        yield from zip(restore.outputs(), *texts)


def assigned_handles(value: Output) -> Iterator[Output]:
    """Return the references and handles of the variables that a value is assigned to, directly or through an Identity."""
    for user in value.node.uses:
        if user.is_identity and value in user.inputs:
            yield from assigned_handles(user.output())
        elif user.op in _ASSIGNS and user.inputs[1] == value:
            yield user.inputs[0]
