"""Functions specialized for a single call: with constant arguments inside, without unused arguments and results."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar

from ..graph.call_kinds import CallKind, call_kind
from ..graph.graph import Function, Graph, Node
from ..graph.purity import inline_blocker
from ..planning.reachability import needed_nodes
from ..types.tensors import FuncRef, Tensor
from .base.graph_pass import Draft, Pass, PassContext, copy_blocker
from .constant_branches import deciding_inputs
from .hoisting import passed_on

_BY_POSITION = ("_num_original_outputs", "_output_shapes", "_read_only_resource_inputs")
"""Attributes of TensorFlow's Python about inputs and outputs by index; TensorFlow refuses to import shapes that do not fit."""


class Specialize(Pass):
    """Give remaining calls functions of their own, with constants of at most `limit` bytes in the place of arguments.

    Unused arguments and unread results are dropped, and so are loop variables that the condition, the effects and the read
    results do not depend on. A function with other callers, too, is copied only if the copy computes less, not just to
    drop an argument.
    """

    name: ClassVar[str] = "specialize"
    summary: ClassVar[str] = "move constant arguments into called functions, drop unused arguments and results"
    follows: ClassVar[str] = "branches"
    requires: ClassVar[tuple[str, ...]] = ("implementations",)
    limit: int = 64 * 2**10

    def run(self, graph: Graph, ctx: PassContext) -> None:
        existing: dict[Hashable, FuncRef] = {}
        acting: dict[str, set[Node]] = {}
        for node in self._calls(graph, ctx):
            kind = call_kind(graph.functions, node)
            if kind is None:
                continue
            reason = inline_blocker(graph, node, kind)
            if reason is None:
                _Specialization(graph, ctx, node, kind, self.limit, acting).run(existing)
            else:
                ctx.refuse("specialize", node, reason)

    def _calls(self, graph: Graph, ctx: PassContext) -> Sequence[Node]:
        """Return the nodes to specialize if they are calls, sources first."""
        return ctx.order()


class SpecializeDecided(Specialize):
    """Specialize only the functions that take a constant flag."""

    def _calls(self, graph: Graph, ctx: PassContext) -> Sequence[Node]:
        def is_decided(node: Node) -> bool:
            return any(value.node.is_constant and not ctx.is_fed(value) for value in deciding_inputs(graph.functions, node))

        return [node for node in ctx.order() if is_decided(node)]


