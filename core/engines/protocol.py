"""The protocol of engines: an engine refuses nodes, with reasons, and compiles groups of the rest to functions of arrays.

Dividing a plan into groups, replacing groups that do not compile, and all state are tfg's own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_placeholder
from ..planning.plan import Loop, Step
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import DataLossError, DeadlineExceededError, UnavailableError
from ..types import dtypes
from ..types.arrays import Array, EngineArray
from ..types.shapes import Shape
from ..types.tensors import Tensor

EngineValue: TypeAlias = Array | EngineArray
"""A value at the border of a group: an array, or the engine's own form of a variable's value that the engine wrote."""

Compiled: TypeAlias = Callable[[Sequence[Any]], Sequence[EngineValue]]
"""A compiled group, a function that threads may share.

Arguments: an EngineValue for each input of the cluster that is not fixed, none of them modified. Results: a new array for each
of the cluster's `results`, then the new values of the variables written, possibly EngineArray.
"""


class Declined(Exception):
    """An error of compiled code: the values are not for the code, though other values of the same shapes may be."""


class UnsupportedNodes(Exception):
    """Raised where nodes of a cluster do not compile: `reasons` by their names. The rest is compiled without them."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"node '{name}': {reason}" for name, reason in reasons.items()))
        self.reasons = reasons


class UnfitShapes(UnsupportedNodes):
    """An error of compiling: the shapes are not for the engine, though the nodes may be with other shapes."""


ENDING: Final = (DataLossError, DeadlineExceededError, UnavailableError)
"""Errors that forbid NumPy to take over: a deadline passed, values are lost, or another process is."""


class Engine(Protocol):
    """Something outside tfg that runs groups of nodes."""

    name: str
    note: str
    """Remarks for the user on the way of computing, as the precision; may be empty."""

    precision: str | None
    """The type of the engine's arithmetic with floats, None for the graph's types."""

    faster: Sequence[Engine]
    """The same engine in types of fewer bits in which this processor computes faster."""

    smallest: int
    """The least number of steps for which the way into the engine and back pays, as measured."""

    largest: int
    """The largest number of steps that compile in a reasonable time; more become several groups."""

    runs_at_once: int
    """How many runs the engine computes at once in a core each, inside `work_division.undivided`; 1 for an engine that divides
    each run among the cores.
    """

    needs_elements: bool
    """True for an engine that must get neither tensors without elements nor tensors whose shapes follow from values."""

    takes_variables: bool
    """True for an engine that may get nodes that read and write variables: the engine computes new values, tfg stores them."""

    takes_control_flow: bool
    """True for an engine that may get control flow: whole V1 loops; calls, loops and conditionals that name functions; the
    lists, stacks and arrays of tensors there; and checks. The engine must then run the steps of a cluster itself, since
    `as_graph` leaves all of them out. Loops and functions may hold V1 conditionals, as guarded steps.
    """

    def refuses(self, nodes: Sequence[Node], graph: Graph) -> Mapping[Node, str]:
        """Return the nodes that the engine cannot run, with reasons: a `Reason` also tells the user's next step.

        All nodes are of numbers and truth values and none is a constant. Nodes that are not pure read or write variables,
        or are as `takes_control_flow` says. Nodes in loops come in the order of the steps, before users of the loop.
        """
        ...

    def static_inputs(self, node: Node) -> Sequence[int]:
        """Return the positions of a node's inputs whose values, as of shapes and axes, must be known while compiling."""
        ...

    def compile(self, cluster: Cluster, values: Sequence[Array]) -> Compiled:
        """Return a function for inputs of the dtypes and shapes of `values`, fixed inputs left out; any Exception is a
        refusal.

        UnsupportedNodes names the nodes that do not compile. After other errors tfg compiles parts of the cluster to find one.
        """
        ...


