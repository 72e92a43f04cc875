"""A graph as a page to look through in a browser."""

from __future__ import annotations

import functools
import html
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...core.drawing.value_pictures import NodeValue
from ...core.drawing.view_model import Book, Figures, FirstGraph, NodeOverlay, Report, Sheet, make_book, problem_overlay
from ...core.explaining.author_scopes import common_scope
from ...core.explaining.default_fetches import counted_fetches, guessed_fetches
from ...core.explaining.graph_facts import GraphFacts, MissingOp, assets, explain_graph, facts_without_detail, written_by
from ...core.explaining.model_view import ModelView, model_view
from ...core.flops import count_flops
from ...core.flops.by_node import flops_by_node, flops_shares, transcendentals_by_node
from ...core.flops.flops_report import FlopsReport
from ...core.flops.measured import Measurement
from ...core.flops.model_layers import Layer, model_layers, nodes_in_layers
from ...core.flops.views import layer_table, readable
from ...core.graph.graph import Function, Graph, GraphLike, Node, as_graph
from ...core.inference.inference import Answers, Inference, infer
from ...core.support import dataclasses
from ...core.support.arguments import checked, named, names_of
from ...core.support.display import Displayed
from ...core.support.errors import TfgError
from ...core.support.gc_control import rare_collection
from ...core.support.grouping import grouped
from ...core.support.tensor_names import parse_tensor_name
from ...core.support.words import counted
from ...core.types.dims import DimLike
from ...core.types.shapes import TensorSpec
from ..codecs.keras_metadata import keras_version, layer_classes
from ..codecs.source import write_file
from ..page.writing import to_html
from ..state import graph_state, read_graph_state, unread_values
from .checkpoints import Checkpoint
from .page_values import (
    NON_FINITE,
    VALUES,
    WEIGHT_FIGURES,
    ReadsState,
    RunValues,
    inputs_to_show,
    of_both,
    page_values,
    run_to_show,
    weight_figures,
    weights_among,
)
from .prepared_sessions import Opener, local_session

if TYPE_CHECKING:
    from ...core.explaining.node_activations import NodeRun
    from .page_diff import MergedGraphs

_MAX_NAMES: Final = 3
_LAYER_COLUMNS: Final = ("layer", "ms", "parameters", "FLOPs", "bytes moved", "output shape", "trainable", "kind", "ops")


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class GraphPage(Displayed):
    """A page of HTML about a graph; a notebook shows the page in a frame of `height` pixels."""

    title: str
    html: str
    height: int = 600

    def __repr__(self) -> str:
        return f"<GraphPage {self.title}: {len(self.html):,} characters>"

    def _repr_html_(self) -> str:
        # The sandbox allows scripts, but not the same origin: the page runs, and cannot reach the notebook around it.
        source = html.escape(self.html)
        return (
            f'<iframe srcdoc="{source}" sandbox="allow-scripts" style="width:100%;height:{self.height}px;border:0"></iframe>'
        )

    def save(self, path: str) -> None:
        """Write the page to a file, whole or not at all."""
        write_file(path, [self.html.encode()])


