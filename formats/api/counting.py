"""The functions behind `tfg flops`: counts of FLOPs, and measurements beside them."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict, Unpack

import numpy as np

from ...core.explaining.default_fetches import counted_fetches, guessed_fetches
from ...core.explaining.node_listing import argument_shapes
from ...core.flops import FlopsReport, count_flops
from ...core.flops.flops_report import Section
from ...core.flops.input_shapes import Shapes
from ...core.flops.views import rows
from ...core.graph.graph import Graph, GraphLike, as_graph
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect, named, names_of
from ...core.support.errors import InvalidArgumentError
from ...core.support.hints import Hint, option
from ...core.transforms.placeholders import other_shapes, set_shapes
from ...core.transforms.subgraphs import as_served
from ...core.types.shapes import BatchSize

if TYPE_CHECKING:
    from ...core.flops.measured import Measurement
    from ...core.flops.model_layers import LayersReport
    from ...core.flops.tfprof import ProfilerDifference
    from ...core.flops.timings import ClusterMeasurement, NodeTime, Timing
    from ..cluster.cluster_session import ClusterSession
    from ..state import State
    from .prepared_sessions import Opener

flops_rows: Final = rows
"""The rows of a count; the name in Python."""


class SizeKeywords(TypedDict, total=False):
    """The sizes of tensors for a count."""

    shapes: Annotated[Shapes | None, None, "The shapes of placeholders and of other tensors."]
    values: Annotated[Mapping[str, Any] | None, None, "The feeds that decide shapes."]
    trips: Annotated[Mapping[str, int] | None, None, "The iterations of loops by name."]
    sizes: Annotated[Mapping[str, int] | None, None, "The numbers in place of symbols."]
    batch: Annotated[
        BatchSize | None, None, "The number of rows of the inputs, also if they declare another number, or '?' for N."
    ]


class FlopsKeywords(SizeKeywords, total=False):
    """The sizes of tensors, and the backward pass, for a count."""

    backward: Annotated[bool, False, "Count the gradients of the loss too."]
    loss: Annotated[str | None, None, "The loss, by default the first fetch, or the loss that stands out."]
    wrt: Annotated[str, "", "A regular expression for the names of the variables to differentiate by."]


class FlopsCounter:
    """A count of FLOPs, and the views of the count that need more than the report.

    The arguments are those of `tfg.flops`. `run_metadata` is a file with TensorFlow's RunMetadata or StepStats, whose shapes
    fill in the shapes that the graph leaves open.
    """

    @checked
    def __init__(
        self,
        graph: GraphLike,
        fetches: Sequence[str] | str = (),
        feeds: Iterable[str] = (),
        *,
        run_metadata: str | os.PathLike[str] | None = None,
        **options: Unpack[FlopsKeywords],
    ) -> None:
        graph = as_served(graph, fetches)
        names = names_of(fetches) or counted_fetches(graph)
        self._feeds = tuple(feeds)
        self._shapes = options["shapes"] or {}
        self._sizes = dict(options["sizes"] or {})
        batch, loss = options["batch"], options["loss"]
        self.changes: Sequence[str] = ()
        """The changes that another batch makes in the graph, in words."""
        self.graph = self._resized(graph, names, batch)
        self.gradients: Mapping[str, str] = {}
        """The names of gradients by variable, if the backward pass is counted."""
        if options["backward"] or loss is not None:
            from ...core.flops.training_steps import with_backward  # lazy: needs gradients

            # Gradients come after the change of the batch, so that they are built on the graph that is counted.
            loss = _loss(self.graph, names) if loss is None else loss
            self.graph, self.gradients = with_backward(self.graph, loss, options["wrt"])
        self.fetches = (*names, *self.gradients.values())
        self.times: Sequence[NodeTime] = ()
        """The recorded executions of nodes."""
        if run_metadata is not None:
            from ..run_metadata import read_run_metadata  # lazy: few counts have recorded times

            self.times = read_run_metadata(os.fspath(run_metadata))
        self._values = {name: np.asarray(value) for name, value in (options["values"] or {}).items()}
        self._trips = options["trips"] or {}

    def _resized(self, graph: Graph, fetches: Sequence[str], size: BatchSize | None) -> Graph:
        """Return the graph with the given shapes of placeholders that declare others, and with another batch.

        An open batch is the symbol N.
        """
        others = other_shapes(graph, self._shapes)
        if others:
            graph = graph.copy()
            set_shapes(graph, others)
        if size is None:
            return graph
        from ...core.transforms.batch_size import find_batch, rows_of, set_batch

        batch = rows_of(size)
        # A graph with a fixed batch size needs other constants for another size. If the batch is open, its size is the symbol
        # N.
        if find_batch(graph, fetches, self._feeds).rows is not None:
            graph = graph.copy()
            self.changes = set_batch(graph, fetches, batch)
        elif isinstance(batch, int):
            self._sizes["N"] = batch
        return graph

    @functools.cached_property
    def report(self) -> FlopsReport:
        """The count."""
        report = count_flops(self.graph, self.fetches, self._feeds, shapes=self.shapes, values=self._values, trips=self._trips)
        report = dataclasses.replace(report, notes=(*self.changes, *report.notes))
        # Numbers are put in after the count: a polynomial is counted once, and is right for any size.
        numbers = {_symbol(size, report): number for size, number in self._sizes.items()}
        return report.substituted(numbers) if numbers else report

    @property
    def shapes(self) -> Shapes:
        """The shapes of arguments, and those that are given by themselves, with a value or in the RunMetadata."""
        given = {**{name: value.shape for name, value in self._values.items()}, **self._shapes}
        shapes = {**argument_shapes(self.graph), **given}
        # The user's shapes come before those that a recorded run had.
        if self.times:
            from ...core.flops.timings import recorded_shapes

            return recorded_shapes(self.graph, self.times) | shapes
        return shapes

    def by_variable(self) -> dict[str, tuple[Section, Section]]:
        """Return the cost of the backward pass by variable: of the nodes for the variable alone, and of all nodes needed."""
        from ...core.flops.training_steps import per_variable  # lazy: needs gradients

        return per_variable(self.graph, self.gradients, self.report)

    def timings(self) -> list[Timing]:
        """Return the times in the RunMetadata beside the counts, the slowest first."""
        from ...core.flops.timings import joined

        return joined(self.report, self.times)

    def beside_profiler(self) -> list[ProfilerDifference]:
        """Return the counts beside those of tf.profiler's formulas, by op."""
        from ...core.flops.tfprof import compare  # lazy: few counts need it

        return compare(self.graph, self.report, self.shapes, self._sizes.get("N"))

    def measure_on_cluster(
        self, session: ClusterSession, feeds: Mapping[str, Any], *, warmup: int = 1, runs: int = 3
    ) -> ClusterMeasurement:
        """Run the fetches on a cluster, and return the times that the servers record beside the counts."""
        from statistics import mean  # lazy: most counts measure nothing

        from ...core.flops.timings import ClusterMeasurement, mean_of

        # The first steps send the graph to the tasks and fill their caches.
        for _ in range(warmup):
            session.run(self.fetches, feeds)
        wall, traces = [], []
        for _ in range(runs):
            started = time.perf_counter()
            session.run(self.fetches, feeds)
            wall.append(time.perf_counter() - started)
            # A traced step takes longer, so the wall time is that of another step.
            traces.append(session.traced(self.fetches, feeds))
        self.times = [node_time for trace in traces for node_time in trace]
        return ClusterMeasurement(mean_of(self.timings(), runs), mean(wall), runs, tuple(traces[-1]))


