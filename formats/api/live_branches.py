"""Graphs without the branches that constants switch off."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from ...core.graph.call_kinds import call_kind
from ...core.graph.callers import called_functions
from ...core.graph.frames import SWITCH
from ...core.graph.graph import Graph, Node
from ...core.graph.model_objects import asset_assignments
from ...core.graph.purity import impurity
from ...core.graph.table_fills import table_fills
from ...core.graph.traversal import topological_order
from ...core.graph.variable_nodes import VARIABLES
from ...core.passes.base.graph_pass import Pass
from ...core.passes.constant_branches import DeadBranches, FoldPredicates, deciding_inputs
from ...core.passes.dropout import RemoveEmptyDropout
from ...core.passes.function_bodies import Bodies
from ...core.passes.pipeline import optimize, rewrite
from ...core.passes.specialize import SpecializeDecided
from ...core.planning.reachability import needed_nodes
from ...core.registry.op_facts import has_fact
from ...core.support.tensor_names import parse_tensor_name

_PASSES: Final = "fold,branches,specialize,bodies,prune"
"""The passes that take a constant predicate to its branches, also in called functions, and nothing more than they need."""
_IN_GRAPH: Final[Sequence[Pass]] = (FoldPredicates(), DeadBranches())
_IN_FUNCTIONS: Final[Sequence[Pass]] = (*_IN_GRAPH, SpecializeDecided(), Bodies())


def with_live_branches(graph: Graph, fetches: Sequence[str], inputs: Sequence[str] = ()) -> Graph:
    """Return a copy in which constant predicates have chosen their branches, cut at the tensors `inputs`, without dropout of
    rate 0.

    Nodes on other branches never run, so nothing about them matters to a frozen graph or a model. The graph itself if no
    constant decides, and nothing draws.
    """
    # No fetch needs the nodes that fill tables and set paths of files, but lookups and reads at run time do.
    keep = [node.name for node in (*table_fills(graph), *asset_assignments(graph))]
    if _has_decision(graph):
        graph = optimize(graph, fetches, inputs, _PASSES, keep=keep)[0]
    needed = needed_nodes([graph.fetch(name) for name in fetches], [graph.output(name) for name in inputs])
    if any(has_fact(node.op, "unit_uniform") for node in needed):
        graph = optimize(graph, fetches, inputs, [RemoveEmptyDropout()], keep=keep)[0]
    return graph


def settle_values(graph: Graph, keep: Collection[str]) -> None:
    """Drop what values never let run or change: branches of constant predicates, also in called functions, and dropout of
    rate 0. All else that may run stays as it is.

    The nodes `keep` stay. A graph with faults stays: what reads it refuses the faults, or mends them first.
    """
    if next(graph.faults(), None) is not None:
        return
    outputs = {parse_tensor_name(name)[0] for one in graph.signatures.values() for name in one.fetched.values()}
    if _has_decision(graph):
        _drop_dead_branches(graph, outputs, keep)
    rewrite(graph, [RemoveEmptyDropout()], {*outputs, *keep})


def _drop_dead_branches(graph: Graph, outputs: Collection[str], keep: Collection[str]) -> None:
    called = called_functions(graph, graph)
    # Noted before the rewrite: a node that nothing reads yet is an output, and one that loses its readers belonged to a dead
    # branch.
    read = {node.name for node in graph if node.uses} | _pivots(graph)
    rewrite(graph, _IN_GRAPH, outputs)
    # After the first rewrite: no call of a dead branch may be kept by its name.
    calls = {node.name for node in graph if call_kind(graph.functions, node) is not None}
    rewrite(graph, _IN_FUNCTIONS, {*outputs, *calls})
    _drop_unread(graph, read, {*outputs, *keep})
    # Functions that were called before and are not now go; functions that nothing called are of TF2's objects, and stay.
    for name in called - called_functions(graph, graph):
        del graph.functions[name]


def _pivots(graph: Graph) -> set[str]:
    """Return the names of the nodes that stand for the choice of a V1 conditional, for nodes of its branches to wait for."""
    # tf.cond of TensorFlow 1 switches the predicate by itself, and lets an Identity of each side stand for the branch.
    switches = [node for node in graph if node.op in SWITCH and node.inputs[0] == node.inputs[1]]
    return {user.name for node in switches for user in node.uses if user.is_identity}


def _drop_unread(graph: Graph, read: Collection[str], keep: Collection[str]) -> None:
    """Remove the nodes without effects of which only dead branches took the values: those in `read` that nothing reads."""
    pending = [node for node in graph if node.name in read]
    while pending:
        node = pending.pop()
        is_needed = node.uses or node.name in keep or node.is_placeholder or node.op in VARIABLES
        # A node that two others read is pushed twice, and may be gone already.
        if not is_needed and graph.get(node.name) is node and (node.op in SWITCH or impurity(graph, node, {}) is None):
            sources = [source.node for source in node.inputs] + list(node.control_inputs)
            graph.remove_node(node)
            pending += sources


def _has_decision(graph: Graph) -> bool:
    """Return True if a constant predicate chooses a branch, or goes into a function."""
    constants = _following_from_constants(graph)
    return any(value.node in constants for node in graph for value in deciding_inputs(graph.functions, node))


def _following_from_constants(graph: Graph) -> set[Node]:
    """Return the constants, and the nodes that take only them."""
    nodes: set[Node] = set()
    for node in topological_order(graph):
        if node.is_constant or (node.inputs and all(value.node in nodes for value in node.inputs)):
            nodes.add(node)
    return nodes