@checked
def view(
    graph: GraphLike,
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    signature: str | None = None,
    raw: bool = False,
    flops: bool = True,
    height: int = 600,
    state: str | os.PathLike[str] | Checkpoint | None = None,
    values: bool = False,
    labels: Sequence[str] | None = None,
    each: Sequence[str] | str = (),
    steps: int = 1,
    max_values: int = VALUES,
    open_session: Opener | None = None,
    overlays: Mapping[str, Mapping[str, float | str]] | None = None,
    measured: Measurement | None = None,
    run_metadata: str | os.PathLike[str] | None = None,
    diff: GraphLike | None = None,
) -> GraphPage:
    """Return a page with a model's scopes, nodes, shapes, FLOPs, stages and functions, to look through in a browser.

    A model is what `tfg.model_view` makes of the graph and its `signature`; with `raw` it is the graph as the file has it.

    The values of variables come from `state`, an .npz or .safetensors file or a checkpoint, also one that `read_checkpoint`
    returned, by default from the SavedModel. The page holds up to `max_values` bytes of pictures and of values for download,
    the smallest first.

    With `values`, the graph runs `steps` times with `feeds`, and the page shows what each node returned in the last run:
    statistics, a histogram, and images, maps, matrices and sequences as pictures. With `labels`, the names of the classes,
    scores are shown by class. `each` has patterns of input files, as of `run_each`: the page shows the values for each input.
    `open_session` opens another session of this process. With `diff`, both graphs run.

    `overlays` has numbers or texts by node's name under titles; a node in a function is FUNCTION/NODE or CALL/NODE. `measured`
    is the result of `tfg.profile`, whose times become an overlay, and so do the times in a file of TensorFlow, `run_metadata`.
    With `diff`, the page shows the differences from `graph` to `diff`, the nodes of both as one, and both side by side.
    InvalidArgumentError for overlays without a node of the graph.

    The page needs no network. `fetches` names the tensors whose FLOPs count, by default the outputs. A notebook shows the
    page in a frame of `height` pixels; `save` writes the page to a file. The errors of `count_flops` for wrong `fetches`.
    """
    from ..overlay_files import measured_overlay, overlay_of, time_overlay  # lazy: the command reads overlays by itself

    graph = as_graph(graph)
    # A hidden file begins with the dot, and has no other name.
    title = graph.file.partition(".")[0] or graph.file or "graph"
    names = names_of(fetches)
    with rare_collection():
        reader = _reader_of(state)
        look = page_look(graph, signature, raw, None if diff is None else as_graph(diff))
        more = [overlay_of(look.view, title, each) for title, each in (overlays or {}).items()]
        more += [] if measured is None else [measured_overlay(look.view, measured)]
        more += [] if run_metadata is None else [time_overlay(os.fspath(run_metadata), look.view)]
        if values:
            run = _PageRuns(names, named(feeds), names_of(each), steps, reader, open_session)
            look = look.with_values([run.of(view) for view in look.models], labels)
        book = make_page(
            look.view, title, graph.file, names, flops=flops, state=reader, max_values=max_values, overlays=more,
            compared=look.compared, shown=look.shown,
        )  # fmt: skip
        return GraphPage(title, to_html(book), height)


def _reader_of(state: str | os.PathLike[str] | Checkpoint | None) -> ReadsState | None:
    """Return the function that reads values for a graph from a file or a checkpoint."""
    if isinstance(state, Checkpoint):
        return functools.partial(graph_state, state.tensors)
    return None if state is None else functools.partial(read_graph_state, os.fspath(state))


@dataclasses.dataclass(frozen=True, slots=True)
class _PageRuns:
    """How models run for a page."""

    fetches: Sequence[str]
    feeds: Mapping[str, Any]
    each: Sequence[str]
    steps: int
    state: ReadsState | None
    open_session: Opener | None

    def of(self, view: ModelView) -> dict[str, Mapping[Node, NodeRun]]:
        """Run the model of a view."""
        graph = view.source
        signature = None if view.signature is None else graph.signatures[view.signature.name]
        outputs = counted_fetches(graph) if signature is None else tuple(signature.fetched.values())
        # Layers and nodes of the view are no tensors of the file: they run where the outputs do.
        fetches = [name for name in self.fetches if graph.get(parse_tensor_name(name)[0]) is not None] or outputs
        session = local_session(graph, self.open_session, None if self.state is None else self.state(graph))
        inputs = inputs_to_show(view, signature, fetches, self.feeds, self.each)
        return run_to_show(view, session, fetches, inputs, self.steps)


@dataclasses.dataclass(frozen=True, slots=True)
class PageLook:
    """What a page shows: a model, or the nodes of two models and their differences."""

    view: ModelView
    models: tuple[ModelView, ...]
    """The model, or both."""
    compared: MergedGraphs | None = None
    shown: RunValues | None = None

    def with_values(self, runs: Sequence[Mapping[str, Mapping[Node, NodeRun]]], labels: Sequence[str] | None) -> PageLook:
        """Return the look with the values of the models' runs."""
        if self.compared is None:
            return dataclasses.replace(self, shown=RunValues(runs[0], labels))
        # Of several inputs only the first is compared: a node has one state for its colour.
        before, after = (next(iter(each.values())) for each in runs)
        shown, compared = of_both(self.compared, before, after, labels)
        return dataclasses.replace(self, shown=shown, compared=compared)


