"""The view of a model: what its signature runs, without calls, arguments and handles, by the names of its author."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.functions import define
from tfg import GraphBuilder, Session
from tfg.core.explaining.author_scopes import AuthorScopes, ScopedNode
from tfg.core.explaining.model_view import model_view
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from tfg.core.runtime.session.drawn_feeds import generated_feeds
from tfg.core.runtime.session.variable_values import variables_in_use
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.core.types import dtypes
from tfg.core.types.tensors import FuncRef

KERAS = SAMPLES / "keras_classifier"


def assert_computes_the_same(graph, view):
    """The signature of the view, run on the variables of the file, gives what the file gives."""
    signature = graph.meta.signatures[view.signature.name]
    fetches = list(signature.fetched.values())
    feeds = generated_feeds(graph, {}, [name.partition(":")[0] for name in fetches])
    session, shown = Session(graph), Session(view.graph)
    shown.share(Session(graph))  # variables of its own, which a run may change
    fed = {view.signature.fed[key]: feeds[name] for key, name in signature.fed.items() if name in feeds}
    for expected, value in zip(session.run(fetches, feeds), shown.run(list(view.signature.fetched.values()), fed)):
        np.testing.assert_array_equal(value, expected)


def signed(graph, inputs, outputs, name="serving_default"):
    """Give a graph a signature: tensors by argument."""
    arguments = [{key: SignatureTensor(value.name) for key, value in values.items()} for values in (inputs, outputs)]
    graph.meta = MetaGraph(signatures={name: Signature(name, *arguments)})
    return graph


def names(graph):
    return [node.name for node in graph]


@pytest.mark.parametrize("name", ["keras_classifier", "scaler_saved_model"])
def test_a_view_computes_what_the_file_computes(name):
    graph = tfg.load(SAMPLES / name)
    view = model_view(graph)
    view.graph.check()
    assert_computes_the_same(graph, view)


def test_nothing_of_the_plumbing_is_left():
    view = model_view(tfg.load(KERAS))
    ops = {node.op for node in view.graph}
    assert ops.isdisjoint({"StatefulPartitionedCall", "_Arg", "Identity", "NoOp", "SaveV2", "RestoreV2", "AssignVariableOp"})
    assert not view.graph.functions and len(tfg.explain(view.graph).variables) == 8
    assert not [name for name in names(view.graph) if re.search(r"unknown|readvariableop_resource|StatefulPartitioned", name)]


def test_layers_have_the_names_of_their_weights():
    view = model_view(tfg.load(KERAS))
    scopes = {name.rpartition("/")[0] for name in names(view.graph) if "/" in name}
    layers = set(view.layers.values())
    weights = {variable.name.rpartition("/")[0] for variable in tfg.explain(view.graph).variables}
    assert weights <= layers and all(any(f"{scope}/".startswith(f"{layer}/") for layer in layers) for scope in scopes)


@pytest.mark.slow
def test_each_number_is_that_of_the_frozen_graph():
    graph = tfg.load(KERAS)
    frozen, view = tfg.freeze(graph), model_view(graph).graph
    memory = [tfg.explain(each).peak_memory.bytes for each in (graph, frozen, view)]
    assert len(set(memory)) == 1 and memory[0] > 90
    assert tfg.explain(graph).peak_memory.fetches == tuple(graph.meta.usual_signature.fetched) == ("output_0",)
    usual, shown = graph.meta.usual_signature, tfg.explain(view).signatures[0]
    counts = [tfg.flops(each, list(names.fetched.values())).total() for each, names in ((graph, usual), (view, shown))]
    assert counts[0].flops == counts[1].flops and counts[0].parameters == counts[1].parameters == 99


def test_a_node_of_the_view_knows_its_node_in_the_file():
    graph = tfg.load(KERAS)
    view = model_view(graph)
    for node in view.graph:
        origin = view.origin(node)
        body = graph.functions[origin.function].body if origin.function else graph
        assert origin.node in body and (body[origin.node].op == node.op or node.is_placeholder)
        assert view.path(origin.path) == node.name and view.path(origin.call_path) == node.name
        assert all(call in names(graph) for call in origin.calls[:1])
    with pytest.raises(NotFoundError):
        view.origin("no such node")


def test_a_layer_that_is_called_twice_has_two_scopes():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 2], name="x")
    w = g.VarHandleOp(dtype="float32", shape=[2, 2], shared_name="dense/kernel", name="dense/kernel")

    def body(b, x, handle):
        for scope in ("dense_1", "dense_1_2"):
            with b.name_scope(scope):
                x = b.MatMul(x, b.ReadVariableOp(handle, dtype="float32", name="ReadVariableOp"), name="MatMul")
        return [x]

    f = define(g, "f", ["float32", "resource"], body, stateful=True)
    y = g.StatefulPartitionedCall([x, w], f=FuncRef(f), Tout=["float32"])[0]
    view = model_view(signed(g.graph, {"x": x}, {"y": y}))
    assert {name for name in names(view.graph) if "MatMul" in name} == {"dense/MatMul", "dense_1/MatMul"}
    assert view.value("y").name == "dense_1/MatMul:0"


def test_a_weight_without_a_scope_is_a_layer_by_its_name_in_python():
    """TensorFlow numbers the second copy of a weight that Keras 3 exports."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 2], name="x")
    for name in ("mixing", "mixing_1"):
        g.VarHandleOp(dtype="float32", shape=[2, 2], shared_name=name, name=name)
    handle = g.graph["mixing_1"].output()
    body = define(
        g, "f", ["float32", "resource"],
        lambda b, x, handle: [b.MatMul(x, b.ReadVariableOp(handle, dtype="float32"), name="MatMul")], stateful=True,
    )  # fmt: skip
    y = g.StatefulPartitionedCall([x, handle], f=FuncRef(body), Tout=["float32"])[0]
    graph = signed(g.graph, {"x": x}, {"y": y})
    assert [layer.name for layer in tfg.layers(graph).layers] == ["mixing_1"]
    graph.meta = dataclasses.replace(graph.meta, python_names={"mixing_1": "mixing"})
    assert [layer.name for layer in tfg.layers(graph).layers] == ["mixing"]
    assert variables_in_use(graph) == {"mixing": "mixing_1"}


