"""Record TensorFlow's answers to the op cases of tests/cases into tests/recorded.

usage: python -m scripts.record_cases [FAMILY ...]        needs tfg and TensorFlow

Each family is recorded as a whole. The last case named on standard error is the one in which TensorFlow crashed. Standard
output has the refusals, with TensorFlow's messages: a refusal that was not meant is a mistake of the case.
"""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# By default TensorFlow looks at the processor, and only newer ones run the kernels of oneDNN, which round otherwise.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

import numpy as np
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests import opcases
from tests.recorded_answers import Answers
from tfg.core.building.builder import GraphBuilder
from tfg.formats import to_bytes

tf.compat.v1.disable_eager_execution()


def answer(case):
    """Return TensorFlow's results, or the name of the error, for each step of a case."""
    builder = GraphBuilder()
    steps = case.build(builder)
    definition = tf.compat.v1.GraphDef.FromString(to_bytes(builder.graph))
    graph = tf.Graph()
    try:
        with graph.as_default():
            tf.graph_util.import_graph_def(definition, name="")
    except ValueError as error:
        return [{"error": "InvalidArgumentError", "results": [], "message": str(error)}]
    # What waits for ever is DeadlineExceededError, here as in tfg. What no path orders comes in one order on one thread.
    config = tf.compat.v1.ConfigProto(operation_timeout_in_ms=20_000, inter_op_parallelism_threads=1)
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        return [run_step(session, list(fetches), case.feeds) for fetches in steps]


def run_step(session, fetches, feeds):
    try:
        return {"error": None, "results": session.run(fetches, feeds)}
    except tf.errors.OpError as error:
        return {"error": type(error).__name__, "results": [], "message": error.message}


def plain(value):
    """Quantized dtypes are structured in TensorFlow's NumPy: their plain integers."""
    if value is not None and np.asarray(value).dtype.names:
        array = np.asarray(value)
        return array.view(array.dtype[0])
    return value


def record(family):
    answers = Answers({}, {})
    for case in opcases.load_cases(family):
        print(f"{family}: {case.key}", file=sys.stderr, flush=True)
        steps = answer(case)
        for step in steps:
            if step["error"]:
                print(f"{family}: {case.key}: {step['error']}: {' '.join(step['message'].split())}", flush=True)
            step["results"] = [plain(value) for value in step["results"]]
        answers.record(case.key, steps)
    answers.save(opcases.RECORDED_DIR / f"{family}.npz")


if __name__ == "__main__":
    for name in sys.argv[1:] or opcases.families():
        record(name)