class Mesh(Protocol):
    """A row of devices, of a single process or of several, among which an engine divides rows."""

    size: int
    divided: int
    """How many arrays were divided so far."""

    def leave(self) -> None:
        """Leave the other processes; all must do so together."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Body:
    """Steps on `slots` slots of their own: the first `inputs` of them are inputs, the slots in `outputs` are results.

    The inputs in `variables` are references to variables, or handles; no step reads the inputs that are `unused`. `fed` are
    the outputs that the run feeds. `attempts` counts how often steps failed to compile in larger groups.
    """

    steps: tuple[Step, ...]
    slots: int
    inputs: int
    outputs: tuple[int, ...]
    variables: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
    fed: tuple[Output, ...] = ()
    attempts: int = 0

    def merged(self, first: Mapping[int, int]) -> Body:
        """Return the same steps for variables of which some are the same: `first` maps each of `variables` to its
        representative.
        """
        # Nothing is released: the last use of one of the same variables need not be the last use of its representative.
        steps = [dataclasses.replace(s, inputs=tuple(first.get(i, i) for i in s.inputs), released=()) for s in self.steps]
        written, unused = ([slot for slot in self.variables if (first[slot] == slot) is same] for same in (True, False))
        return dataclasses.replace(self, steps=tuple(steps), variables=tuple(written), unused=tuple(unused))

    @property
    def written(self) -> list[int]:
        """Return the members of `variables` that steps write to."""
        leads = self.leads
        writing = (step for step in self.steps if has_fact(step.node.op, "side_effect"))
        members = {leads[slot] for step in writing for slot in variable_inputs(step, leads)}
        return [slot for slot in self.variables if slot in members]

    @property
    def leads(self) -> dict[int, int]:
        """Map each slot with a reference or a handle to the member of `variables` behind."""
        # References lead to variables alone: without any, the steps need no look, and there may be thousands.
        leads = {slot: slot for slot in self.variables}
        for step in self.steps if leads else ():
            for slot, result in zip(step.outputs, results_of(step)):
                if result.is_reference:
                    # An op that returns a reference returns the one of its first input: Assign, RefIdentity and their like.
                    leads[slot] = leads[step.inputs[0]]
        return leads


def inner_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps, and the steps in loops."""
    for step in steps:
        yield step
        if isinstance(step, Loop):
            yield from inner_steps((*step.head, *step.body, *step.tail))


def results_of(step: Step) -> list[Output]:
    """Return the results of a step: the outputs of the node, or the values that leave a loop."""
    if isinstance(step, Loop):
        return [node.output() for node in step.leaves]
    return [Output(step.node, i) for i in range(len(step.outputs))]


def inputs_of(step: Step) -> list[Output]:
    """Return the inputs of a step: the inputs of the node, or the values that enter a loop."""
    if isinstance(step, Loop):
        # After the Enter nodes of the inputs come those that no step of the loop reads.
        return [node.inputs[0] for node in step.enters[: len(step.inputs)]]
    return list(step.node.inputs)


def variable_inputs(step: Step, leads: Mapping[int, int]) -> list[int]:
    """Return the inputs of a step that are variables and not only their values."""
    # At a dereferenced place the step gets the variable's value, as Add does of a reference: it cannot write there.
    return [slot for place, slot in enumerate(step.inputs) if slot in leads and place not in step.dereferenced]


NO_STEPS: Final = Body((), 0, 0, ())


