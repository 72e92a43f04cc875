"""Look for what no graph, file or argument may do to tfg: any error but a TfgError, and InternalError, which is a fault too.

usage: python -m scripts.fuzz [--minutes N] [--jobs N] [--seed N] [PART ...]

By default 5 minutes of every part, in 2 processes.

Parts: nodes (any op with drawn attributes and inputs), calls (ops on drawn functions), pipelines (datasets), cases (the op
tests, changed), extremes (those of which one thing is what is often forgotten), commands (graphs, states and feeds through
every command with any option), files (checkpoints, arrays, SavedModels, records and packed graphs that lie), and those that
are tests of their own: kills, threads. What failed is listed by place, the most frequent first, each with the smallest case
found; then how many cases each part had, as the table in SECURITY.md. Exit code 1 where anything was found.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import gc
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests.fuzz import bounds
from tests.fuzz.findings import Finding
from tests.fuzz.parts import FUZZERS, SHARES, snippet, try_seed
from tfg.core.registry import registry

ROOT = pathlib.Path(__file__).resolve().parents[1]
BATCH = 50
SILENCE = 60.0
"""Seconds that a case may compute before its process is ended: it holds the interpreter, and no alarm gets through."""
_ASLEEP = 10
"""How many times as long it may take, where other work on the machine keeps it waiting."""
BATCHES = 400
"""After so many a process makes room for a new one, so that what it has kept does not slow the rest."""
SUITES = {"threads": "tests/core/runtime/session/test_concurrent_runs.py", "kills": "tests/security/test_kills.py"}


def main() -> None:
    """Run the parts that were named for the time given, and report."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="where the seeds begin")
    parser.add_argument("parts", nargs="*", default=[], metavar="PART")
    options = parser.parse_args()
    names = options.parts or [*FUZZERS, *SUITES]
    unknown = set(names) - {*FUZZERS, *SUITES}
    if unknown:
        parser.error(f"there is no part {min(unknown)}; parts are {', '.join([*FUZZERS, *SUITES])}")
    broken = [name for name in names if name in SUITES and not _passes(SUITES[name])]
    drawn = [name for name in names if name in FUZZERS]
    result = _Report()
    bounds.limit_memory()
    if drawn:
        result.collect(drawn, options.jobs, options.seed, options.minutes * 60)
    result.print()
    for name in broken:
        print(f"{name}: {SUITES[name]} fails")
    sys.exit(1 if broken or result.findings else 0)


def _passes(path: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", path]
    return subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL).returncode == 0


@dataclasses.dataclass
class _Report:
    """What the workers found: how many cases of each part, and the first case of each finding."""

    cases: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    findings: dict[tuple[str, str], tuple[str, int, Finding]] = dataclasses.field(default_factory=dict)
    times: collections.Counter[tuple[str, str]] = dataclasses.field(default_factory=collections.Counter)

    def collect(self, names: Sequence[str], jobs: int, seed: int, seconds: float) -> None:
        """Let workers try seeds until the time is over; one that dies or hangs is a finding, and another takes its place."""
        deadline = time.monotonic() + seconds
        batches = _batches(names, seed)
        workers: list[_Worker] = []
        while time.monotonic() < deadline:
            workers += [_Worker(batches) for _ in range(jobs - len(workers))]
            time.sleep(0.05)
            workers = [worker for worker in workers if self._hear(worker)]
        for worker in workers:
            self._hear(worker)
            worker.end()

    def _hear(self, worker: _Worker) -> bool:
        """Note what a worker has tried; whether it goes on."""
        problem = worker.problem()
        for name, count, result in worker.results():
            self.cases[name] += count
            for case, finding in result:
                self._add(name, case, finding)
        if problem is not None:
            self._add(*worker.current, problem)
        goes_on = problem is None and not worker.is_done
        if not goes_on:
            worker.end()
        return goes_on

    def _add(self, name: str, case: int, finding: Finding) -> None:
        self.times[finding.key] += 1
        self.findings.setdefault(finding.key, (name, case, finding))

    def print(self) -> None:
        """The findings by place, then how many cases were tried."""
        for key, times in self.times.most_common():
            name, case, finding = self.findings[key]
            print(f"== {times} times, first as {name} {case}: {finding}")
            print(_shown(name, case, finding), flush=True)
        places = collections.Counter(name for name, _, _ in self.findings.values())
        print("| Part | Cases | Places |\n|---|---|---|")
        for name, count in [*self.cases.items(), ("together", sum(self.cases.values()))]:
            print(f"| {name} | {count:,} | {places[name] if name in self.cases else len(self.findings)} |")