def page_look(graph: Graph, signature: str | None, raw: bool, other: Graph | None = None) -> PageLook:
    """Return what a page shows of a graph, or of two."""
    view = model_view(graph, signature, raw=raw)
    if other is None:
        return PageLook(view, (view,))
    from .page_diff import merged_graphs  # lazy: most pages show a single graph

    theirs = model_view(other, signature, raw=raw)
    compared = dataclasses.replace(merged_graphs(view.graph, theirs.graph), names=(graph.file, other.file))
    # Both models are views already, so their merged graph is shown as it is.
    return PageLook(model_view(compared.graph, raw=True), (view, theirs), compared)


def make_page(
    view: ModelView,
    title: str,
    path: str,
    fetches: Sequence[str] = (),
    *,
    flops: bool = True,
    is_sound: bool = True,
    sheets: Callable[[GraphFacts], Iterator[Sheet]] | None = None,
    report: Report = lambda done, total: None,
    state: ReadsState | None = None,
    max_values: int = VALUES,
    overlays: Sequence[NodeOverlay] = (),
    compared: MergedGraphs | None = None,
    shown: RunValues | None = None,
    words: Callable[[str], str] = str,
) -> Book:
    """Return the contents of a page; `sheets` makes tables of the facts, by default the facts of one line each, and `words`
    puts the steps of texts into words.

    The values of variables come from `state`, by default from the SavedModel; up to `max_values` bytes are in the
    page. With `compared`, whose graph the view has, the page shows the differences, and begins with the whole graph; with
    `shown` the values of runs.
    """
    graph = view.graph
    page = _Page(view, [_fetched(view, name) for name in fetches])
    page.compared, page.words = compared, words
    differences = compared.overlays if compared is not None else ()
    page.notes += [compared.verdict, *compared.notes] if compared is not None else []
    page.values, of_values = page_values(view, state, max_values, page.notes, report, shown)
    problems = problem_overlay(graph, page.inferences.get(""))
    page.overlays = (*([problems] if problems else []), *overlays, *of_values, *differences)
    # The page opens in the colours of what the user asked for: differences, then NaN, then overlays.
    telling = [*differences, *(one for one in of_values if one.title == NON_FINITE), *overlays]
    page.colour = telling[0].title if telling else ""
    book = make_book(title, graph, page.figures(path, flops, is_sound, sheets or _sheets), report)
    # A comparison begins with the whole graph, as the differences may lie anywhere; other pages begin with the model's
    # layers.
    return book if compared is None else dataclasses.replace(book, start=0)


def _fetched(view: ModelView, name: str) -> str:
    """Return the name in the view of an operation, or of a tensor as `ModelView.value` finds it."""
    node = view.graph.get(name)
    return view.value(name).name if node is None or node.output_dtypes else name


