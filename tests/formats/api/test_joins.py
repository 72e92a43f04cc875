"""Two graphs as one: connections, prefixes, variables and their values, tables, loops, functions, signatures."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.functions import define
from tfg.core.support.errors import InvalidArgumentError, NotFoundError

SCALER = SAMPLES / "scaler_saved_model"
"""It multiplies by (2, 3), and counts its calls."""


def affine(scale, offset, shape=(None, 2)):
    """x * scale + offset, with variables by reference."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=shape, name="x")
    scaled = g.Mul(x, g.variable(np.float32(scale), "scale"), name="scaled")
    g.Add(scaled, g.variable(np.float32(offset), "offset", resource=True), name="y")
    g.global_variables_initializer()
    return g.graph


def run(graph, feeds, fetch, state=None):
    session = tfg.Session(graph)
    if graph.meta is None or not graph.meta.start_steps:
        tfg.initialize(session)
    if state is not None:
        tfg.restore(session, state)
    return np.asarray(session.run(fetch, feeds)).tolist()


def test_a_tensor_takes_the_place_of_an_input():
    joined = tfg.join(affine([2, 2], 1), affine([3, 10], 0), {"x": "y"})
    assert joined.prefixes == ("", "second") and {"x", "y", "scale", "offset"} <= set(joined.clashes)
    assert joined.connected == {"second/x:0": "y:0"} and "second/x" not in joined.graph
    assert run(joined.graph, {"x:0": [[1, 2]]}, "second/y:0") == [[9, 50]]
    joined.graph.check()


def test_names_stay_where_none_clashes():
    g = tfg.GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", shape=[None, 2], name="z"), name="negated")
    joined = tfg.join(affine([2, 2], 1), g.graph, {"z": "y"})
    assert joined.prefixes == ("", "") and not joined.clashes
    assert run(joined.graph, {"x:0": [[1, 2]]}, "negated:0") == [[-3, -5]]


def test_prefixes_are_scopes_of_nodes_and_variables():
    joined = tfg.join(affine(2, 1), affine(3, 0), {"x": "y"}, first_prefix="a", second_prefix="b/c")
    assert not joined.clashes and all(node.name.startswith(("a/", "b/c/")) for node in joined.graph)
    variables = {variable.name for variable in tfg.explain(joined.graph).variables}
    assert variables == {"a/scale", "a/offset", "b/c/scale", "b/c/offset"}
    assert all(name.startswith(("a/", "b/c/")) for node in joined.graph for name in node.colocation)


def test_each_graph_has_the_state_given_for_it():
    states = ({"scale": np.float32(5)}, {"offset": np.float32(7)})
    joined = tfg.join(affine(2, 1), affine(3, 0), {"x": "y"}, first_state=states[0], second_state=states[1])
    assert set(joined.state) == {"scale", "second/offset"}
    assert run(joined.graph, {"x:0": [[1, 2]]}, "second/y:0", joined.state) == [[25, 40]]


def test_both_graphs_of_a_chain_may_read_the_other():
    """Names of the joined graph serve on both sides."""
    g = tfg.GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", shape=[None, 2], name="z"), name="negated")
    joined = tfg.join(affine(2, 1), g.graph, {"x": "negated"})
    assert run(joined.graph, {"z:0": [[1, 2]]}, "y:0") == [[-1, -3]]


@pytest.mark.parametrize(("connect", "error", "words"), [
    ({"x": "negated", "z": "y"}, InvalidArgumentError, "closes a cycle"),
    ({"z": "nothing"}, NotFoundError, "neither graph has a tensor 'nothing'"),
    ({"nothing": "y"}, NotFoundError, "neither graph has a tensor 'nothing'"),
    ({"z": "init"}, InvalidArgumentError, "output 0 does not exist"),
    ({"z": "offset"}, InvalidArgumentError, "'z:0' to 'offset:0': it takes float, and the tensor is resource"),
    ({"z": "scale/initial_value"}, InvalidArgumentError, "'z:0' to 'scale/initial_value:0': it takes shape (?,2)"),
    ({"z": "x", "x": "negated"}, InvalidArgumentError, "it is a connected input itself"),
])  # fmt: skip
def test_what_cannot_be_connected_is_refused(connect, error, words):
    g = tfg.GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", shape=[None, 2], name="z"), name="negated")
    with pytest.raises(error) as refused:
        tfg.join(
            affine([2, 2, 2], 1, (None, 3)) if "scale/initial_value" in connect.values() else affine(2, 1), g.graph, connect
        )
    assert words in str(refused.value)


