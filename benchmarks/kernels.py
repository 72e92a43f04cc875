"""Time single kernels in tfg and in TensorFlow in turn, and list the ops with the largest ratios.

    python -m benchmarks.kernels [--traces FOLDER] [--only TEXT] [--above RATIO]

Needs tensorflow-cpu. The benchmark times the rows of `kernel_rows`, each an op with fed inputs; or, with a folder of
recorded sessions, the first step of each session that takes a millisecond. Both libraries run in this process on one core,
in turns. Times are CPU times, and a ratio is the median of pairs, below 1 if tfg is faster.
"""

from __future__ import annotations

import argparse
import functools
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tfg
from tfg.core.runtime.execute.allocation import keep_freed_memory
from tfg.formats import to_bytes

from . import kernel_rows
from .kernel_rows import Row

tf.compat.v1.disable_eager_execution()
PAIRS = 5
SECONDS = 0.02
"""The seconds of the runs of a side in a pair."""
LEAST_SECONDS = 1e-3
"""Recorded sessions that take less on tfg are left out: they only set a session up."""

Call = Callable[[], Any]
Made = Callable[[], tuple[Call, Call] | None]
"""A function that makes the runs of tfg and of TensorFlow, None if there is nothing to time."""


class Timed(NamedTuple):
    """The time of an op or a trace: CPU seconds of a run in tfg and in TensorFlow, and the median ratio of pairs."""

    ratio: float
    ours: float
    theirs: float
    name: str


def seconds(run: Call) -> float:
    """Return the CPU seconds of a run, the mean of all runs that fit."""
    count, start = 0, time.process_time()
    while True:
        run()
        count += 1
        taken = time.process_time() - start
        if taken >= SECONDS:
            return taken / count


def timed(name: str, ours: Call, theirs: Call) -> Timed:
    """Return the medians of pairs, after a few warm-up runs."""
    for run in (ours, theirs):
        run()
        seconds(run)
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(PAIRS)]
    own, other = (statistics.median(times) for times in zip(*pairs))
    return Timed(statistics.median(a / b for a, b in pairs), own, other, name)


def tensorflow_session(data: bytes) -> tf.compat.v1.Session:
    """TensorFlow's session of a serialized graph, on the core that this process has."""
    with tf.Graph().as_default() as graph:
        tf.graph_util.import_graph_def(tf.compat.v1.GraphDef.FromString(data), name="")
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    return tf.compat.v1.Session(graph=graph, config=config)


def of_row(row: Row) -> tuple[Call, Call]:
    """(tfg, TensorFlow) runs of the graph that a row makes."""
    b = tfg.GraphBuilder()
    outputs, feeds, first = row.build(b)
    fetches = [output.name for output in outputs]
    ours, theirs = tfg.Session(b.graph), tensorflow_session(to_bytes(b.graph))
    for session in (ours, theirs):
        for name in first:
            session.run(name)
    calls = [session.make_callable(fetches, list(feeds)) for session in (ours, theirs)]
    return functools.partial(calls[0], *feeds.values()), functools.partial(calls[1], *feeds.values())


def traces(folder: pathlib.Path, text: str) -> Iterator[tuple[str, Made]]:
    """Yield the names of recorded sessions that contain a text, with functions that make the runs."""
    sys.path.insert(0, str(folder))
    import replay

    for path in sorted(folder.rglob("*.npz")):
        name = f"{path.parent.name}/{path.stem}"
        if text in name:
            yield name, functools.partial(of_trace, path, replay)


def of_trace(path: pathlib.Path, replay: Any) -> tuple[Call, Call] | None:
    """Return the (tfg, TensorFlow) runs of the first step; None for a quick step or an error."""
    with np.load(path) as archive:
        arrays = dict(archive)
    step = replay.json.loads(arrays["meta"].tobytes())["steps"][0]
    if step["error"] or "graph" not in arrays:
        return None
    data, feeds = arrays["graph"].tobytes(), {name: replay.decode(value, arrays) for name, value in step["feeds"].items()}
    session = tfg.Session(tfg.load(data), files=tfg.FileAccess.everything())
    ours = functools.partial(session.run, step["fetches"], feeds)
    ours()
    if seconds(ours) < LEAST_SECONDS:
        return None
    return ours, functools.partial(tensorflow_session(data).run, step["fetches"], feeds)


def rows(text: str) -> Iterator[tuple[str, Made]]:
    """Yield the names of rows that contain a text, with functions that make the runs."""
    for row in kernel_rows.rows():
        if text in row.name:
            yield row.name, functools.partial(of_row, row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, metavar="FOLDER", help="recorded sessions in place of rows")
    parser.add_argument("--only", default="", metavar="TEXT", help="only names that contain this")
    parser.add_argument("--above", type=float, default=0, metavar="RATIO", help="only ratios from this on")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    keep_freed_memory()
    results = []
    for name, make in traces(options.traces, options.only) if options.traces else rows(options.only):
        try:
            calls = make()
            if calls is not None:
                results.append(timed(name, *calls))
        except (tf.errors.OpError, tfg.errors.TfgError, ValueError) as error:
            print(f"{name}: {type(error).__name__}", file=sys.stderr)
    for ratio, ours, theirs, name in sorted(results, reverse=True):
        if ratio >= options.above:
            print(f"{ratio:7.2f}  {1e3 * ours:9.3f} ms  {1e3 * theirs:9.3f} ms  {name}")


if __name__ == "__main__":
    main()
