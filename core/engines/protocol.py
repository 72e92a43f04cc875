"""What an engine is to tfg: it refuses nodes, with reasons, and compiles groups of the rest to functions of arrays.

How a plan is divided into groups, what becomes of a group that does not compile, and all state are tfg's own affair.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from ..graph.graph import Graph, Node, Output
from ..planning.plan import Loop, Step
from ..registry.op_facts import has_fact
from ..support.errors import DataLossError, DeadlineExceededError, UnavailableError
from ..types import dtypes
from ..types.arrays import Array, Held
from ..types.shapes import UNKNOWN, Shape
from ..types.tensors import Tensor

Given: TypeAlias = Array | Held
"""What a group is given: an array, or what the engine holds of a variable since it was written there."""

Compiled: TypeAlias = Callable[[Sequence[Any]], Sequence[Given]]
"""What is Given in, one for each input of a cluster that is not fixed; new arrays out, one for each of its `results`, then the
new values of the variables that it writes, which may be Held. What it was given stays as it is. Threads may share it."""


class Declined(Exception):
    """Raised by what was compiled: these values are not for it, though others like them may be."""


class Unable(Exception):
    """Raised where nodes of a cluster do not compile: `reasons` by their names. The rest is compiled without them."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"node '{name}': {reason}" for name, reason in reasons.items()))
        self.reasons = reasons


class UnfitShapes(Unable):
    """Raised where the shapes are not for the engine: for inputs of other shapes it may take the nodes."""


ENDING: Final = (DataLossError, DeadlineExceededError, UnavailableError)
"""Errors after which NumPy must not take over: time is up, values are lost, or other processes with which it computes."""


class Engine(Protocol):
    """Something outside tfg that runs groups of nodes."""

    name: str
    note: str
    """What a user should know of how it computes, as at which precision; may be empty."""

    precision: str | None
    """The type in which it computes with floats, None where that is the type that the graph says."""

    faster: Sequence[Engine]
    """The same engine in types of fewer bits, in which this processor computes faster."""

    smallest: int
    """The least number of steps for which the way into the engine and back pays, as measured."""

    largest: int
    """The largest number of steps that compile in a reasonable time; more become several groups."""

    needs_elements: bool
    """True where it must get no tensor without elements, nor one whose shape follows from values."""

    takes_variables: bool
    """True where it may get nodes that read and write variables: it computes new values, tfg stores them."""

    takes_control_flow: bool
    """True where it may get V1 loops whole, calls, loops and conditionals that name functions, the lists, stacks and arrays of
    tensors that these work on, and checks, for all of which it must run the steps of a cluster itself: `as_graph` has none. In
    loops and functions there may be V1 conditionals: steps that are guarded."""

    def refuses(self, nodes: Sequence[Node], graph: Graph) -> Mapping[Node, str]:
        """Which of the nodes it cannot run, and why: a `Reason` says what the user can do, too.

        All are of numbers and truth values and none is a constant. Those that are not pure read or write variables, or are
        what `takes_control_flow` says; those in loops come in the order of the steps, before what uses the loop.
        """
        ...

    def static_inputs(self, node: Node) -> Sequence[int]:
        """The places of a node's inputs whose values, as those of shapes and axes, must be known when it is compiled."""
        ...

    def compile(self, cluster: Cluster, values: Sequence[Array]) -> Compiled:
        """A function for inputs, but the fixed, of the dtypes and shapes of `values`; any Exception says why there is none.

        Unable names the nodes that do not compile. For other errors tfg searches for the node, which takes more compilations.
        """
        ...


class Mesh(Protocol):
    """Several devices, of one process or of more, among which an engine divides rows."""

    size: int
    divided: int
    """How many arrays were divided so far."""

    def leave(self) -> None:
        """Part from the other processes, all of which must do so."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Body:
    """Steps on `slots` slots of their own: the first `inputs` of these are given, those in `outputs` are what comes out.

    The inputs in `variables` are references to variables or handles of such; no step reads those that are `unused`. `fed` are
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
        """The same steps for variables of which some are the same: for each of `variables` the one that stands for it."""
        steps = [dataclasses.replace(s, inputs=tuple(first.get(i, i) for i in s.inputs), released=()) for s in self.steps]
        kept, unused = ([slot for slot in self.variables if (first[slot] == slot) is same] for same in (True, False))
        return dataclasses.replace(self, steps=tuple(steps), variables=tuple(kept), unused=tuple(unused))

    @property
    def written(self) -> list[int]:
        """Those of `variables` that steps write to."""
        leads = self.leads
        writing = (step for step in self.steps if has_fact(step.node.op, "side_effect"))
        found = {leads[slot] for step in writing for slot in variable_inputs(step, leads)}
        return [slot for slot in self.variables if slot in found]

    @property
    def leads(self) -> dict[int, int]:
        """To which of `variables` each slot leads that holds a reference or a handle."""
        found = {slot: slot for slot in self.variables}
        for step in self.steps:
            for slot, result in zip(step.outputs, results_of(step)):
                if result.dtype is not None and result.dtype.is_ref:
                    found[slot] = found[step.inputs[0]]
        return found


