"""The CPU time of everyday commands as whole processes, and of their imports: medians of rounds in turns.

usage: startup.py [--rounds N] [GRAPH ...]     default: sample_graphs/xor.pbtxt, and ../shared/graphs/resnet50_train if present
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).parents[1]
SMALL = ROOT / "sample_graphs" / "xor.pbtxt"
LARGE = ROOT.parent / "shared" / "graphs" / "resnet50_train" / "graph.pb"
COMMANDS = {
    "dump": "", "explain": "", "flops": "--fetch loss", "run": "--init --fetch loss --feed x=[[0,1]] --feed y=[[1]]",
    "optimize": "--fetch loss", "view": f"-o {os.devnull}",
}  # fmt: skip
OF_ANY_GRAPH = {"dump": "", "explain": "", "flops": "", "optimize": "", "view": f"-o {os.devnull}"}
IMPORTS = """
import contextlib, importlib
for name in {}:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
"""
IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)


def cpu_of(command: Sequence[str]) -> float:
    """Run a process, and return its CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports_of(command: Sequence[str]) -> str:
    """Return code that imports the modules that a command of Python imports or looks for, in their order."""
    done = subprocess.run([sys.executable, "-X", "importtime", *command[1:]], capture_output=True, text=True, check=True)
    return IMPORTS.format(IMPORTED.findall(done.stderr))


def main() -> None:
    """Print a line for each command and graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", metavar="GRAPH")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    works = {"python alone": [sys.executable, "-c", "pass"]}
    for graph in options.graphs or [str(path) for path in (SMALL, LARGE) if path.exists()]:
        for name, words in (COMMANDS if graph == str(SMALL) else OF_ANY_GRAPH).items():
            label = f"tfg {name} {'/'.join(pathlib.Path(graph).parts[-2:])}"
            works[label] = [sys.executable, "-m", "tfg", name, graph, *words.split()]
            works[f"{label}, imports"] = [sys.executable, "-c", imports_of(works[label])]
    seconds: dict[str, list[float]] = {label: [] for label in works}
    for _ in range(options.rounds):
        for label, command in works.items():
            seconds[label].append(cpu_of(command))
    for label, own in seconds.items():
        print(f"{label:50} {statistics.median(own) * 1e3:7.0f} ms")


if __name__ == "__main__":
    main()
