"""The checkpoint keys of a graph's variables, by the graph's own Restore ops and assignments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from ...graph.call_kinds import Form, call_kind
from ...graph.graph import Graph, Node, Output
from ...graph.restore_nodes import restored_values
from ...graph.table_nodes import IMPORTS, find_tables
from ...graph.traversal import copied_from, reachable, trail_end
from ...graph.variable_nodes import ASSIGN_OPS
from ...registry.op_facts import has_fact, ops_with

_Owner = Callable[[Output], Node | None]
_PARTS: Final = {**dict.fromkeys((*ASSIGN_OPS, *ops_with("restores_position")), (0,)), **dict.fromkeys(IMPORTS, (0, 1))}
"""The ops that restore a state, and the parts of the state that the inputs after the handle hold: a variable's value, the
keys and the values of a table, or the position of an iterator.
"""


def restored_variables(graph: Graph) -> dict[str, str]:
    """Return the names of the nodes that own the variables, by the checkpoint keys from which a SavedModel restores them.

    Variables of objects have keys such as `layer/kernel/.ATTRIBUTES/VARIABLE_VALUE`, without the nodes' names. The result
    is empty for a graph that restores nothing, or whose restore op was pruned. Slices of a variable are left out, since
    several slices share a key.
    """
    others = ("table", "input_pipeline")
    parts = _restored_parts(graph)
    return {key: owner.name for key, owner, _ in parts if not any(has_fact(owner.op, fact) for fact in others)}


def restored_tables(graph: Graph) -> dict[str, str]:
    """Return the names in states of the contents of tables, by the checkpoint keys, as `restored_variables`."""
    tables = {table.node: table for table in find_tables(graph).values()}
    return {key: tables[owner].entries[part] for key, owner, part in _restored_parts(graph) if owner in tables}


def restored_iterators(graph: Graph) -> dict[str, str]:
    """Return the names of the iterators whose positions the graph restores, by the checkpoint keys."""
    return {key: owner.name for key, owner, _ in _restored_parts(graph) if has_fact(owner.op, "input_pipeline")}


def _restored_parts(graph: Graph) -> Iterator[tuple[str, Node, int]]:
    """Yield (key, owner of the state, number of the part) for all that the graph's restore op restores."""
    saver = graph.meta.saver if graph.meta is not None else None
    restore = None if saver is None else graph.get(saver.restore_op.partition(":")[0])
    # Without a saver any Restore op may be the model's. A restore that was pruned restores nothing.
    roots = list(graph) if saver is None else [restore] if restore is not None else []
    return _restored(graph, roots, lambda handle: handle.node, {})


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


def _restored(
    library: Graph, roots: list[Node], owner: _Owner, given: Mapping[Output, str]
) -> Iterator[tuple[str, Node, int]]:
    """Yield the parts that the roots restore, also in called functions; `given` are the keys of values from outside."""
    nodes = reachable(roots)
    keys = {value: key for node in nodes for value, key, spec in restored_values(node) if not spec} | dict(given)
    for node in nodes:
        if node.op in _PARTS:
            # Copies are followed back, since handles and values pass through Identity nodes and arguments of functions.
            state = owner(trail_end(node.inputs[0], copied_from))
            ends = ((part, keys.get(trail_end(node.inputs[1 + part], copied_from))) for part in _PARTS[node.op])
            yield from ((key, state, part) for part, key in ends if key is not None and state is not None)
            continue
        kind = call_kind(library.functions, node)
        if kind is None or kind.form is not Form.CALL:
            continue
        function = library.functions.get(kind.references(node)[0].name)
        if function is not None:
            operands = dict(zip(function.args, kind.arguments(node.inputs)))
            inner = functools.partial(_outer, operands=operands, owner=owner)
            sources = {arg: trail_end(value, copied_from) for arg, value in operands.items()}
            passed = {arg.output(): keys[source] for arg, source in sources.items() if source in keys}
            yield from _restored(library, list(function.body), inner, passed)


def _outer(handle: Output, *, operands: Mapping[Node, Output], owner: _Owner) -> Node | None:
    """Return the node that owns a handle in a function's body: a node of the body, or the owner of the caller's argument."""
    outside = operands.get(handle.node)
    return handle.node if outside is None else owner(trail_end(outside, copied_from))