def test_a_prefix_must_keep_the_names_apart():
    with pytest.raises(InvalidArgumentError, match="both graphs have x, scale/initial_value"):
        tfg.join(affine(2, 1), affine(3, 0), {"x": "y"}, second_prefix="")


def test_loops_of_one_graph_stay_two_loops():
    """The Collatz sequence of 27 takes 111 steps, that of 111 takes 69 (OEIS A006577)."""
    joined = tfg.join(SAMPLES / "collatz.pbtxt", SAMPLES / "collatz.pbtxt", {"n": "steps"})
    assert joined.prefixes[1] == "collatz"
    assert tfg.Session(joined.graph).run(["steps:0", "collatz/steps:0"], {"n:0": 27}) == [111, 69]
    frames = {node.attr("frame_name") for node in joined.graph if node.op == "Enter"}
    assert len(frames) == 2


def queue(shared_name):
    g = tfg.GraphBuilder()
    made = g.FIFOQueueV2(component_types=["float"], capacity=3, shared_name=shared_name, name=f"queue_{shared_name}")
    g.QueueEnqueueV2(made, [g.Placeholder(dtype="float", shape=[], name="x")], name="put")
    g.QueueSizeV2(made, name="size")
    return g.graph


def test_queues_and_variables_of_a_shared_name_stay_apart():
    """Also where no node of the two graphs has the same name."""
    other = queue("q")
    other.rename_nodes({node: f"other_{node.name}" for node in other})
    joined = tfg.join(queue("q"), other)
    assert joined.clashes == ("q",) and joined.prefixes == ("", "second")
    session = tfg.Session(joined.graph)
    session.run("put", {"x:0": 1})
    assert session.run(["size:0", "second/other_size:0"]) == [1, 0]


