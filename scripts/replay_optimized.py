#!/usr/bin/env python3
"""Replay recorded TensorFlow sessions on graphs that `tfg.optimize` rewrote for the fetches and feeds of the session.

usage: replay_optimized.py TRACES [DIR ...] [-k TEXT] [-j JOBS] [--passes LIST] [--every N] [--json FILE]

TRACES is the folder with replay.py and the traces; without the folder the script replays nothing and says so. If the steps
of a trace feed different tensors, the graph is optimized for the common feeds. Traces that fail without optimization are
counted apart.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import multiprocessing
import pathlib
import sys
import time
from typing import Any

import numpy as np

import tfg

_replay: Any = None
_options: argparse.Namespace


def load_replay(folder: pathlib.Path) -> Any:
    """The module replay.py of a folder of traces."""
    spec = importlib.util.spec_from_file_location("replay", folder / "replay.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def optimized(graph: Any, steps: list[dict[str, Any]]) -> Any:
    """Return the graph rewritten for the fetches of all steps; tensors that only some steps feed keep their values too."""
    fetches = list(dict.fromkeys(name for step in steps for name in step["fetches"]))
    feeds = dict.fromkeys(name for step in steps for name in step["feeds"])
    everywhere = [f for f in feeds if all(f in step["feeds"] for step in steps) or _is_placeholder(graph, f)]
    sometimes = [f for f in feeds if f not in everywhere]
    keep = [f.partition(":")[0] for f in sometimes]
    return tfg.optimize(graph, fetches, everywhere, _options.passes, keep=keep, overridable=sometimes)[0]


def _is_placeholder(graph: Any, name: str) -> bool:
    return graph.output(name).node.op.startswith("Placeholder")


def replay(path: pathlib.Path) -> tuple[pathlib.Path, str | None]:
    """Return a trace, and the reason if the trace fails only with optimization."""
    with np.load(path) as archive:
        steps = json.loads(archive["meta"].tobytes())["steps"]
    original = tfg.load

    tfg.load = lambda source: optimized(original(source), steps)
    try:
        reason = _replay.replay(path)[2]
    finally:
        tfg.load = original
    if reason is not None and _replay.replay(path)[2] is not None:
        reason = f"FAILS ANYWAY: {reason}"
    return path, reason


def main() -> int:
    global _replay, _options
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("dirs", nargs="*", type=pathlib.Path)
    parser.add_argument("-k", default="", help="only traces whose path contains this text")
    parser.add_argument("-j", type=int, default=1, help="processes")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th trace")
    parser.add_argument("--passes", help="the passes to run, as for `tfg optimize`")
    parser.add_argument("--json", type=pathlib.Path, help="write every failure here")
    _options = parser.parse_args()
    if not (_options.traces / "replay.py").exists():
        print(f"skipped: there is no replay.py in {_options.traces}")
        return 0
    _replay = load_replay(_options.traces)
    paths = sorted(p for d in _options.dirs or [_options.traces] for p in d.rglob("*.npz") if _options.k in str(p))
    start = time.time()
    with multiprocessing.Pool(_options.j, initializer=_replay.arm) as pool:
        results = list(pool.imap_unordered(replay, paths[:: _options.every], chunksize=4))
    return report(results, time.time() - start)


def report(results: list[tuple[pathlib.Path, str | None]], seconds: float) -> int:
    """Print the failures and the counts; the exit status."""
    anyway = [r for r in results if r[1] and r[1].startswith("FAILS ANYWAY")]
    failures = sorted((str(p), why) for p, why in results if why and not why.startswith("FAILS ANYWAY"))
    for path, why in failures[:40]:
        print(f"{'/'.join(path.split('/')[-2:])}: {why}")
    for reason, count in collections.Counter(why.split(": ", 1)[-1][:70] for _, why in failures).most_common(15):
        print(f"{count:5d}  {reason}")
    if _options.json:
        _options.json.write_text(json.dumps([{"trace": p, "why": w} for p, w in failures], indent=1))
    passed = len(results) - len(failures) - len(anyway)
    print(f"{passed} passed, {len(failures)} failed, {len(anyway)} fail without optimization too, {seconds:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