@checked
def flops(
    graph: GraphLike, fetches: Sequence[str] | str = (), feeds: Iterable[str] = (), **options: Unpack[FlopsKeywords]
) -> FlopsReport:
    """Count the FLOPs of all nodes that run for `fetches`, by default the outputs.

    `feeds` names tensors that are fed. Unknown dimensions are symbols: `N` is the batch, others are those of the report.
    InvalidArgumentError for a batch that nodes fix, and for a size that nothing depends on.
    """
    return FlopsCounter(as_graph(graph), fetches, feeds, **options).report


@checked
def layers(
    graph: GraphLike,
    fetches: Sequence[str] | str = (),
    feeds: Iterable[str] = (),
    *,
    measured: Measurement | None = None,
    **options: Unpack[SizeKeywords],
) -> LayersReport:
    """Return the layers that run for `fetches`, in the order of the run, with shapes, parameters, FLOPs and bytes.

    A layer is a scope that owns weights, or what lies beside such scopes and computes without weights, such as a pool. A
    model of Keras 2 tells their classes. `measured`, a result of `profile` for the same fetches, gives their times.

    >>> report = tfg.layers(tfg.load("sample_graphs/keras_classifier"))
    >>> [(layer.name, str(layer.shape), layer.parameters) for layer in report.layers]
    [('sequential/hidden', '(N,8)', 40), ('sequential/normalized', '(N,8)', 32), ('sequential/classes', '(N,3)', 27)]
    """
    if measured is not None:
        from ...core.flops.measured import Measurement  # lazy: a count measures nothing

        expect(Measurement, measured)
    from ...core.explaining.purposes import Purposes
    from ...core.explaining.roles import Roles
    from ...core.flops.model_layers import model_layers, nodes_in_layers
    from ..codecs.keras_metadata import layer_classes

    graph = as_served(graph, fetches)
    report = flops(graph, fetches, feeds, **options)
    roles = Roles(graph)
    purposes = Purposes(roles)
    trained = [variable for variable in roles.variables.values() if purposes.of(variable) == "trainable"]
    sizes_by_name = {variable.node.name: variable.shape.num_elements for variable in trained}
    seconds = None if measured is None else {node.path: node.seconds for node in measured.nodes}
    # The graph numbers a second variable of a name, `kernel_1`; tables show the names that Python gave.
    python_names = graph.meta.python_names if graph.meta is not None else {}
    nodes = nodes_in_layers(report, python_names)
    return model_layers(report, nodes, sizes_by_name, layer_classes(graph), seconds)


