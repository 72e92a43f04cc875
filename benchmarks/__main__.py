"""tfg beside TensorFlow, work by work: pairs in turn, the median of their ratios; below 1 tfg is faster.

    python -m benchmarks --tensorflow PYTHON [--only NAME] [--json FILE]

TensorFlow runs as it comes, with oneDNN, a chain of sums excepted, which it would fold. Each engine has a process of its own;
a pair is some runs of the one and then of the other, so that what else the machine does falls on both. The time is that of the
clock, and beside it stands the processor's: on a machine that does other work, only the second can be compared. Memory is the
largest that a process had, its libraries included. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .works import Missing, chosen

PAIRS = 9
WARM_RUNS, WARM_SECONDS = 40, 20
"""Runs before, unless they take longer than so many seconds."""
SECONDS = 0.5
"""How long the runs of one side of a pair take together."""


class Sample(NamedTuple):
    """What a side tells of some runs: medians in seconds, by the clock and of processors, and its largest memory in KiB."""

    wall: float
    cpu: float
    peak: float


class Side:
    """A process that does one work with one engine when it is told to."""

    def __init__(self, python: str, engine: str, name: str) -> None:
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks", "--serve", engine, "--only", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        self.missing = self._answer().get("missing", "")

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        while line and not line.startswith("{"):
            line = self.process.stdout.readline()
        return json.loads(line) if line else {"missing": "its process ended"}

    def sample(self) -> Sample:
        """What some runs take."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return Sample(**self._answer())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def serve(engine: str, name: str) -> None:
    """Answer each line with the time of some runs."""
    work = dict(chosen(name))[name]
    try:
        if engine == "tfg":
            from tfg.core.runtime.guards.allocation import keep_freed_memory

            keep_freed_memory()
        run = work(engine)
        warm_up(run)
    except Missing as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    print("{}", flush=True)
    for _ in sys.stdin:
        runs, end = [], time.perf_counter() + SECONDS
        while not runs or time.perf_counter() < end:
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            runs.append((time.perf_counter() - wall, time.process_time() - cpu))
        walls, cpus = zip(*runs)
        sample = Sample(statistics.median(walls), statistics.median(cpus), peak())
        print(json.dumps(sample._asdict()), flush=True)


def warm_up(run: Callable[[], Any]) -> None:
    """Run until what is found out in the first runs is known: some times, or for a while."""
    end = time.perf_counter() + WARM_SECONDS
    for _ in range(WARM_RUNS):
        run()
        if time.perf_counter() > end:
            return


def peak() -> int:
    """The largest memory of this process, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def compared(name: str, python: str | None) -> dict[str, Any] | None:
    """The medians of a work's pairs; None where it cannot be done here. Without a TensorFlow there is no ratio."""
    sides = [Side(python, "tensorflow", name)] if python else []
    sides.append(Side(sys.executable, "tfg", name))
    try:
        if sides[-1].missing:
            print(f"{name}: needs {sides[-1].missing}", file=sys.stderr)
            return None
        present = [side for side in sides if not side.missing]
        pairs = [[side.sample() for side in present] for _ in range(PAIRS)]
    finally:
        for side in sides:
            side.close()
    return {"work": name, **figures(pairs)}


def figures(pairs: list[list[Sample]]) -> dict[str, float]:
    """Milliseconds and MiB of tfg and, where there are two sides, of TensorFlow, and the medians of the ratios of pairs."""
    median = statistics.median
    found = {}
    for side, engine in zip(reversed(range(len(pairs[0]))), ("tfg", "tensorflow")):
        found[f"{engine}_ms"] = 1e3 * median(pair[side].wall for pair in pairs)
        found[f"{engine}_cpu_ms"] = 1e3 * median(pair[side].cpu for pair in pairs)
        found[f"{engine}_mib"] = pairs[-1][side].peak / 1024
    if len(pairs[0]) == 2:
        found["ratio"] = median(own.wall / other.wall for other, own in pairs)
        found["cpu_ratio"] = median(own.cpu / other.cpu for other, own in pairs)
        found["memory_ratio"] = found["tfg_mib"] / found["tensorflow_mib"]
    return found


def row(found: dict[str, Any]) -> str:
    """A line of the table."""
    cells = [found["work"], f"{found['tfg_ms']:.1f}"]
    for name, form in (("tensorflow_ms", ".1f"), ("ratio", ".2f"), ("cpu_ratio", ".2f"), ("memory_ratio", ".2f")):
        cells.append(format(found[name], form) if name in found else "")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow and the packages of tfg")
    parser.add_argument("--only", metavar="NAME", help="only works whose names contain this")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the figures here too")
    parser.add_argument("--serve", choices=("tfg", "tensorflow"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.only)
        return
    print("| work | tfg ms | TensorFlow ms | ratio | of processor time | of memory |\n| --- | --- | --- | --- | --- | --- |")
    found = []
    for name, _ in chosen(options.only):
        figures_of_work = compared(name, options.tensorflow)
        if figures_of_work is not None:
            found.append(figures_of_work)
            print(row(figures_of_work), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