@pytest.mark.parametrize(
    ("weights", "layers"),
    [
        (["net_1/a_1/Cast", "net_1/b_1_2/convolution"], ["net/a", "net/b_1"]),
        (["net_1/a_1/MatMul", "net_1/b_1/MatMul"], ["net_1/a_1", "net_1/b_1"]),  # a second model of Keras 2
        (["net_1/a_1/Cast", "net_1/a_2/Cast"], ["net_1/a_1", "net_1/a_2"]),
        (["net_1/a_1/Cast", "net_1/b/Cast"], ["net_1/a_1", "net_1/b"]),
    ],
)
def test_layers_that_tensorflow_froze_lose_the_numbers_of_keras_3(weights, layers):
    places = [ScopedNode(f"{weight}_op", (f"{weight}/ReadVariableOp/resource",)) for weight in weights]
    assert [part.layer for part in AuthorScopes(places).named(places)] == layers


BUILT_BY_CALL = [
    ("net_1/tokens_1/GatherV2", "net/embeddings_1", "net/tokens"),
    ("net_1/both_1/forward_1/cell_1/MatMul", "net/kernel_2", "net/both/forward/cell"),
    ("net_1/both_1/backward_1/cell_1/MatMul", "net/kernel_3", "net/both/backward/cell"),
    ("net_1/dense_1/MatMul", "net/kernel_4", "net/dense"),
    ("net_1/dense_1/BiasAdd", "net/bias_4", "net/dense"),
    ("net_1/dense_1_2/MatMul", "net/kernel_5", "net/dense_1"),
    ("net_1/block_1/dense_2_1/Tensordot/MatMul", "net/kernel_6", "net/block/dense_2"),
    ("net_1/block_1/dense_2_1/BiasAdd", "net/bias_6", "net/block/dense_2"),
    ("net_1/norm_1/batchnorm/mul", "net/gamma", "net/norm"),
]
"""Nodes, their weights and layers in a subclassed model of Keras 3, as its export names them."""


