"""Time and memory of `tfg dump` as a whole process: the median of several runs.

usage: startup.py [GRAPH ...]        default: a small sample, and ../shared/graphs/resnet50_train if present
"""

from __future__ import annotations

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[1]
_SMALL = ROOT / "sample_graphs" / "variable_2" / "2_after_initializer_creation.pbtxt"
_LARGE = ROOT.parent / "shared" / "graphs" / "resnet50_train" / "graph.pb"
_CLICK = "import click; from google.protobuf import descriptor_pool"
RUNS = 15


def measure(command: list[str]) -> tuple[float, int]:
    """(median seconds, largest resident KiB of any child so far)."""
    seconds = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    graphs = sys.argv[1:] or [str(path) for path in (_SMALL, _LARGE) if path.exists()]
    for label, code in (("python alone", "pass"), ("click and protobuf", _CLICK)):
        seconds, memory = measure([sys.executable, "-c", code])
        print(f"{label:60} {seconds * 1e3:7.1f} ms  {memory / 1024:6.1f} MiB")
    for graph in graphs:
        seconds, memory = measure([sys.executable, "-c", "from tfg.cli.main import main; main()", "dump", graph])
        label = f"tfg dump {'/'.join(pathlib.Path(graph).parts[-2:])}"
        print(f"{label:60} {seconds * 1e3:7.1f} ms  {memory / 1024:6.1f} MiB")


if __name__ == "__main__":
    main()
