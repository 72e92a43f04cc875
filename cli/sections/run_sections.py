"""Output sections and files of `tfg run`."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import click
import numpy as np

from ...core.explaining.graph_facts import GraphFacts, explain_graph
from ...core.graph.graph import Graph
from ...core.runtime.session.runner import FetchedValue, StepResult
from ...core.support.errors import InvalidArgumentError, UnimplementedError
from ...core.support.words import counted
from ...core.types.tensors import Tensor
from ...formats.api.classes import TopClasses, top_classes
from ...formats.codecs.npz import npz_bytes
from ...formats.codecs.source import write_file
from .. import render
from ..main import DONE
from .explain_sections import signature_table

_MAX_SHOWN = 1000
CLASSES: Final = "/classes"
"""The end of a name of class numbers; scores and labels end likewise."""


def write_steps(
    steps: Sequence[StepResult], format_: str, out: str | None, quiet: bool = False, schema: str = "tfg.run/1"
) -> None:
    """Print the fetched values, or write them to a file whole or not at all."""
    if out in (None, "-"):
        if steps and format_ == "table":
            render.print_sections(_sections(steps, _MAX_SHOWN))
        elif steps or format_ == "json":
            write_file("-", [encoded_steps(steps, format_, schema)])
        return
    write_file(out, [encoded_steps(steps, format_, schema)])
    count = len({item.name for step in steps for item in step.values})
    render.note(f"wrote {counted(count, 'result')} to {out}", quiet)


def encoded_steps(steps: Sequence[StepResult], format_: str, schema: str = "tfg.run/1") -> bytes:
    """The fetched values as a file of the format holds them; `schema` is the name of the schema of JSON."""
    if format_ == "json":
        return render.json_line(schema, {"steps": steps})
    encoders = {"npy": _npy, "npz": _npz, "csv": steps_csv, "table": _table}
    return encoders[format_](steps)


def _table(steps: Sequence[StepResult]) -> bytes:
    """Return the printed table with all elements."""
    return "".join(f"{line}\n" for line in render.plain_text(_sections(steps, sys.maxsize))).encode()


def show_choices(graph: Graph, name: str, format_: str) -> int:
    """Print the signatures of a graph, or else its inputs and outputs, and the commands that run them.

    UsageError for a graph without outputs.
    """
    facts = explain_graph(graph, name)
    if not (facts.signatures or facts.outputs or facts.train_ops):
        raise click.UsageError("nothing to do: the graph has no obvious output; add --fetch, --target, --init or --assign")
    commands = [command for command in facts.next_commands if command.startswith("tfg run")]
    shown = {"signatures": facts.signatures, "inputs": facts.inputs, "outputs": facts.outputs, "next_commands": commands}
    render.emit("tfg.run.choices/1", shown, format_, lambda: _choices(facts, commands))
    return DONE


def _choices(facts: GraphFacts, commands: Sequence[str]) -> Iterator[render.Section]:
    yield from map(signature_table, facts.signatures)
    for title, tensors in () if facts.signatures else (("inputs", facts.inputs), ("outputs", facts.outputs)):
        if tensors:
            yield render.Table(("name", "op", "dtype", "shape"), [(t.name, t.op, t.dtype, t.shape) for t in tensors], title)
    yield render.Text(commands, "next", "commands")


def _npy(steps: Sequence[StepResult]) -> bytes:
    arrays = _history(steps)
    if len(arrays) != 1:
        raise InvalidArgumentError(f".npy holds a single tensor, but {len(arrays)} were fetched", hint="use --format npz")
    name, array = next(iter(arrays.items()))
    if array.dtype.kind not in "biufc":
        raise UnimplementedError(f".npy cannot hold the dtype of '{name}'", hint="use --format npz or json")
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _npz(steps: Sequence[StepResult]) -> bytes:
    return npz_bytes(fetched_tensors(steps))


def steps_csv(steps: Sequence[StepResult], result: str | None = None) -> bytes:
    """Return the fetched values as CSV with a header: a row for each index of the first axis, or for each step.

    `result` is the value of a first column `name`. A tensor with a single column gives the column its name; several columns
    are NAME_0, NAME_1 and so on. InvalidArgumentError for tensors that do not fit into a table.
    """
    columns: dict[str, Any] = {"step": [step.step for step in steps]} if len(steps) > 1 else {}
    for name, array in _history(steps).items():
        if array.ndim > 2:
            problem = f"'{name}' has {array.ndim} dimensions including the steps, but CSV has only rows and columns"
            raise InvalidArgumentError(problem, hint="write .npz or .json")
        flat = array.reshape(array.shape[0] if array.ndim else 1, -1)
        width = flat.shape[1]
        columns |= {name if array.ndim < 2 else f"{name}_{i}": list(map(_csv_cell, flat[:, i])) for i in range(width)}
    heights = {len(column) for column in columns.values()}
    if len(heights) > 1:
        raise InvalidArgumentError(
            "the fetched tensors have unequal numbers of rows", hint="fetch a single tensor, or write .npz"
        )
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    first, mark = ((), ()) if result is None else (("name",), (result,))
    writer.writerow([*first, *columns])
    writer.writerows([[*mark, *row] for row in zip(*columns.values())])
    return text.getvalue().encode("utf-8", "surrogateescape")


def _csv_cell(value: Any) -> str:
    """Return text, or the shortest decimal that reads as the same number of the dtype."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def fetched_tensors(steps: Sequence[StepResult]) -> dict[str, Tensor]:
    """The values of each tensor; where several steps fetched, stacked along a new first axis."""
    return {name: Tensor.from_numpy(array) for name, array in _history(steps).items()}