def calling(offset):
    """A graph that calls a function `f`, which adds `offset`."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[], name=f"x{offset}")
    define(g, "f", ["float"], lambda b, value: [b.Add(value, np.float32(offset))])
    g.PartitionedCall([x], Tout=["float"], f="f", name=f"y{offset}")
    return g.graph


def test_functions_of_a_name_stay_apart():
    joined = tfg.join(calling(1), calling(10), {"x10": "y1"})
    assert set(joined.graph.functions) == {"f", "second_f"} and joined.prefixes == ("", "")
    assert run_plain(joined.graph, {"x1:0": 5}, "y10:0") == 16


def run_plain(graph, feeds, fetch):
    return tfg.Session(graph).run(fetch, feeds).tolist()


def test_the_parts_stay_as_they_were():
    first, second = calling(1), calling(10)
    before = [str(list(graph)) + str(list(graph.functions)) for graph in (first, second)]
    tfg.join(first, second, {"x10": "y1"}, first_prefix="a", second_prefix="b")
    assert [str(list(graph)) + str(list(graph.functions)) for graph in (first, second)] == before


def test_a_saved_model_restores_its_variables_in_a_joined_graph(tmp_path):
    joined = tfg.join(SCALER, SCALER, {"x": "scaled"})
    assert {name: (set(one.inputs), set(one.outputs)) for name, one in joined.graph.meta.signatures.items()} == {
        "serving_default": ({"x"}, {"calls", "scaled", "scaler_saved_model_calls"}),
        "index": ({"names"}, {"indices"}), "scaler_saved_model_index": ({"names"}, {"indices"}),
    }  # fmt: skip
    for graph in (joined.graph, written(joined.graph, tmp_path / "model")):
        result = tfg.Model(graph)(x=np.float32([[1, 2]]))
        assert result["scaled"].tolist() == [[4, 18]] and result["scaler_saved_model_calls"] == 1
        assert tfg.Model(graph, "scaler_saved_model_index")(names=np.array(["height"], object))["indices"].tolist() == [1]
    assert set(tfg.read_checkpoint(tmp_path / "model")) == {
        "calls", "scale", "scaler_saved_model/calls", "scaler_saved_model/scale"
    }  # fmt: skip


def written(graph, folder):
    tfg.save_model(graph, folder)
    return tfg.load(folder)


def looking_up(folder, name, words):
    """A SavedModel that gives the line of a word in the file words.txt among its assets; its input is `name`."""
    (folder / name).mkdir()
    (folder / name / "words.txt").write_text("".join(f"{word}\n" for word in words))
    g = tfg.GraphBuilder()
    table = g.HashTableV2(key_dtype="string", value_dtype="int64", shared_name="words", name="table")
    path = str(folder / name / "words.txt").encode()
    g.InitializeTableFromTextFileV2(table, path, key_index=-2, value_index=-1)
    g.LookupTableFindV2(table, g.Placeholder(dtype="string", shape=[None], name=name), np.int64(-1), name=f"line_of_{name}")
    session = tfg.Session(g.graph, files=tfg.FileAccess.only([folder]))
    tfg.save_model(g.graph, folder / f"{name}_model", state=session)
    return folder / f"{name}_model"


def test_files_and_tables_of_both_models_are_kept(tmp_path):
    """Both tables share a name, and both files have the same."""
    models = [looking_up(tmp_path, *each) for each in (("color", ("red", "blue")), ("shape", ("dot", "line", "blue")))]
    joined = tfg.join(*models).graph
    for graph in (joined, written(joined, tmp_path / "both")):
        asked = {word: np.array(["blue", "line"], object) for word in ("color", "shape")}
        result = {word: value.tolist() for word, value in tfg.Model(graph)(**asked).items()}
        assert result == {"line_of_color": [1, -1], "line_of_shape": [2, 1]}
    files = {str(path.relative_to(tmp_path / "both" / "assets")) for path in (tmp_path / "both" / "assets").rglob("*.txt")}
    assert files == {"words.txt", "shape_model/words.txt"}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_saved_model_and_a_graph_with_initial_values(order, tmp_path):
    """The model keeps its weights, and the graph gets its initial values; either may be the first."""
    parts = [tfg.load(SCALER), affine([5, 5], 1)]
    words = [("x", "scaled"), ("x", "y")]
    first, second = (parts[place] for place in order)
    joined = tfg.join(first, second, {words[order[1]][0]: words[order[0]][1]})
    output = {(0, 1): "y", (1, 0): "scaled"}[order]
    expected = {(0, 1): [[11, 31]], (1, 0): [[12, 33]]}[order]
    for graph in (joined.graph, written(joined.graph, tmp_path / "model")):
        assert tfg.Model(graph)(x=np.float32([[1, 2]]))[output].tolist() == expected


def test_models_joined_once_are_joined_again():
    twice = tfg.join(SCALER, SCALER, {"x": "scaled"}).graph
    thrice = tfg.join(twice, SCALER, {"x": "scaled"}, second_prefix="third").graph
    assert tfg.Model(thrice)(x=np.float32([[1, 1]]))["scaled"].tolist() == [[8, 27]]


def test_a_joined_graph_freezes_as_a_whole(tmp_path):
    for name, scale in (("one", 2), ("two", 3)):
        tfg.save_model(affine(scale, 1), tmp_path / name)
    frozen = tfg.freeze(tfg.join(tmp_path / "one", tmp_path / "two", {"x": "y"}).graph)
    assert not tfg.explain(frozen).variables
    assert run_plain(frozen, {"x:0": [[1, 2]]}, "two/y:0") == [[10, 16]]


def test_a_layer_may_be_connected():
    """A word that no node has is what `expose` finds: the last result of the layer."""
    classifier = SAMPLES / "keras_classifier"
    layer = tfg.layers(classifier).layers[0].name
    g = tfg.GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", name="z"), name="negated")
    joined = tfg.join(classifier, g.graph, {"z": layer})
    assert joined.connected["z:0"].partition(":")[0] in joined.graph


def test_a_graph_of_an_old_version_keeps_its_meaning(tmp_path):
    """Until version 22, a placeholder of shape () took any shape."""
    old = tmp_path / "old.pbtxt"
    old.write_text("""
        node {
            name: "x" op: "Placeholder"
            attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { } } }
        }
        node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        versions { producer: 21 }
    """)
    for number, parts in enumerate([(old, calling(1)), (calling(1), old)]):
        path = tmp_path / f"joined_{number}.pb"
        tfg.save(tfg.join(*parts).graph, path)
        assert tfg.Session(tfg.load(path)).run("y:0", {"x:0": [1, 2]}).tolist() == [-1, -2]
        with pytest.raises(InvalidArgumentError, match="shape"):
            tfg.Session(tfg.load(path)).run("y1:0", {"x1:0": [1, 2]})


def test_an_untrusted_part_makes_an_untrusted_graph():
    stranger = tfg.load(SAMPLES / "collatz.pbtxt", untrusted=True)
    assert tfg.join(calling(1), stranger).graph.is_untrusted


def negation(shape=()):
    g = tfg.GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", shape=shape, name="z"), name="negated")
    return g.graph


def choosing():
    """exp(x) where x is positive, else x; and exp(sqrt(x)) in a conditional within."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[], name="x")
    positive = g.Greater(x, 0.0, name="positive")
    no, yes = g.Switch(x, positive, name="switch")
    _, large = g.Switch(g.Exp(yes, name="branch"), g.Greater(yes, 1.0, name="large"), name="inner")
    g.Sqrt(large, name="deep")
    g.Merge([no, g.graph.output("branch:0")], name="merged")
    return g.graph