@pytest.mark.parametrize("is_renamed", [True, False])
def test_weights_that_the_call_of_a_model_made_are_in_the_layers_that_read_them(is_renamed):
    if is_renamed:
        places, layers = [ScopedNode(path, (weight,)) for path, weight, _ in BUILT_BY_CALL], [row[-1] for row in BUILT_BY_CALL]
    else:  # the first graph of a process has the names of the layers as they are
        layers = ["net/a", "net/a", "net/b_1"]
        places = [ScopedNode(f"{layer}/op{i}", (f"net/kernel_{i}",)) for i, layer in enumerate(layers)]
    assert [part.layer for part in AuthorScopes(places).named(places)] == layers


@pytest.mark.parametrize(
    "places",
    [
        # A separable convolution reads its kernels in two scopes, one in the other.
        [
            ("net_1/sep_1/sep/depthwise", "sep/depthwise_kernel"),
            ("net_1/sep_1/sep", "sep/kernel"),
            ("net_1/sep_1/Add", "sep/bias"),
        ],
        # Parts of a layer have scopes of their own, and weights of different names.
        [("net_1/sep_1/gate/MatMul", "sep/gate"), ("net_1/sep_1/values/MatMul", "sep/values")],
    ],
)
def test_scopes_in_the_scope_of_a_layer_are_its_parts(places):
    nodes = [ScopedNode(path, (weight,)) for path, weight in places]
    assert {part.layer for part in AuthorScopes(nodes).named(nodes)} == {"sep"}


def test_stacked_cells_and_the_loop_around_them_are_one_recurrent_layer():
    places = [
        ScopedNode("model/rnn/while/cells/gru/MatMul", ("rnn/cells/gru/kernel",), is_repeated=True),
        ScopedNode("model/rnn/while/cells/lstm/MatMul", ("rnn/cells/lstm/kernel",), is_repeated=True),
        ScopedNode("model/rnn/while/Tile", is_repeated=True),
        ScopedNode("model/rnn/zeros"),
        ScopedNode("model/head/MatMul", ("head/kernel",)),
    ]
    assert [part.layer for part in AuthorScopes(places).named(places)] == [*["rnn"] * 4, "head"]


def test_a_loop_around_layers_is_a_model():
    places = [
        ScopedNode(f"model/decoder/while/{name}/MatMul", (f"decoder/{name}/kernel",), is_repeated=True)
        for name in ("att", "out")
    ]
    assert [part.layer for part in AuthorScopes(places).named(places)] == ["decoder/att", "decoder/out"]


def test_effects_that_no_result_needs_are_kept():
    view = model_view(tfg.load(SAMPLES / "scaler_saved_model"))
    assert "AssignAddVariableOp" in {node.op for node in view.graph}


def doubling(levels):
    """Each function calls the next twice."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    name = define(g, "f0", ["float32"], lambda b, x: [b.Neg(x)])
    for level in range(1, levels):

        def body(b, x, name=name):
            for _ in range(2):
                x = b.PartitionedCall([x], f=FuncRef(name), Tout=["float32"])[0]
            return [x]

        name = define(g, f"f{level}", ["float32"], body)
    g.PartitionedCall([x], f=FuncRef(name), Tout=["float32"], name="y")
    return g.graph


@pytest.mark.slow
def test_a_view_stays_small_where_calls_double():
    graph = doubling(40)
    view = model_view(graph)
    assert len(view.graph) < 20_000 and any(node.op == "PartitionedCall" for node in view.graph)
    view.graph.check()
    small = doubling(6)
    value = Session(model_view(small).graph).run(model_view(small).value("y").name, {"x:0": 3.0})
    assert value == Session(small).run("y:0", {"x:0": 3.0})


@pytest.mark.slow
def test_a_thousand_nested_functions():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    name = define(g, "f0", ["float32"], lambda b, x: [b.Neg(x)])
    for level in range(1, 1000):
        name = define(g, f"f{level}", ["float32"], lambda b, x, name=name: [
            b.Neg(b.PartitionedCall([x], f=FuncRef(name), Tout=["float32"])[0])
        ])  # fmt: skip
    y = g.PartitionedCall([x], f=FuncRef(name), Tout=["float32"])[0]
    view = model_view(signed(g.graph, {"x": x}, {"y": y}))
    assert len(view.graph) == 1001 and {node.op for node in view.graph} == {"Placeholder", "Neg"}


def recursive():
    """A graph with a function that calls itself."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    f = define(g, "f", ["float32"], lambda b, x: [b.Neg(x)])
    y = g.PartitionedCall([x], f=FuncRef(f), Tout=["float32"])[0]
    body = g.graph.functions[f].body
    inner = body.add_node("again", "PartitionedCall", [body["Neg"].output()], (), {
        "f": FuncRef(f), "Tin": [dtypes.float32], "Tout": [dtypes.float32],
    })  # fmt: skip
    g.graph.functions[f].results[0] = inner.output()
    return signed(g.graph, {"x": x}, {"y": y})