def _batches(names: Sequence[str], seed: int) -> Iterator[tuple[str, int]]:
    """Parts by their shares, each with the first of BATCH seeds that nothing else gets."""
    plan = [name for name in names for _ in range(SHARES[name])]
    while True:
        for name in plan:
            yield name, seed
            seed += BATCH


def _shown(name: str, case: int, finding: Finding) -> str:
    """How to see it again; a case that ended its process is only named."""
    return f"seed {case}" if finding.part == _ALL else snippet(name, case, finding)


_ALL = "all of its actions"


class _Worker:
    """A process of its own, bounded in memory, that tries batches of seeds: always one ahead, so that it never waits."""

    def __init__(self, batches: Iterator[tuple[str, int]]) -> None:
        context = multiprocessing.get_context("spawn")
        self._batches = batches
        self._given: collections.deque[tuple[str, int]] = collections.deque()
        self._orders: Any = context.SimpleQueue()
        self._results: Any = context.SimpleQueue()
        self._seed = context.RawValue("q", 0)
        self._last = (0, time.monotonic(), 0.0)
        self._folder = tempfile.mkdtemp(dir=_memory_folder())
        self._left = BATCHES
        self._process = context.Process(
            target=_work, args=(self._orders, self._results, self._seed, self._folder), daemon=True
        )
        self._process.start()
        self._order()
        self._order()

    @property
    def is_done(self) -> bool:
        """True after its last batch."""
        return not self._given

    @property
    def current(self) -> tuple[str, int]:
        """The part and the seed that it tries."""
        name, first = self._given[0] if self._given else ("nothing", 0)
        return name, max(first, self._seed.value)

    def problem(self) -> Finding | None:
        """What is wrong with the process: it has ended, or its case does not."""
        if not self._process.is_alive() and self._results.empty():
            return Finding("the interpreter", "Crash", f"the process ended with {self._process.exitcode}", _ALL)
        seed, since, computed = self._last
        if seed != self._seed.value:
            self._last = self._seed.value, time.monotonic(), self._computed()
        elif self._computed() - computed > SILENCE or time.monotonic() - since > SILENCE * _ASLEEP:
            return Finding("the interpreter", "Hang", f"no result and no interruption in {SILENCE:g} seconds", _ALL)
        return None

    def _computed(self) -> float:
        """The seconds that the process has computed."""
        try:
            with open(f"/proc/{self._process.pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except FileNotFoundError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def results(self) -> Iterator[tuple[str, int, list[tuple[int, Finding]]]]:
        """The batches that came back since last time: part, number of cases, findings by seed."""
        while not self._results.empty():
            result = self._results.get()
            yield self._given.popleft()[0], BATCH, result
            if self._left:
                self._order()

    def _order(self) -> None:
        self._left -= 1
        self._given.append(next(self._batches))
        self._orders.put(self._given[-1])

    def end(self) -> None:
        """Stop the process, and remove what it had in its folder."""
        self._process.kill()
        self._process.join()
        shutil.rmtree(self._folder, ignore_errors=True)


def _memory_folder() -> str | None:
    """A folder in memory where the system has one: most cases of some parts write files."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _work(orders: Any, results: Any, current: Any, folder: str) -> None:
    """Try what is ordered; the seed at hand stands where the parent sees it, so that a crash has a place."""
    warnings.simplefilter("ignore")
    tempfile.tempdir = folder
    os.chdir(tempfile.mkdtemp())
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    registry.load_all_families()
    bounds.limit_memory()
    gc.freeze()
    while True:
        name, first = orders.get()
        outcomes = []
        for seed in range(first, first + BATCH):
            current.value = seed
            outcomes += [(seed, finding) for finding in try_seed(name, seed)]
        results.put(outcomes)


if __name__ == "__main__":
    main()
