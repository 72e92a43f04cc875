"""Building the training part of a graph: gradients, clipping, slot variables, updates and their initializers.

Names are TensorFlow's: slots are called VARIABLE/Momentum and so on, update nodes lie under train/update_VARIABLE/, and the
operation `train/step` runs a step.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..building.gradbuilder import GradientBuilder, IndexedSlices
from ..gradients import add_gradients
from ..gradients.swept_values import tensors_of
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import reachable
from ..graph.variable_nodes import RESOURCE_VARIABLES, VARIABLES
from ..planning.live_edges import LiveEdges
from ..planning.planner import races_of
from ..registry.catalog import CATALOG
from ..runtime.session.restored_variables import restored_variables
from ..support import dataclasses
from ..support.errors import InvalidArgumentError, NotFoundError
from ..support.hints import Blank, Hint, command, option
from ..types import dtypes
from ..types.dtypes import DType
from .optimizers import Optimizer, Schedule

_MOST_RACES: Final = 1000
"""The number of races that are searched for new races: a graph may have races in the square of its accesses."""


@dataclasses.dataclass(frozen=True, slots=True)
class Clipping:
    """How gradients are bounded: `value` clips each element, `norm` each gradient, `global_norm` all of them together."""

    kind: str
    limit: float


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingGraph:
    """The nodes that training adds: the operation that runs a step, the initializer of new variables, and the stages'
    nodes.
    """

    graph: Graph
    train_op: str
    init_op: str
    loss: str
    variables: tuple[str, ...]
    stages: tuple[tuple[str, tuple[str, ...]], ...]


def add_training(
    graph: Graph,
    loss: str,
    optimizer: Optimizer,
    *,
    variables: str = "",
    learning_rate: float | None = None,
    schedule: Schedule | None = None,
    clipping: Clipping | None = None,
) -> TrainingGraph:
    """Return a copy of `graph` that `optimizer` trains: `loss` is a tensor name, `variables` a regular expression.

    InvalidArgumentError if the loss depends on no variable that matches, and where no control edge could order the
    updates.
    """
    training = _Builder(graph.copy(), optimizer).build(loss, variables, learning_rate, schedule, clipping)
    require_order(graph, training)
    return training


def require_order(graph: Graph, training: TrainingGraph) -> None:
    """Raise InvalidArgumentError if a node that training added to `graph` races in a step of `training`."""
    step: list[Output | Node] = [training.graph.output(training.loss), training.graph.node(training.train_op)]
    for race in itertools.islice(races_of(training.graph, step), _MOST_RACES):
        # Races among the graph's own nodes were there before the training.
        if race.first.node.name not in graph or race.second.node.name not in graph:
            raise InvalidArgumentError(
                f"no path orders a training step: '{race.first.node.name}' {race.first.words}, and "
                f"'{race.second.node.name}' {race.second.words}",
                hint=Hint("train other variables with ", option("var"), ", or another loss"),
            )


def trainable_variables(graph: Graph, loss: Output, pattern: str = "") -> list[Node]:
    """Return the floating-point variables that the loss depends on and whose names match `pattern`."""
    needed = reachable([loss.node])
    variables = [n for n in graph if n in needed and n.op in VARIABLES and n.attrs["dtype"].is_floating]
    records = graph.meta.variables.get("trainable_variables", ()) if graph.meta is not None else ()
    listed = {record.name.partition(":")[0] for record in records}
    # A collection says what the author trains; a variable with a gradient that it lacks is frozen.
    if listed:
        variables = [node for node in variables if node.name in listed]
    frozen = _frozen(graph)
    variables = [node for node in variables if node.name not in frozen]
    matching = [node for node in variables if re.search(pattern, node.name)]
    if not matching:
        hint = (
            f"the loss depends on {', '.join(n.name for n in variables)}"
            if variables
            else Hint(command("explain", Blank("GRAPH")), " lists the variables")
        )
        raise NotFoundError(f"the loss '{loss}' depends on no trainable variable that matches '{pattern}'", hint=hint)
    return matching


def _frozen(graph: Graph) -> set[str]:
    """Return the variables that a TF2 model does not train."""
    keys = graph.meta.frozen_keys if graph.meta is not None else ()
    owners = restored_variables(graph) if keys else {}
    return {owners[key] for key in keys if key in owners}


class _Builder:
    """The state of building a training graph."""

    def __init__(self, graph: Graph, optimizer: Optimizer) -> None:
        self.graph = graph
        self.g = GradientBuilder(graph)
        self.optimizer = optimizer
        self.initializers: list[Node] = []
        self.stages: list[tuple[str, tuple[str, ...]]] = []
        self._before: set[Node] = set()

    def build(
        self,
        loss: str,
        pattern: str,
        learning_rate: float | None,
        schedule: Schedule | None,
        clipping: Clipping | None,
    ) -> TrainingGraph:
        target = self.graph.output(loss)
        variables = trainable_variables(self.graph, target, pattern)
        self._end_stage("forward")
        pairs = self._gradients(target, variables)
        if clipping is not None:
            pairs = self._clipped(pairs, clipping)
        self._end_stage("gradients")
        step = self._variable(0, "global_step", dtypes.int64, is_resource=False)
        rate = self._learning_rate(learning_rate, schedule, step)
        slots = {node: self._slots(node) for node, _ in pairs}
        powers = {name: self._power(name, pairs[0][0]) for name in self.optimizer.powers}
        self._end_stage("slots")
        awaited = self._decayed(pairs, rate, self._gate(target, pairs))
        updates = [self._update(node, grad, slots[node], powers, rate, awaited) for node, grad in pairs]
        finish = self._finish(updates, powers, step)
        self._end_stage("updates")
        init = self.g.add("NoOp", (), {}, "init_train")
        for node in self.initializers:
            self.graph.add_control_input(init, node)
        self._end_stage("initializer")
        names = tuple(node.name for node, _ in pairs)
        return TrainingGraph(self.graph, finish.name, init.name, loss, names, tuple(self.stages))

    def _end_stage(self, name: str) -> None:
        self.stages.append((name, tuple(node.name for node in self.graph if node not in self._before)))
        self._before = set(self.graph)

    def _gradients(self, loss: Output, variables: Sequence[Node]) -> list[tuple[Node, Output | IndexedSlices]]:
        """Return each variable that the loss depends on differentiably, with its gradient."""
        weights = [node.output() for node in variables]
        # Rows of a loop stay rows only for optimizers that update single rows: others need the sum anyway.
        gradients = add_gradients(self.graph, [loss], weights, slices_of_loops=self.optimizer.has_sparse_op)
        pairs = [(node, grad) for node, grad in zip(variables, gradients) if grad is not None]
        if not pairs:
            raise InvalidArgumentError(f"the loss '{loss}' has no gradient with respect to any variable")
        if self.optimizer.has_sparse_op or self.optimizer.scatters:
            return pairs
        return [(node, self.g.densify(grad)) for node, grad in pairs]

    def _clipped(self, pairs: Sequence[tuple[Node, Any]], clipping: Clipping) -> list[tuple[Node, Any]]:
        g = self.g
        dense = [(node, g.densify(grad)) for node, grad in pairs]
        with g.name_scope("clip"):
            if clipping.kind == "value":
                return [(n, g.ClipByValue(grad, -clipping.limit, clipping.limit)) for n, grad in dense]
            if clipping.kind == "norm":
                return [(n, self._scaled(grad, self._squares([grad]), clipping.limit)) for n, grad in dense]
            if clipping.kind == "global_norm":
                squares = self._squares([grad for _, grad in dense])
                return [(n, self._scaled(grad, squares, clipping.limit)) for n, grad in dense]
        raise InvalidArgumentError(f"clipping must be by value, norm or global_norm, not '{clipping.kind}'")

    def _squares(self, grads: Sequence[Output]) -> Output:
        """Add the sum of the squares of all elements."""
        # AddN takes one dtype, and a model may have variables of several.
        halves = [self.g.Cast(self.g.L2Loss(grad), DstT=dtypes.float32) for grad in grads]
        return self.g.Mul(self.g.AddN(halves), 2.0)

    def _scaled(self, grad: Output, squares: Output, limit: float) -> Output:
        """Return the gradient times limit / max(norm, limit)."""
        # Short gradients get a factor of 1, and a norm of 0 divides nothing.
        factor = self.g.RealDiv(limit, self.g.Maximum(self.g.Sqrt(squares), limit))
        return self.g.Mul(grad, self.g.Cast(factor, DstT=_dtype(grad)))

    def _learning_rate(self, rate: float | None, schedule: Schedule | None, step: Node) -> Output:
        value = self.optimizer.learning_rate if rate is None else rate
        with self.g.name_scope("train"):
            if schedule is None:
                return self.g.constant(value, dtypes.float32, "learning_rate")
            return schedule.build(self.g, value, self._read(step))

    def _variable(self, value: Any, name: str, dtype: DType, is_resource: bool) -> Node:
        """Return a new variable with its initializer, or the existing variable of the same name."""
        existing = self.graph.get(name)
        # A graph that was trained and saved has the slots of that training, which keep their values.
        if existing is not None and existing.op in VARIABLES:
            return existing
        made = self.g.variable(value, name=name, dtype=dtype, resource=is_resource, trainable=False)
        self.initializers.append(made.initializer)
        return made.handle.node

    def _read(self, variable: Node) -> Output:
        if variable.op in RESOURCE_VARIABLES:
            result = self.g.ReadVariableOp(variable.output(), dtype=variable.attrs["dtype"])
        else:
            result = self.g.Identity(variable.output())
        return result

    def _slots(self, variable: Node) -> dict[str, Node]:
        return {arg: self._slot(variable, slot.name, slot.initial) for arg, slot in self.optimizer.slots.items()}

    def _slot(self, variable: Node, name: str, initial: float) -> Node:
        """Add the slot variable VARIABLE/name, of the variable's kind, dtype and shape, on the variable's device."""
        dtype, shape = variable.attrs["dtype"], variable.attrs["shape"]
        if not shape.is_known:
            raise InvalidArgumentError("a slot variable needs a fully known shape", node=variable.name, op=variable.op)
        value = np.full(shape.known(), initial, dtype.numpy)
        with self.g.colocate_with(variable):
            return self._variable(value, f"{variable.name}/{name}", dtype, variable.op in RESOURCE_VARIABLES)

    def _power(self, name: str, like: Node) -> Node:
        """Add the variable that holds beta^t."""
        rate = self.optimizer.hyperparameters[name]
        return self._variable(rate, f"{name}_power", like.attrs["dtype"], like.op in RESOURCE_VARIABLES)

    def _gate(self, loss: Output, pairs: Sequence[tuple[Node, Any]]) -> list[Node]:
        """Return a NoOp that waits for the loss and all gradients, and so for all of their reads of variables.

        All updates wait for the gate: no gradient sees a variable of the next step. A gradient on a branch is waited for by
        a node that is alive on the other branches, too.
        """
        edges = LiveEdges(self.graph)
        # The values and indices of sparse gradients: no update takes the dense shape.
        ends = dict.fromkeys([loss.node, *(value.node for _, grad in pairs for value in tensors_of(grad)[:2])])
        live = [edges.live_behind(node) for node in ends]
        return [self.g.group([node for node in live if node is not None], "train/gate")]

    def _update(
        self,
        variable: Node,
        grad: Output | IndexedSlices,
        slots: Mapping[str, Node],
        powers: Mapping[str, Node],
        rate: Output,
        gate: Sequence[Node],
    ) -> Node:
        """Add the update op of a variable, after the nodes of `gate`."""
        dtype = variable.attrs["dtype"]
        with self.g.name_scope(f"train/update_{variable.name}"), self.g.colocate_with(variable):
            if isinstance(grad, IndexedSlices) and self.optimizer.scatters:
                return self._scattered(variable, grad, self._as(rate, dtype), gate)
            values: dict[str, Any] = {"var": variable.output(), **{arg: node.output() for arg, node in slots.items()}}
            values |= {f"{name}_power": self._read(node) for name, node in powers.items()}
            values |= dict(self.optimizer.hyperparameters)
            # ApplyGradientDescent calls the rate alpha and the gradient delta.
            values["lr"] = values["alpha"] = self._as(rate, dtype)
            if isinstance(grad, IndexedSlices):
                values["grad"], values["indices"] = self._summed(grad)
            else:
                values["grad"] = values["delta"] = grad
            return self._applied(variable, values, isinstance(grad, IndexedSlices), gate)

    def _applied(self, variable: Node, values: Mapping[str, Any], is_sparse: bool, gate: Sequence[Node]) -> Node:
        """Add the update op of a variable; the op's inputs are found by their names in the op's interface."""
        kind = "Resource" if variable.op in RESOURCE_VARIABLES else ""
        op = f"{kind}{'Sparse' if is_sparse else ''}{self.optimizer.op}"
        dtype = variable.attrs["dtype"]
        inputs = [self._operand(values[arg.name], dtype) for arg in CATALOG[op].inputs]
        with self.g.control_dependencies(gate):
            return self.g.add(op, inputs, {**self.optimizer.attrs, "T": dtype}, op)

    def _scattered(self, variable: Node, grad: IndexedSlices, rate: Output, gate: Sequence[Node]) -> Node:
        """Take the rows of a gradient, times the rate, from the rows of a variable, a row after another."""
        if variable.op in RESOURCE_VARIABLES:
            rows = self.g.Mul(self.g.Neg(grad.values), rate)
            with self.g.control_dependencies(gate):
                return self.g.ResourceScatterAdd(variable.output(), grad.indices, rows)
        rows = self.g.Mul(grad.values, rate)
        with self.g.control_dependencies(gate):
            return self.g.ScatterSub(variable.output(), grad.indices, rows).node

    def _summed(self, grad: IndexedSlices) -> tuple[Output, Output]:
        """Return the values and indices of a gradient with each row once.

        The rows of an index are summed first, since an update op takes a step for each row that it gets.
        """
        g = self.g
        indices, places = g.Unique(grad.indices)
        return g.UnsortedSegmentSum(grad.values, places, g.first_of(g.Shape(indices))), indices

    def _decayed(self, pairs: Sequence[tuple[Node, Any]], rate: Output, gate: Sequence[Node]) -> Sequence[Node]:
        """Add the weight decay of all variables, after `gate`, and return the nodes that the updates wait for."""
        if not self.optimizer.decays_weights:
            return gate
        decay = self.optimizer.hyperparameters["weight_decay"]
        with self.g.control_dependencies(gate), self.g.name_scope("train/decay"):
            factor = self.g.Sub(1.0, self.g.Mul(rate, decay))
            return [self._multiply(node, self._as(factor, node.attrs["dtype"])) for node, _ in pairs]

    def _as(self, value: Output, dtype: DType) -> Output:
        """Return a float32 value in another dtype."""
        return value if dtype is dtypes.float32 else self.g.Cast(value, DstT=dtype)

    def _operand(self, value: Any, dtype: DType) -> Output:
        return value if isinstance(value, Output) else self.g.constant(value, dtype)

    def _finish(self, updates: Sequence[Node], powers: Mapping[str, Node], step: Node) -> Node:
        """Add the operation `train`: all updates, then the powers of the decay rates and the global step."""
        # The powers change after all updates, which have read them.
        with self.g.control_dependencies(updates), self.g.name_scope("train/update"):
            rates = self.optimizer.hyperparameters
            last = [self._multiply(node, self.g.constant(rates[name], node.attrs["dtype"])) for name, node in powers.items()]
            one = self.g.constant(1, step.attrs["dtype"])
            if step.op in RESOURCE_VARIABLES:
                last.append(self.g.AssignAddVariableOp(step.output(), one))
            else:
                last.append(self.g.AssignAdd(step.output(), one).node)
        return self.g.group([*updates, *last], "train/step")

    def _multiply(self, variable: Node, factor: Output) -> Node:
        """Assign to a variable its value times a scalar of the same dtype."""
        product = self.g.Mul(self._read(variable), factor)
        if variable.op in RESOURCE_VARIABLES:
            node = self.g.AssignVariableOp(variable.output(), product)
        else:
            node = self.g.Assign(variable.output(), product).node
        return node


def _dtype(value: Output) -> DType:
    return value.dtype.base if value.dtype is not None else dtypes.float32
