"""Search for graphs, files and arguments with an error other than a TfgError; InternalError counts as a fault too.

usage: python -m scripts.fuzz [--minutes N] [--jobs N] [--seed N] [PART ...]

By default 5 minutes of every part, in 2 processes.

Parts: nodes (any op with drawn attributes and inputs), calls (ops on drawn functions), pipelines (datasets), cases (mutated
op tests), extremes (op tests with a commonly forgotten input), commands (graphs, states and feeds through every command
with any option), files (false checkpoints, arrays, SavedModels, records and packed graphs), and the separate tests kills
and threads. Failures are listed by place, the most frequent first, each with the smallest failing case; then the number of
cases of each part, as in the table of SECURITY.md. Exit code 1 after a failure.
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
"""The seconds of computation after which a case's process is ended: a case in C code blocks alarms."""
_ASLEEP = 10
"""The factor on SILENCE for a case that waits for other work on the machine."""
BATCHES = 400
"""The number of batches after which a fresh process replaces a worker, so that caches do not slow the rest."""
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
    """The findings of the workers: the number of cases of each part, and the first case of each finding."""

    cases: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    findings: dict[tuple[str, str], tuple[str, int, Finding]] = dataclasses.field(default_factory=dict)
    times: collections.Counter[tuple[str, str]] = dataclasses.field(default_factory=collections.Counter)

    def collect(self, names: Sequence[str], jobs: int, seed: int, seconds: float) -> None:
        """Let workers try seeds until the time is over; a dead or hanging worker is a finding, and a new worker replaces
        it.
        """
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
        """Record the results of a worker; return whether the worker continues."""
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
    """Return the command that repeats a case; a case that ended the process is only named."""
    return f"seed {case}" if finding.part == _ALL else snippet(name, case, finding)


_ALL = "all of its actions"


class _Worker:
    """A process with bounded memory that tries batches of seeds, with a batch queued so that the process never waits."""

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
        """True after the last batch."""
        return not self._given

    @property
    def current(self) -> tuple[str, int]:
        """The part and the seed of the current case."""
        name, first = self._given[0] if self._given else ("nothing", 0)
        return name, max(first, self._seed.value)

    def problem(self) -> Finding | None:
        """The problem of the process: an end, or a case without an end."""
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
        """Stop the process, and remove the contents of the process's folder."""
        self._process.kill()
        self._process.join()
        shutil.rmtree(self._folder, ignore_errors=True)


def _memory_folder() -> str | None:
    """Return a folder in memory if the system has such a folder: most cases of some parts write files."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _work(orders: Any, results: Any, current: Any, folder: str) -> None:
    """Try the ordered batches; the parent can read the current seed, so that a crash has a place."""
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