def inner_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps and those in loops."""
    for step in steps:
        yield step
        if isinstance(step, Loop):
            yield from inner_steps((*step.head, *step.body, *step.tail))


def results_of(step: Step) -> list[Output]:
    """What comes out of a step: the outputs of its node, or what leaves a loop."""
    if isinstance(step, Loop):
        return [node.output() for node in step.leaves]
    return [Output(step.node, i) for i in range(len(step.outputs))]


def inputs_of(step: Step) -> list[Output]:
    """What goes into a step: the inputs of its node, or what enters a loop."""
    if isinstance(step, Loop):
        return [node.inputs[0] for node in step.enters[: len(step.inputs)]]
    return list(step.node.inputs)


def variable_inputs(step: Step, leads: Mapping[int, int]) -> list[int]:
    """The inputs of a step that are variables and not only their values."""
    return [slot for place, slot in enumerate(step.inputs) if slot in leads and place not in step.dereferenced]


NO_STEPS: Final = Body((), 0, 0, ())


@dataclasses.dataclass(slots=True, eq=False)
class Engined(Step):
    """A group of steps that an engine runs as one; `node` is the last of them, `body` what NumPy runs in its place."""

    body: Body = NO_STEPS


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """A group of nodes to compile, constants among them; `fixed` are the values of inputs that are as constant as these."""

    graph: Graph
    body: Body
    fixed: Mapping[int, Array] = dataclasses.field(default_factory=dict)

    @property
    def inputs(self) -> list[int]:
        """The slots of the inputs that are not fixed."""
        return [slot for slot in range(self.body.inputs) if slot not in self.fixed]

    @property
    def tensors(self) -> list[int]:
        """The slots of the outputs that are tensors, no references."""
        leads = self.body.leads
        return [slot for slot in self.body.outputs if slot not in leads]

    @property
    def results(self) -> list[Output]:
        """The tensors of the graph that come out."""
        made = {slot: output for step in self.body.steps for slot, output in zip(step.outputs, results_of(step))}
        return [made[slot] for slot in self.tensors]

    @property
    def updates(self) -> list[Node]:
        """For each variable that is written, the last node to do so."""
        leads = self.body.leads
        writing = [step for step in self.body.steps if has_fact(step.node.op, "side_effect")]
        found = {leads[slot]: step.node for step in writing for slot in variable_inputs(step, leads)}
        return [found[slot] for slot in self.body.written]

    def as_graph(self, values: Sequence[Given]) -> tuple[Graph, list[Output], list[Output]]:
        """The group as a graph of its own, its placeholders, typed and shaped as `values`, and its results.

        In place of variables there are new ones; what touches them comes in the order of the steps. In place of loops
        there are placeholders for what leaves them.
        """
        graph = Graph()
        graph.functions, graph.versions = self.graph.functions, self.graph.versions
        taken = {step.node.name for step in self.body.steps}
        made: dict[int, Output] = {}
        for slot, value in zip(self.inputs, values):
            attrs = {"dtype": dtypes.from_numpy(value.dtype), "shape": Shape(value.shape)}
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
            node, touches = step.node, not leads.keys().isdisjoint(step.inputs)
            inputs = [made[slot] for slot in step.inputs]
            copy = graph.add_node(node.name, node.op, inputs, last if touches else (), node.attrs)
            last = [copy] if touches else last
            made.update((slot, copy.output(i)) for i, slot in enumerate(step.outputs))
        return graph, [made[slot] for slot in self.inputs], [made[slot] for slot in self.tensors]

    def _source(self, slot: int) -> str:
        """The op that gives an input in a graph of the group's own."""
        if slot not in self.body.variables:
            return "Placeholder"
        users = (inputs_of(step)[step.inputs.index(slot)] for step in self.body.steps if slot in step.inputs)
        return "VarHandleOp" if next(users).dtype is dtypes.resource else "VariableV2"


_NO_CLUSTER: Final = Cluster(Graph(), NO_STEPS)


@dataclasses.dataclass(slots=True, eq=False)
class Foretold(Step):
    """What follows from the shapes that tensors in groups will have, computed before these run; `node` computes it there.

    `cluster` are the steps that lead to it, in which the values of the inputs `known` matter, and of others the shapes.
    """

    cluster: Cluster = _NO_CLUSTER
    known: tuple[int, ...] = ()


def _left(graph: Graph, loop: Loop) -> dict[int, Output]:
    """Placeholders in a graph for what leaves a loop, by slots."""
    specs = [{"dtype": node.output().dtype, "shape": UNKNOWN} for node in loop.leaves]
    nodes = [graph.add_node(node.name, "Placeholder", (), (), attrs) for node, attrs in zip(loop.leaves, specs)]
    return dict(zip(loop.outputs, (node.output() for node in nodes)))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
