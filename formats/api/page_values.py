"""The values that a page shows: of constants, of variables from a SavedModel or a state file, and of all nodes in a run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ...core.drawing.value_pictures import NodeValue, PictureFrame, frame, held_in_full, layouts, node_value, smallest
from ...core.drawing.view_model import NodeOverlay, Report
from ...core.graph.call_kinds import call_kind
from ...core.graph.graph import Function, Graph, Node, Output
from ...core.graph.variable_nodes import VARIABLES, find_variables
from ...core.numerics.tensor_statistics import TensorStatistics, tensor_statistics
from ...core.support import dataclasses
from ...core.support.errors import InvalidArgumentError, TfgError
from ...core.support.grouping import grouped
from ...core.support.words import counted, size_in_bytes
from ...core.types.arrays import Array
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor
from ..state import read_graph_state
from .step_results import top_classes

if TYPE_CHECKING:
    from ...core.comparing.value_comparison import NodeComparison
    from ...core.explaining.model_view import ModelView
    from ...core.explaining.node_activations import NodeRun
    from ...core.graph.metagraph import Signature
    from ...core.runtime.session.session_like import SessionLike
    from .page_diff import MergedGraphs

ReadsState: TypeAlias = Callable[[Graph], Mapping[str, Tensor]]
"""A function that reads the values of a graph's variables."""
VALUES: Final = 1 << 20
"""The default number of bytes of values that a page holds in full."""
WEIGHT_FIGURES: Final = ("holds", "elements", "min", "mean", "max", "standard deviation", "zeros")
"""What the table of weights tells of each."""
NON_FINITE: Final = "NaN and infinities"
_CLASSES: Final = 8
_MAX_INPUTS: Final = 16
_TOLERANCE: Final = 1e-5
"""That of `tfg compare`."""
_DIGITS: Final = 4
"""The digits of numbers that colour boxes: with all digits they would be a large part of a large page."""


Inputs = Mapping[str, Mapping[str, Any]]
"""What to feed by what the inputs are called: "" for a single run."""


@dataclasses.dataclass(frozen=True, slots=True)
class RunValues:
    """The values of the nodes of a page in runs, by what the runs are called: "" for a single run."""

    runs: Mapping[str, Mapping[Node, NodeRun]] = dataclasses.field(default_factory=dict)
    labels: Sequence[str] | None = None
    """The names of the classes that scores are of."""


class _ValuePlace(NamedTuple):
    """A value of a page: a node's own, or the output of a node in a run."""

    node: Node
    run: str = ""
    output: int = -1
    title: str = ""


def page_values(
    view: ModelView,
    state: ReadsState | None,
    limit: int,
    notes: list[str],
    report: Report = lambda done, total: None,
    shown: RunValues | None = None,
) -> tuple[dict[Node, tuple[NodeValue, ...]], list[NodeOverlay]]:
    """Return the values of nodes, with pictures of those of runs, and what colours the nodes by their values.

    The page holds up to `limit` bytes of pictures and files, the smallest first; `notes` gets the reasons of gaps. A wrong
    `state` is an error: InvalidArgumentError if no variable has a value, otherwise as `read_graph_state` raises.
    """
    stored = {**_constants(view.graph), **_variables(view, state, notes)}
    shown = shown or RunValues()
    results = list(_results(shown.runs, view.graph.functions))
    # A node that ran shows what it returned, and not the value that the file has for it.
    fresh = {place.node for place, _ in results}
    tensors = {_ValuePlace(node): tensor for node, tensor in stored.items() if node not in fresh}
    values = _Described(tensors | dict(results), shown, limit, notes)
    described = list(values.each(report))
    if shown.labels is not None and not any(value.classes for _, value in described):
        raise InvalidArgumentError(
            f"no value has a score for each of {counted(len(shown.labels), 'label')}",
            hint="use the labels of this model; some models count the background as class 0",
        )
    notes += values.gaps() if shown.runs else []
    overlays = list(_overlays(values.statistics)) if shown.runs else []
    for colours in (one.values for one in overlays if one.title == NON_FINITE):
        first = next(node for node, text in colours.items() if text == "begins here")
        notes.append(f"{counted(len(colours), 'node')} returned NaN or infinities; they begin at '{first.name}'")
    return {node: tuple(group) for node, group in grouped(described).items()}, overlays