def test_a_recursive_call_stays_a_call():
    view = model_view(recursive())
    assert {node.op for node in view.graph} == {"Placeholder", "Neg", "PartitionedCall"} and len(view.graph.functions) == 1


def test_loops_inside_a_function_are_copied_with_their_back_edges():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")

    def count(b, start):
        value = b.Enter(start, frame_name="loop")
        merged = b.graph.add_node("Merge", "Merge", [value, value], (), {"T": dtypes.float32, "N": 2})
        condition = b.LoopCond(b.Less(merged.output(), b.Enter(b.constant(9.0), frame_name="loop", is_constant=True)))
        exit_, inner = b.Switch(merged.output(), condition)
        again = b.NextIteration(b.AddV2(inner, inner))
        b.graph.set_inputs(merged, [value, again])
        return [b.Exit(exit_)]

    y = g.PartitionedCall([x], f=FuncRef(define(g, "f", ["float32"], count)), Tout=["float32"])[0]
    graph = signed(g.graph, {"x": x}, {"y": y})
    view = model_view(graph)
    assert Session(view.graph).run(view.value("y").name, {"x:0": 1.0}) == Session(graph).run(y.name, {"x:0": 1.0}) == 16


def loop_of_a_layer():
    """A loop whose body calls a function with the weights of a layer, and a branch that calls it again."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 2], name="x")
    w = g.VarHandleOp(dtype="float32", shape=[2, 2], shared_name="dense/kernel", name="dense/kernel")
    result = {"Tout": ["float32"]}

    def dense(b, x, handle):
        with b.name_scope("dense_1"):
            return [b.Tanh(b.MatMul(x, b.ReadVariableOp(handle, dtype="float32", name="read"), name="MatMul"))]

    layer = define(g, "layer", ["float32", "resource"], dense, stateful=True)

    def again(b, x, handle):
        with b.name_scope("loop/while"):
            return [b.StatefulPartitionedCall([x, handle], f=FuncRef(layer), name="StatefulPartitionedCall", **result)[0]]

    def turn(b, i, x, handle):
        (y,) = again(b, x, handle)
        return [b.AddV2(i, b.constant(1), name="loop/while/add"), y, handle]

    body = define(g, "body", ["int32", "float32", "resource"], turn, stateful=True)
    cond = define(g, "cond", ["int32", "float32", "resource"], lambda b, i, x, h: [b.Less(i, b.constant(3), name="loop/Less")])
    loop = g.While([g.constant(0), x, w], cond=FuncRef(cond), body=FuncRef(body), name="loop/while")
    one = define(g, "one", ["float32", "resource"], again, stateful=True)
    other = define(g, "other", ["float32", "resource"], lambda b, x, handle: [b.Neg(x)], stateful=True)
    chosen = g.If(
        g.Placeholder(dtype="bool", shape=[], name="p"), [loop[1], w],
        then_branch=FuncRef(one), else_branch=FuncRef(other), name="choice", **result,
    )  # fmt: skip
    return signed(g.graph, {"x": x, "p": g.graph["p"].output()}, {"y": chosen[0]})


def test_calls_inside_loops_and_branches_are_dissolved():
    graph = loop_of_a_layer()
    view = model_view(graph)
    view.graph.check()
    assert set(view.graph.functions) == {"body", "cond", "one", "other"}
    for function in ("body", "one"):
        inside = names(view.graph.functions[function].body)
        assert {"dense/read", "dense/MatMul", "dense/Tanh"} <= set(inside) and "dense_1" not in " ".join(inside)
    assert "loop/while" in view.graph and not [node for node in view.graph if node.op.endswith("PartitionedCall")]
    fed = {"x:0": np.ones((2, 2), np.float32), "p:0": np.True_}
    values = []
    for each, fetch in ((graph, "choice:0"), (view.graph, view.value("y").name)):
        session = Session(each)
        session.variables["dense/kernel"] = [[1, 2], [3, 4]]
        values.append(session.run(fetch, fed))
    np.testing.assert_array_equal(*values)


def test_nodes_inside_bodies_know_their_way_back():
    graph = loop_of_a_layer()
    view = model_view(graph)
    inner = view.graph.functions["body"].body["dense/MatMul"]
    source = view.origin(inner)
    assert source.path == "layer/dense_1/MatMul" and source == view.origin("body/dense/MatMul")
    assert source.calls == ("loop/while", "loop/while/StatefulPartitionedCall")
    assert view.path(source.call_path) == "loop/while/dense/MatMul" and view.path(source.path) == "body/dense/MatMul"
    assert view.path("choice/loop/while/StatefulPartitionedCall/dense_1/MatMul") == "choice/dense/MatMul"
    assert view.value("body/dense/MatMul").node is inner and view.layers["body/dense/MatMul"] == "dense"
    assert view.other_names[inner] == source.path
    layer = view.value("dense")
    assert (layer.node.op, view.function_of(layer.node)) == ("Tanh", "body") and view.value("loop").name == "loop/while:1"


def test_numbers_enter_the_bodies_of_loops_and_branches():
    graph = loop_of_a_layer()
    by_name = {layer.name: layer for layer in tfg.layers(graph).layers}
    assert by_name["dense"].parameters == 4 and by_name["dense"].flops == 4 * 16
    assert not [name for name in by_name if "PartitionedCall" in name or "dense_1" in name]
    # x, the state and the results of MatMul and Tanh are 16 bytes each, the counters 4
    assert tfg.explain(graph).peak_memory.bytes == tfg.explain(model_view(graph).graph).peak_memory.bytes
    assert tfg.explain(graph).peak_memory.bytes >= 3 * 16


def test_a_loop_of_a_layer_runs_and_is_explained_by_the_name_of_the_layer():
    (facts,) = tfg.explain(loop_of_a_layer(), "dense")
    assert (facts.node.op, facts.function, facts.source) == ("Tanh", "body", "layer/dense_1/Tanh")


def test_a_signature_may_feed_any_tensor():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[3], name="x")
    middle = g.Neg(x, name="middle")
    y = g.Exp(middle, name="y")
    view = model_view(signed(g.graph, {"inner": middle}, {"y": y, "same": middle}))
    assert names(view.graph) == ["inner", "y"] and view.graph["inner"].op == "Placeholder"
    assert view.signature.fetched == {"y": "y:0", "same": "inner:0"}


@pytest.mark.parametrize("sample", ["xor.pbtxt", "skipgram.pbtxt", "collatz.pbtxt"])
def test_a_graph_without_signatures_and_functions_is_its_own_view(sample):
    graph = tfg.load(SAMPLES / sample)
    view = model_view(graph)
    assert view.graph is graph and view.signature is None
    assert [view.origin(node).path for node in graph] == names(graph)


def test_a_broken_graph_is_its_own_view():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    first = g.Neg(x, name="first")
    g.graph.set_inputs(first.node, [g.Neg(first, name="second")])
    for graph in (signed(g.graph, {}, {"y": first}), signed(tfg.load(SAMPLES / "square.pbtxt"), {}, {"y": first})):
        assert model_view(graph).graph is graph


def test_raw_is_the_file():
    graph = tfg.load(KERAS)
    view = model_view(graph, raw=True)
    assert view.graph is graph and not view.layers


def test_an_unknown_signature_is_refused():
    with pytest.raises(InvalidArgumentError, match="no signature 'other'"):
        model_view(tfg.load(KERAS), "other")


def test_words_name_layers_and_nodes():
    view = model_view(tfg.load(KERAS))
    layer = next(node for node in view.graph if node.op == "MatMul").name.rpartition("/")[0]
    last = [node for node in view.graph if node.name.startswith(f"{layer}/")][-1]
    for word in (layer, layer.rpartition("/")[2], last.name, f"{last.name}:0", view.origin(last).path, view.origin(last).node):
        assert view.value(word) == last.output(), word
    assert view.value("serve" if "serve" in view.signature.fed else next(iter(view.signature.fed))).node.is_placeholder
    with pytest.raises(InvalidArgumentError, match="names 2 nodes and scopes") as refused:
        view.value("MatMul")
    assert layer in refused.value.hint
    with pytest.raises(NotFoundError, match="no layer or node 'nothing'"):
        view.value("nothing")


def test_a_layer_is_fetched_by_its_name():
    graph = tfg.load(KERAS)
    view = model_view(graph)
    layer = next(node for node in view.graph if node.op == "MatMul").name.rpartition("/")[0]
    argument = next(iter(view.signature.fed))
    done = run("run", KERAS, "--fetch", layer, "--feed", f"{argument}=ones(2,4)", "--format", "json")
    assert done.code == 0 and f"'{layer}' is a scope: its output is {view.value(layer).node.name}" in done.err
    session = Session(view.graph)
    session.share(Session(graph))
    expected = session.run(view.value(layer).name, {view.signature.fed[argument]: np.ones((2, 4), np.float32)})
    np.testing.assert_allclose(done.json["steps"][0]["values"][0]["value"], expected, rtol=1e-6)


def layer_of(view, op):
    """A layer with an op, as the author calls it."""
    return next(node for node in view.graph if node.op == op).name.rpartition("/")[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("optimize", KERAS, "--fetch", "LAYER", "--verify"),
        ("convert", KERAS, "OUT.pb", "--freeze", "--to", "LAYER", "--verify"),
        ("convert", KERAS, "OUT.pb", "--freeze", "--from", "LAYER", "--verify"),
        ("compare", KERAS, KERAS, "--fetch", "LAYER"),
        ("compare", KERAS, "--passes", "default", "--fetch", "LAYER"),
        ("flops", KERAS, "--fetch", "LAYER"),
        ("layers", KERAS, "--fetch", "LAYER"),
        ("grad", KERAS, "--y", "OUTPUT", "--x", "LAYER"),
        ("explain", KERAS, "LAYER", "--optimized"),
        ("explain", KERAS, "--races", "--fetch", "LAYER"),
    ],
    ids=lambda words: " ".join(map(str, words)).replace(str(KERAS), "MODEL"),
)
def test_commands_take_the_names_of_layers(words, tmp_path):
    view = model_view(tfg.load(KERAS))
    meant = {"LAYER": layer_of(view, "MatMul"), "OUT.pb": tmp_path / "out.pb", "OUTPUT": next(iter(view.signature.fetched))}
    done = run(*(meant.get(word, word) for word in words))
    assert done.code == 0, done.err
    assert f"'{meant['LAYER']}' is a scope: its output is {view.value(meant['LAYER']).node.name}" in done.err
    unknown = run(*({**meant, "LAYER": "nothing"}.get(word, word) for word in words))
    assert unknown.code == 1 and "'nothing'" in unknown.err and "Traceback" not in unknown.err


@pytest.mark.slow
@pytest.mark.parametrize("word", ["hidden", "sequential/hidden", "OUTPUT"])
def test_training_minimizes_the_loss_of_a_layer(word):
    graph = tfg.load(KERAS)
    view = model_view(graph)
    (argument,), (output,) = view.signature.fed, view.signature.fetched
    word = word.replace("OUTPUT", output)
    value = tfg.Session(tfg.expose(graph, word).graph).run(
        tfg.expose(graph, word).names[word], {graph.signatures["serving_default"].fed[argument]: np.ones((2, 4), np.float32)}
    )
    expected = float(np.mean(np.square(value)))
    feeds = {argument: np.ones((2, 4), np.float32), "labels": np.zeros_like(value)}
    trained = tfg.train(graph, f"mse({word}, labels)", feeds, steps=2, optimizer="sgd")
    assert trained.losses[0] == pytest.approx(expected, rel=1e-5) and trained.losses[1] < trained.losses[0]
    by_command = run(
        "train", KERAS, "--loss", f"mse({word},labels)", "--feed", f"{argument}=ones(2,4)", "--steps", 2, "--format", "json",
        "--feed", f"labels=zeros{value.shape}".replace(" ", ""),
    )  # fmt: skip
    assert [step["loss"] for step in by_command.json["history"]] == pytest.approx(trained.losses)


def test_training_names_what_the_model_lacks():
    feeds = {next(iter(model_view(tfg.load(KERAS)).signature.fed)): np.ones((2, 4), np.float32), "labels": np.zeros(2)}
    with pytest.raises(NotFoundError, match="no layer or node 'hiden'") as refused:
        tfg.train(tfg.load(KERAS), "mse(hiden, labels)", feeds)
    assert "hidden" in refused.value.hint


def test_a_layer_is_cut_out_as_the_view_computes_it():
    graph = tfg.load(KERAS)
    view = model_view(graph)
    layer, (argument,) = layer_of(view, "MatMul"), view.signature.fed
    exposed = tfg.expose(graph, [layer, argument])
    fed = {view.signature.fed[argument]: np.ones((2, 4), np.float32)}
    session = Session(view.graph)
    session.share(Session(graph))
    part = tfg.freeze(exposed.graph, None, exposed.names[layer])
    value = Session(part).run(exposed.names[layer], {exposed.names[argument]: np.ones((2, 4), np.float32)})
    np.testing.assert_allclose(value, session.run(view.value(layer).name, fed), rtol=1e-6)
    assert tfg.expose(graph, list(graph.signatures["serving_default"].fetched.values())).graph is graph


def test_a_frozen_model_has_the_names_of_its_author():
    """Freezing puts the nodes of functions into the scopes of calls."""
    graph = tfg.load(KERAS)
    frozen, view = tfg.freeze(graph), model_view(graph)
    assert any(node.name.startswith("StatefulPartitionedCall") for node in frozen)
    of_frozen = model_view(frozen)
    kept = [node.name for node in view.graph if not node.is_placeholder]
    assert set(kept) <= set(names(of_frozen.graph)) and set(view.layers.values()) == set(of_frozen.layers.values())
    layer = layer_of(view, "MatMul")
    value = of_frozen.value(layer)
    assert value.name == view.value(layer).name and of_frozen.origin(value.node).node in frozen


def test_a_scope_that_computes_nothing_is_no_layer():
    g = GraphBuilder()
    with g.name_scope("dense"):
        g.constant(np.ones((2, 2), np.float32), name="kernel")
    g.Neg(g.graph["dense/kernel"].output(), name="y")
    with pytest.raises(InvalidArgumentError, match="'dense' computes nothing"):
        model_view(g.graph).value("dense")


def test_a_layer_has_one_output():
    view = model_view(tfg.load(KERAS))
    layer = layer_of(view, "MatMul")
    assert view.value(f"{layer}:0") == view.value(layer)
    with pytest.raises(InvalidArgumentError, match="has the single output"):
        view.value(f"{layer}:1")


def test_a_node_that_stays_in_a_function_is_not_exposed():
    graph = recursive()
    (function,) = graph.functions
    with pytest.raises(InvalidArgumentError, match="a call around it stays a call"):
        tfg.expose(graph, f"{function}/Neg")


@pytest.mark.slow
def test_a_node_is_explained_by_the_name_of_its_author():
    graph = tfg.load(KERAS)
    view = model_view(graph)
    layer = layer_of(view, "MatMul")
    (facts,) = tfg.explain(graph, layer, fetch=next(iter(view.signature.fetched)))
    node = view.value(layer).node
    assert facts.node.name == node.name and facts.layer == layer and facts.source == view.origin(node).path
    assert facts.fetch.runs and facts.node.outputs
    done = run("explain", KERAS, layer)
    assert f"in the file: {facts.source}" in done.out and f"the output of layer {layer}" in done.out
    refused = run("explain", KERAS, layer, "--raw")
    assert refused.code == 1 and f"the graph has no node '{layer}'" in refused.err
    assert tfg.explain(graph, facts.source, raw=True)[0].function and run("explain", KERAS, facts.source, "--raw").code == 0
    (of_node,) = tfg.explain(graph, node.name)
    assert of_node.layer is None and of_node.node.inputs == facts.node.inputs


def test_commands_show_the_model_and_raw_the_file():
    drawn, raw = (run("draw", KERAS, "--format", "text", *more).out for more in ((), ("--raw",)))
    assert "StatefulPartitionedCall" not in drawn and "StatefulPartitionedCall" in raw
    dumped, plain = (run("dump", KERAS, *more, "--format", "list").out for more in (("--model",), ()))
    assert "VarHandleOp" in dumped and "StatefulPartitionedCall" not in dumped and "StatefulPartitionedCall" in plain
