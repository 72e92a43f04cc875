"""The functions behind `tfg convert` and `tfg reduce`: graphs frozen, cut, converted and reduced."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...core.comparing.value_comparison import ValueRecorder
from ...core.explaining.default_fetches import default_fetches, default_outputs, no_obvious_output, signature_runs
from ...core.explaining.graph_facts import graph_ends
from ...core.explaining.model_view import model_view
from ...core.graph.call_kinds import INLINED
from ...core.graph.callers import all_nodes, drop_uncalled
from ...core.graph.graph import Graph, GraphLike, as_graph
from ...core.graph.traversal import reachable
from ...core.graph.variable_nodes import find_variables
from ...core.passes.dropout import RemoveDropout
from ...core.passes.pipeline import inline_functions, optimize
from ...core.planning.reachability import needed_nodes
from ...core.registry.op_history import release_named
from ...core.runtime.session.drawn_feeds import generated_feeds
from ...core.runtime.session.function_signatures import as_run
from ...core.runtime.session.session_like import SessionLike
from ...core.support.arguments import checked, named, names_of
from ...core.support.errors import InvalidArgumentError, PermissionDeniedError, TfgError
from ...core.support.file_formats import extension_of
from ...core.support.hints import Hint, command
from ...core.support.log import tell
from ...core.transforms import freezing
from ...core.transforms.batch_size import rows_of, set_batch
from ...core.transforms.freezing import unfreeze_constants, why_not
from ...core.transforms.inference_form import (
    Decision,
    InferenceForm,
    brings_input,
    compared_results,
    open_choices,
    settings_of,
    training_flags,
)
from ...core.transforms.placeholders import set_placeholders, set_shapes
from ...core.transforms.reduction import reduce_graph
from ...core.transforms.release_form import ReleaseForm, Rewritten, lacks_op
from ...core.transforms.subgraphs import as_served, needed_fills, subgraph
from ...core.types.shapes import BatchSize, as_shape
from ...core.types.tensors import Tensor, as_array
from ..meta_graph import with_files_of
from ..saving import graph_form, write_graph
from ..state import State
from .counting import flops
from .live_branches import settle_values, with_live_branches
from .model_export import OnnxExport, StableHloExport, TfjsExport, export_model
from .prepared_sessions import Opener, local_session, state_of

_MODELS: Final[Mapping[str, type[OnnxExport] | type[StableHloExport] | type[TfjsExport]]] = {
    ".onnx": OnnxExport, ".stablehlo": StableHloExport, ".json": TfjsExport,
}  # fmt: skip
"""The models by the extensions of their files."""


@checked
def freeze(
    graph: GraphLike,
    values: State | SessionLike | None = None,
    outputs: Sequence[str] | str = (),
    inputs: Sequence[str] | str = (),
    *,
    keep_functions: bool = False,
    keep_variables: Sequence[str] | str = (),
    keep_files: bool = False,
) -> Graph:
    """Return a copy of the graph with constants in place of variables, and constants that fill the tables.

    `values` are the variables' values by name, or a session that holds them; by default a SavedModel's own values, or those
    of the initializers. The copy has the nodes that `outputs` need, by default all outputs, with placeholders in place of the
    tensors `inputs`, and without the branches that constants switch off. Bodies of functions take the place of calls, unless
    `keep_functions`; those of `keep_variables` stay variables. With `keep_files` tables of a SavedModel are filled from the
    model's files, which `save_model` copies. FailedPreconditionError names a variable or table without a value, a node that
    writes to a variable, and a node that reads a file of the model otherwise.
    """
    graph = as_served(graph, outputs)
    names = names_of(outputs) or default_outputs(graph)
    state = state_of(graph, values)
    if not keep_functions:
        graph = inline_functions(graph)[0]
    # Dead branches go before variables: a variable that only a dead branch writes does not keep the graph from being frozen.
    graph = with_live_branches(graph, names, names_of(inputs))
    result = freezing.freeze(graph, state, names, names_of(inputs), names_of(keep_variables), keep_files=keep_files)
    return with_files_of(graph, result)


class Unfrozen(NamedTuple):
    """A graph with variables in place of constants."""

    graph: Graph
    values: Mapping[str, Tensor]
    """The values of the new variables by their names, which are those of the constants."""
    trainable: tuple[str, ...]
    """The variables that a training changes."""
    left: Mapping[str, str]
    """Why other parameters stay constants, by their names: in a loop, or in FUNCTION/NODE."""


@checked
def unfreeze(graph: GraphLike, variables: Sequence[str] | str | None = None, outputs: Sequence[str] | str = ()) -> Unfrozen:
    """Return a copy of a frozen graph with variables, which training changes, in place of its parameters.

    The parameters are those that `flops` counts for `outputs`, by default for all: constants of floating-point numbers that
    a node computes with. `variables` are names of constants, or of layers for their parameters. A variable has the name
    and begins with the value of its constant. Bodies of functions take the place of calls. The averages of a batch
    normalization become variables that are not trained. InvalidArgumentError names a node that cannot become a variable, and
    tells if there are no parameters; NotFoundError names the nearest names.

        tfg.save_model(tfg.unfreeze("frozen.pb").graph, "model")
    """
    graph = as_graph(graph)
    fetches = names_of(outputs)
    result = (inline_functions(graph)[0] if graph.functions else graph).copy()
    # The count of FLOPs decides what a parameter is, so that `layers`, `flops` and this agree.
    weights = dict.fromkeys(name for cost in flops(result, fetches).nodes for name in cost.weights)
    # `weights` has variables, too, which are left as they are. Names of nodes in functions stay, so that `left` gives the
    # reason.
    names = [name for name in weights if name not in result or result[name].is_constant]
    if variables is not None:
        names = _chosen(result, names_of(variables), names)
    left = {name: "it lies in a function" for name in names if name not in result}
    left |= why_not(result, [name for name in names if name not in left])
    unfrozen = [name for name in names if name not in left]
    if variables is not None and left:
        name, reason = next(iter(left.items()))
        raise InvalidArgumentError(f"node '{name}' becomes no variable: {reason}")
    if not unfrozen:
        reasons = dict.fromkeys(left.values())
        words = f"no parameter can become a variable: {'; '.join(reasons)}" if left else "the graph has no constant parameters"
        raise InvalidArgumentError(words, hint=Hint(command("flops"), " counts the parameters; name constants that are none"))
    values = {name: result.node(name).attrs["value"] for name in unfrozen}
    return Unfrozen(result, values, unfreeze_constants(result, unfrozen), left)


def _chosen(graph: Graph, words: Sequence[str], weights: Sequence[str]) -> list[str]:
    """Return the names of constants: the words themselves, and the weights in the scopes of layers that words name."""
    view = model_view(graph)
    paths = {name: f"/{view.path(name)}" for name in weights}
    chosen: dict[str, None] = {}
    for word in words:
        # With slashes around both, `conv` matches a whole part of a path, and not the beginning of `conv_1`.
        inside = [name for name, path in paths.items() if f"/{word.strip('/')}/" in path]
        chosen |= dict.fromkeys(inside if inside and word not in graph else [graph.node(word).name])
    return list(chosen)


class ForInference(NamedTuple):
    """A graph for inference, and what was decided on the way from the training graph."""

    graph: Graph
    outputs: tuple[str, ...]
    """The results that the graph computes."""
    decisions: tuple[Decision, ...]
    """The changes, and what is left to the user, with the reasons."""
    settings: Mapping[str, Any]
    """The values of the placeholders that tell of training."""


@checked
def to_inference(graph: GraphLike, outputs: Sequence[str] | str = (), *, averages: bool = False) -> ForInference:
    """Return a copy of a training graph that computes `outputs`, by default all but losses, as outside of training.

    Placeholders that are called training, keep_prob and the like get their values. Dropout goes. Batch normalizations and
    other readers of statistics of the batch take the averages that updates make of the statistics. Updates of training,
    losses, gradients and inputs that no output needs go. With `averages` moving averages take the place of variables.
    The variables stay variables: `freeze` and `save_model` take their values from a state, as for `graph`.
    InvalidArgumentError if the outputs have to be named, and with `averages` if the graph has none.
    """
    graph = as_graph(graph)
    names = names_of(outputs) or _results(graph)
    result = graph.copy()
    # Flags come first: a batch normalization and a dropout under a flag are found on the branch that is left.
    settings = training_flags(result, needed_nodes([result.fetch(name) for name in names]))
    set_placeholders(result, {f"{name}:0": value for name, value in settings.items()})
    settle_values(result, set(settings))
    result = inline_functions(result)[0] if result.functions else result
    form = InferenceForm(result, names)
    followed = form.averages_of_variables() if averages else {}
    if averages and not followed:
        raise InvalidArgumentError("the graph has no moving averages of variables", hint="restore them as its variables first")
    decisions = [*settings_of(settings), *form.drop_updates(), *form.use_batch_averages()]
    decisions += form.use_averages(followed) if averages else ()
    variables = find_variables(result).values()
    # No output needs the initializers, but a run without a checkpoint does.
    starts = [one.initializer.name for one in variables if one.node in form.needed and one.initializer]
    # Before the dropouts: gradients read the mask of a dropout, which must have no other reader to be dropped.
    result = optimize(result, names, passes="prune", keep=starts)[0]
    result, dropout = _without_dropout(result, names, starts)
    gone = [node.name for node in graph if node.must_be_fed and node.name not in result and node.name not in settings]
    decisions += [*dropout, *(Decision(name, "is gone", "no output needs it", keeps_results=True) for name in gone)]
    decisions += open_choices(result, needed_nodes([result.fetch(name) for name in names]))
    return ForInference(result, tuple(names), tuple(decisions), settings)


class ForTensorflow(NamedTuple):
    """A graph for an older release of TensorFlow, and what was changed."""

    graph: Graph
    release: str
    """The release, such as 1.13."""
    rewritten: tuple[Rewritten, ...]
    """The nodes with an older op."""
    dropped: int
    """The number of attributes that were dropped: new ones, and those that hold the default."""


@checked
def for_tensorflow(graph: GraphLike, release: str) -> ForTensorflow:
    """Return a copy of the graph in the ops and attributes of a release of TensorFlow, such as `1.13`, from 1.0 on.

    Newer ops become older ones if these compute the same. Attributes go that hold their default, that the release lacks,
    or that only tell how to run. Bodies of functions take the place of calls if the release lacks the call, and before
    2.0 functions go that no node calls. The GraphDef version is that of the release. InvalidArgumentError for an unknown
    release, UnimplementedError names all nodes that the release cannot say, and why.
    """
    known = release_named(release)
    result = as_graph(graph).copy()
    if any(lacks_op(node, known) for node in all_nodes(result) if node.op in INLINED):
        result = inline_functions(result)[0]
    # Only the objects of TensorFlow 2 call functions without a node.
    if known < (2, 0):
        drop_uncalled(result)
    form = ReleaseForm(result, known)
    form.change()
    return ForTensorflow(result, str(known), tuple(form.rewritten), form.dropped)


def _results(graph: Graph) -> tuple[str, ...]:
    """Return the outputs of all signatures, or those that stand out and are no losses."""
    runs = signature_runs(graph)
    ends = None if runs else graph_ends(graph)
    losses = set(ends.losses) if ends is not None else set()
    names = [name for run in runs for name in run] if ends is None else ends.outputs
    results = [name for name in dict.fromkeys(names) if name.removesuffix(":0") not in losses]
    # What no input reaches is a value of a variable, such as an average.
    if ends is not None:
        results = [name for name in results if any(map(brings_input, reachable([graph.node_of(name)], by_control=False)))]
    results = results or compared_results(graph, losses)
    if not results:
        raise no_obvious_output(graph, "name the results of the model")
    return tuple(results)


def _without_dropout(graph: Graph, names: Sequence[str], keep: Sequence[str]) -> tuple[Graph, list[Decision]]:
    result, report = optimize(graph, names, passes=[RemoveDropout()], keep=keep)
    notes = dict.fromkeys(note for record in report.passes for note in record.notes)
    off = [Decision("(dropout)", note, "it is for training") for note in notes]
    refused = {refusal.node: refusal.reason for refusal in report.passes[-1].refused} if report.passes else {}
    return result, [*off, *(Decision(node, "stays", reason, is_left=True) for node, reason in refused.items())]


@checked
def extract(graph: GraphLike, outputs: Sequence[str] | str, inputs: Sequence[str] | str = ()) -> Graph:
    """Return a copy with the nodes that `outputs` need, and placeholders in place of the tensors `inputs`.

    Nodes that fill the needed tables stay, too. `outputs` are names of tensors and operations. NotFoundError names the
    nearest names for a name that is not there.
    """
    graph = as_graph(graph)
    names, cuts = names_of(outputs), names_of(inputs)
    # A look-up at run time needs the contents of its table, which no edge of the graph says.
    fills = [node.name for node in needed_fills(graph, names, cuts)]
    return with_files_of(graph, subgraph(graph, [*names, *fills], cuts))


@checked
def fill_placeholders(
    graph: GraphLike,
    values: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    *,
    batch: BatchSize | None = None,
    outputs: Sequence[str] | str = (),
) -> Graph:
    """Return a copy with constants for the placeholders in `values`, and static shapes for the placeholders in `shapes`.

    The keys are names of tensors; None in a shape stands for an unknown size. Branches that a value never takes are dropped.
    A shape takes the place of the placeholder's own. `batch` is another first size of the inputs that `outputs` need, by
    default all outputs: a number, or "?" for an unknown one. Nodes that state the old batch, such as a Reshape, state the new
    one; the log tells which.

    InvalidArgumentError for a tensor of another op than a placeholder, for a value that contradicts its placeholder, and for
    shapes and a batch that nodes of the graph contradict: it names the nodes.
    """
    graph = as_graph(graph)
    result = graph.copy()
    set_shapes(result, {result.output(name).name: as_shape(shape) for name, shape in named(shapes).items()})
    if values:
        given = {result.output(name): as_array(value) for name, value in named(values).items()}
        set_placeholders(result, {tensor.name: value for tensor, value in given.items()})
        # A value may be a flag of the training, after which half of the graph never runs.
        settle_values(result, {tensor.node.name for tensor in given})
    if batch is not None:
        for change in set_batch(result, names_of(outputs) or default_fetches(result), rows_of(batch)):
            tell("%s", change)
    return result


@checked
def convert(
    graph: GraphLike,
    path: str | os.PathLike[str],
    outputs: Mapping[str, str] | Sequence[str] | str = (),
    inputs: Sequence[str] | str = (),
    *,
    state: State | SessionLike | None = None,
    shapes: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    opset: int | None = None,
    weight_type: str | None = None,
) -> OnnxExport | StableHloExport | TfjsExport | None:
    """Write a graph atomically, in the format of the file's extension.

    `.pb` and no extension are binary, `.pbtxt` is text, `.meta` is a MetaGraphDef; a further `.gz` compresses the file.
    `.onnx` is an ONNX model of the frozen graph, `.stablehlo` a program of the frozen graph for `jax.export.deserialize`, and
    `.json` a graph model of TensorFlow.js, with files of weights beside it.
    `outputs` and `inputs` select a part of the graph, as for `extract`. InvalidArgumentError for other extensions.

    The other arguments are for these models. `state` is as for `freeze`. `shapes` holds the shapes of inputs by
    tensor. `names` maps input names of the model to tensors; `outputs` may be a mapping for output names. `opset` is the set
    of ONNX's operators in an `.onnx` file: 13 or more, by default 21. `weight_type` is the type in which a `.json` model
    stores weights of floats: float16, or uint8 or uint16 with a scale; by default float32. The result has a method `verify`.
    FailedPreconditionError without the package onnx, NotFoundError without JAX, UnimplementedError for nodes that the model
    cannot express.
    """
    graph = as_graph(graph)
    kind: Callable[..., OnnxExport | StableHloExport | TfjsExport] | None = _MODELS.get(extension_of(path))
    if opset is not None:
        if kind is not OnnxExport:
            raise InvalidArgumentError(f"an opset is of ONNX, and '{os.fspath(path)}' does not end in .onnx")
        kind = functools.partial(OnnxExport, opset=opset)
    if weight_type is not None:
        if kind is not TfjsExport:
            raise InvalidArgumentError(f"types of weights are of TensorFlow.js, and '{os.fspath(path)}' does not end in .json")
        kind = functools.partial(TfjsExport, weight_type=weight_type)
    if kind is not None:
        graph = as_served(graph, tuple(outputs))
        return export_model(kind, graph, path, outputs, inputs, state=state, shapes=shapes, names=names)
    form = graph_form(path)
    fetches, cuts = names_of(tuple(outputs.values()) if isinstance(outputs, Mapping) else outputs), names_of(inputs)
    write_graph(extract(graph, fetches or default_outputs(graph), cuts) if fetches or cuts else graph, path, form)
    return None


@checked
def reduce(
    graph: GraphLike,
    fails: Callable[[Graph], bool],
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    state: State | None = None,
    open_session: Opener | None = None,
    on_error: Callable[[TfgError], object] | None = None,
) -> Graph:
    """Return a part of the graph, no node of which can be left out, for which `fails` returns True.

    `fails` gets a graph to try; InvalidArgumentError if the whole graph does not fail. The values of a run of `fetches`,
    by default the outputs, stand in for the nodes that are left out; placeholders without a value in `feeds` get drawn ones.
    `open_session` opens the session of this run. The run may stop at an error: the values so far serve, and `on_error` gets
    the error.
    """
    graph = as_run(graph, fetches)
    named_feeds = named(feeds)
    names = [name.partition(":")[0] for name in names_of(fetches) or default_fetches(graph)]
    # The values of this one run stand in for nodes that a smaller graph leaves out, so that it computes on the same numbers.
    drawn = generated_feeds(graph, named_feeds, names)
    session = local_session(graph, open_session, state)
    recorder = ValueRecorder(session.runnable())
    try:
        session.run(names, drawn, hook=recorder)
    # The user can lift a refusal, which has nothing to do with what fails.
    except PermissionDeniedError:
        raise
    except TfgError as error:
        if on_error is not None:
            on_error(error)
    if not fails(graph):
        raise InvalidArgumentError("`fails` is False for the whole graph", hint="it must be True for the graph to reduce")
    # A feed is what the node returned in this run.
    fed = {name.partition(":")[0]: [(value,)] for name, value in drawn.items()}
    return reduce_graph(graph, names, {**recorder.values, **fed}, fails, [name.partition(":")[0] for name in named_feeds])
