"""How `tfg run` shows or writes what was fetched."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click
import numpy as np

from ...core.explaining.graph_facts import GraphFacts, explain_graph
from ...core.graph.graph import Graph
from ...core.runtime.session.runner import FetchedValue, StepResult
from ...core.support.errors import InvalidArgumentError, UnimplementedError
from ...core.support.words import counted
from ...core.types.tensors import Tensor
from ...formats.codecs.npz import npz_bytes
from ...formats.codecs.source import write_file
from .. import render
from ..main import DONE
from .explain_sections import signature_table

_MAX_SHOWN = 1000


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
    encoders = {"npy": _npy, "npz": _npz, "table": _table}
    return encoders[format_](steps)


def _table(steps: Sequence[StepResult]) -> bytes:
    """The table as it is printed, with all elements."""
    return "".join(f"{line}\n" for line in render.plain_text(_sections(steps, sys.maxsize))).encode()


def show_choices(graph: Graph, name: str, format_: str) -> int:
    """Print the signatures of a graph, or its inputs and outputs where it has none, and the commands that run them.

    UsageError where there is nothing to fetch.
    """
    facts = explain_graph(graph, name)
    if not (facts.signatures or facts.outputs or facts.train_ops):
        raise click.UsageError("nothing to do: no output stands out; give --fetch, --target, --init or --assign")
    commands = [command for command in facts.next_commands if command.startswith("tfg run")]
    shown = {"signatures": facts.signatures, "inputs": facts.inputs, "outputs": facts.outputs, "next_commands": commands}
    render.emit("tfg.run.choices/1", shown, format_, lambda: _choices(facts, commands))
    return DONE


def _choices(facts: GraphFacts, commands: Sequence[str]) -> Iterator[render.Section]:
    yield from map(signature_table, facts.signatures)
    for title, tensors in () if facts.signatures else (("inputs", facts.inputs), ("outputs", facts.outputs)):
        if tensors:
            yield render.Table(("name", "op", "dtype", "shape"), [(t.name, t.op, t.dtype, t.shape) for t in tensors], title)
    yield render.Text(commands, "next")


def _npy(steps: Sequence[StepResult]) -> bytes:
    arrays = _history(steps)
    if len(arrays) != 1:
        raise InvalidArgumentError(f".npy holds one tensor, {len(arrays)} were fetched", hint="use --format npz")
    name, array = next(iter(arrays.items()))
    if array.dtype.kind not in "biufc":
        raise UnimplementedError(f"'{name}' is of a dtype that .npy cannot hold", hint="use --format npz or json")
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _npz(steps: Sequence[StepResult]) -> bytes:
    return npz_bytes(fetched_tensors(steps))


def fetched_tensors(steps: Sequence[StepResult]) -> dict[str, Tensor]:
    """The values of each tensor; where several steps fetched, stacked along a new first axis."""
    return {name: Tensor.from_numpy(array) for name, array in _history(steps).items()}


def _history(steps: Sequence[StepResult]) -> dict[str, Any]:
    """Each tensor's value; where several steps fetched, their values stacked along a new first axis."""
    found: dict[str, list[Any]] = {}
    for step in steps:
        for item in step.values:
            if item.shape is not None:
                found.setdefault(item.name, []).append(item.value)
    arrays = {}
    for name, values in found.items():
        if len({np.shape(value) for value in values}) > 1:
            raise InvalidArgumentError(f"'{name}' changed its shape from step to step", hint="use --format json")
        arrays[name] = values[0] if len(values) == 1 else np.stack(values)
    return arrays


def _sections(steps: Sequence[StepResult], max_shown: int) -> Iterator[render.Section]:
    """Scalars of several steps as one table, a row a step; everything else tensor by tensor, of so many elements at most."""
    scalars = all(item.shape in ((), None) for step in steps for item in step.values)
    if scalars and len(steps) > 1:
        columns = ("step", *(item.name for item in steps[0].values))
        yield render.Table(columns, [(step.step, *(_shown(item) for item in step.values)) for step in steps])
        return
    for step in steps:
        prefix = f"step {step.step}: " if len(steps) > 1 else ""
        short = [item for item in step.values if item.shape in ((), None)]
        if short:
            yield render.Text([prefix + _short_line(item) for item in short])
        for item in step.values:
            if item.shape:
                shape = ",".join(map(str, item.shape))
                yield render.Text(str(_shown(item, max_shown)), f"{prefix}{item.name}  {item.dtype} ({shape})")


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