@dataclasses.dataclass(slots=True, eq=False)
class Engined(Step):
    """A group of steps that an engine runs as a single step; `node` is the last, `body` the steps for NumPy."""

    body: Body = NO_STEPS


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """A group of nodes to compile, constants among them; `fixed` are values of inputs that are constant for the compiled
    function.
    """

    graph: Graph
    body: Body
    fixed: Mapping[int, Array] = dataclasses.field(default_factory=dict)

    @property
    def inputs(self) -> list[int]:
        """Return the slots of the inputs that are not fixed."""
        return [slot for slot in range(self.body.inputs) if slot not in self.fixed]

    @property
    def tensors(self) -> list[int]:
        """Return the slots of the outputs that are tensors, no references."""
        leads = self.body.leads
        return [slot for slot in self.body.outputs if slot not in leads]

    @property
    def results(self) -> list[Output]:
        """Return the results that are tensors of the graph."""
        # Slots that are inputs have no step, and are no results: a group's outputs are made in the group.
        made = {slot: output for step in self.body.steps for slot, output in zip(step.outputs, results_of(step))}
        return [made[slot] for slot in self.tensors]

    @property
    def updates(self) -> list[Node]:
        """Return for each variable written the last node that writes."""
        leads = self.body.leads
        writing = [step for step in self.body.steps if has_fact(step.node.op, "side_effect")]
        # The steps are in order, so of several writers the last one stays.
        writers = {leads[slot]: step.node for step in writing for slot in variable_inputs(step, leads)}
        return [writers[slot] for slot in self.body.written]

    def as_graph(self, values: Sequence[EngineValue]) -> tuple[Graph, list[Output], list[Output]]:
        """Return the group as a graph of its own, the placeholders, typed and shaped as `values`, and the results.

        Variables are replaced by new variables; accesses come in the order of the steps. Loops are replaced by placeholders
        for their results.
        """
        graph = self.graph.emptied()
        taken = {step.node.name for step in self.body.steps}
        made: dict[int, Output] = {}
        for slot, value in zip(self.inputs, values):
            attrs = {"dtype": dtypes.from_numpy(value.dtype), "shape": Shape(value.shape)}
            # The nodes keep their names, by which engines name them in errors; only what is added looks for a free name.
            name = _free(f"input_{slot}", taken)
            shared = {"shared_name": name.encode()} if slot in self.body.variables else {}
            made[slot] = graph.add_node(name, self._source(slot), (), (), attrs | shared).output()
        for slot, value in self.fixed.items():
            attrs = {"dtype": dtypes.from_numpy(value.dtype), "value": Tensor.from_numpy(value)}
            made[slot] = graph.add_node(_free(f"fixed_{slot}", taken), "Const", (), (), attrs).output()
        leads = self.body.leads
        last: list[Node] = []
        for step in self.body.steps:
            if isinstance(step, Loop):
                made.update(_left(graph, step))
                continue
            # Two accesses to variables have no edge between them in the plan's list of steps, which is their order. A graph
            # has no such list, so each access waits for the one before.
            node, touches = step.node, not leads.keys().isdisjoint(step.inputs)
            inputs = [made[slot] for slot in step.inputs]
            copy = graph.add_node(node.name, node.op, inputs, last if touches else (), node.attrs)
            last = [copy] if touches else last
            made.update((slot, copy.output(i)) for i, slot in enumerate(step.outputs))
        return graph, [made[slot] for slot in self.inputs], [made[slot] for slot in self.tensors]

    def _source(self, slot: int) -> str:
        """Return the op for an input in a graph of the group's own."""
        if slot not in self.body.variables:
            return "Placeholder"
        # The slot does not tell a handle from a reference, but the tensor that the first user takes from it does.
        users = (inputs_of(step)[step.inputs.index(slot)] for step in self.body.steps if slot in step.inputs)
        return "VarHandleOp" if next(users).dtype is dtypes.resource else "VariableV2"


_NO_CLUSTER: Final = Cluster(Graph(), NO_STEPS)


@dataclasses.dataclass(slots=True, eq=False)
class ShapePrecompute(Step):
    """A step that computes a value from the shapes of tensors in groups, before the groups run; `node` computes the value
    there.

    `cluster` are the steps that lead to the value; of the inputs `known` the values matter, of all others the shapes.
    """

    cluster: Cluster = _NO_CLUSTER
    known: tuple[int, ...] = ()


def _left(graph: Graph, loop: Loop) -> dict[int, Output]:
    """Add placeholders for the results of a loop to a graph; return them by slot."""
    nodes = [add_placeholder(graph, node.name, node.output().dtype) for node in loop.leaves]
    return dict(zip(loop.outputs, (node.output() for node in nodes)))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
