"""`tfg check` finds errors in every graph that TensorFlow does not import: graphs that are valid, changed at random.

It finds some in others: TensorFlow imports graphs that no session runs.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.cli.running import SAMPLES
from tfg.core.explaining.problems import ERROR, find_problems
from tfg.core.support.errors import TfgError
from tfg.formats import load
from tfg.formats.loading import load_leniently
from tfg.formats.saving import to_bytes

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live
v1 = tf.compat.v1

CHANGED = 60
"""How many changes each graph goes through."""
DTYPES = (1, 2, 3, 7, 9, 10, 20, 21, 101)
NAMES = ("_x", "a b", "x", "a/b", "", "9", ".", "-a", "a:0", "^a", "a^b", "a\\b", "a>b", "\N{GREEK SMALL LETTER ALPHA}")
DEVICES = ("/cpu:0", "/device:GPU:1", "/job:w/replica:0/task:1/device:CPU:0", "gpu-one", "/gpu", "/device:CPU:x", "/job:*")


def programs():
    """Graphs of the kinds that V1 programs have."""

    def loop():
        x = v1.placeholder(tf.float32, [2], name="x")
        _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])
        tf.identity(y, name="y")

    def conditional():
        x = v1.placeholder(tf.float32, [2, 3], name="x")
        tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: tf.tanh(x), name="choice")

    def training():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        w = v1.get_variable("w", [3, 2], use_resource=False)
        v1.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_mean(tf.matmul(x, w) ** 2))

    def functions():
        @tf.function
        def twice(v):
            return v + v

        tf.identity(twice(v1.placeholder(tf.float32, [2], name="x")), name="y")

    def shapes():
        x = v1.placeholder(tf.float32, [2, 4, 4, 3], name="x")
        y = tf.nn.conv2d(x, tf.ones([3, 3, 3, 8]), 1, "SAME")
        parts = tf.split(tf.reshape(y, [2, -1]), 2, axis=1)
        tf.concat([parts[0], tf.transpose(tf.transpose(parts[1]))], 0, name="y")
        v1.parse_example(v1.placeholder(tf.string, [None], name="e"), {"a": tf.io.FixedLenFeature([2], tf.float32)})

    for build in (loop, conditional, training, functions, shapes):
        for is_v2 in (False, True):
            with tf.Graph().as_default() as graph:
                (v1.enable_control_flow_v2 if is_v2 else v1.disable_control_flow_v2)()
                build()
            v1.enable_control_flow_v2()
            yield f"{build.__name__}{'_v2' if is_v2 else ''}", graph.as_graph_def(add_shapes=is_v2)


def graphs():
    by_name = dict(programs())
    for name in ("xor.pbtxt", "square.pbtxt", "countdown.pbtxt", "scaler_saved_model"):
        by_name[name] = v1.GraphDef.FromString(to_bytes(load(SAMPLES / name), "graph"))
    return by_name


def chosen(r, graph):
    return r.choice(list(graph.node))


def rename(r, graph):
    """A name that may be none; most edges follow."""
    node, name = chosen(r, graph), r.choice(NAMES)
    old, node.name = node.name, name
    for other in graph.node if r.random() < 0.7 else ():
        for i, text in enumerate(other.input):
            head, _, rest = text.partition(":")
            if head.lstrip("^") == old:
                other.input[i] = head.replace(old, name) + (f":{rest}" if rest else "")


def duplicate(r, graph):
    graph.node.add().CopyFrom(chosen(r, graph))


def remove(r, graph):
    graph.node.remove(chosen(r, graph))


def rewire(r, graph):
    """Another input: any output of any node, a control input, or what is no name."""
    node = chosen(r, graph)
    other = chosen(r, graph).name
    text = r.choice((other, other, f"{other}:1", f"^{other}", f"{other}:0", "gone", "^gone", "", ":0", f"{other}:-1"))
    if node.input and r.random() < 0.8:
        node.input[r.randrange(len(node.input))] = text
    else:
        node.input.append(text)


def drop_input(r, graph):
    node = chosen(r, graph)
    if node.input:
        del node.input[r.randrange(len(node.input))]


def change_op(r, graph):
    ops = ("Identity", "Neg", "AddV2", "NoOp", "Sum", "NoSuchOp", "_Arg", "MatMul", "Const", chosen(r, graph).op)
    chosen(r, graph).op = r.choice(ops)


def drop_attr(r, graph):
    node = chosen(r, graph)
    if node.attr:
        del node.attr[r.choice(sorted(node.attr))]


def change_dtype(r, graph):
    node = chosen(r, graph)
    types = [name for name in sorted(node.attr) if node.attr[name].type]
    if types:
        node.attr[r.choice(types)].type = r.choice(DTYPES)


def change_attr(r, graph):
    node, other = chosen(r, graph), chosen(r, graph)
    if node.attr and other.attr:
        node.attr[r.choice(sorted(node.attr))].CopyFrom(other.attr[r.choice(sorted(other.attr))])


def add_attr(r, graph):
    node, other = chosen(r, graph), chosen(r, graph)
    if other.attr:
        node.attr[r.choice(("_private", "extra", "T", "N"))].CopyFrom(other.attr[r.choice(sorted(other.attr))])


def change_shape(r, graph):
    nodes = [node for node in graph.node if "shape" in node.attr and node.attr["shape"].HasField("shape")]
    if nodes:
        shape = r.choice(nodes).attr["shape"].shape
        shape.Clear()
        for _ in range(r.randrange(4)):
            shape.dim.add().size = r.choice((-1, 0, 1, 2, 3, 7, -2, 1 << 40))
        shape.unknown_rank = r.random() < 0.1 and not shape.dim


def change_value(r, graph):
    """The value of a small constant of integers: axes, shapes and sizes."""
    nodes = [node for node in graph.node if node.op == "Const" and "dtype" in node.attr and node.attr["dtype"].type == 3]
    if nodes:
        tensor = r.choice(nodes).attr["value"].tensor
        tensor.ClearField("tensor_content")
        del tensor.int_val[:]
        tensor.int_val.append(r.choice((-5, -1, 0, 1, 2, 3, 100)))


def place(r, graph):
    chosen(r, graph).device = r.choice(DEVICES)


def colocate(r, graph):
    node = chosen(r, graph)
    name = r.choice((chosen(r, graph).name, "gone", ""))
    node.attr["_class"].list.s[:] = [r.choice(("loc:@", "loc:@", "loc:", "")).encode() + name.encode()]


def change_versions(r, graph):
    versions = graph.versions
    field = r.choice(("producer", "min_consumer", "bad_consumers"))
    number = r.choice((0, 1, 21, 26, 27, 987, 2473, 2474, 2475, 100_000, -1))
    if field == "bad_consumers":
        versions.bad_consumers.append(number)
    else:
        setattr(versions, field, number)


def change_library(r, graph):
    """A function that is gone, there twice, or changed inside."""
    library = graph.library.function
    if not library:
        return
    function = r.choice(list(library))
    change = r.choice(("remove", "duplicate", "rename", "inside", "results"))
    if change == "remove":
        library.remove(function)
    elif change == "duplicate":
        library.add().CopyFrom(function)
    elif change == "rename":
        function.signature.name = r.choice(("f", "", "a b", function.signature.name + "x"))
    elif change == "results" and function.ret:
        function.ret[r.choice(sorted(function.ret))] = r.choice(("gone", "gone:z:0", ""))
    elif function.node_def:
        node = r.choice(list(function.node_def))
        r.choice((lambda: setattr(node, "name", "_n"), lambda: node.input.append("^gone"), lambda: node.attr.clear()))()


CHANGES: tuple[Callable, ...] = (
    rename, duplicate, remove, rewire, rewire, drop_input, change_op, drop_attr, change_dtype, change_attr, add_attr,
    change_shape, change_value, place, colocate, change_versions, change_library,
)  # fmt: skip


def refusal(graph):
    """Why TensorFlow does not import a graph, None where it does."""
    try:
        with tf.Graph().as_default():
            tf.import_graph_def(graph, name="")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def errors(data):
    """The errors that check finds, by their kinds."""
    try:
        graph, faults = load_leniently(data)
    except TfgError as error:
        return {"file": str(error)}
    problems = [p for p in find_problems(graph, faults) if p.severity == ERROR]
    return {p.kind if p.function is None else "function": f"{p.node} ({p.op}): {p.message}" for p in problems}


def changed(graph, seed):
    """The name of a change, and what it makes of a graph."""
    r = random.Random(seed)
    result = v1.GraphDef.FromString(graph.SerializeToString())
    change = r.choice(CHANGES)
    change(r, result)
    return change.__name__, result


GRAPHS = graphs()
OF_RUNS = {"function", "shape", "loop", "device", "colocation"}
"""Kinds of problems of which TensorFlow may tell when it runs a graph, not before: values, bodies, places."""


@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_is_wrong_with_the_graphs_themselves(name):
    assert (refusal(GRAPHS[name]), errors(GRAPHS[name].SerializeToString())) == (None, {})


@pytest.mark.parametrize("name", GRAPHS)
def test_check_tells_of_all_that_import_refuses(name):
    silent, wrong = [], []
    for seed in range(CHANGED):
        change, graph = changed(GRAPHS[name], f"{name} {seed}")
        why, result = refusal(graph), errors(graph.SerializeToString())
        if why is not None and not result:
            silent.append(f"{seed} {change}: {why}")
        if why is None and not result.keys() <= OF_RUNS:
            wrong.append(f"{seed} {change}: {result}")
    assert (silent, wrong) == ([], [])
