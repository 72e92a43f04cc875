"""Time every recorded session on tfg and on TensorFlow, and list the ops at which tfg is slowest by comparison.

    python benchmarks/kernels.py FOLDER_OF_TRACES [TEXT]

Needs tensorflow-cpu. Each trace's first step is run several times in one session on both sides; what only sets a session
up (under a millisecond on tfg) is left out. Prints the ratio tfg : TensorFlow of the slowest traces.
"""

from __future__ import annotations

import os
import pathlib
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tfg

tf.compat.v1.disable_eager_execution()
RUNS = 3
LEAST_SECONDS = 1e-3


def best(run) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def seconds(path, replay):
    """(tfg, TensorFlow) seconds for the first step, None where it is quick or an error."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    meta = replay.json.loads(arrays["meta"].tobytes())
    step = meta["steps"][0]
    if step["error"] or "graph" not in arrays:
        return None
    feeds = {name: replay.decode(value, arrays) for name, value in step["feeds"].items()}
    session = tfg.Session(tfg.load(arrays["graph"].tobytes()), files=tfg.FileAccess.everything())
    session.run(step["fetches"], feeds)
    ours = best(lambda: session.run(step["fetches"], feeds))
    if ours < LEAST_SECONDS:
        return None
    with tf.Graph().as_default() as graph:
        tf.graph_util.import_graph_def(tf.compat.v1.GraphDef.FromString(arrays["graph"].tobytes()), name="")
    with tf.compat.v1.Session(graph=graph) as other:
        other.run(step["fetches"], feeds)
        return ours, best(lambda: other.run(step["fetches"], feeds)), meta["ops"]


def main() -> None:
    folder, text = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    sys.path.insert(0, str(folder))
    import replay

    rows = []
    for path in sorted(folder.rglob("*.npz")):
        if text in str(path):
            try:
                found = seconds(path, replay)
            except (tf.errors.OpError, tfg.errors.TfgError, ValueError) as error:
                print(f"{path.stem}: {type(error).__name__}", file=sys.stderr)
                continue
            if found is not None:
                rows.append((found[0] / found[1], f"{path.parent.name}/{path.stem}", *found))
    for ratio, name, ours, theirs, ops in sorted(rows, reverse=True)[:40]:
        print(f"{ratio:7.1f}  {1e3 * ours:8.2f} ms  {1e3 * theirs:8.2f} ms  {name}  {' '.join(ops)[:80]}")


if __name__ == "__main__":
    main()
