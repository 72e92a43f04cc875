"""The measured works: for each work a name, and a function that repeats the work in either engine.

A work is a function (engine) -> function without arguments; each engine prepares the work in a separate process. A missing
input, such as a recorded graph or tf_keras, raises Missing, and the work is left out.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tfg

from . import _traces
from .networks import MIXED
from .sessions import ITSELF, NUMPY, TENSORFLOW, openvino_call, session

NETWORKS = ("ResNet50", "MobileNetV2", "EfficientNetB0", "InceptionV3", "DenseNet121", "Xception", "NASNetMobile")
BATCHES = (1, 8)
TRACES = {
    "lstm_v1": "LSTM train step",
    "lenet_momentum": "LeNet momentum step",
    "resnet50_train": "ResNet-50 train step",
    "mlp_adam": "MLP Adam step",
    "transformer_mini": "transformer_mini",
    "greedy_decode": "greedy_decode (while)",
}
CHAIN = 2000
SUBNORMAL = {"Mul": (1000, 1000), "MatMul": (500, 500)}
"""Ops and shapes of works whose results are below the smallest normal number, which processors take long to compute."""
QUICK = ("MobileNetV2 b1", "ResNet50 b1", *(TRACES[name] for name in TRACES if name != "resnet50_train"), *MIXED)
"""The works of --quick."""
FOLDER = pathlib.Path(tempfile.gettempdir()) / "tfg-benchmarks"
"""Where frozen networks are kept for the next time."""

Work = Callable[[str], Callable[[], Any]]


class Missing(Exception):
    """Something that a work needs is not there."""


def works() -> dict[str, Work]:
    """All works by their names, in the order of the table."""
    by_name: dict[str, Work] = {}
    for network in NETWORKS:
        for batch in BATCHES:
            by_name[f"{network} b{batch}"] = functools.partial(inference, network, batch)
    for folder, name in TRACES.items():
        by_name[name] = functools.partial(recorded_step, folder)
    for name in MIXED:
        by_name[name] = functools.partial(mixed, name)
    by_name[f"chain of {CHAIN:,} adds"] = functools.partial(chain, False)
    by_name[f"chain of {CHAIN:,} adds of a variable"] = functools.partial(chain, True)
    for op, shape in SUBNORMAL.items():
        by_name[f"{op} of {' x '.join(map(str, shape))} floats with subnormal results"] = functools.partial(
            subnormal, op, shape
        )
    for folder in ("mobilenetv2", "resnet50_train"):
        by_name[f"load {folder}"] = functools.partial(loading, folder)
    by_name["start up and load (process)"] = functools.partial(process, "load")
    by_name["one-shot run of mobilenetv2 (process)"] = functools.partial(process, "run")
    for command in ("flops", "optimize"):
        by_name[f"{command} of mobilenetv2 (process, tfg alone)"] = functools.partial(process, command)
    return by_name


def network_file(network: str) -> pathlib.Path:
    """The frozen graph of a network of tf_keras.applications with random weights, made by the interpreter with TensorFlow."""
    path = FOLDER / f"{network}.pb"
    if not path.exists():
        raise Missing(f"{path} (made where tf_keras is installed beside TensorFlow)")
    return path


def freeze(network: str) -> None:
    """Write `network_file`; for the process that has TensorFlow."""
    path = FOLDER / f"{network}.pb"
    if path.exists():
        return
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    try:
        import tensorflow as tf
        import tf_keras
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    except ImportError as error:
        raise Missing(str(error)) from error
    tf.random.set_seed(0)
    model = getattr(tf_keras.applications, network)(weights=None)
    function = tf.function(lambda x: model(x, training=False))
    concrete = function.get_concrete_function(tf.TensorSpec([None, *model.input_shape[1:]], tf.float32))
    frozen = convert_variables_to_constants_v2(concrete).graph.as_graph_def()
    FOLDER.mkdir(exist_ok=True)
    path.write_bytes(frozen.SerializeToString())


def inference(network: str, batch: int, engine: str) -> Callable[[], Any]:
    """Return a run of a frozen network on a batch of random images."""
    if engine == TENSORFLOW:
        freeze(network)
    path = network_file(network)
    graph = tfg.load(str(path))
    (source,) = (node for node in graph if node.op == "Placeholder")
    images = np.random.default_rng(0).random((batch, *source.attrs["shape"].dims[1:]), np.float32)
    fetch, feeds = f"{list(graph)[-1].name}:0", {f"{source.name}:0": images}
    if engine == TENSORFLOW:
        return _traces.tensorflow_call(path.read_bytes(), [fetch], feeds)
    if engine == ITSELF:
        return openvino_call(str(path), feeds)
    own = session(graph, engine)
    return lambda: own.run([fetch], feeds)


def mixed(name: str, engine: str) -> Callable[[], Any]:
    """Return a run of a network of `networks.py`."""
    path = FOLDER / f"{name.replace(' ', '_')}.pb"
    if engine == TENSORFLOW:
        freeze_mixed(name, path)
    if not path.exists():
        raise Missing(f"{path} (made where TensorFlow is installed)")
    with np.load(path.with_suffix(".npz")) as archive:
        feeds = dict(archive)
    fetches = json.loads(feeds.pop("fetches").item())
    if engine == TENSORFLOW:
        return _traces.tensorflow_call(path.read_bytes(), fetches, feeds)
    if engine == ITSELF:
        return openvino_call(str(path), feeds)
    own = session(tfg.load(str(path)), engine)
    return lambda: own.run(fetches, feeds)


def freeze_mixed(name: str, path: pathlib.Path) -> None:
    """Write a network of `networks.py` and the feeds; for the process with TensorFlow."""
    if path.exists():
        return
    try:
        import tensorflow as tf
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    except ImportError as error:
        raise Missing(str(error)) from error
    run, feeds = MIXED[name]()
    specs = [tf.TensorSpec(value.shape, value.dtype, name=key) for key, value in feeds.items()]
    frozen = convert_variables_to_constants_v2(tf.function(run).get_concrete_function(*specs))
    fed = {tensor.name: value for tensor, value in zip(frozen.inputs, feeds.values())}
    FOLDER.mkdir(exist_ok=True)
    np.savez(path.with_suffix(".npz"), fetches=json.dumps([tensor.name for tensor in frozen.outputs]), **fed)
    path.write_bytes(frozen.graph.as_graph_def().SerializeToString())


def recorded_step(folder: str, engine: str) -> Callable[[], Any]:
    """The last step of a recorded run once more."""
    _require_tfg(engine)
    require(_traces.GRAPHS / folder)
    return _traces.last_step(folder, engine)


def chain(of_variable: bool, engine: str) -> Callable[[], Any]:
    """x + c + c ... + c of scalars, x being fed or a variable's value. TensorFlow may not fold the sums: they are the work."""
    from tfg.formats import to_bytes

    _require_tfg(engine)
    b = tfg.GraphBuilder()
    value = b.VarHandleOp(dtype="float32", shape=[], shared_name="v") if of_variable else None
    if value is not None:
        b.AssignVariableOp(value, b.constant(np.float32(1)), name="init")
        value = b.ReadVariableOp(value, dtype="float32")
    else:
        value = b.Placeholder(dtype="float32", shape=[], name="x")
    one = b.constant(np.float32(1e-9))
    for _ in range(CHAIN):
        value = b.AddV2(value, one)
    feeds = {} if of_variable else {"x:0": np.float32(1)}
    first = ["init"] if of_variable else []
    if engine != TENSORFLOW:
        own = session(b.graph, engine)
        for name in first:
            own.run(name)
        return lambda: own.run([value.name], feeds)
    return _traces.tensorflow_call(to_bytes(b.graph), [value.name], feeds, first, optimizes=False)


