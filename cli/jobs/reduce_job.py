"""Implementation of `tfg reduce`."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import Final

import click

from ...core.graph.graph import Graph
from ...core.support.errors import InvalidArgumentError
from ...core.support.file_formats import REDUCED, TEXT_GRAPH, format_of
from ...core.support.words import counted
from ...formats.api.changes import reduce
from ...formats.api.names import Names
from ...formats.saving import save
from .. import render
from ..commands.reduce import ReduceOptions
from ..options import missing_tensor

_NOT_RUN: Final = (126, 127)
"""The exit codes of a shell for a missing program or a program that cannot run."""


def run(options: ReduceOptions) -> None:
    """Reduce a graph to the smallest part that still fails."""
    ReduceJob(options.reader.load(options.graph), options).run()


class ReduceJob:
    """A run of `tfg reduce`: the failing command, and the number of tried graphs."""

    def __init__(self, graph: Graph, options: ReduceOptions) -> None:
        # Python refuses to start such a command by an error of its own.
        if "\0" in options.test:
            raise click.UsageError("--test contains a NUL, which a command cannot contain")
        self.session = options.session
        self.options = options
        names = Names(graph, options.session.signature).exposing(options.fetches, render.noting(options.quiet))
        self.graph = names.graph
        if not options.fetches:
            raise missing_tensor("--fetch", names.to_fetch())
        self.fetches = [name.partition(":")[0] for name in names.fetches(options.fetches).values()]
        self.feeds = names.feeds(options.feeds)
        self.tried = 0

    def run(self) -> None:
        """Reduce the graph, and write the result."""
        total = len(self.graph)
        with (
            tempfile.TemporaryDirectory() as folder,
            render.ProgressBar("node ruled out", total, self.options.quiet) as progress,
        ):
            path = os.path.join(folder, "graph.pb")
            # The first graph that `reduce` tries is the whole, whose failure the parts are compared with.
            first: list[tuple[int, str]] = []

            def fails(part: Graph) -> bool:
                self.tried += 1
                code, line = self._outcome(part, path)
                if not first:
                    self._check_failure(code, line)
                    first.append((code, _without_numbers(line)))
                # The same failure, and not any: a part may fail for another reason, such as a missing placeholder.
                still = (code, _without_numbers(line)) == first[0]
                if still:
                    progress.update(max(total - len(part), 0))
                return still

            reduced = reduce(
                self.graph, fails, self.fetches, self.feeds, open_session=self.session.filled,
                on_error=lambda error: render.note(f"the run stops at {error}", self.options.quiet),
            )  # fmt: skip
        output = self.options.output
        is_text = output == "-" or format_of(output, REDUCED) is TEXT_GRAPH
        save(reduced, output, text=is_text or None)
        render.note(f"{len(reduced):,} of {counted(total, 'node')} left; graphs tried: {self.tried:,}", self.options.quiet)

    def _outcome(self, graph: Graph, path: str) -> tuple[int, str]:
        """Run the command on a graph; return the exit code and the line with the error."""
        save(graph, path)
        command = self.options.test.replace("{}", path)
        # A shell, since the command is a line of the user's own, with pipes and variables.
        done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, _error_line(done.stderr.decode("utf-8", "replace"))

    def _check_failure(self, code: int, line: str) -> None:
        """Print the failure of the command on the whole graph; InvalidArgumentError if the command succeeds or cannot run."""
        if code == 0:
            hint = "write a command that fails, with an exit code other than 0"
            raise InvalidArgumentError("the command succeeds on the whole graph", hint=hint)
        # Every part would fail like this, and the smallest graph would be the result.
        if code in _NOT_RUN:
            raise InvalidArgumentError(
                f"the shell cannot run the command: {line}", hint="give --test the full path of the program"
            )
        render.note(f"reducing the graph while the command fails with exit code {code} and '{line}'", self.options.quiet)


def _error_line(text: str) -> str:
    """The first line that speaks of an error, or the last of all."""
    lines = [line for line in text.splitlines() if line.strip()]
    # Warnings of libraries often come before and after the error.
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines[-1:] or [""])[0]


def _without_numbers(line: str) -> str:
    """Return a line without numbers, which may change with the graph."""
    return re.sub(r"\d+", "", line)