class _Specialization:
    """A call, and the arguments and results that stay; `acting` holds the nodes with effects of each function."""

    def __init__(
        self, graph: Graph, ctx: PassContext, node: Node, kind: CallKind, limit: int, acting: dict[str, set[Node]]
    ) -> None:
        self.graph, self.ctx, self.node, self.kind = graph, ctx, node, kind
        self.references = kind.references(node)
        self.functions = [graph.functions[reference.name] for reference in self.references]
        self.operands = node.inputs[kind.before :]
        self.all_results = range(len(self.functions[-1].results))
        for function in self.functions:
            # Once for each function: a large graph calls the same one thousands of times.
            if function.name not in acting:
                acting[function.name] = {inner for inner in function.body if ctx.acts(inner)}
        self.acting = [acting[function.name] for function in self.functions]
        self.results = set(self.all_results) if self._keeps_results() else set(filter(self._is_needed, self.all_results))
        self.results = self._filled(self.results, [kind.results], self.all_results)
        constants = self._constants(limit)
        self.args = self._filled(self._needed_args() - constants.keys(), kind.args, range(len(self.operands)))
        # What the op must keep as an argument does not also become a constant.
        self.constants = {i: constant for i, constant in constants.items() if i not in self.args}
        if kind.is_loop:
            # The variables of a loop are arguments and results in one.
            self.results = self.args

    def run(self, existing: dict[Hashable, FuncRef]) -> None:
        """Let the node call functions of its own if worthwhile; `existing` holds the specializations so far."""
        dropped = [i for i in range(len(self.operands)) if i not in self.args]
        if self.ctx.is_preserved(self.node) and not all(map(self._is_read, self.all_results)):
            self.ctx.refuse("unread-result", self.node, "its outputs are fetched or kept by index")
        if not dropped and len(self.results) == len(self.all_results):
            return
        reason = self._blocker()
        if reason is not None:
            self.ctx.refuse("specialize", self.node, reason)
            return
        self._fire(dropped)
        self._rewrite(dropped, [self._specialized(i, existing) for i in range(len(self.references))])

    def _filled(self, places: set[int], names: Sequence[str], every: Iterable[int]) -> set[int]:
        """Return the places, and the first others if the op takes no shorter list (RemoteCall, MapDefun)."""
        attrs = self.node.op_def.attrs if self.node.op_def is not None else {}
        least = max((attrs[name].minimum or 0 for name in names if name in attrs), default=0)
        spare = (place for place in every if place not in places)
        return places | set(itertools.islice(spare, max(least - len(places), 0)))

    def _keeps_results(self) -> bool:
        """Return True if unread results stay: a call of a function without results runs more effects."""
        has_controls = any(function.control_results for function in self.functions)
        is_read = any(map(self._is_read, self.all_results))
        return self.ctx.is_preserved(self.node) or (self.kind.is_inlined and not is_read and not has_controls)

    def _is_needed(self, index: int) -> bool:
        """Return True for a result with a reader, and for a loop variable whose computation runs effects."""
        value = self.functions[-1].results[index]
        return self._is_read(index) or (self.kind.is_loop and not self.acting[-1].isdisjoint(needed_nodes([value])))

    def _is_read(self, index: int) -> bool:
        output = self.node.output(index)
        return bool(self.graph.consumers(output)) or output.name in self.ctx.fetched_outputs

    def _constants(self, limit: int) -> dict[int, Node]:
        """Return the constant arguments; of a loop only arguments that no iteration changes and no node reads afterwards."""
        constants = {}
        for i, value in enumerate(self.operands):
            if not value.node.is_constant or self.ctx.is_fed(value) or _bytes(value.node) > limit:
                continue
            if self.kind.is_loop:
                body = self.functions[-1]
                # A constant that an iteration replaces is only the first value of its variable.
                if i in self.results or passed_on(body.results[i]) != body.args[i].output():
                    continue
            constants[i] = value.node
        return constants

    def _kept_results(self, position: int) -> Sequence[int]:
        """Return the remaining results of a function; a loop's condition keeps all of its results."""
        is_condition = self.kind.is_loop and position == 0
        return range(len(self.functions[0].results)) if is_condition else sorted(self.results)

    def _needed_args(self) -> set[int]:
        """Return the arguments that effects, or results with a reader, depend on."""
        needed_args = set()
        for position, function in enumerate(self.functions):
            results = [function.results[i] for i in self._kept_results(position)]
            needed = needed_nodes([*results, *function.control_results, *self.acting[position]])
            needed_args |= {i for i, arg in enumerate(function.args) if arg in needed}
        return self._carried(needed_args | self.results) if self.kind.is_loop else needed_args

    def _carried(self, variables: set[int]) -> set[int]:
        """Return the closure of loop variables under the dependences of the loop's body."""
        body = self.functions[-1]
        while True:
            needed = needed_nodes([body.results[i] for i in variables])
            more = {i for i, arg in enumerate(body.args) if arg in needed} - variables
            if not more:
                return variables
            variables = variables | more

    def _blocker(self) -> str | None:
        """Return the reason why the functions are not copied for this call although arguments or results could go."""
        reasons = [copy_blocker(self.ctx, function) for function in self.functions]
        if any(reasons):
            return next(reason for reason in reasons if reason)
        is_shared = any(self.ctx.is_shared(function.name) for function in self.functions)
        saves = len(self.results) < len(self.all_results) or any(map(self._is_folding, self.functions))
        return "its function has other callers, and a copy would not save work" if is_shared and not saves else None

    def _is_folding(self, function: Function) -> bool:
        """Return True if constant arguments leave a node of the function with constants only, or choose a branch."""
        constants = {function.args[i] for i in self.constants}
        users = {user for arg in constants for user in arg.uses if user.inputs}
        if any(all(value.node in constants or value.node.is_constant for value in user.inputs) for user in users):
            return True
        return any(value.node in constants for user in users for value in deciding_inputs(self.graph.functions, user))

    def _fire(self, dropped: Sequence[int]) -> None:
        gone = [i for i in dropped if i not in self.constants]
        fates = (
            ("constant-argument", sorted(self.constants), "with constants instead of arguments"),
            ("unused-argument", [] if self.kind.is_loop else gone, "without unused arguments"),
            ("unread-result", [i for i in self.all_results if i not in self.results], "without unused results"),
        )
        for rule, positions, words in fates:
            if positions:
                self.ctx.fire(rule, self.node, f"calls a copy of its function {words}")

    def _specialized(self, position: int, existing: dict[Hashable, FuncRef]) -> FuncRef:
        """Return the function with constants inside, and with the remaining arguments and results."""
        reference, args, results = self.references[position], sorted(self.args), self._kept_results(position)
        constants = tuple((i, node.attrs["value"]) for i, node in self.constants.items())
        # Calls with the same constants share a function.
        key = (reference, tuple(args), tuple(results), constants)
        if key not in existing:
            draft = Draft(self.graph, reference)
            for i, constant in self.constants.items():
                draft.make_constant(i, constant)
            draft.keep_results(results)
            # Pruned in between: only then is it known which arguments nothing reads any more.
            draft.prune(self.ctx)
            draft.keep_args(args)
            existing[key] = draft.add()
        return existing[key]

    def _rewrite(self, dropped: Sequence[int], references: Sequence[FuncRef]) -> None:
        """Rewire the node for the new functions' inputs and outputs; the node waits for dropped inputs with effects."""
        graph, node, kind = self.graph, self.node, self.kind
        args, results = sorted(self.args), sorted(self.results)
        waits = self.ctx.anchors(node, [self.operands[i] for i in dropped])
        graph.set_inputs(node, [*node.inputs[: kind.before], *(self.operands[i] for i in args)], waits)
        for name, value in kind.naming(node, references).items():
            node.set_attr(name, value)
        # A call by name has the function as its op, not in an attribute.
        if not kind.functions:
            node.change_op(references[0].name)
        for name, indices in {**dict.fromkeys(kind.args, args), kind.results: results, "output_shapes": results}.items():
            if node.attrs.get(name):
                node.set_attr(name, [value for i, value in enumerate(node.attrs[name]) if i in indices])
        for name in _BY_POSITION:
            node.remove_attr(name)
        places = {old: new for new, old in enumerate(results)}
        for user in list(node.uses):
            graph.set_inputs(user, (node.output(places[v.index]) if v.node is node else v for v in user.inputs))
        # The outputs of the node have other numbers now, so the specs by number are those of other results.
        self.ctx.forget_inference()


def _bytes(constant: Node) -> int:
    tensor: Tensor = constant.attrs["value"]
    return tensor.size * tensor.dtype.size
