"""tfg beside TensorFlow, work by work: NumPy, and `auto` with each engine, in turn in a run; below 1 tfg takes less time.

    python -m benchmarks --tensorflow PYTHON [--quick] [--fast] [--openvino] [--only NAME] [--json FILE]

TensorFlow runs by default with oneDNN, except for a chain of sums, which oneDNN would fold. Each way has a separate
process. A round is some runs of each way in turn, so that other load affects all ways alike. A cell of TensorFlow has
milliseconds of wall time and, in parentheses, of CPU time; the other cells have the medians of the ratios of wall time and,
in parentheses, of CPU time, and the choice of `auto`. On a busy machine only ratios of CPU time are comparable. --quick
measures some works in three rounds, --fast adds `auto` with OpenVINO and --precision fast, --openvino OpenVINO without tfg.
Prints a table in Markdown.
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
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfg.core.support.errors import TfgError

from . import sessions
from .works import Missing, chosen

ROUNDS, QUICK_ROUNDS = 9, 3
WARM_RUNS, WARM_SECONDS = 40, 20
"""The number of warm-up runs, and the seconds that bound slow warm-up runs."""
SECONDS = 0.5
"""The seconds of all runs of a way in a round."""
SETTLING_SECONDS = 180.0
"""The seconds for a session to choose between NumPy and an engine, before the measurement starts anyway."""


class Sample(NamedTuple):
    """Figures of some runs of a side: medians in seconds of wall and CPU time, the peak memory in KiB, and the chosen way."""

    wall: float
    cpu: float
    peak: float
    kept: str = ""


class Side:
    """A process that does a work in a way on request."""

    def __init__(self, python: str, way: str, name: str) -> None:
        self.way = way
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks", "--serve", way, "--only", name],
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
        """Return the figures of some runs."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return Sample(**self._answer())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def serve(way: str, name: str) -> None:
    """Answer each line with the time of some runs."""
    work = dict(chosen(name))[name]
    try:
        run = work(way)
        warm_up(run)
    except (Missing, TfgError) as error:
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
        sample = Sample(statistics.median(walls), statistics.median(cpus), peak(), sessions.kept())
        print(json.dumps(sample._asdict()), flush=True)


def warm_up(run: Callable[[], Any]) -> None:
    """Run until the first decisions are made: some times, or for a while, and until a way is chosen."""
    begun = time.perf_counter()
    for _ in range(WARM_RUNS):
        run()
        if time.perf_counter() > begun + WARM_SECONDS:
            break
    while not sessions.is_settled() and time.perf_counter() < begun + SETTLING_SECONDS:
        run()


def peak() -> int:
    """The largest memory of this process, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def compared(name: str, ways: Sequence[str], python: str | None, rounds: int) -> dict[str, Any] | None:
    """Return the figures of a work in each way; None if NumPy cannot do the work here. Without TensorFlow there are no
    ratios.
    """
    sides = []
    try:
        for way in ways if python else [way for way in ways if way != sessions.TENSORFLOW]:
            sides.append(Side(python if python and way == sessions.TENSORFLOW else sys.executable, way, name))
        missing = {side.way: side.missing for side in sides if side.missing}
        if sessions.NUMPY in missing:
            print(f"{name}: needs {missing[sessions.NUMPY]}", file=sys.stderr)
            return None
        present = [side for side in sides if not side.missing]
        samples = [{side.way: side.sample() for side in present} for _ in range(rounds)]
    finally:
        for side in sides:
            side.close()
    return {"work": name, "ways": figures(samples)}


def figures(rounds: list[dict[str, Sample]]) -> dict[str, dict[str, Any]]:
    """Return milliseconds, MiB and the choice of each way, and the medians of the ratios to TensorFlow, if TensorFlow ran."""
    median, result = statistics.median, {}
    for way in rounds[0]:
        own, last = [samples[way] for samples in rounds], rounds[-1][way]
        result[way] = {
            "ms": 1e3 * median(sample.wall for sample in own),
            "cpu_ms": 1e3 * median(sample.cpu for sample in own),
            "mib": last.peak / 1024,
            "kept": last.kept,
        }
        if sessions.TENSORFLOW in rounds[0]:
            others = [samples[sessions.TENSORFLOW] for samples in rounds]
            result[way]["ratio"] = median(a.wall / b.wall for a, b in zip(own, others))
            result[way]["cpu_ratio"] = median(a.cpu / b.cpu for a, b in zip(own, others))
            result[way]["memory_ratio"] = last.peak / others[-1].peak
    return result


def row(work: str, result: dict[str, dict[str, Any]], ways: Sequence[str]) -> str:
    """A line of the table."""
    return f"| {' | '.join([work, *(cell(way, result.get(way)) for way in ways)])} |"


def cell(way: str, result: dict[str, Any] | None) -> str:
    """Return the table cell of a way, empty if the way cannot do the work."""
    if result is None:
        return ""
    if way == sessions.TENSORFLOW or "ratio" not in result:
        return f"{result['ms']:.1f} ({result['cpu_ms']:.1f})"
    kept = f" {result['kept']}" if result["kept"] else ""
    return f"{result['ratio']:.2f} ({result['cpu_ratio']:.2f}){kept}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow and the packages of tfg")
    parser.add_argument("--only", metavar="NAME", help="only works whose names contain this")
    parser.add_argument("--quick", action="store_true", help="some works, three rounds: minutes instead of hours")
    parser.add_argument("--fast", action="store_true", help="a column for OpenVINO with --precision fast")
    parser.add_argument("--openvino", action="store_true", help="a column for OpenVINO itself, where a network is a file")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the figures here too")
    parser.add_argument("--serve", metavar="WAY", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.only)
        return
    more = [way for way, is_asked in ((sessions.FAST, options.fast), (sessions.ITSELF, options.openvino)) if is_asked]
    ways = (*sessions.WAYS, *more)
    titles = ["work", *(sessions.TITLES[way] for way in ways)]
    print(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    figures_of_works = []
    for name, _ in chosen(options.only, options.quick):
        figures_of_work = compared(name, ways, options.tensorflow, QUICK_ROUNDS if options.quick else ROUNDS)
        if figures_of_work is not None:
            figures_of_works.append(figures_of_work)
            print(row(name, figures_of_work["ways"], ways), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures_of_works, indent=1) + "\n")


if __name__ == "__main__":
    main()
