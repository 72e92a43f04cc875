"""Roles of nodes around the variables of a training graph: initializers, updates, slots, gradients, losses."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Container, Iterable, Iterator

from ..graph.frames import ENTER, EXIT, SWITCH
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import descendants, nodes_of_kind, predecessors, reachable, trail_end
from ..graph.variable_nodes import ASSIGN_OPS, VARIABLES, VariableNodes, find_variables, initializer_ops
from ..inference.binding import named_inputs
from ..registry.catalog import CATALOG
from ..registry.op_facts import NodeKinds, has_fact
from ..support import dataclasses
from ..types.dtypes import resource

_FORWARDING = ("Identity", "RefIdentity", *ENTER, *EXIT, *SWITCH, "ReadVariableOp", "Cast")
_GRADIENT_SCOPE = re.compile(r"(?:^|/)gradients(?:_\d+)?(?:/|$)")
_GRADIENT_OF = re.compile(r"(?:^|/)gradients(?:_\d+)?/(.+?)_grad(?:_\d+)?/")
# ApplyGradientDescent and its kin call the gradient `delta`, all other update ops `grad`.
_GRADIENT_ARGS = ("grad", "delta")


@dataclasses.dataclass(frozen=True, slots=True)
class Update:
    """A node that writes to a variable in training; an optimizer's op has an `optimizer` and a `gradient`."""

    node: Node
    variable: VariableNodes
    optimizer: str | None
    gradient: Output | None


@dataclasses.dataclass(frozen=True, slots=True)
class OptimizerSlot:
    """A variable that an optimizer keeps beside a trained variable; `variable` is None if all variables share the slot.

    A moving average of a variable has no `optimizer`.
    """

    name: str
    optimizer: str | None
    variable: VariableNodes | None
    evidence: str

    @property
    def title(self) -> str:
        """Return the slot and the variable it serves in a few words."""
        owner = f" of {self.variable.name}" if self.variable is not None else ""
        return f"{self.optimizer} {self.name}{owner}" if self.optimizer is not None else f"moving average{owner}"