@pytest.mark.parametrize(
    ("tensor", "words", "hint"),
    [
        ("branch", "'branch:0' is on a branch of the conditional of positive:0", "results of conditionals: merged"),
        ("switch:1", "'switch:1' is on a branch of the conditional of positive:0", "merged"),
        ("deep", "'deep:0' is on a branch of the conditional of large:0, positive:0", None),
    ],
)
def test_a_tensor_on_a_branch_is_refused(tensor, words, hint):
    with pytest.raises(InvalidArgumentError) as refused:
        tfg.join(choosing(), negation(), {"z": tensor})
    assert words in str(refused.value) and "cannot connect input 'z:0'" in str(refused.value)
    assert hint is None or hint in refused.value.hint
    joined = tfg.join(choosing(), negation(), {"z": "merged"}).graph
    assert run_plain(joined, {"x:0": -2.0}, "negated:0") == 2


def test_an_input_on_the_same_branch_takes_the_tensor():
    joined = tfg.join(choosing(), negation(), {"branch": "switch:1"}).graph
    assert run_plain(joined, {"x:0": 2.0}, "merged:0") == 2
    with pytest.raises(InvalidArgumentError, match="'branch:0' is on a branch"):
        tfg.join(choosing(), negation(), {"branch": "z"})


def looping(depth):
    """Count from x in steps of 1 to 5, in a loop in a loop for a depth of 2."""
    g = tfg.GraphBuilder()
    value = g.Placeholder(dtype="float", shape=[], name="x")
    for frame in ("outer", "inner")[:depth]:
        value = g.Enter(value, frame_name=frame, name=f"{frame}/enter")
        value = g.Merge([value, value], name=f"{frame}/merge")[0]
        with g.control_dependencies([value.node]):
            end = g.constant(5.0)
        condition = g.LoopCond(g.Less(value, end, name=f"{frame}/less"), name=f"{frame}/cond")
        left, value = g.Switch(value, condition, name=f"{frame}/switch")
        g.Exit(left, name=f"{frame}/exit")
    with g.control_dependencies([value.node]):
        added = g.Add(value, g.constant(1.0), name="added")
    frames = ("outer", "inner")[:depth]
    for frame, result in zip(frames[::-1], [added, g.graph.output("inner/exit:0")] if depth == 2 else [added]):
        merge = g.graph.node(f"{frame}/merge")
        g.graph.set_inputs(merge, [merge.inputs[0], g.NextIteration(result, name=f"{frame}/next")])
    return g.graph


@pytest.mark.parametrize(
    ("depth", "tensor", "frame", "exits"),
    [(1, "added", "outer", "outer/exit"), (2, "added", "inner", "inner/exit"), (2, "inner/exit", "outer", "outer/exit")],
)
def test_a_tensor_inside_a_loop_is_refused(depth, tensor, frame, exits):
    graph = looping(depth)
    with pytest.raises(InvalidArgumentError) as refused:
        tfg.join(graph, negation(), {"z": tensor})
    assert f"cannot connect input 'z:0' to '{tensor}:0'" in str(refused.value)
    assert f"inside the loop of frame '{frame}'" in str(refused.value) and exits in refused.value.hint
    joined = tfg.join(graph, negation(), {"z": "outer/exit"}).graph
    assert run_plain(joined, {"x:0": 2.5}, "negated:0") == -5.5
    with pytest.raises(InvalidArgumentError, match=f"'{tensor}:0' is inside the loop of frame '{frame}'"):
        tfg.join(graph, negation(), {tensor: "z"})
