"""The recorded graphs of ../shared/graphs as something to time: a session brought to the step that is timed."""

import base64
import itertools
import json
import pathlib

import numpy as np

from .sessions import TENSORFLOW, session

STEPS = 8
"""The steps after which the recording restarts. A model that trains repeatedly on a batch reaches subnormal gradients,
ResNet-50 after 11 steps: processors then take 20 times as long, unless subnormals are flushed to 0, as in TensorFlow.
"""
GRAPHS = pathlib.Path(__file__).resolve().parents[1] / ".." / "shared" / "graphs"


def last_step(name, engine):
    """Return a function that repeats the last recorded step of a graph: the last step with an operation, if there is any.

    Training steps run an operation; a recording may end with a fetch of the trained values.
    """
    folder = GRAPHS / name
    with np.load(folder / "trace.npz") as archive:
        arrays = dict(archive)
    steps = json.loads(arrays["meta"].tobytes())["steps"]
    run = tensorflow_runner(folder) if engine == TENSORFLOW else tfg_runner(folder, engine)
    timed = next((step for step in reversed(steps) if any(":" not in name for name in step["fetches"])), steps[-1])
    fetches, feeds = timed["fetches"], decoded(timed["feeds"], arrays)
    calls = itertools.count()

    def once():
        if next(calls) % STEPS == 0:
            for step in steps:
                run(step["fetches"], decoded(step["feeds"], arrays))
        return run(fetches, feeds)

    return once


def decoded(feeds, arrays):
    """The arrays of a step's feeds."""
    return {key: decode(value, arrays) for key, value in feeds.items()}


def tensorflow_call(data, fetches, feeds, first=(), optimizes=True):
    """Return a function that runs a serialized graph in TensorFlow by a callable of a session; `optimizes` enables
    Grappler.
    """
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = not optimizes
    session = tf.compat.v1.Session(graph=imported(tf.compat.v1.GraphDef.FromString(data)), config=config)
    for name in first:
        session.run(name)
    call = session.make_callable(fetches, list(feeds))
    return lambda: call(*feeds.values())


def imported(definition):
    """TensorFlow's graph of a GraphDef."""
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        tf.graph_util.import_graph_def(definition, name="")
    return graph


def graph_file(folder):
    return next(path for path in (folder / "graph.pb", folder / "graph.pbtxt") if path.exists())


def tfg_runner(folder, engine):
    import tfg

    return session(tfg.load(str(graph_file(folder))), engine, tfg.FileAccess.everything()).run


def tensorflow_runner(folder):
    import tensorflow as tf
    from google.protobuf import text_format

    path = graph_file(folder)
    definition = tf.compat.v1.GraphDef()
    if path.suffix == ".pb":
        definition.ParseFromString(path.read_bytes())
    else:
        text_format.Parse(path.read_text(), definition)
    return tf.compat.v1.Session(graph=imported(definition)).run


def decode(reference, arrays):
    if reference["dtype"] == "string":
        flat = [base64.b64decode(item) for item in reference["base64"]]
        return np.array(flat, object).reshape(reference["shape"])
    return np.frombuffer(arrays[reference["key"]].tobytes(), reference["dtype"]).reshape(reference["shape"])
