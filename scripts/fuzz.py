"""Look for what no graph, file or argument may do to tfg: any error but a TfgError, and InternalError, which is a fault too.

usage: python -m scripts.fuzz [--minutes N] [--jobs N] [--seed N] [PART ...]

By default 5 minutes of every part, in 2 processes.

Parts: nodes (any op with drawn attributes and inputs), cases (the op tests, changed), commands (the sample graphs, changed,
through every command), files (checkpoints and arrays that lie), and those that are tests of their own: kills, threads. What
failed is listed by place, the most frequent first, each with the smallest case found. Exit code 1 where anything was found.
"""

from __future__ import annotations

import argparse
import collections
import gc
import multiprocessing
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests.fuzz import bounds
from tests.fuzz.findings import Finding
from tests.fuzz.parts import FUZZERS, snippet, try_seed
from tfg.core import registry

ROOT = pathlib.Path(__file__).resolve().parents[1]
BATCH = 20
SUITES = {"threads": "tests/core/test_concurrent_runs.py", "kills": "tests/security/test_kills.py"}
_SHARES = {"nodes": 4, "cases": 4, "commands": 1, "files": 2}


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
    found = _Report()
    bounds.limit_memory()
    if drawn:
        found.collect(drawn, options.jobs, options.seed, options.minutes * 60)
    found.print()
    for name in broken:
        print(f"{name}: {SUITES[name]} fails")
    sys.exit(1 if broken or found.findings else 0)


def _passes(path: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", path]
    return subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL).returncode == 0


class _Report:
    """What the workers found: how many cases of each part, and the first case of each finding."""

    def __init__(self) -> None:
        self.cases: collections.Counter[str] = collections.Counter()
        self.findings: dict[tuple[str, str], tuple[str, int, Finding]] = {}
        self.times: collections.Counter[tuple[str, str]] = collections.Counter()

    def collect(self, names: Sequence[str], jobs: int, seed: int, seconds: float) -> None:
        """Let workers try seeds until the time is over; one that dies is a finding, and another takes its place."""
        deadline = time.monotonic() + seconds
        numbers = iter(range(seed // BATCH, 1 << 60))
        plan = [name for name in names for _ in range(_SHARES[name])]
        workers = [_Worker() for _ in range(jobs)]
        while any(worker.is_busy for worker in workers) or time.monotonic() < deadline:
            for i, worker in enumerate(workers):
                if not worker.is_busy and time.monotonic() < deadline:
                    number = next(numbers)
                    worker.give(plan[number % len(plan)], number * BATCH)
                for name, case, finding in worker.results():
                    self._add(name, case, finding)
                if not worker.is_alive:
                    self._add(*worker.current, Finding("the interpreter", "Crash", "the process ended", "all"))
                    workers[i] = _Worker()
            time.sleep(0.01)
        for worker in workers:
            worker.end()

    def _add(self, name: str, case: int, finding: Finding | None) -> None:
        if finding is None:
            self.cases[name] += 1
            return
        self.times[finding.key] += 1
        self.findings.setdefault(finding.key, (name, case, finding))

    def print(self) -> None:
        """The findings by place, then how many cases were tried."""
        for key, times in self.times.most_common():
            name, case, finding = self.findings[key]
            print(f"== {times} times, first as {name} {case}: {finding}")
            print(_shown(name, case, finding))
        total = sum(self.cases.values())
        each = ", ".join(f"{count} {name}" for name, count in self.cases.items())
        print(f"{total} cases: {each}; {len(self.findings)} places")


def _shown(name: str, case: int, finding: Finding) -> str:
    """How to see it again; a case that ended its process is only named."""
    return f"seed {case}" if finding.kind == "Crash" else snippet(name, case, finding)


class _Worker:
    """A process of its own, bounded in memory, that tries batches of seeds."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._orders: Any = context.Queue()
        self._results: Any = context.Queue()
        self._process = context.Process(target=_work, args=(self._orders, self._results), daemon=True)
        self._process.start()
        self.current = ("", 0)
        self.is_busy = False

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def give(self, name: str, first: int) -> None:
        """Try a batch of seeds of a part."""
        self.current, self.is_busy = (name, first), True
        self._orders.put((name, first))

    def results(self) -> list[tuple[str, int, Finding | None]]:
        """What came back since last time: None for each case tried, and each finding."""
        found = []
        while True:
            try:
                message = self._results.get_nowait()
            except queue.Empty:
                return found
            if message is None:
                self.is_busy = False
            elif message[2] is None and message[3]:
                self.current = message[:2]
            else:
                found.append(message[:3])

    def end(self) -> None:
        """Stop the process."""
        self._process.terminate()
        self._process.join()


def _work(orders: Any, results: Any) -> None:
    """Try what is ordered; every case is announced, so that a crash can be told from where it stood."""
    warnings.simplefilter("ignore")
    os.chdir(tempfile.mkdtemp())
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    registry.load_all_families()
    bounds.limit_memory()
    gc.freeze()
    while True:
        name, first = orders.get()
        for seed in range(first, first + BATCH):
            results.put((name, seed, None, True))
            for finding in try_seed(name, seed):
                results.put((name, seed, finding, False))
            results.put((name, seed, None, False))
        results.put(None)


if __name__ == "__main__":
    main()
