"""What `tfg flops` does between its options and its output."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

import click

from ..core.errors import InvalidArgumentError
from ..core.flops import FlopsReport, count_flops
from ..core.graph import Graph
from . import render
from .options import GraphReader


class Job:
    """One `tfg flops`: its options, the graph, what is fetched and fed."""

    def __init__(self, reader: GraphReader, path: str, **options: Any) -> None:
        self.options = options
        self.quiet: bool = options["quiet"]
        self._check()
        self.graph: Graph = reader.load(path)
        self.fetches: tuple[str, ...] = options["fetches"] or self._guessed_fetches()
        self.gradients: Mapping[str, str] = {}
        if options["backward"] or options["loss"] or options["per_variable"]:
            from ..core.flops.training import with_backward

            loss = options["loss"] or _tensor(self.fetches[0])
            self.graph, self.gradients = with_backward(self.graph, loss, options["wrt"])
            self.fetches = (*self.fetches, *self.gradients.values())

    def _check(self) -> None:
        """Refuse options that would have no effect."""
        chosen = [name for name in ("measured", "per_variable", "compat", "run_metadata") if self.options[name]]
        if len(chosen) > 1:
            first, second = (f"--{name.replace('_', '-')}" for name in chosen[:2])
            raise click.UsageError(f"{first} and {second} are different views: choose one")
        for name in ("init", "state", "trace"):
            if self.options[name] and not self.options["measured"]:
                raise click.UsageError(f"--{name} is for --measured")

    def count(self) -> FlopsReport:
        """The count from shapes."""
        trips = {loop: _whole_number("--trips", loop, text) for loop, text in self.options["trips"]}
        feeds = [name.partition("=")[0].strip() for name in self.options["feeds"]]
        values = self._feeds(required=False)
        report = count_flops(self.graph, self.fetches, feeds, shapes=self._shapes(), values=values, trips=trips)
        numbers = {_symbol(size, report): _whole_number("--size", size, text) for size, text in self.options["sizes"]}
        if self.options["batch"] is not None:
            numbers["N"] = self.options["batch"]
        return report.substituted(numbers) if numbers else report

    def measure(self) -> Any:
        """A Measurement of real runs; writes the trace where one is asked for."""
        from ..core.flops.measured import chrome_trace, measure
        from ..core.running import Runner
        from ..core.session import Session

        runner = Runner(Session(self.graph))
        if self.options["init"]:
            runner.initialize()
        if self.options["state"]:
            from ..formats.state import read_variables

            runner.restore(read_variables(self.options["state"]))
        feeds = self._feeds(required=True)
        fetches = [name if self._is_operation(name) else _tensor(name) for name in self.fetches]
        found = measure(runner.session, fetches, feeds, warmup=self.options["warmup"], runs=self.options["runs"])
        if self.options["trace"]:
            from ..formats.source import write_file

            write_file(self.options["trace"], [json.dumps(chrome_trace(found)).encode()])
            render.note(f"wrote {len(found.events)} events to {self.options['trace']}", self.quiet)
        return found

    def variables(self, report: FlopsReport) -> Mapping[str, Any]:
        """For --per-variable: (own, all) totals of the backward pass."""
        from ..core.flops.training import per_variable

        return per_variable(self.graph, self.gradients, report)

    def run_metadata(self, report: FlopsReport) -> Any:
        """TensorFlow's own timings beside the counts."""
        from ..core.flops.timings import joined

        return joined(report, self._recorded)

    def comparison(self, report: FlopsReport) -> Any:
        """tf.profiler's formulas beside these."""
        from ..core.flops.tfprof import compare

        return compare(self.graph, report, self._shapes(), self.options["batch"])

    def _shapes(self) -> dict[str, Any]:
        """The shapes that are given, by themselves, with a value or in a RunMetadata."""
        shapes = {self.graph.output(name).name: shape for name, shape in self.options["shapes"]}
        for name, value in self._feeds(required=False).items():
            shapes.setdefault(name, value.shape)
        if self.options["run_metadata"]:
            from ..core.flops.timings import recorded_shapes

            shapes = recorded_shapes(self.graph, self._recorded) | shapes
        return shapes

    @functools.cached_property
    def _recorded(self) -> list[Any]:
        """The executions in the RunMetadata."""
        from ..formats.run_metadata import read_run_metadata

        return read_run_metadata(self.options["run_metadata"])

    def _feeds(self, required: bool) -> dict[str, Any]:
        from ..formats.values import parse_value

        values = {}
        for item in self.options["feeds"]:
            name, equals, text = item.partition("=")
            if equals:
                output = self.graph.output(name.strip())
                values[output.name] = parse_value(text.strip(), output.dtype.base if output.dtype else None)
            elif required:
                raise click.UsageError(f"--measured runs the graph: give --feed {name}=VALUE")
        return values

    def _is_operation(self, name: str) -> bool:
        return ":" not in name and not self.graph.node(name).output_dtypes

    def _guessed_fetches(self) -> tuple[str, ...]:
        """The graph's outputs, as `tfg explain` finds them."""
        from ..core.explain import explain_graph

        facts = explain_graph(self.graph)
        names = tuple(tensor.name for tensor in facts.outputs) or facts.train_ops
        if not names:
            raise InvalidArgumentError("no output stands out in this graph", hint="name one with --fetch")
        listed = ", ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        render.note(f"counting what {listed} run; --fetch chooses others", self.quiet)
        return names


def _tensor(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _symbol(size: str, report: FlopsReport) -> str:
    """The symbol that a user means; InvalidArgumentError where nothing counted depends on it."""
    for symbol in (size, f"n[{size}]"):
        if symbol in report.symbols:
            return symbol
    known = ", ".join(report.symbols) or "none"
    raise InvalidArgumentError(f"--size {size}: what is counted depends on no such size", hint=f"the sizes are: {known}")


def _whole_number(option: str, name: str, text: str) -> int:
    if not text.isdecimal():
        raise InvalidArgumentError(f"{option} {name}={text}: '{text}' is no whole number from 0 on")
    return int(text)