def weights_among(values: Mapping[Node, Sequence[NodeValue]]) -> Iterator[tuple[Node, NodeValue]]:
    """Yield the weights among the nodes with values: variables, and constants of several floating-point elements."""
    for node, (value, *_) in values.items():
        constant = node.attr_of(Tensor, "value") if node.is_constant else None
        if node.op in VARIABLES or (constant is not None and constant.dtype.is_floating and constant.size > 1):
            yield node, value


def weight_figures(value: NodeValue) -> tuple[str, ...]:
    """Return the cells of a weight's row."""
    facts = {"holds": value.holds, "elements": "1", **dict(value.facts)}
    return tuple(facts.get(name, "") for name in WEIGHT_FIGURES)


class _Described:
    """The values of a page in words and pictures."""

    def __init__(self, tensors: Mapping[_ValuePlace, Tensor], shown: RunValues, limit: int, notes: list[str]) -> None:
        self._tensors, self._shown, self._limit, self._notes = tensors, shown, limit, notes
        self.statistics: dict[_ValuePlace, TensorStatistics] = {}
        """Of floats and complex numbers, if a run is shown: constants and variables first, then in the order of the run."""

    def each(self, report: Report) -> Iterator[tuple[Node, NodeValue]]:
        """Yield the nodes with their values."""
        for done, (place, tensor) in enumerate(self._tensors.items()):
            report(done, len(self._tensors))
            try:
                yield place.node, self._value(place, tensor)
            except TfgError as error:
                self._notes.append(f"the value of '{place.node.name}' cannot be read: {error}")

    def _value(self, place: _ValuePlace, tensor: Tensor) -> NodeValue:
        # Once, as the tensor may lie in a file.
        array = tensor.read()
        statistics = tensor_statistics(array)
        # Only these dtypes have NaN, and the magnitudes by which the nodes of a run are coloured.
        if self._shown.runs and tensor.dtype.kind in "fc":
            self.statistics[place] = statistics
        value = node_value(array, tensor.dtype, statistics, place in self._in_full)
        if not self._shown.runs and self._shown.labels is None:
            return value
        picture = self._frames[place].picture() if place in self._pictured else None
        return dataclasses.replace(value, title=place.title, picture=picture, classes=self._classes(array, tensor.dtype))

    @functools.cached_property
    def _frames(self) -> dict[_ValuePlace, PictureFrame]:
        """The frames of the pictures of values; none if no run is shown."""
        if not self._shown.runs:
            return {}
        # A node has one layout, which goes by its first output or by its own value, of output -1.
        places = layouts({place.node: len(tensor.shape) for place, tensor in self._tensors.items() if place.output <= 0})
        there = {place: tensor for place, tensor in self._tensors.items() if tensor.lack is None}
        frames = ((place, frame(tensor.read(), places.get(place.node, ""))) for place, tensor in there.items())
        return {place: one for place, one in frames if one is not None}

    @functools.cached_property
    def _pictured(self) -> set[_ValuePlace]:
        return smallest({place: one.size for place, one in self._frames.items()}, self._limit)

    @functools.cached_property
    def _in_full(self) -> set[_ValuePlace]:
        # Pictures come first: they are small, and show more than a file for download.
        return held_in_full(self._tensors, self._limit - sum(self._frames[place].size for place in self._pictured))

    def _classes(self, array: Array, dtype: DType) -> tuple[tuple[str, float], ...]:
        labels = self._shown.labels
        if labels is None or not dtype.is_floating or not array.size or array.shape[-1:] != (len(labels),):
            return ()
        # Only the first row of a batch is shown: a list of classes for each row would fill the page.
        best = top_classes(array.reshape(-1, len(labels))[0], _CLASSES)
        pairs = zip(best.classes.tolist(), best.scores.tolist())
        return tuple((labels[number], float(score)) for number, score in pairs if math.isfinite(score))

    def gaps(self) -> Iterator[str]:
        """Yield what the page does not hold."""
        numbers = {place: tensor for place, tensor in self._tensors.items() if not tensor.dtype.is_object}
        pictures, files = len(self._frames) - len(self._pictured), len(numbers) - len(self._in_full)
        size = sum(one.size for one in self._frames.values())
        size += sum(tensor.size * tensor.dtype.size for tensor in numbers.values())
        counts = ((pictures, "picture", len(self._frames)), (files, "file", len(numbers)))
        left = " and ".join(f"{counted(number, word)} of {whole:,}" for number, word, whole in counts if number)
        if left:
            held, needed = size_in_bytes(self._limit), size_in_bytes(size)
            yield f"the page holds {held} of values, and all would take {needed}: {left} are left out, the largest"