def _history(steps: Sequence[StepResult]) -> dict[str, Any]:
    """Each tensor's value; where several steps fetched, their values stacked along a new first axis."""
    values_by_name: dict[str, list[Any]] = {}
    for step in steps:
        for item in step.values:
            if item.shape is not None:
                values_by_name.setdefault(item.name, []).append(item.value)
    arrays = {}
    for name, values in values_by_name.items():
        if len({np.shape(value) for value in values}) > 1:
            raise InvalidArgumentError(f"'{name}' changed its shape from step to step", hint="use --format json")
        arrays[name] = values[0] if len(values) == 1 else np.stack(values)
    return arrays


def _sections(steps: Sequence[StepResult], max_shown: int) -> Iterator[render.Section]:
    """Yield scalars of several steps as a table with a row for each step, and all other tensors one by one, cut to
    `max_shown` elements.
    """
    scalars = all(item.shape in ((), None) for step in steps for item in step.values)
    if scalars and len(steps) > 1:
        columns = ("step", *(item.name for item in steps[0].values))
        yield render.Table(columns, [(step.step, *(_shown(item) for item in step.values)) for step in steps])
        return
    for step in steps:
        tables = list(class_tables(step.values))
        if tables:
            yield from tables
            continue
        prefix = f"step {step.step}: " if len(steps) > 1 else ""
        short = [item for item in step.values if item.shape in ((), None)]
        if short:
            yield render.Text([prefix + _short_line(item) for item in short], form="code")
        for item in step.values:
            if item.shape:
                shape = ",".join(map(str, item.shape))
                yield render.Text(str(_shown(item, max_shown)), f"{prefix}{item.name}  {item.dtype} ({shape})", "code")


def _short_line(item: FetchedValue) -> str:
    return f"{item.name}: done" if item.shape is None else f"{item.name} = {_shown(item)}  ({item.dtype})"


def _shown(item: FetchedValue, max_shown: int = _MAX_SHOWN) -> Any:
    value = item.value
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == object:
        value = np.array([render.plain(text) for text in value.ravel().tolist()], object).reshape(value.shape)
    if value.ndim == 0:
        return value.item()
    return np.array2string(value, threshold=max_shown, separator=", ", max_line_width=100)


def with_top_classes(step: StepResult, k: int, labels: Sequence[str] | None) -> StepResult:
    """Return a step with the best classes in the place of fetched scores: floating-point tensors of rank 1 and more."""
    values: list[FetchedValue] = []
    for item in step.values:
        is_score = item.shape and isinstance(item.value, np.ndarray) and Tensor.from_numpy(item.value).dtype.is_floating
        values += _class_values(item.name, top_classes(item.value, k, labels)) if is_score else [item]
    return StepResult(step.step, tuple(values))


def _class_values(name: str, top: TopClasses) -> list[FetchedValue]:
    arrays = {"classes": top.classes, "scores": top.scores, **({} if top.labels is None else {"labels": top.labels})}
    return [FetchedValue(f"{name}/{key}", _dtype(array), array.shape, array) for key, array in arrays.items()]


def _dtype(array: Any) -> str:
    return "string" if array.dtype == object else Tensor.from_numpy(array).dtype.name


def class_tables(values: Sequence[FetchedValue]) -> Iterator[render.Section]:
    """Yield a table for each tensor of scores: a line for each class, the best first."""
    by_name = {item.name: item.value for item in values}
    for item in values:
        if item.name.endswith(CLASSES) and item.name.replace(CLASSES, "/scores") in by_name:
            yield _class_table(item.name.removesuffix(CLASSES), by_name)


def _class_table(name: str, values: Mapping[str, Any]) -> render.Table:
    columns = {key: values[f"{name}/{key}"] for key in ("classes", "labels", "scores") if f"{name}/{key}" in values}
    cells = {key: array.reshape(math.prod(array.shape[:-1]), array.shape[-1]) for key, array in columns.items()}
    rows = [
        (row, *(_cell(array[row, place]) for array in cells.values())) for row, place in np.ndindex(cells["classes"].shape)
    ]
    return render.Table(("row", *("class" if key == "classes" else key.removesuffix("s") for key in cells)), rows, name)


def _cell(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return int(value) if value.dtype.kind == "i" else f"{value:.6g}"
