"""The functions behind `tfg check`, `compare`, `diff` and `ops`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.comparing.drawn_feeds import Feeds
from ...core.comparing.graph_diff import GraphDiff
from ...core.comparing.value_comparison import GraphComparison, compare_graphs, compare_values
from ...core.explaining.problems import Problem, find_problems
from ...core.flops.views import rows as flops_rows
from ...core.graph.graph import Graph
from ...core.op_libraries.op_listing import OpDetail, OpSummary, describe_op, is_declared, select_ops
from ...core.passes.pipeline import guessed_fetches, inline_functions
from ...core.support.arguments import expect, takes
from ...core.support.errors import InvalidArgumentError, TfgError
from ..loading import load_leniently
from ..model_diff import diff_models
from ..onnx_comparison import compare_with_onnx, is_onnx
from .outputs import default_fetches
from .sessions import State, as_tensors, named, names_of, opened

__all__ = ["check", "compare", "compare_states", "diff", "flops_rows", "ops"]


@takes(graph=Graph | str | os.PathLike | bytes, faults=list | tuple)
def check(graph: Graph | str | os.PathLike[str] | bytes, faults: Sequence[TfgError] = ()) -> tuple[Problem, ...]:
    """Return all problems of a graph and its functions, errors first; an empty tuple for a sound graph.

    A path or the bytes of a file may hold a graph that `load` refuses: the reasons are problems too. `faults` are the
    reasons where the caller read the file. Raises the errors of `load` for a file without a graph.
    """
    if isinstance(graph, Graph):
        expect(TfgError, *faults)
        return find_problems(graph, faults)
    return find_problems(*load_leniently(graph))


@takes(before=Graph, after=Graph, strict_names=bool)
def diff(before: Graph, after: Graph, *, strict_names: bool = False) -> GraphDiff:
    """Return the differences from one graph to another: nodes, functions, signatures, variables, assets and versions.

    The order of nodes does not count. Functions match by what they compute, and numbers that TensorFlow adds to names do not
    count; with `strict_names` nodes and functions match by name. Values of variables and contents of assets are compared
    where the graphs come from SavedModels. Raises the errors of reading these files.
    """
    return diff_models(before, after, strict_names=strict_names)


@takes(
    before=Graph | str | os.PathLike,
    after=Graph | str | os.PathLike,
    feeds=Mapping | None,
    tolerance=float | int,
    state=Mapping | None,
)
def compare(
    before: Graph | str | os.PathLike[str],
    after: Graph | str | os.PathLike[str],
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    tolerance: float = 1e-5,
    state: State | None = None,
) -> GraphComparison:
    """Run two graphs on the same feeds and return how far the values of their nodes differ.

    Called functions stand in place of their calls, so that their nodes are compared. One of the two may be the path of an
    ONNX file, of which onnxruntime computes the outputs. `fetches` names tensors of both graphs, by default the outputs of
    `before`. Placeholders without a value in `feeds` get drawn values. `tolerance` is relative to a tensor's largest
    magnitude. Both graphs run from seed 0; their variables are initialized, then set to the values of `state`.
    InvalidArgumentError where the graphs share no node, UnimplementedError for an ONNX file without onnxruntime.
    """
    if not (isinstance(before, Graph) and isinstance(after, Graph)):
        return _compare_with_onnx(before, after, names_of(fetches), named(feeds), tolerance, state)
    names = names_of(fetches) or default_fetches(before)
    before, after = (inline_functions(graph)[0] if graph.functions else graph for graph in (before, after))
    drawn = Feeds(before, named(feeds), names)
    session = opened(before, state)
    values = next(drawn.each_that_runs(lambda found: session.run(list(names), found)))[0]
    pairs = [(name, after.fetch(name).name) for name in names]
    result = compare_graphs(before, after, pairs, values, lambda graph: opened(graph, state), tolerance)
    if not result.nodes:
        raise InvalidArgumentError("no node of the one graph stands for one of the other")
    return result


def _compare_with_onnx(
    before: Graph | str | os.PathLike[str],
    after: Graph | str | os.PathLike[str],
    fetches: Sequence[str],
    feeds: Mapping[str, Any],
    tolerance: float,
    state: State | None,
) -> GraphComparison:
    graph, path = (before, after) if isinstance(before, Graph) else (after, before)
    if not isinstance(graph, Graph) or isinstance(path, Graph) or not is_onnx(path):
        raise InvalidArgumentError("one of the two has to be a graph, and a path the path of an .onnx file", hint="tfg.load")
    signature = graph.meta.usual_signature if graph.meta is not None else None
    outputs = signature.fetched if signature is not None and not fetches else {}
    outputs = outputs or {name: graph.result(name).name for name in fetches or guessed_fetches(graph)}
    return compare_with_onnx(
        graph, path, (signature.fed if signature is not None else {}, outputs), feeds,
        lambda graph: opened(graph, state), tolerance, onnx_first=path is before, all_outputs=not fetches,
    )  # fmt: skip


@takes(before=Mapping, after=Mapping, tolerance=float | int)
def compare_states(before: State, after: State, *, tolerance: float = 1e-5) -> GraphComparison:
    """Return how far the tensors of two states differ, by name."""
    return compare_values(as_tensors(before), as_tensors(after), tolerance)


@takes(family=str | None, missing_kernel=bool)
def ops(*names: str, family: str | None = None, missing_kernel: bool = False) -> tuple[OpDetail | OpSummary, ...]:
    """Return what tfg has for ops.

    Names of ops give an OpDetail each. Other names are regular expressions, and give an OpSummary of each op that matches;
    no names give all ops. `family` keeps the ops of a file of `core/ops`, `missing_kernel` those without a kernel.
    NotFoundError where nothing matches.
    """
    expect(str, *names)
    if names and family is None and not missing_kernel and all(map(is_declared, names)):
        return tuple(describe_op(name) for name in names)
    return tuple(select_ops(names, family, missing_kernel, False))
