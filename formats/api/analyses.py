"""The functions behind `tfg check`, `diff`, `path` and `explain --engine`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...core.comparing.graph_diff import GraphDiff
from ...core.explaining.model_view import ModelView, model_view
from ...core.explaining.node_paths import NodePath, find_path
from ...core.explaining.problem_codes import known_codes
from ...core.explaining.problems import Problem, find_problems
from ...core.graph.graph import Graph, GraphLike, Output, as_graph
from ...core.support.arguments import checked, expect
from ...core.support.display import Rows
from ...core.support.engine_names import AUTO
from ...core.support.errors import TfgError
from ...core.support.tensor_names import parse_tensor_name
from ..loading import load_leniently
from ..model_diff import diff_models
from ..state import holds_state
from .checkpoints import checkpoint_of, diff_checkpoints, read_checkpoint

if TYPE_CHECKING:
    from ...core.engines.engine_report import EngineReport

__all__ = ["check", "diff", "explain_engine", "path"]


@checked(faults=list | tuple)
def check(
    graph: Graph | str | os.PathLike[str] | bytes, faults: Sequence[TfgError] = (), *, ignore: str | Iterable[str] = ()
) -> Rows[Problem]:
    """Return all problems of a graph and its functions, errors first; an empty tuple for a sound graph.

    A path or the bytes of a file may hold a graph that `load` refuses: the reasons are problems too. `faults` are the
    reasons if the caller read the file. Problems with a code in `ignore`, such as "colocation", are left out. Raises
    the errors of `load` for a file without a graph, NotFoundError for an unknown code.
    """
    codes = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    expect(str, *codes)
    ignored = known_codes(codes)
    if isinstance(graph, Graph):
        expect(TfgError, *faults)
        return find_problems(graph, faults, ignored)
    return find_problems(*load_leniently(graph), ignored)


@checked
def diff(before: GraphLike, after: GraphLike, *, strict_names: bool = False, raw: bool = False) -> GraphDiff:
    """Return the differences from one graph to another: nodes, functions, signatures, variables, assets and versions.

    The nodes of models with signatures are those of `model_view`, by the names of their authors; with `raw` they are those of
    the files.

    The order of nodes does not count. Functions match by what they compute, and numbers that TensorFlow adds to names do not
    count; with `strict_names` nodes and functions match by name. Values of variables and contents of assets are compared
    if the graphs come from SavedModels. Raises the errors of reading these files.

    Of the path of a checkpoint, an .npz or a .safetensors file, the values are compared with those of the other file or graph:
    with a graph's constants, as `compare_checkpoints` does.
    """
    # If only one side is a file of values, the graph on the other side is compared by its variables or constants.
    if any(not isinstance(side, Graph) and holds_state(side) for side in (before, after)):
        values = (checkpoint_of(side) if isinstance(side, Graph) else read_checkpoint(side) for side in (before, after))
        return diff_checkpoints(*values)
    before = as_graph(before)
    after = as_graph(after)
    return diff_models(before, after, strict_names=strict_names, raw=raw)


@checked
def path(graph: GraphLike, start: str, end: str, *, signature: str | None = None, raw: bool = False) -> NodePath:
    """Return whether `start` reaches `end`, by which nodes, and by which shortest path.

    The nodes are those of `model_view`: `start` and `end` are names of its nodes, tensors and layers, of arguments of the
    signature, or of nodes of the file. A layer stands for its last result, and a tensor such as `split:1` for that result
    alone. Between nodes of the file that no signature runs, nodes of one function (FUNCTION/NODE) that stays a call, and with
    `raw`, the path is one of the file. NotFoundError names the nearest names, InvalidArgumentError lists names that fit.
    """
    view = model_view(graph, signature)
    # `split:1` asks for a path from this output, `split` for a path from any output of the node.
    by_tensor = ":" in start
    if not raw and (first := view.find(start)) is not None and (last := view.find(end)) is not None:
        return find_path(view.graph, first, last, by_tensor=by_tensor)
    around, prefix = view.source, ""
    # Both ends in one function that stays a call are looked for in its body: the view has dissolved other functions.
    for name, function in view.source.functions.items():
        if start.startswith(f"{name}/") and end.startswith(f"{name}/"):
            around, prefix = function.body, f"{name}/"
    first, last = (_in_file(view, around, word.removeprefix(prefix)) for word in (start, end))
    return find_path(around, first, last, by_tensor=by_tensor)


def _in_file(view: ModelView, around: Graph, word: str) -> Output:
    """Return the tensor of a graph or function of the file; for a name of the view the result of the call around its node."""
    if parse_tensor_name(word)[0] in around:
        result = around.result(word)
        return result if isinstance(result, Output) else result.output()
    origin = view.origin(view.value(word).node)
    # The view dissolved the call in which the node lies: in the file, the call stands for all that it runs.
    return around.node(origin.calls[0] if origin.calls else origin.node).output()


@checked
def explain_engine(graph: GraphLike, engine: str = AUTO, fetches: Sequence[str] | str = ()) -> EngineReport:
    """Return the part of a run that an engine would take, and the rest with the reasons; nothing runs.

    `engine` is `openvino`, `xla`, or `auto` for the engine that takes most. The run fetches `fetches`, by default the outputs
    and training operations. NotFoundError for an unknown engine.
    """
    from ...core.engines.automatic import first_engine, preview
    from ...core.engines.engine_registry import find_engine  # lazy: the other functions here run nothing
    from ...core.explaining.default_fetches import guessed_fetches
    from ...core.support.arguments import names_of
    from ...core.transforms.subgraphs import as_served

    graph = as_served(graph, fetches)
    targets = [graph.result(name) for name in names_of(fetches) or guessed_fetches(graph)]
    return preview(graph, targets, find_engine(first_engine(graph, targets) if engine == AUTO else engine))
