"""What `tfg reduce` does between its options and its output."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import tempfile

import click

from ..core.comparing.execution import Recorder
from ..core.comparing.verification import generated_feeds
from ..core.errors import InvalidArgumentError, PermissionDeniedError, TfgError
from ..core.file_formats import REDUCED, TEXT_GRAPH, format_of
from ..core.graph import Graph
from ..core.planning.needed import needed_nodes
from ..core.transforms.reduction import Values, reduce_graph
from ..core.words import counted
from ..formats.saving import save
from . import render
from .names import Names
from .sessions import SessionOptions


@dataclasses.dataclass(frozen=True, slots=True)
class ReduceOptions:
    """What `tfg reduce` is told beside how to open its session."""

    fetches: tuple[str, ...]
    test: str
    output: str
    feeds: tuple[tuple[str, str], ...]
    quiet: bool


class ReduceJob:
    """One `tfg reduce`: the command that fails, and the graphs that it was tried on."""

    def __init__(self, graph: Graph, session: SessionOptions, options: ReduceOptions) -> None:
        if "\0" in options.test:
            raise click.UsageError("--test holds a NUL, which no command can")
        self.graph = graph
        self.session = session
        self.options = options
        names = Names(graph, session.signature)
        self.fetches = [name.partition(":")[0] for name in names.fetches(options.fetches).values()]
        self.feeds = names.feeds(options.feeds)
        self.tried = 0

    def run(self) -> None:
        """Reduce, and write what is left."""
        values = self._recorded()
        total = len(self.graph)
        with tempfile.TemporaryDirectory() as folder, render.Progress("node ruled out", total, self.options.quiet) as progress:
            path = os.path.join(folder, "graph.pb")
            expected = self._outcome(self.graph, path)
            if expected[0] == 0:
                hint = "it must fail: end with another exit code than 0"
                raise InvalidArgumentError("the command succeeds on the whole graph", hint=hint)

            def fails(part: Graph) -> bool:
                self.tried += 1
                still = self._outcome(part, path) == expected
                if still:
                    progress.update(max(total - len(part), 0))
                return still

            found = reduce_graph(self.graph, self.fetches, values, fails, [name.partition(":")[0] for name in self.feeds])
        output = self.options.output
        is_text = output == "-" or format_of(output, REDUCED) is TEXT_GRAPH
        save(found, output, text=is_text or None)
        render.note(f"{len(found):,} of {counted(total, 'node')} left; graphs tried: {self.tried:,}", self.options.quiet)

    def _outcome(self, graph: Graph, path: str) -> tuple[int, str]:
        """How the command ends: its exit code, and its error without the numbers."""
        save(graph, path)
        command = self.options.test.replace("{}", path)
        done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, _error_line(done.stderr.decode("utf-8", "replace"))

    def _recorded(self) -> Values:
        """What the nodes compute, as far as they come: a graph that fails is what this is for."""
        needed = {node.name for node in needed_nodes([self.graph.fetch(name) for name in self.fetches])}
        feeds = generated_feeds(self.graph, self.feeds, needed)
        session = self.session.local(self.graph)
        self.session.prepare(session, quiet=True, implied=True)
        recorder = Recorder(session.runnable())
        try:
            session.run(self.fetches, feeds, hook=recorder)
        except PermissionDeniedError:
            raise
        except TfgError as error:
            render.note(f"the graph stops at {error}", self.options.quiet)
        return {**recorder.values, **{name.partition(":")[0]: [(value,)] for name, value in feeds.items()}}


def _error_line(text: str) -> str:
    """The first line that speaks of an error, or the last of all, without numbers, which may change with the graph."""
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return re.sub(r"\d+", "", (errors or lines[-1:] or [""])[0])