def _results(
    runs: Mapping[str, Mapping[Node, NodeRun]], functions: Mapping[str, Function]
) -> Iterator[tuple[_ValuePlace, Tensor]]:
    """Yield the values of nodes in runs, without constants and copies of variables."""
    for label, by_node in runs.items():
        for node, run in by_node.items():
            # None stands for a dead output, a handle or a list, which no page can show.
            values = [(output, value) for output, value in enumerate(run.values) if value is not None]
            for output, value in [] if node.is_variable_read or node.is_constant else values:
                which = f"output :{output}" if len(run.values) > 1 else ""
                title = ", ".join(filter(None, (label, which, _how_often(node, by_node, functions))))
                yield _ValuePlace(node, label, output, title), Tensor.from_numpy(value)


def _how_often(node: Node, runs: Mapping[Node, NodeRun], functions: Mapping[str, Function]) -> str:
    """Return how often a node ran if that is not once, and how many trips a loop made."""
    kind = call_kind(functions, node)
    bodies = [reference.name for reference in kind.references(node)] if kind is not None and kind.is_loop else []
    # A While refers to its condition first and to its body last; a For has a body alone.
    steps = (each for name in bodies[-1:] for each in functions[name].body if not each.is_argument)
    inner = [runs[each].runs for each in steps if each in runs]
    # The nodes of a body count over all runs of the loop.
    own = runs[node].runs
    often = f"the last of {own:,} runs" if own > 1 else ""
    return ", ".join(filter(None, (f"after {counted(max(inner, default=0) // own, 'trip')}" if bodies else "", often)))


def _overlays(statistics: Mapping[_ValuePlace, TensorStatistics]) -> Iterator[NodeOverlay]:
    """Yield the magnitudes, the shares of zeros and the NaN that colour nodes, over all runs and outputs."""
    magnitudes: dict[Node, float] = {}
    zeros: dict[Node, float] = {}
    for place, one in statistics.items():
        # Results alone: a bias of zeros is no dead unit.
        if one.count and place.output >= 0 and place.node.op not in VARIABLES:
            # The root of the mean square of the finite elements.
            magnitude = _short(math.hypot(abs(one.mean or 0.0), one.std or 0.0))
            magnitudes[place.node] = max(magnitudes.get(place.node, 0.0), magnitude)
            zeros[place.node] = max(zeros.get(place.node, 0.0), _short(one.zeros / one.count))
    yield NodeOverlay("Magnitude", magnitudes)
    yield NodeOverlay("Share of zeros", zeros)
    if origins := _origins(statistics):
        yield NodeOverlay(NON_FINITE, origins)


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _origins(statistics: Mapping[_ValuePlace, TensorStatistics]) -> dict[Node, str]:
    """Return the nodes with NaN or infinities, and whether these begin there or come from an input."""
    origins: dict[Node, str] = {}
    for place, one in statistics.items():
        if one.nans or one.infs:
            # The statistics are in the order of the run, so the inputs of a node were looked at before the node.
            is_passed_on = any(value.node in origins for value in place.node.inputs)
            origins.setdefault(place.node, "passed on" if is_passed_on else "begins here")
    return origins


def _constants(graph: Graph) -> dict[Node, Tensor]:
    bodies = (graph, *(function.body for function in graph.functions.values()))
    values = {node: node.attr_of(Tensor, "value") for body in bodies for node in body if node.is_constant}
    return {node: tensor for node, tensor in values.items() if tensor is not None}


def _variables(view: ModelView, state: ReadsState | None, notes: list[str]) -> dict[Node, Tensor]:
    graph = view.source  # it has the names of a checkpoint, whose values belong to the same variables in the view
    tensors = state(graph) if state is not None else _own_state(graph, notes)
    variables = find_variables(view.graph)
    values = {variables[name].node: tensor for name, tensor in tensors.items() if name in variables}
    # A state of another model would give a page without values, and nobody would know why.
    if state is not None and not values:
        names = ", ".join(f"'{name}'" for name in list(variables)[:3]) or "no variables"
        raise InvalidArgumentError("the state has no value of any variable of the graph", hint=f"the graph has {names}")
    return values