class Roles:
    """The roles of nodes around a graph's variables, each computed at the first access."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.variables = find_variables(graph)
        self.by_node = {variable.node: variable for variable in self.variables.values()}
        self._origins = Origins(set(_FORWARDING).difference(VARIABLES))

    @functools.cached_property
    def initializers(self) -> dict[Node, VariableNodes]:
        """Return the assignments that give variables their first values."""
        return {v.initializer: v for v in self.variables.values() if v.initializer is not None}

    @functools.cached_property
    def init_ops(self) -> tuple[Node, ...]:
        """Return the NoOps that run initializers."""
        return initializer_ops(self.graph)

    @functools.cached_property
    def restored(self) -> dict[Node, Node]:
        """Map assignments of restored values to the Restore ops that read the values."""
        restores = {}
        # `tf.train.Saver(reshape=True)` reshapes what it restores, and TF2 hands it on by an Identity.
        read = Origins(("Identity", "Reshape"))
        for node in nodes_of_kind(self.graph, lambda kind: kind.op in ASSIGN_OPS):
            if node in self.initializers or len(node.inputs) < 2:
                continue
            source = read(node.inputs[1]).node
            if has_fact(source.op, "restores"):
                restores[node] = source
        return restores

    @functools.cached_property
    def updates(self) -> dict[Node, Update]:
        """Map nodes that write to a variable, initializers and restores aside, to their updates."""
        by_node = {}
        for node in nodes_of_kind(self.graph, _writes_variable):
            if not node.inputs or node in self.initializers or node in self.restored:
                continue
            owner = self.owner(node.inputs[0])
            if owner is not None:
                by_node[node] = self._update(node, owner)
        return by_node

    @functools.cached_property
    def slots(self) -> dict[Node, OptimizerSlot]:
        """Return the variables that optimizers keep for themselves."""
        by_node: dict[Node, OptimizerSlot] = {}
        for update in self.updates.values():
            if update.optimizer is not None:
                by_node |= {node: slot for node, slot in self._slots_of(update) if node not in by_node}
        needed = self.needed_by_loss
        for update in self.updates.values():
            node = update.variable.node
            # The global step is written in each step too, and is no slot.
            is_state = needed and node not in needed and node not in by_node and not _counts(update.node)
            if is_state and update.node in self.after_gradients:
                owner = self._longest_prefix(node)
                reason = "an update computed from gradients writes to it, and the loss does not need it"
                optimizer = None if self._averages(update) else "an optimizer"
                by_node[node] = OptimizerSlot(node.name.rpartition("/")[2], optimizer, owner, reason)
        return by_node

    @functools.cached_property
    def gradients(self) -> set[Node]:
        """Return nodes that compute gradients: nodes in a `gradients` scope, and gradient ops that updates need."""
        scoped = {node for node in self.graph if "gradients" in node.name and _GRADIENT_SCOPE.search(node.name)}
        needed = reachable(self.updates)
        # Training written by hand has gradient ops in scopes of its own.
        return scoped | {node for node in needed if has_fact(node.op, "backward")}

    @functools.cached_property
    def after_gradients(self) -> set[Node]:
        """Return the gradients, and every node that depends on a gradient."""
        return descendants(self.gradients)

    @functools.cached_property
    def losses(self) -> tuple[Node, ...]:
        """Return the nodes that are differentiated: forward nodes whose own gradient starts from `grad_ys` or a constant."""
        losses: dict[Node, None] = {}
        for node in self.graph:
            # tf.gradients begins with a Fill of ones that reads the shape of the loss.
            if "/grad_ys_" in node.name and _GRADIENT_SCOPE.search(node.name) and not node.is_constant:
                losses |= dict.fromkeys(filter(None, (self.gradient_of(user) for user in node.uses)))
        if not losses and self.updates:
            # Hand-made or TF2 gradients leave no `grad_ys`; then only names tell.
            names = [node for node in self.graph if node.name.rpartition("/")[2] in ("loss", "total_loss", "cost")]
            losses = dict.fromkeys(node for node in names if node.output_dtypes and node not in self.gradients)
        return tuple(losses)

    @functools.cached_property
    def needed_by_loss(self) -> set[Node]:
        """Return all nodes that the losses need, losses included."""
        return reachable(self.losses)

    def gradient_of(self, node: Node) -> Node | None:
        """Return the forward node whose gradient `node` helps to compute, from the scope `gradients/NAME_grad`."""
        match = _GRADIENT_OF.search(node.name)
        if match is None:
            return None
        # tf.gradients inside a name scope writes SCOPE/gradients/NAME_grad, where NAME may be in the scope or outside.
        scope = node.name[: match.start()].lstrip("/")
        return self.graph.get(match[1]) or (self.graph.get(f"{scope}/{match[1]}") if scope else None)

    def owner(self, value: Output) -> VariableNodes | None:
        """Return the variable whose memory, handle or value arrives along an edge."""
        return self.by_node.get(self._origins(value).node)

    def _update(self, node: Node, owner: VariableNodes) -> Update:
        if not has_fact(node.op, "training"):
            return Update(node, owner, None, None)
        gradient = next((value for name, value in named_inputs(node) if name in _GRADIENT_ARGS), None)
        # `ResourceApplyAdam` is a step of Adam.
        return Update(node, owner, node.op.rpartition("Apply")[2], gradient)

    def _slots_of(self, update: Update) -> Iterator[tuple[Node, OptimizerSlot]]:
        optimizer = str(update.optimizer)
        # The first input is the trained variable itself.
        for name, value in list(named_inputs(update.node))[1:]:
            owner = self.owner(value)
            if owner is None or name in _GRADIENT_ARGS or owner.node is update.variable.node:
                continue
            # Adam keeps the powers of its betas once for all variables.
            shared = name in ("beta1_power", "beta2_power", "global_step", "lr", "lr_power")
            reason = f"input '{name}' of {update.node.op} '{update.node.name}'"
            yield owner.node, OptimizerSlot(name, optimizer, None if shared else update.variable, reason)

    def _averages(self, update: Update) -> bool:
        """Return True for an increment in proportion to a difference from the variable's own value."""
        change = update.node.inputs[1].node if has_fact(update.node.op, "increment") else None
        factors = [value.node for value in change.inputs] if change is not None else []
        operands = [value for factor in factors if has_fact(factor.op, "subtraction") for value in factor.inputs]
        return any(self.owner(value) is update.variable for value in operands)

    def _longest_prefix(self, node: Node) -> VariableNodes | None:
        # Optimizers name a slot below its variable, `w/Momentum`, and a variable may itself lie below another.
        scope = node.name.rpartition("/")[0]
        while scope:
            owner = self.graph.get(scope)
            if owner is not None and owner in self.by_node:
                return self.by_node[owner]
            scope = scope.rpartition("/")[0]
        return None


def _counts(node: Node) -> bool:
    """Return True for a step counter: a constant is added each time."""
    return has_fact(node.op, "increment") and len(node.inputs) == 2 and node.inputs[1].node.is_constant


class Origins:
    """The origins of values that pass through nodes of some types; each of these nodes is walked once."""

    def __init__(self, ops: Container[str]) -> None:
        self._ops = ops
        self._ends: dict[Output, Output] = {}

    def __call__(self, value: Output) -> Output:
        """Follow first inputs back through nodes of the given types; return the first value of another type."""
        return trail_end(value, self._before, self._ends)

    def _before(self, value: Output) -> Output | None:
        return value.node.inputs[0] if value.node.op in self._ops and value.node.inputs else None


def _writes_variable(kind: NodeKinds) -> bool:
    """Return True for an op with a side effect on the variable in the first input; DestroyResourceOp ends a variable only."""
    definition = CATALOG.get(kind.op)
    if not has_fact(kind.op, "side_effect") or definition is None or not definition.inputs:
        return False
    is_end = not definition.inputs[1:] and not definition.outputs
    return not is_end and (definition.inputs[0].is_ref or definition.inputs[0].dtype is resource)


def exclusive(roots: Iterable[Node], allowed: Callable[[Node], bool]) -> set[Node]:
    """Return nodes before the roots that `allowed` admits and that feed nothing but the roots and each other."""
    members = set(roots)
    sources: set[Node] = set()
    stack = list(members)
    users_left: dict[Node, int] = {}
    while stack:
        node = stack.pop()
        for source in dict.fromkeys(predecessors(node)):
            # Counting users down visits each edge once; asking for all users of each source anew would be quadratic for
            # sources with many users.
            left = users_left[source] = users_left.get(source, len(source.uses)) - 1
            if not left and source not in members and allowed(source):
                members.add(source)
                sources.add(source)
                stack.append(source)
    return sources