class _Page:
    """The contents of a page, and notes on missing parts."""

    def __init__(self, view: ModelView, fetches: Sequence[str]) -> None:
        self.view = view
        self.graph = view.graph
        self.fetches = fetches
        self.notes: list[str] = []
        self._unshaped: list[str] = []
        """Why shapes are only the declared shapes: notes that come last."""
        self.words: Callable[[str], str] = str
        self.values: Mapping[Node, tuple[NodeValue, ...]] = {}
        self.overlays: tuple[NodeOverlay, ...] = ()
        self.transcendentals: Mapping[Node, DimLike] = {}
        self.compared: MergedGraphs | None = None
        self.colour = ""
        self.layers: Sequence[Layer] = ()
        self._layer_of_nodes: Mapping[str, str] = view.layers
        """The layers of nodes by the names of nodes."""

    def figures(self, path: str, flops: bool, is_sound: bool, sheets: Callable[[GraphFacts], Iterator[Sheet]]) -> Figures:
        """Return the figures of the page; `path` is the graph's file in the suggested commands."""
        inference = self.inferences.get("") if is_sound else None
        facts = explain_graph(
            self.graph, path, inference, variables_unread=unread_values(self.graph), view=self.view, specs=inference
        )  # fmt: skip
        counts = self._flops(facts) if flops else {}
        self.notes += self._unshaped
        # A million nodes have tens of different counts.
        text = functools.cache(_flops_text)
        return Figures(
            inferences=self.inferences,
            flops={node: text(count, self.transcendentals.get(node, 0)) for node, count in counts.items()},
            shares=flops_shares(self.graph, counts),
            sheets=tuple(self._with_tables(sheets(facts), facts.missing)),
            notes=tuple(self.notes),
            values=self.values,
            overlays=self.overlays,
            changes={} if self.compared is None else self.compared.changes,
            keep=() if self.compared is None else self.compared.states.values,
            layers=set(self.view.layers.values()),
            origins=self.view.other_names,
            signature=self.view.signature,
            colour=self.colour,
            compared=None if self.compared is None else self._first_graph(self.compared, flops),
            words=self.words,
        )

    @functools.cached_property
    def inferences(self) -> dict[str, Inference]:
        """The shapes in the graph, which has the name "", and in its functions' bodies."""
        return dict(self._inferences(self.graph, self._unshaped))

    def _first_graph(self, compared: MergedGraphs, flops: bool) -> FirstGraph:
        """Return the first of two graphs by itself, with the shapes and FLOPs that follow in it."""
        graph, states = compared.first, compared.states.values
        counts = _counts_alone(graph) if flops else {}
        first = Figures(
            inferences=dict(self._inferences(graph, [])),
            flops={node: readable(count) for node, count in counts.items()},
            shares=flops_shares(graph, counts),
            keep={node for node, other in compared.before.items() if other in states},
        )
        return FirstGraph(compared.names, graph, compared.before, compared.removed, first)

    def _with_tables(self, sheets: Iterator[Sheet], missing: Sequence[MissingOp]) -> Iterator[Sheet]:
        """Yield the facts, those of the file first; tables of ops without a kernel, layers and weights; and other sheets."""
        facts = next(sheets)
        of_file = dict(_file_facts(self.view.source))
        others = (row for row in facts.rows if row[0] not in of_file)
        # The view has no signatures and versions of its own: these are the file's.
        yield dataclasses.replace(facts, rows=(*of_file.items(), *others))
        if missing:
            rows = ((op.op, str(op.count), "yes" if op.known else "no", op.reason) for op in missing)
            yield Sheet("ops without a kernel", ("op", "nodes", "in TensorFlow", "description"), tuple(rows))
        if self.layers:
            yield _layers_sheet(self.layers, self._layer_of_nodes)
        weights = [(node.name, *weight_figures(value)) for node, value in weights_among(self.values)]
        if weights:
            yield Sheet("weights", ("weight", *WEIGHT_FIGURES), tuple(weights))
        yield from sheets

    @staticmethod
    def _inferences(whole: Graph, notes: list[str]) -> Iterator[tuple[str, Inference]]:
        """Return the shapes in a graph and in its functions' bodies; `notes` gets the reasons of gaps.

        The arguments of a function that the graph calls, directly or through others, have the specs that cover all calls.
        """
        functions = whole.functions
        graphs = {"": whole, **{name: function.body for name, function in functions.items()}}
        # The answers are shared, so a function that several graphs call is inferred once for each signature of its calls.
        answers = Answers()
        called: Mapping[Function, Sequence[TensorSpec]] = {}
        for name, graph in graphs.items():
            args = functions[name].args if name else ()
            specs = called.get(functions[name], ()) if name else ()
            try:
                yield name, infer(graph, {arg.output(): spec for arg, spec in zip(args, specs)}, functions, answers=answers)
            except TfgError as error:
                notes.append(f"shapes{f' in {name}' if name else ''} are the declared shapes: {error}")
            if not name:
                # The whole graph comes first, and its calls tell with which specs each function is shown.
                called = dict(answers.arguments)

    def _flops(self, facts: GraphFacts) -> dict[Node, DimLike]:
        """Return the FLOPs of each node; without `fetches` a failed count is a note on the page."""
        try:
            # The count infers shapes by itself: its estimates assume that unknown sizes are not 1, and must not become facts
            # of the page.
            report = count_flops(self.graph, self.fetches or guessed_fetches(self.graph, facts.ends))
        except TfgError as error:
            if self.fetches:
                raise
            self.notes.append(f"FLOPs not counted: {error}")
            return {}
        self.notes.append(f"FLOPs of {_some(report.fetches)}: {readable(report.total().flops)}")
        self.notes += report.notes
        if report.unknown():
            names = [node.path for node in report.unknown()]
            self.notes.append(f"the FLOPs of {counted(len(names), 'node')} could not be counted: {_some(names)}")
        self.transcendentals = transcendentals_by_node(self.graph, report)
        self.layers = self._layers(report, facts)
        return flops_by_node(self.graph, report)

    def _layers(self, report: FlopsReport, facts: GraphFacts) -> Sequence[Layer]:
        """Return the layers that the FLOPs are of, with times if a run was measured."""
        trained = {one.name: one.shape.num_elements for one in facts.variables if one.purpose == "trainable"}
        times = next((overlay.values for overlay in self.overlays if overlay.unit == "seconds"), None)
        seconds = None if times is None else {node.name: float(time) for node, time in times.items()}
        nodes = nodes_in_layers(report)
        # A graph that is its own view was not searched for layers before.
        self._layer_of_nodes = self._layer_of_nodes or {node.path: layer for layer, node in nodes}
        return model_layers(report, nodes, trained, layer_classes(self.view.source), seconds).layers