def subnormal(op: str, shape: tuple[int, int], engine: str) -> Callable[[], Any]:
    """Return an op of a tensor with itself. The results are about 1e-39 and smaller."""
    from tfg.formats import to_bytes

    _require_tfg(engine)
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=shape, name="x")
    value, feeds = getattr(b, op)(x, x), {"x:0": np.full(shape, 3e-21, np.float32)}
    if engine == TENSORFLOW:
        return _traces.tensorflow_call(to_bytes(b.graph), [value.name], feeds)
    own = session(b.graph, engine)
    return lambda: own.run([value.name], feeds)


def loading(folder: str, engine: str) -> Callable[[], Any]:
    """From a file's bytes to a graph."""
    path = _traces.GRAPHS / folder / "graph.pb"
    require(path)
    data = path.read_bytes()
    _require_numpy(engine)
    if engine != TENSORFLOW:
        return lambda: tfg.load(data)
    import tensorflow as tf

    return lambda: _traces.imported(tf.compat.v1.GraphDef.FromString(data))


_IMPORT = """
import sys, tensorflow as tf
with tf.Graph().as_default() as graph:
    tf.graph_util.import_graph_def(tf.compat.v1.GraphDef.FromString(open(sys.argv[1], "rb").read()), name="")
"""
_RUN = (
    _IMPORT
    + """
import numpy as np
with tf.compat.v1.Session(graph=graph) as session:
    session.run(sys.argv[2], {sys.argv[3]: np.load(sys.argv[4])})
"""
)


def process(what: str, engine: str) -> Callable[[], Any]:
    """Return a whole process: start, load mobilenetv2 and `what`."""
    path = _traces.GRAPHS / "mobilenetv2" / "graph.pb"
    require(path)
    _require_numpy(engine)
    if engine == TENSORFLOW and what not in ("load", "run"):
        raise Missing("TensorFlow has no such command")
    graph = tfg.load(str(path))
    (source,) = (node.name for node in graph if node.op == "Placeholder")
    fetch = f"{list(graph)[-1].name}:0"
    FOLDER.mkdir(exist_ok=True)
    image = FOLDER / "image.npy"
    np.save(image, np.random.default_rng(0).random((1, 224, 224, 3), np.float32))
    ours = {
        "load": ["dump", str(path)],
        "run": ["run", str(path), "--fetch", fetch, "--feed", f"{source}:0=@{image}"],
        "flops": ["flops", str(path)],
        "optimize": ["optimize", str(path), "-o", str(FOLDER / "optimized.pb"), "--fetch", fetch],
    }
    if engine != TENSORFLOW:
        line = [sys.executable, "-m", "tfg", *ours[what]]
    else:
        line = [sys.executable, "-c", _IMPORT if what == "load" else _RUN, str(path), fetch, f"{source}:0", str(image)]
    return lambda: subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def _require_numpy(engine: str) -> None:
    """Skip engines for works that run no graph."""
    if engine not in (TENSORFLOW, NUMPY):
        raise Missing("nothing: engines have no part in it")


def _require_tfg(engine: str) -> None:
    """Require tfg or TensorFlow for works without a frozen network in a file."""
    if engine == ITSELF:
        raise Missing("a frozen network")


def require(path: pathlib.Path) -> None:
    if not path.exists():
        raise Missing(str(path))


def chosen(text: str | None, quick: bool = False) -> Iterator[tuple[str, Work]]:
    """Yield the works whose names contain a text, all works without a text; with `quick`, the quick works."""
    for name, work in works().items():
        if (text is None or text.lower() in name.lower()) and (not quick or name in QUICK):
            yield name, work
