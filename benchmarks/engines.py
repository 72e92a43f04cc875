"""The time of a run in NumPy, in engines and in TensorFlow: CPU milliseconds on one core, the smallest of interleaved rounds.

Every way of running has a process of its own, and a round is some runs of each in turn, so that what else the machine does
falls on all alike. Placeholders are fed random numbers, with --batch for unknown sizes; oneDNN stays on in TensorFlow.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np

RUNS_SECONDS = 1.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--fetch", action="append", default=[])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--init", default="")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--integers", type=int, default=2, metavar="N", help="integers that are fed are below N")
    parser.add_argument("--engine", action="append", default=[], help="name, or name:precision")
    parser.add_argument("--tensorflow", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        serve(options)
        return
    ways = {"numpy": sys.executable, **dict.fromkeys(options.engine, sys.executable)}
    if options.tensorflow:
        ways["tensorflow"] = options.tensorflow
    show(measured(ways, options.rounds))


def measured(ways, rounds):
    """The least CPU seconds of a run, by way of running."""
    workers = {way: worker(python, way) for way, python in ways.items()}
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for way, process in workers.items():
            process.stdin.write("go\n")
            process.stdin.flush()
            best[way] = min(best[way], json.loads(process.stdout.readline()))
    for process in workers.values():
        process.stdin.close()
        process.wait()
    return best


def worker(python, way):
    command = [python, "-m", "benchmarks.engines", *sys.argv[1:], "--worker", way]
    started = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    )
    assert started.stdout.readline().strip() == "ready", f"{way} does not start"
    return started


def show(best):
    reference = best.get("tensorflow")
    for way, seconds in best.items():
        ratio = f"   {seconds / reference:5.2f} of TensorFlow's" if reference else ""
        print(f"{way:16} {seconds * 1e3:9.3f} ms{ratio}")


def serve(options):
    """Answer each line with the least CPU time of some runs."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    run = (tensorflow_run if options.worker == "tensorflow" else tfg_run)(options)
    run()
    run()
    print("ready", flush=True)
    for _ in sys.stdin:
        times, end = [], time.perf_counter() + RUNS_SECONDS
        while not times or time.perf_counter() < end:
            start = time.process_time()
            run()
            times.append(time.process_time() - start)
        print(json.dumps(min(times)), flush=True)


def drawn(dtype, dims, options):
    draws = np.random.default_rng(0)
    shape = [d if isinstance(d, int) and d >= 0 else options.batch for d in dims]
    is_real = dtype.kind == "f"
    return (draws.standard_normal(shape) if is_real else draws.integers(0, options.integers, shape)).astype(dtype)


def tfg_run(options):
    import tfg
    from tfg.core.engines.engine_registry import find_engine
    from tfg.core.passes.pipeline import guessed_fetches
    from tfg.core.runtime.guards.allocation import keep_freed_memory

    graph = tfg.load(options.graph)
    fetches = options.fetch or [name for name in guessed_fetches(graph) if ":" in name]
    name, _, precision = options.worker.partition(":")
    keep_freed_memory(of_any_size=name != "numpy")  # as commands do
    session = tfg.Session(graph, engine=None if name == "numpy" else find_engine(name, precision or None))
    if options.init:
        session.run([options.init])
    feeds = {
        node.output().name: drawn(node.attrs["dtype"].numpy, node.attrs["shape"].dims, options)
        for node in graph
        if node.op == "Placeholder"
    }
    return lambda: session.run([*fetches, *options.target], feeds)


def tensorflow_run(options):
    import tensorflow.compat.v1 as tf

    import tfg

    named = tfg.load(options.graph)
    from tfg.core.passes.pipeline import guessed_fetches

    fetches = options.fetch or [name for name in guessed_fetches(named) if ":" in name]
    definition = tf.GraphDef.FromString(tfg.formats.to_bytes(named))
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(definition, name="")
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    session = tf.Session(graph=graph, config=config)
    if options.init:
        session.run(options.init)
    feeds = {
        node.name + ":0": drawn(node.outputs[0].dtype.as_numpy_dtype().dtype, node.outputs[0].shape.as_list(), options)
        for node in graph.get_operations()
        if node.type == "Placeholder"
    }
    call = session.make_callable([*fetches, *options.target], list(feeds))
    return lambda: call(*feeds.values())


if __name__ == "__main__":
    main()