def _counts_alone(graph: Graph) -> dict[Node, DimLike]:
    """Return the FLOPs of the nodes of a graph's outputs; none if they cannot be counted."""
    try:
        return flops_by_node(graph, count_flops(graph, guessed_fetches(graph)))
    except TfgError:
        return {}


def _layers_sheet(layers: Sequence[Layer], layer_by_node: Mapping[str, str]) -> Sheet:
    """Return the table of layers, with the numbers to sort by before the words.

    In a frozen graph of Keras, the ops of layer `net/conv` may be in the scope `net_1/conv_1`.
    """
    columns, rows = layer_table(layers)
    places = [columns.index(column) for column in _LAYER_COLUMNS if column in columns]
    nodes = grouped((layer, node) for node, layer in layer_by_node.items())
    # The scope that all nodes of a layer share is the box to which its row in the table leads.
    scopes = ((layer.name, common_scope(nodes.get(layer.name, [layer.name]))) for layer in layers)
    elsewhere = tuple((name, scope) for name, scope in scopes if scope not in ("", name))
    shown = tuple(tuple(row[i] for i in places) for row in rows)
    return Sheet("layers", tuple(columns[i] for i in places), shown, elsewhere)


def _file_facts(graph: Graph) -> Iterator[tuple[str, str]]:
    """Yield who wrote a graph's file, the signatures, and the assets."""
    meta = graph.meta
    if meta is not None and (writers := written_by(meta.tensorflow_version, keras_version(graph))):
        yield "written by", writers
    if graph.versions is not None:
        yield "GraphDef version of the producer", str(graph.versions)
    for signature in () if meta is None else meta.signatures.values():
        inputs, outputs = (
            ", ".join(f"{name}: {info.dtype} {info.shape}" for name, info in tensors.items())
            for tensors in (signature.inputs, signature.outputs)
        )
        yield f"signature {signature.name}", f"{inputs or 'nothing'} → {outputs or 'nothing'}"
    if files := assets(graph):
        yield "assets", ", ".join(map(str, files))


def _sheets(facts: GraphFacts) -> Iterator[Sheet]:
    """Return the facts of one line each as a table."""
    yield Sheet("", ("fact", "value"), tuple((name, str(value)) for name, value in facts_without_detail(facts).items()))


def _flops_text(flops: DimLike, transcendentals: DimLike) -> str:
    """Return the FLOPs of a node, with the evaluations of functions as exp, which FLOPs do not count."""
    apart = f"{readable(transcendentals)} transcendental" if transcendentals != 0 else ""
    return ", ".join(filter(None, ("" if apart and flops == 0 else readable(flops), apart)))


def _some(names: Sequence[str]) -> str:
    """Return the first names in quotes, and the number of the others."""
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(f"'{name}'" for name in names[:_MAX_NAMES]) + more
