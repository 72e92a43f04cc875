"""Output sections and files of `tfg run`."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import click
import numpy as np

from ...core.explaining.graph_facts import GraphFacts, callables, explain, output_candidates
from ...core.graph.graph import Graph
from ...core.runtime.session.runner import FetchedValue, StepResult
from ...core.support.json_documents import plain
from ...core.support.words import counted
from ...formats.api.step_results import encoded_steps
from ...formats.codecs.source import write_file
from ...formats.state import unread_values
from .. import render
from ..main import DONE
from ..placeholder_options import SizeOptions
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
            write_file("-", [_encoded(steps, format_, schema)])
        return
    write_file(out, [_encoded(steps, format_, schema)])
    count = len({item.name for step in steps for item in step.values})
    render.note(f"wrote {counted(count, 'result')} to {out}", quiet)


def _encoded(steps: Sequence[StepResult], format_: str, schema: str) -> bytes:
    return steps_table(steps) if format_ == "table" else encoded_steps(steps, format_, schema)


def steps_table(steps: Sequence[StepResult]) -> bytes:
    """Return the printed table with all elements."""
    return "".join(f"{line}\n" for line in render.plain_text(_sections(steps, sys.maxsize))).encode()


_NAMED: Final = 3
"""The largest number of functions that an error names."""


def show_choices(graph: Graph, name: str, sizes: SizeOptions, format_: str) -> int:
    """Print the signatures of a graph, or else its inputs and outputs, and the commands that run them with the sizes; for a
    model without the values of its variables the commands that need none.

    UsageError for a graph without outputs.
    """
    lacks = unread_values(graph)
    if lacks is not None:
        render.note(f"the values of variables cannot be read: {lacks}")
    facts = explain(graph, path=name, variables_unread=lacks)
    if not (facts.signatures or facts.outputs or facts.train_ops):
        raise nothing_to_do(graph)
    lines = sizes.carried(facts.next_commands)
    commands = [line for line in lines if lacks is not None or "run" in line.split()[1:3]]
    shown = {"signatures": facts.signatures, "inputs": facts.inputs, "outputs": facts.outputs, "next_commands": commands}
    render.emit("tfg.run.choices/1", shown, format_, lambda: _choices(facts, commands))
    return DONE


def nothing_to_do(graph: Graph) -> click.UsageError:
    """Return the error of a graph without outputs, with the functions of the model's objects or a few tensors to fetch."""
    if called := callables(graph):
        names = " or ".join(f"--function {shlex.quote(one.name)}" for one in called[:_NAMED])
        return click.UsageError(
            f"nothing to do: the model has no signature; add {names}, --fetch, --target, --init or --assign"
        )
    names = " or ".join(output_candidates(graph))
    such = f" (such as {names})" if names else ""
    return click.UsageError(f"nothing to do: the graph has no obvious output; add --fetch{such}, --target, --init or --assign")


def _choices(facts: GraphFacts, commands: Sequence[str]) -> Iterator[render.Section]:
    yield from map(signature_table, facts.signatures)
    for title, tensors in () if facts.signatures else (("inputs", facts.inputs), ("outputs", facts.outputs)):
        if tensors:
            yield render.Table(("name", "op", "dtype", "shape"), [(t.name, t.op, t.dtype, t.shape) for t in tensors], title)
    yield render.Text(commands, "next", "commands")


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
        value = np.array([plain(text) for text in value.ravel().tolist()], object).reshape(value.shape)
    if value.ndim == 0:
        return value.item()
    return np.array2string(value, threshold=max_shown, separator=", ", max_line_width=100)


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
