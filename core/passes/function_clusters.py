"""Clustering of pure nodes into a single function call, as input for a compiler that makes a kernel of the cluster."""

from __future__ import annotations

import itertools
from typing import ClassVar

from ..graph.call_kinds import call_op
from ..graph.graph import Function, Graph, Node, Output
from ..graph.node_making import add_argument
from ..graph.traversal import predecessors
from ..registry.catalog import ArgDef, OpDef
from ..types.tensors import FuncRef
from .base.graph_pass import Pass, PassContext, identity_of


class FunctionClusters(Pass):
    """Move all pure nodes that can run together into a function, called by a single PartitionedCall.

    Nodes in loops and on branches are left out, and so are nodes that wait for an effect, and nodes after an effect that
    needs the group. At least `minimum` nodes besides constants make a group.
    """

    name: ClassVar[str] = "cluster"
    summary: ClassVar[str] = "group the remaining pure nodes into a single function call (a single kernel)"
    follows: ClassVar[str] = "quantize_weights"
    in_default_pipeline: ClassVar[bool] = False
    is_final: ClassVar[bool] = True
    minimum: int = 2

    def run(self, graph: Graph, ctx: PassContext) -> None:
        members = _members(graph, ctx)
        if sum(not node.is_constant for node in members) < self.minimum:
            for node in members:
                ctx.refuse("cluster", node, f"the graph has fewer than {self.minimum} pure nodes")
            return
        _ClusterBuilder(graph, ctx, members).make()


def _members(graph: Graph, ctx: PassContext) -> list[Node]:
    """Return, in order, the pure nodes without an effect among their ancestors that needs a pure node."""
    members: dict[Node, None] = {}
    after_effect: set[Node] = set()
    computed: set[Node] = set()
    for node in ctx.order():
        sources = set(predecessors(node))
        is_pure = ctx.impurity(node) is None and not ctx.is_inside(node) and not ctx.has_fed_output(node)
        waits = any(control not in members for control in node.control_inputs)
        if not sources.isdisjoint(after_effect):
            after_effect.add(node)
        elif is_pure and not waits:
            members[node] = None
            if not node.is_constant:
                computed.add(node)
        # An effect that needs a result of the group must run after the call, and a pure node after that effect must not join:
        # the call would wait for itself.
        elif not sources.isdisjoint(computed):
            after_effect.add(node)
    # A constant that others read as well stays outside, as another argument would cost more than the constant.
    return [node for node in members if not node.is_constant or (node.uses and all(user in members for user in node.uses))]


class _ClusterBuilder:
    """The nodes of a group on their way into a function."""

    def __init__(self, graph: Graph, ctx: PassContext, members: list[Node]) -> None:
        self.graph = graph
        self.ctx = ctx
        self.members = dict.fromkeys(members)
        self.names = {node: node.name for node in members}
        inputs = (value for node in members for value in node.inputs if value.node not in self.members)
        self.inputs = list(dict.fromkeys(inputs))
        self.results = [output for node in members for output in node.outputs() if self._is_read(output)]

    def make(self) -> None:
        """Replace the members by a call."""
        function = self._function()
        self.graph.functions[function.name] = function
        preserved = [node for node in self.members if self.ctx.is_preserved(node)]
        # If the group has one result, and it is fetched, the call takes its name, and no node has to hand the result on.
        is_whole = len(preserved) == 1 and [o.node for o in self.results] == preserved
        name = preserved[0].name if is_whole else self.graph.unique_name("cluster")
        for node in preserved:
            self.graph.rename_node(node, self.graph.unique_name(f"{node.name}/clustered"))
        call = self._call(name, function)
        if not is_whole:
            self._restore_names(call, preserved)
        for i, output in enumerate(self.results):
            self._redirect(output, call.output(i))
        self._remove(call)

    def _function(self) -> Function:
        body = self.graph.emptied()
        copies: dict[Output, Output] = {}
        args = []
        for i, value in enumerate(self.inputs):
            assert value.dtype is not None
            args.append(add_argument(body, f"arg_{i}", value.dtype.base, i))
            copies[value] = args[-1].output()
        for node in self.members:
            # What waits for a NoOp of the group waits for pure nodes alone, so that nothing is lost with the edge.
            copy = body.add_node(
                body.unique_name(node.name), node.op, [copies[value] for value in node.inputs],
                [copies[c.output()].node for c in node.control_inputs if c.output_dtypes], node.attrs, node.device,
            )  # fmt: skip
            copies |= {output: copy.output(output.index) for output in node.outputs()}
        names = (f"cluster_{number}" for number in itertools.count())
        signature = OpDef(
            next(name for name in names if name not in self.graph.functions),
            tuple(ArgDef(f"arg_{i}", v.dtype.base) for i, v in enumerate(self.inputs) if v.dtype is not None),
            tuple(ArgDef(f"result_{i}", v.dtype.base) for i, v in enumerate(self.results) if v.dtype is not None),
            {},
            frozenset(),
        )
        return Function(signature, body, args, [copies[value] for value in self.results])

    def _call(self, name: str, function: Function) -> Node:
        types = [[v.dtype.base for v in values if v.dtype is not None] for values in (self.inputs, self.results)]
        attrs = {
            "Tin": types[0], "Tout": types[1], "f": FuncRef(function.name), "config": b"", "config_proto": b"",
            "executor_type": b"",
        }  # fmt: skip
        return self.graph.add_node(name, call_op(is_stateful=False), self.inputs, (), attrs)

    def _restore_names(self, call: Node, preserved: list[Node]) -> None:
        """Restore the names of preserved nodes: each passes a result of the call on under the old name."""
        for node in preserved:
            outputs = [call.output(self.results.index(output)) for output in node.outputs()]
            op, attrs = identity_of([output.dtype.base for output in outputs if output.dtype is not None])
            self.graph.add_node(self.names[node], op, outputs, (), attrs)

    def _is_read(self, output: Output) -> bool:
        node = output.node
        is_kept = self.ctx.is_preserved(node)
        return is_kept or any(user not in self.members for user in self.graph.consumers(output))

    def _redirect(self, output: Output, result: Output) -> None:
        for user in self.graph.consumers(output):
            if user not in self.members:
                self.graph.set_inputs(user, [result if value == output else value for value in user.inputs])

    def _remove(self, call: Node) -> None:
        """Drop the members; nodes that waited for a member wait for the call."""
        for node in self.members:
            for user in self.graph.control_consumers(node):
                if user not in self.members:
                    self.graph.remove_control_input(user, node)
                    self.graph.add_control_input(user, call)
        for name in self.names.values():
            self.ctx.fire("cluster", name, f"moved into function {call.attrs['f'].name}, called by {call.name}")
        self.graph.remove_nodes(self.members)
