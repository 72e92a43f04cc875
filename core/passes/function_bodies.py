"""The other passes at work in the functions that stay."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..graph.call_kinds import CALL_KINDS, Form, call_kind
from ..graph.callers import all_nodes, function_references
from ..graph.frames import SWITCH
from ..graph.graph import Graph, Node, Output
from ..graph.instantiation import instantiate
from ..graph.node_making import add_identity
from ..graph.purity import change_blocker
from ..graph.traversal import copied_from, function_names
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..transforms.subgraphs import forget_locations
from ..types.shapes import TensorSpec
from .base.graph_pass import Pass, PassContext
from .constant_branches import DeadBranches
from .fold import CommonSubexpressions, FoldConstants, Shapes
from .hoisting import LoopHoisting
from .inline import Inline
from .removals import Dependencies
from .rules.arithmetic import Arithmetic
from .rules.data_movement import Structure
from .rules.dataset_rules import Pipelines
from .specialize import Specialize

_IN_BODIES = (
    Inline, FoldConstants, DeadBranches, Specialize, LoopHoisting, CommonSubexpressions, Shapes, Structure, Pipelines,
    Arithmetic, Dependencies,
)  # fmt: skip
_DIFFERENTIATING = [op for op, kind in CALL_KINDS.items() if kind.form is Form.GRADIENT]
_MAX_ROUNDS = 5


class Bodies(Pass):
    """Run the passes on single nodes in the bodies of all called functions, too.

    A function keeps name, arguments and results, all nodes with effects stay, and so does their order.
    """

    name: ClassVar[str] = "bodies"
    summary: ClassVar[str] = "optimize the bodies of called functions"
    follows: ClassVar[str] = "dependency"
    requires: ClassVar[tuple[str, ...]] = ("fold",)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        differentiated = {inner.name for n in all_nodes(graph) if n.op in _DIFFERENTIATING for inner in function_references(n)}
        for name in sorted(differentiated & graph.functions.keys()):
            ctx.refuse("body", name, "its gradient is computed at run time, by rules that some ops lack in TensorFlow")
        _optimize_called(graph, ctx, differentiated)


def _optimize_called(graph: Graph, ctx: PassContext, done: set[str]) -> None:
    """Optimize the functions that the nodes call, except the functions in `done`, and then their callees."""
    for node in list(graph):
        for name in function_names(graph, node):
            if name not in done and name in graph.functions:
                # Before the body is looked into, so that functions that call each other come to an end.
                done.add(name)
                reason = change_blocker(graph, graph.functions[name])
                if reason is not None:
                    ctx.refuse("body", name, reason)
                    continue
                body = ChangedBody(graph, ctx, name, _argument_specs(ctx, node, name))
                body.run([one for one in ctx.shared.passes if isinstance(one, _IN_BODIES)])
                _optimize_called(body.graph, body.ctx, done)


class ChangedBody:
    """The body of a function under change, and the context of the passes.

    An Identity behind each non-constant result keeps the result's place, so that the producer may be folded or merged.
    """

    def __init__(self, graph: Graph, ctx: PassContext, name: str, specs: Mapping[int, TensorSpec]) -> None:
        self.outer = ctx
        self.function = instantiate(graph.functions[name], {})
        self.graph = self.function.body
        self.graph.functions = graph.functions
        self.ends: dict[Output, Node] = {}
        for value, arg in zip(self.function.results, self.function.signature.outputs):
            if value not in self.ends and not (value.node.is_constant or value.node.is_argument):
                assert arg.dtype is not None  # instantiated
                self.ends[value] = add_identity(self.graph, f"{value.node.name}/result", value, arg.dtype)
        constants = [value for value in self.function.results if value.node.is_constant]
        held = [*self.function.args, *self.ends.values(), *self.function.control_results]
        self.fetches: list[Output | Node] = [*held, *constants]
        arguments = {arg.output(): specs[i] for i, arg in enumerate(self.function.args) if i in specs}
        self.ctx = PassContext(self.graph, self.fetches, function=name, specs=arguments, shared=ctx.shared)

    def run(self, passes: Sequence[Pass]) -> None:
        """Run passes until nothing changes; if something did, the function has the new body from then on."""
        changes: collections.Counter[str] = collections.Counter()
        for _ in range(_MAX_ROUNDS):
            fired = self._round(passes)
            if not fired:
                break
            changes += fired
        if changes:
            self._drop_ends()
            forget_locations(self.graph)
            self.graph.check(self.function.signature.attrs)
            # Without `source`, the bytes of the file, from which an unchanged function is written.
            changed = self.graph.functions[self.function.name] = dataclasses.replace(self.function, source=None)
            self.outer.shared.calls.put(changed)
            self.outer.fired += changes
        # The functions that the body calls come next, and their callers must be those of the changed body.
        self.ctx.begin_pass()

    def _round(self, passes: Sequence[Pass]) -> collections.Counter[str]:
        fired: collections.Counter[str] = collections.Counter()
        name = self.function.name
        for one in passes:
            self.ctx.begin_pass()
            one.run(self.graph, self.ctx)
            fired += self.ctx.fired
            for refusal in self.ctx.refusals.values():
                # A pass that looks into functions itself has named the function already.
                place = refusal.node if ": " in refusal.node else f"{name}: {refusal.node}"
                self.outer.refuse(refusal.rule, place, refusal.reason)
        # A draw from its own stream that nothing reads has no visible effect.
        acting = [node for node in self.graph if self.ctx.acts(node) and (node.uses or not has_fact(node.op, "own_stream"))]
        needed = needed_nodes([*self.fetches, *acting])
        doomed = [node for node in self.graph if node not in needed]
        self.graph.remove_nodes(doomed)
        return fired + collections.Counter(unreachable=len(doomed))

    def _drop_ends(self) -> None:
        """Remove the Identities of results again, if they are plain copies."""
        self.function.results = [self.ends[v].output() if v in self.ends else v for v in self.function.results]
        for end in self.ends.values():
            value = copied_from(end.output())
            if value is not None and value.node.op not in SWITCH:
                self.function.results = [value if v == end.output() else v for v in self.function.results]
                self.graph.replace_all_uses(end.output(), value)
                self.graph.replace_control_uses(end, value.node)
                self.graph.remove_node(end)


def _argument_specs(ctx: PassContext, node: Node, name: str) -> dict[int, TensorSpec]:
    """Return the specs of a function's arguments, by index, if `node` is the only caller: shapes that hold in all calls."""
    kind = call_kind(ctx.graph.functions, node)
    if kind is None or not kind.is_plain or ctx.is_shared(name):
        return {}
    sources = node.outputs() if kind.is_loop else node.inputs[kind.before :]
    specs = ctx.inference.specs
    # Without values: a value is made a constant by `specialize`, which drops the argument too.
    return {i: dataclasses.replace(specs[value], value=None) for i, value in enumerate(sources) if value in specs}
