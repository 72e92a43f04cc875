"""The inference form of a training graph: flags of training off, statistics of batches and variables by their averages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..building.builder import GraphBuilder
from ..explaining.roles import Roles, Update
from ..graph.frames import find_frames
from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_identity
from ..graph.traversal import descendants, groups, reachable, trail_end
from ..graph.variable_nodes import VariableNodes, find_variables
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.hints import Hint, option, step
from ..types.dtypes import bool_

_BREAK: Final = re.compile(r"[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])")
"""What stands between the words of a name: is_training, isTraining."""
_ON: Final = {"train", "training", "istrain", "istraining", "phase"}
"""Words in the names of flags that are true in training."""
_NUMBERS: Final = {*_ON, "is", "in", "keras", "learning", "flag", "mode"}
"""The words of numbers that are 1 in training."""
_OFF: Final = {"inference", "infer", "eval", "test", "testing", "istest"}
"""Words in the names of flags that are true outside of training."""
_KEPT: Final = {"keep", "keepprob"}
_DROPPED: Final = {"dropout", "drop"}
"""Words in the names of the part that dropout keeps, and of the part that it drops."""


@dataclasses.dataclass(frozen=True, slots=True)
class Decision:
    """A decision that makes a training graph an inference graph, or one that is left to the user."""

    node: str
    """The node that changes, or stays; (dropout) for all dropout."""
    change: str
    """The change, in words."""
    why: str
    """The reason."""
    keeps_results: bool = False
    """True if the graph before computes the same on the values of placeholders."""
    is_left: bool = False
    """True for what stays as it is, and may be meant otherwise."""


def training_flags(graph: Graph, needed: Collection[Node]) -> dict[str, Any]:
    """Return the values outside of training for the placeholders whose names say that they tell of training or dropout."""
    values = {node.name: _setting(node) for node in graph if node in needed and node.is_placeholder}
    return {name: value for name, value in values.items() if value is not None}


def _setting(node: Node) -> Any:
    """Return the value of a scalar placeholder outside of training; None for another placeholder."""
    words = {word.lower() for word in _BREAK.split(node.name.rpartition("/")[2]) if word}
    dtype, shape = node.output().base_dtype, node.declared_shape
    # A flag is a scalar; a tensor of that name is data.
    if shape.rank:
        return None
    # Of an integer every word must tell of training: `train_steps` is a number.
    if dtype is bool_ or (dtype.is_integer and words <= _NUMBERS):
        values = [flag for flag, names in ((0, _ON), (1, _OFF)) if words & names]
    elif dtype.is_floating:
        values = [part for part, names in ((1, _KEPT), (0, _DROPPED)) if words & names]
    else:
        values = []
    return np.asarray(values[0], dtype.numpy) if values else None


def settings_of(settings: Mapping[str, Any]) -> Iterator[Decision]:
    """Yield the decisions that give placeholders their values."""
    for name, value in settings.items():
        yield Decision(name, f"is {str(value.item()).lower()}", "its name tells of training", keeps_results=True)


def brings_input(node: Node) -> bool:
    """Return True for a placeholder, and for a node that takes elements of an input pipeline."""
    return node.must_be_fed or has_fact(node.op, "next_element") or has_fact(node.op, "blocks")


def open_choices(graph: Graph, needed: Collection[Node]) -> Iterator[Decision]:
    """Yield the placeholders of truth values that are left, the nodes that draw by chance, and input pipelines."""
    for node in (node for node in graph if node in needed):
        if node.is_placeholder and node.output().base_dtype is bool_ and not node.declared_shape.rank:
            reason = Hint("its name tells nothing of training; ", step("set", name=node.name), " decides")
            yield Decision(node.name, "stays an input", reason, is_left=True)
        elif "seed" in node.attrs and node.op_def is not None and node.op_def.is_stateful:
            yield Decision(node.name, "stays", f"{node.op} draws by chance, but does not belong to a dropout", is_left=True)
        elif has_fact(node.op, "next_element"):
            reason = Hint("an input pipeline gives the values; ", option("from"), " makes an input of it")
            yield Decision(node.name, "stays", reason, is_left=True)


def compared_results(graph: Graph, losses: Iterable[str]) -> list[str]:
    """Return the tensors that losses compare with labels: what follows from variables and not from labels, where a reader
    follows from labels.

    A label is a placeholder that no node beside a variable needs.
    """
    before = reachable(graph.node_of(name) for name in losses)
    variables = find_variables(graph).values()
    # What a variable feeds is of the model; labels come in behind it, at the loss.
    readers = {user for variable in variables for read in (variable.node, *variable.reads) for user in read.uses} & before
    features = reachable(readers)
    labelled = descendants(node for node in before if node.is_placeholder and node not in features) & before
    results = (descendants(readers) & before) - labelled
    return [node.output().name for node in graph if node in results and not labelled.isdisjoint(node.uses)]


class InferenceForm:
    """The changes of a graph that need its variables: what outputs read of updates, of statistics, and of averages."""

    def __init__(self, graph: Graph, outputs: Sequence[str]) -> None:
        self.graph = graph
        self.roles = Roles(graph)
        self.outputs = [graph.fetch(name) for name in outputs]
        self.frames = find_frames(graph)
        self.averaged = dict(self._averaged())
        """The averaged values by the updates of their averages."""
        self._reads: dict[Node, Output] = {}

    @property
    def needed(self) -> set[Node]:
        """The nodes that the outputs need now."""
        return reachable(value.node if isinstance(value, Output) else value for value in self.outputs)

    def _averaged(self) -> Iterator[tuple[Node, Output]]:
        for node, update in self.roles.updates.items():
            value = _average_of(self.roles, update) if update.optimizer is None else None
            if value is not None:
                yield node, value

    def use_batch_averages(self) -> Iterator[Decision]:
        """Let averages take the place of the statistics of batches that they follow."""
        needed = self.needed
        for node in [node for node in self.graph if node in needed and node.attrs.get("is_training") is True]:
            yield self._normalize(node) if has_fact(node.op, "batch_normalization") else self._run_as_inference(node)
        needed = self.needed
        for update, value in self.averaged.items():
            variable = self.roles.updates[update].variable
            node = value.node
            if self.roles.owner(value) is None and node in needed and node not in self.frames:
                readers = [user for user in self.graph.consumers(value) if user in needed]
                yield from self._replace(value, variable, readers)

    def _replace(self, value: Output, variable: VariableNodes, readers: Iterable[Node]) -> Iterator[Decision]:
        # Anew for each value: what took averages before left statistics that the updates alone still need. They are to
        # follow the batches, so that they read no average in place of a statistic.
        into_updates = reachable(self.averaged) - self.needed
        readers = [user for user in readers if user not in into_updates and user not in self.averaged]
        for user in readers:
            _take(self.graph, user, value, self._read(variable))
        if readers:
            yield Decision(value.node.name, f"its average {variable.name} takes its place", "it is a statistic of the batch")

    def _normalize(self, node: Node) -> Decision:
        """Let a batch normalization take the averages that follow its statistics, or its inputs where these are averages."""
        followed_by = {index: self._average_behind(node.output(index)) for index in (1, 2)}
        statistics = [self.roles.owner(value) for value in node.inputs[3:5]]
        variables = [followed_by[index] or own for index, own in zip((1, 2), statistics)]
        # With one average alone the node would mix the statistics of the batch and of the training.
        if None in variables:
            return Decision(node.name, "still normalizes by each batch", "no average follows its statistics", is_left=True)
        for place, variable in zip((3, 4), variables):
            assert variable is not None
            self.graph.set_input(node, place, self._read(variable))
        node.set_attr("is_training", False)
        names = " and ".join(variable.name for variable in variables if variable is not None)
        return Decision(node.name, f"normalizes by {names}", "is_training was true")

    def _average_behind(self, value: Output) -> VariableNodes | None:
        """Return the variable that follows a value."""
        for update, followed in self.averaged.items():
            if trail_end(followed, _handed_on) == value:
                return self.roles.updates[update].variable
        return None

    def _run_as_inference(self, node: Node) -> Decision:
        node.set_attr("is_training", False)
        return Decision(node.name, "runs as inference", "is_training was true")

    def drop_updates(self) -> Iterator[Decision]:
        """Let nodes that wait for updates of training, or read their results, do without; name the updates that stay."""
        needed = self.needed
        updates = {node: update for node, update in self.roles.updates.items() if node in needed}
        gone = {node for node, update in updates.items() if self._trains(node, update)}
        for node in gone:
            for value in node.outputs():
                readers = [user for user in self.graph.consumers(value) if user in needed and user not in gone]
                for user in readers:
                    _take(self.graph, user, value, self._value_like(value, updates[node].variable))
        # A train_op is a NoOp that waits for updates: a node that waits for it waits for them.
        waited = gone | set(groups(self.graph, lambda node: node in gone))
        for node in needed - waited:
            for control in [control for control in node.control_inputs if control in waited]:
                self.graph.remove_control_input(node, control)
        for node in gone:
            yield Decision(node.name, "is gone", f"it updates '{updates[node].variable.name}' in training")
        for node in self.needed & updates.keys():
            reason = f"it writes '{updates[node].variable.name}', and nothing tells that it is for training"
            yield Decision(node.name, "stays", reason, is_left=True)

    def _trains(self, node: Node, update: Update) -> bool:
        return update.optimizer is not None or node in self.averaged or node in self.roles.after_gradients

    def _value_like(self, value: Output, variable: VariableNodes) -> Output:
        # A reader of an Assign's result may itself write through it.
        is_ref = value.is_reference
        return variable.node.output() if is_ref else self._read(variable)

    def averages_of_variables(self) -> dict[Node, VariableNodes]:
        """Return the moving averages by the variables that they follow."""
        averages: dict[Node, VariableNodes] = {}
        for update, value in self.averaged.items():
            followed = self.roles.owner(value)
            if followed is not None:
                averages[followed.node] = self.roles.updates[update].variable
        for name, variable in self.roles.variables.items():
            scope, _, last = name.rpartition("/")
            # An exported graph may lack the updates; tf.train.ExponentialMovingAverage names its variables so.
            if last == "ExponentialMovingAverage" and scope in self.roles.variables:
                averages.setdefault(self.roles.variables[scope].node, variable)
        return averages

    def use_averages(self, averages: Mapping[Node, VariableNodes]) -> Iterator[Decision]:
        """Let the outputs read moving averages in place of variables."""
        needed = self.needed
        trained = {update.variable.node for update in self.roles.updates.values() if update.optimizer is not None}
        for variable in self.roles.variables.values():
            average = averages.get(variable.node)
            if variable.node not in needed:
                continue
            # A reference cannot take the place of a handle, nor the other way round.
            if average is None or average.node.op != variable.node.op:
                if variable.node in trained:
                    yield Decision(variable.name, "stays", "it has no moving average", is_left=True)
                continue
            for user in [user for user in variable.node.uses if user in needed]:
                _take(self.graph, user, variable.node.output(), average.node.output())
            yield Decision(variable.name, f"its moving average {average.name} takes its place", "asked for")

    def _read(self, variable: VariableNodes) -> Output:
        """Return the value of a variable, read by a node that waits for nothing."""
        if variable.node not in self._reads:
            graph, handle, name = self.graph, variable.node.output(), f"{variable.node.name}/inference"
            if variable.is_resource:
                # A read of its own, since one that the graph has may wait for an update of training.
                read = GraphBuilder(graph).ReadVariableOp(handle, dtype=variable.dtype, name=graph.unique_name(name))
            else:
                read = add_identity(graph, name, handle, variable.dtype).output()
            self._reads[variable.node] = read
        return self._reads[variable.node]


def _average_of(roles: Roles, update: Update) -> Output | None:
    """Return the value that an update averages: that of v -= (v - value) c, of v = v a + value b, or the running statistic
    that a batch normalization returns.
    """
    if len(update.node.inputs) < 2:
        return None
    change = update.node.inputs[1]
    if has_fact(update.node.op, "increment"):
        operands = [operand.node for operand in change.node.inputs]
        differences = [node.inputs for node in operands if has_fact(node.op, "subtraction")]
        return next((other for pair in differences for other in _other(roles, update, pair)), None)
    if not has_fact(update.node.op, "assignment"):
        return None
    if has_fact(change.node.op, "batch_normalization") and change.index in (1, 2):
        return change
    if not has_fact(change.node.op, "addition"):
        return None
    products = [part.node.inputs for part in change.node.inputs if len(part.node.inputs) == 2]
    owned = [any(roles.owner(factor) is update.variable for factor in factors) for factors in products]
    # Anything else adds up more than an old and a new value, and is no moving average.
    if len(products) != 2 or owned.count(True) != 1:
        return None
    return next((factor for factor in products[owned.index(False)] if not _is_scalar(factor)), None)


def _other(roles: Roles, update: Update, pair: Sequence[Output]) -> list[Output]:
    """Return the value that the variable of an update is compared with."""
    own = [roles.owner(value) is update.variable for value in pair]
    return [value for value, is_own in zip(pair, own) if not is_own] if any(own) else []


def _is_scalar(value: Output) -> bool:
    constant = value.node.attrs.get("value") if value.node.is_constant else None
    return constant is not None and not constant.shape


def _handed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if value.node.is_identity or has_fact(value.node.op, "view") else None


def _take(graph: Graph, user: Node, value: Output, other: Output) -> None:
    for place, taken in enumerate(user.inputs):
        if taken == value:
            graph.set_input(user, place, other)