def inputs_to_show(
    view: ModelView,
    signature: Signature | None,
    fetches: Sequence[str],
    feeds: Mapping[str, Any],
    each: Sequence[str] = (),
    parts: Mapping[str, str] | None = None,
    find: Callable[[str], Output] | None = None,
) -> Inputs:
    """Return the feeds of a run, or with patterns of files in `each` those of a run for each input, as `run_each` has them.

    InvalidArgumentError for more inputs than a page can show.
    """
    if not each:
        return {"": feeds}
    from ..items import InputArrays, find_items  # lazy: most pages show no files of inputs

    items = find_items(each)
    # Each input adds its values of all nodes to the page.
    if len(items) > _MAX_INPUTS:
        raise InvalidArgumentError(f"{len(items)} inputs are too many for a page", hint=f"name at most {_MAX_INPUTS} inputs")
    arrays = InputArrays(view.source, signature, fetches, parts or {}, find)
    try:
        return {item.name: {**feeds, **arrays.of(item)} for item in items}
    finally:
        arrays.close()


def run_to_show(
    view: ModelView, session: SessionLike, fetches: Sequence[str], inputs: Inputs, steps: int = 1
) -> dict[str, Mapping[Node, NodeRun]]:
    """Run a model on each of the inputs; return the values of the view's nodes by what the inputs are called."""
    from ...core.explaining.node_activations import activations  # lazy: most pages show no run

    return {name: activations(view, session, fetches, feeds, steps)[1].by_node for name, feeds in inputs.items()}


def of_both(
    compared: MergedGraphs, before: Mapping[Node, NodeRun], after: Mapping[Node, NodeRun], labels: Sequence[str] | None = None
) -> tuple[RunValues, MergedGraphs]:
    """Return the values of two models by the nodes of both as one, and the differences with those of the values."""
    from ...core.comparing.value_comparison import compare_outputs  # lazy: most pages show one model

    mine = {compared.before[node]: run for node, run in before.items() if node in compared.before}
    theirs = {compared.after[node]: run for node, run in after.items() if node in compared.after}
    tensors = list(_in_both(mine, theirs))
    rows = compare_outputs([(value.name, value.node.op, value.name, a, b) for value, a, b in tensors], _TOLERANCE)
    compared_rows = [(value.node, row) for (value, _, _), row in zip(tensors, rows)]
    lines = grouped((node, _change(row)) for node, row in compared_rows if not row.passed)
    changes = {node: (*compared.changes.get(node, ()), *lines.get(node, ())) for node in {**compared.changes, **lines}}
    partings = NodeOverlay("Values", _partings(compared_rows), is_of_both=True)
    compared = dataclasses.replace(compared, changes=changes, values=partings, notes=(_verdict(rows),))
    return RunValues({"before": mine, "after": theirs}, labels), compared


def _in_both(mine: Mapping[Node, NodeRun], theirs: Mapping[Node, NodeRun]) -> Iterator[tuple[Output, Any, Any]]:
    """Yield the tensors that both models computed with their values, in the order of the first model's run."""
    for node, run in mine.items():
        other = theirs.get(node)
        for index, (a, b) in enumerate(zip(run.values, other.values if other is not None else ())):
            if a is not None and b is not None:
                yield Output(node, index), a, b


def _partings(rows: Sequence[tuple[Node, NodeComparison]]) -> dict[Node, str]:
    """Return where values agree, where they part, and where they differ because an input does."""
    states: dict[Node, str] = {}
    differing = {node for node, row in rows if not row.passed}
    for node, _ in rows:
        is_passed_on = any(value.node in differing for value in node.inputs)
        states[node] = "agree" if node not in differing else "differ since an input" if is_passed_on else "part here"
    return states


def _change(row: NodeComparison) -> tuple[str, str, str]:
    needed = f"tolerance {row.tolerance_needed:.3g} would pass"
    return f"value of '{row.tensor}'", "", f"differs by {row.largest_difference:.6g}; {needed}"


def _verdict(rows: Sequence[NodeComparison]) -> str:
    """Return how many values differ, and the first."""
    first = next((row for row in rows if not row.passed), None)
    if first is None:
        return f"all {len(rows):,} common values agree"
    differing = sum(not row.passed for row in rows)
    return f"{differing:,} of {len(rows):,} common values differ; the first is '{first.tensor}': {_change(first)[2]}"


def _own_state(graph: Graph, notes: list[str]) -> Mapping[str, Tensor]:
    """Return the values of a SavedModel's variables; a reason why they cannot be read becomes a note."""
    prefix = graph.meta.variables_prefix if graph.meta is not None else None
    if prefix is None:
        return {}
    try:
        return read_graph_state(prefix, graph)
    except TfgError as error:
        # The user did not ask for these values, so the page goes without them.
        notes.append(f"the values of variables cannot be read: {error}")
        return {}
