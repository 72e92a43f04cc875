"""Drop the branches that a constant predicate never takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ..graph.call_kinds import CALL_KINDS, CallKind, CallSite, Form, call_kind, call_op, call_site
from ..graph.frames import EXIT, MERGE, NEXT_ITERATION, SWITCH
from ..graph.graph import Function, Graph, Node, Output
from ..graph.node_making import add_constant, add_identity
from ..graph.traversal import closure, copied_from, trail_end
from ..planning.reachability import needed_nodes
from ..registry.catalog import CATALOG
from ..types import dtypes
from ..types.tensors import FuncRef, Tensor
from .base.graph_pass import Pass, PassContext
from .fold import FoldConstants


def deciding_inputs(functions: Mapping[str, Function], node: Node) -> Sequence[Output]:
    """Return the inputs by which a node chooses a branch, and the flags by which a called function may choose one."""
    if node.op in SWITCH:
        return node.inputs[1:2]
    kind = call_kind(functions, node)
    if kind is None:
        return ()
    return node.inputs[:1] if kind.form is Form.BRANCH else [value for value in node.inputs if value.dtype is dtypes.bool_]


class FoldPredicates(FoldConstants):
    """Fold only what the choices of branches depend on."""

    def _nodes(self, graph: Graph, ctx: PassContext) -> list[Node]:
        deciding = (value.node for node in graph for value in deciding_inputs(graph.functions, node))
        wanted = closure(deciding, lambda node: (value.node for value in node.inputs))
        return [node for node in ctx.order() if node in wanted]


class DeadBranches(Pass):
    """Take the branch of a constant predicate: a call replaces If and Case, an Identity replaces a Switch.

    Nodes on the dead branch of a Switch go, and a Merge takes the only remaining input.
    """

    name: ClassVar[str] = "branches"
    summary: ClassVar[str] = "keep the branches that constant predicates select, drop the others"
    follows: ClassVar[str] = "fold"
    requires: ClassVar[tuple[str, ...]] = ("fold",)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node in ctx.order():
            # It may have gone with the dead branch of a Switch before it.
            if graph.get(node.name) is not node:
                continue
            kind = CALL_KINDS.get(node.op)
            if kind is not None and kind.form is Form.BRANCH:
                self._take_function(graph, ctx, node, kind)
            # A _SwitchN has an output for each value of an index, and stays.
            elif node.op in SWITCH and len(node.output_dtypes) == 2 and not ctx.has_fed_output(node):
                self._take_output(graph, ctx, node)

    def _take_function(self, graph: Graph, ctx: PassContext, node: Node, kind: CallKind) -> None:
        predicate = _constant(ctx, node.inputs[0])
        is_indexed = len(kind.functions) == 1
        is_handle = node.inputs[0].base_dtype in (dtypes.resource, dtypes.variant)
        if predicate is None or is_handle or (predicate.ndim and is_indexed):
            return
        branches = kind.references(node)
        # If lists the function for true first, Case the function for 0.
        index = int(predicate.item()) if is_indexed else int(not _is_true(predicate))
        # Case takes the last branch for every index out of range, as TensorFlow does.
        branch = branches[index] if 0 <= index < len(branches) else branches[-1]
        if (acting := self._left_behind(graph, ctx, node, branch)) is not None:
            ctx.refuse("call", node, f"'{acting.name}' in its branch has effects, but no result of the call needs it")
            return
        # The predicate is read no more, and what it waited for must still come first.
        controls = (*node.control_inputs, *node.inputs[0].node.control_inputs)
        attrs = {"Tin": node.attr("Tin"), "Tout": node.attr("Tout"), "f": branch}
        node.change_op(call_op(CATALOG[node.op].is_stateful), attrs)
        graph.set_inputs(node, kind.arguments(node.inputs), controls)
        ctx.fire("call", node, f"calls {branch.name}: its predicate is constant")

    def _left_behind(self, graph: Graph, ctx: PassContext, node: Node, branch: FuncRef) -> Node | None:
        """Return a node with effects that only one of a conditional and a call of the conditional's branch runs."""
        function = graph.functions.get(branch.name)
        # A conditional runs all effects of its branch unless it is lowered, a call only those of a function without results.
        if function is None or call_site(node).runs_effects(function) == CallSite(is_inlined=True).runs_effects(function):
            return None
        waited = needed_nodes(function.control_results)
        return next((inner for inner in function.body if inner not in waited and ctx.acts(inner)), None)

    def _take_output(self, graph: Graph, ctx: PassContext, switch: Node) -> None:
        predicate = _constant(ctx, switch.inputs[1])
        if predicate is None or predicate.ndim:
            return
        taken = int(bool(predicate))
        dead = _dead_nodes(graph, switch.output(1 - taken))
        blocker = _blocker(ctx, switch, dead)
        if blocker is not None:
            ctx.refuse("switch", switch, blocker)
            return
        if graph.consumers(switch.output(taken)) or graph.control_consumers(switch):
            _pass_on(graph, switch, taken)
        for merge in {user for node in (switch, *dead) for user in node.uses if user.op in MERGE}:
            if merge not in dead:
                _settle(graph, merge, dead, switch)
        graph.remove_nodes([switch, *dead])
        for node in (switch, *dead):
            ctx.fire("switch", node, f"removed: the predicate of {switch.name} is constant")


