"""Graphs that no session could run, made fit to be looked at."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence

from ..graph.graph import Function, Graph
from ..graph.traversal import descendants
from ..registry.op_facts import ABSENT
from ..registry.validation import check_node
from ..support.errors import AbsentInputError, InvalidArgumentError, TfgError
from ..support.tensor_names import parse_tensor_name


def make_presentable(graph: Graph) -> list[TfgError]:
    """Leave out functions that cannot be read, and outputs of nodes whose dtypes are unknown; return the faults."""
    # These go first: a check of the graph would stop at a call of one of them.
    unreadable = _drop_unreadable(graph)
    # Equal functions share their nodes, which are checked once.
    by_pattern = {pattern: fault_of(pattern) for pattern in {function.pattern: None for function in graph.functions.values()}}
    faults = [_fault(graph.check), *(by_pattern[function.pattern] for function in graph.functions.values())]
    unfit = [fault for fault in faults if fault is not None]
    if unfit:
        _drop_outputs(graph)
    return [*unreadable, *unfit]


def leave_out_broken(graph: Graph, faults: Sequence[TfgError] = (), cuts: Sequence[str] = ()) -> None:
    """Remove the nodes that do not fit their ops and the nodes that depend on them; `graph.left_out` maps each name to the
    fault.

    `faults` were met while the file was read, as `ABSENT` nodes for inputs that do not exist. Nodes of the tensors `cuts` are
    to become placeholders: a missing or broken one of them stays, as an `ABSENT` node.
    """
    cut = {parse_tensor_name(name)[0] for name in cuts}
    if cut:
        _make_absent(graph, cut)
    left_out: dict[str, TfgError] = {}
    for error in (*faults, *graph.faults()):
        node = graph.get(error.node or "")
        # A missing input that is about to be cut off becomes a placeholder, so the node that reads it is sound.
        if node is None or node.name in left_out or (isinstance(error, AbsentInputError) and error.absent in cut):
            continue
        left_out |= dict.fromkeys((user.name for user in descendants([node])), error)
    # At the end: a node removed earlier would make faults of its readers, with other reasons.
    graph.remove_nodes([node for node in graph if node.name in left_out or (node.op == ABSENT and node.name not in cut)])
    graph.left_out = left_out


def _make_absent(graph: Graph, names: Collection[str]) -> None:
    """Put `ABSENT` nodes in the place of the broken nodes among `names`."""
    # Listed first, as the nodes change on the way.
    for error in list(graph.faults()):
        if error.node in names:
            node = graph.node(error.node or "")
            graph.set_inputs(node, (), ())
            node.change_op(ABSENT, {})


def fault_of(function: Function) -> TfgError | None:
    """Return the fault of the first node of a function that does not fit the declared op, or None."""
    return _fault(lambda: function.pattern.check(function.signature.attrs))


def _fault(check: Callable[[], object]) -> TfgError | None:
    try:
        check()
    except InvalidArgumentError as error:
        return error
    return None


def _drop_unreadable(graph: Graph) -> list[TfgError]:
    faults = []
    for name in list(graph.functions):
        try:
            graph.functions[name]
        except TfgError as error:
            faults.append(error)
            del graph.functions[name]
    return faults


def _drop_outputs(graph: Graph) -> None:
    for node in itertools.chain(graph, *(function.body for function in graph.functions.values())):
        try:
            check_node(node.op, node.attrs, len(node.inputs))
            _ = node.output_dtypes
        except InvalidArgumentError:
            # A node whose dtypes raise an error would break every table; without outputs it can be listed.
            node.note_dtypes(())
