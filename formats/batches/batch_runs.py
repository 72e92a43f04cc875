"""The function behind `tfg run --each` with files of results: many inputs, in processes and on clusters."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Unpack

from ...core.comparing.row_blocks import BlockSize
from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect
from ...core.support.errors import InvalidArgumentError
from ...core.support.places import absolute
from ..api.graph_reading import GraphReading
from ..api.names import Given
from ..api.prepared_sessions import named, names_of
from ..api.run_plan import Pairs, RunPlan, RunRequest, StepKeywords, given_pairs
from ..api.session_setup import SessionSetup
from ..items import EACH
from ..state import State
from .batch_job import BatchJob, BatchProgress, BatchReport
from .each_inputs import EachKeywords, in_batches
from .each_recipe import BatchOutput, graph_recipe
from .each_tasks import sweep_tasks
from .table_batches import TableFunction, is_table

__all__ = ["run_batch"]


class BatchKeywords(EachKeywords, StepKeywords, total=False):
    """The inputs and the steps of runs."""


@checked
def run_batch(
    graph: Graph | str | os.PathLike[str],
    inputs: Sequence[str] | str | Any = (),
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    out_dir: str | os.PathLike[str] | None = None,
    format: Literal["npz", "npy", "json", "csv"] = "npz",
    shard_size: int | None = None,
    overwrite: bool = False,
    on: str | None = None,
    state: str | State | None = None,
    seed: int | None = None,
    session: SessionSetup | None = None,
    op_libraries: Sequence[str] | str = (),
    progress: Callable[[BatchProgress], None] | None = None,
    note: Callable[[str], None] | None = None,
    **options: Unpack[BatchKeywords],
) -> BatchReport | Any:
    """Run a graph once for each input, write the results to files, and return the report.

    `inputs`, `fetches` and `feeds` are as in `run_each`. The results go to `out_dir`, a folder with a file of `format` for
    each input, or to shards of `shard_size` results: `output="results.npz"` writes `results-00000-of-00010.npz` and so on;
    other shards are .tfrecord, .jsonl, .csv, .parquet and .arrow. By default a shard has 1,000 results, or those of a group
    of rows in Parquet and Arrow files. A later call computes the results that are missing or older than their inputs; with
    `overwrite` all. InvalidArgumentError where the place has results of another graph or of other settings.

    `on` names the place of the runs: by default this process; `local:4` for four processes, `dask://HOST:PORT`, or
    `grpc://HOST:PORT` for a TensorFlow cluster. New processes import no module of the caller, and load `op_libraries`,
    which are files and names of modules. They read a graph from its path; a Graph travels as bytes.

    Before the first step, variables are initialized, then set by `state`, a file or values, then changed by `assign`,
    `assign_add` and `assign_sub`. `session` has further settings, such as the engine.

    `progress` is called after each report, and `note` with remarks, such as on a wait for workers. A failure ends the batch
    unless `keep_going`; the report has the errors.

    `inputs` may be a table as for `map_batches`: a DataFrame of pandas or polars, a table of pyarrow, or a dictionary of
    arrays. Then no file is written, and the result is a table of the same kind: the columns that feed nothing, and a column
    for each fetch. The error of a row names the row.
    """
    reading = GraphReading(op_library=names_of(op_libraries))
    loaded = graph if isinstance(graph, Graph) else reading.load(graph)
    parts, batch, sweep, keep_going = options["parts"], options["batch"], options["sweep"], options["keep_going"]
    feeding = given_pairs(feeds) + _parts({} if is_table(inputs) else parts)
    request = RunRequest.of_values(fetches, feeding, options)
    setup = _setup(session or SessionSetup(), on, state, seed)
    if is_table(inputs):
        _require_defaults(
            output=output, out_dir=out_dir, format=format != "npz", shard_size=shard_size, on=setup.on, sweep=sweep,
            keep_going=keep_going, overwrite=overwrite, targets=request.targets, steps=request.steps != 1,
            top_k=request.top_k, labels=request.labels, progress=progress,
        )  # fmt: skip
        return TableFunction(loaded, request, dict(parts or {}), batch, setup, note)(inputs)
    files = BatchOutput(
        None if out_dir is None else os.fspath(out_dir), None if output is None else absolute(output), format,
        shard_size, overwrite, keep_going,
    )  # fmt: skip
    path = None if isinstance(graph, Graph) else os.fspath(graph)
    note = (lambda _: None) if note is None else note
    loaded, path, size = batched(loaded, path, request, setup.signature, batch, note)
    recipe = graph_recipe(loaded, path, reading, setup.of_many_runs(), request, files, size)
    return BatchJob(loaded, recipe, sweep_tasks(names_of(inputs), _settings(sweep)), note=note).run(progress)


def _require_defaults(**given: Any) -> None:
    """InvalidArgumentError for a parameter that has no effect on a table."""
    for name, value in given.items():
        if value:
            hint = f"leave out `{name}`, or give the files of the inputs"
            raise InvalidArgumentError(f"`{name}` has no effect on a table, which gives a table", hint=hint)


def batched(
    graph: Graph, path: str | None, request: RunRequest, signature: str | None, batch: BlockSize | Literal["?"],
    note: Callable[[str], None],
) -> tuple[Graph, str | None, BlockSize]:  # fmt: skip
    """Return a graph that takes `batch` rows, its file where the graph is still the file's, and the inputs in a block."""
    if batch == "auto":
        return graph, path, batch
    fetches = list(RunPlan(graph, request, signature).fetches.values())
    changed, size = in_batches(graph, fetches, batch, note)
    return changed, path if changed is graph else None, size


def _setup(session: SessionSetup, on: str | None, state: str | State | None, seed: int | None) -> SessionSetup:
    """Return the settings of a session with the arguments in their places."""
    return dataclasses.replace(
        session, on=on or session.on, state=state if isinstance(state, str) else session.state,
        variable_values=session.variable_values if state is None or isinstance(state, str) else state,
        seed=session.seed if seed is None else seed,
    )  # fmt: skip


def _parts(parts: Mapping[str, str] | None) -> Pairs:
    """Return feeds that stand for parts of an input: `@each:KEY?OPTIONS`."""
    return tuple((name, f"{EACH}{text if text.startswith('?') else f':{text}'}") for name, text in named(parts).items())


def _settings(sweep: Mapping[str, Sequence[Any]] | None) -> list[tuple[str, list[Given]]]:
    expect(list | tuple, *named(sweep).values())
    return [(name, list(map(Given, values))) for name, values in named(sweep).items()]