def _pass_on(graph: Graph, switch: Node, taken: int) -> None:
    """Let an Identity take the place of a Switch and of its output `taken`."""
    controls = (*switch.control_inputs, *switch.inputs[1].node.control_inputs)
    alive = add_identity(graph, f"{switch.name}/taken", switch.inputs[0], switch.attr("T"), controls, switch.device)
    if any(dtype.is_ref for dtype in switch.output_dtypes):
        # An Identity would read the variable; the readers after the Switch write to it.
        alive.change_op("RefIdentity")
    graph.replace_all_uses(switch.output(taken), alive.output())
    graph.replace_control_uses(switch, alive)


def _constant(ctx: PassContext, value: Output) -> np.ndarray | None:
    def before(value: Output) -> Output | None:
        return None if ctx.is_fed(value) else copied_from(value)

    array: np.ndarray | None = ctx.constant_value(trail_end(value, before))
    return array


def _is_true(value: np.ndarray) -> bool:
    """Return If's truth of a condition: a scalar is true by value, a string or another tensor if not empty."""
    if value.ndim:
        return value.size > 0
    return len(value.item()) > 0 if value.dtype == object else bool(value)


def _dead_nodes(graph: Graph, output: Output) -> list[Node]:
    """Return the nodes that never run if `output` is dead; a Merge only if all inputs are dead."""
    dead: dict[Node, None] = {}
    pending = graph.consumers(output)
    while pending:
        node = pending.pop()
        # A ControlTrigger runs although what it waits for is dead.
        if node in dead or node.is_control_trigger:
            continue
        # A loop that is never entered has no next iteration.
        if node.op in MERGE and not all(
            value == output or value.node in dead or value.node.op in NEXT_ITERATION for value in node.inputs
        ):
            continue
        dead[node] = None
        pending += node.uses
    return list(dead)


def _blocker(ctx: PassContext, switch: Node, dead: list[Node]) -> str | None:
    """Return the reason why a Switch with a constant predicate stays, or None."""
    if any(ctx.is_preserved(node) for node in (switch, *dead)):
        return "a node that never runs is fetched or kept"
    if any(node.op in (*EXIT, *NEXT_ITERATION) for node in dead):
        return "the dead branch leads around or out of a loop"
    touched = {user for node in (switch, *dead) for user in node.uses if user not in dead}
    merges = [node for node in touched if node.op in MERGE]
    if not all(_can_settle(ctx, merge) for merge in merges):
        return "a Merge of more than two inputs, of references, or whose index is fetched takes the dead branch"
    if any(node.is_control_trigger for node in touched):
        return "a ControlTrigger waits for the dead branch"
    return None


def _can_settle(ctx: PassContext, merge: Node) -> bool:
    """Return True for a Merge of two plain inputs, without a fetch of the index or a feed of the value."""
    is_fetched = merge.output(1).name in ctx.fetched_outputs or merge.name in ctx.keep
    is_plain = merge.op == "Merge" and len(merge.inputs) == 2 and not merge.control_inputs
    return is_plain and not is_fetched and not ctx.has_fed_output(merge)


def _settle(graph: Graph, merge: Node, dead: list[Node], switch: Node) -> None:
    """Replace a Merge with a dead input by an Identity of the other input, and the Merge's index by a constant."""
    gone = [value.node in dead or value.node is switch for value in merge.inputs]
    if gone.count(True) != 1:
        return
    left = gone.index(False)
    value = merge.inputs[left]
    if graph.consumers(merge.output(1)):
        tensor = Tensor.from_numpy(np.asarray(left, np.int32), dtypes.int32)
        # With a control edge, so that the index is alive when the Merge is.
        index = add_constant(graph, f"{merge.name}/index", tensor, [merge])
        graph.replace_all_uses(merge.output(1), index.output())
    merge.remove_attr("N")
    merge.change_op("Identity")
    graph.set_inputs(merge, [value])