@checked(state=Mapping | None)  # the name of the type is for type checkers, as few counts read a state
def profile(
    graph: GraphLike,
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    warmup: int = 1,
    runs: int = 1,
    state: State | None = None,
    open_session: Opener | None = None,
) -> Measurement:
    """Run a graph and return the time, FLOPs and bytes of each node, and the memory peak.

    `fetches` are tensors or operations, by default the outputs. Placeholders without a value get drawn ones, which `drawn`
    of the result tells. Variables are initialized, then set to the values of `state`; `open_session` opens another session
    of this process. The result's `trace()` is for Perfetto.
    """
    from ...core.flops.measured import measure
    from ...core.runtime.session.drawn_feeds import Feeds  # lazy: counts need neither feeds nor runs
    from .prepared_sessions import local_session

    graph = as_served(graph, fetches)
    names = names_of(fetches) or guessed_fetches(graph)
    session = local_session(graph, open_session, state)
    given = {graph.output(name).name: value for name, value in named(feeds).items()}
    all_feeds = Feeds(graph, given, names)
    # Drawn values need one more run before the measured ones, which shows which of the drawn values the graph accepts.
    if not all_feeds.drawn:
        return measure(session, names, given, warmup=warmup, runs=runs)
    given, _ = next(all_feeds.each_that_runs(lambda tried: session.run(names, tried)))
    return dataclasses.replace(measure(session, names, given, warmup=warmup, runs=runs), drawn=all_feeds.words(given))


def _loss(graph: Graph, fetches: Sequence[str]) -> str:
    """Return the first fetch with a value, or the loss that the graph's own updates go by."""
    from ...core.explaining.roles import Roles

    losses = [name for name in fetches if ":" in name] or [node.output().name for node in Roles(graph).losses]
    if not losses:
        problem = f"'{fetches[0]}' has no value to differentiate, and the graph has no obvious loss"
        raise InvalidArgumentError(problem, hint=Hint("name the loss with ", option("loss")))
    return losses[0]


def _symbol(size: str, report: FlopsReport) -> str:
    """Return the symbol of a size; InvalidArgumentError if nothing counted depends on the size."""
    for symbol in (size, f"n[{size}]"):
        if symbol in report.symbols:
            return symbol
    known = ", ".join(report.symbols) or "none"
    raise InvalidArgumentError(f"size '{size}': the count does not depend on this size", hint=f"the sizes are: {known}")
