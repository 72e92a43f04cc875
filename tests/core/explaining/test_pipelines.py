"""Explanations of input pipelines: the stages in words, the elements, the nodes of the pipeline, the commands to run."""

import numpy as np
import pytest

from tests.cli.running import tfg
from tests.pipelines import NUMBER, elements, function, int64, numbers, slices
from tfg.cli.next_steps import in_commands
from tfg.core.building.builder import GraphBuilder
from tfg.core.explaining.graph_facts import explain_graph
from tfg.core.explaining.stages import recover_stages
from tfg.core.flops import count_flops
from tfg.formats import to_bytes

ROWS = elements(("float32", (None, 2)))


def rows(g):
    row = elements(("float32", (2,)))
    shuffled = g.ShuffleDataset(slices(g, np.ones((5, 2), np.float32)), int64(4), int64(1), int64(2), **row)
    double = function(g, "double", ["float32"], lambda b, x: [b.AddV2(x, x)])
    mapped = g.MapDataset(shuffled, [], f=double, Targuments=[], **row)
    return g.BatchDatasetV2(mapped, int64(2), np.array(True), **ROWS)


def negated(g, iterator, spec):
    g.IteratorGetNext(iterator, name="next", **spec)
    g.Neg(g.graph.node("next").output(), name="y")
    return g.graph


def initializable():
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **ROWS)
    g.MakeIterator(rows(g), iterator, name="start")
    return negated(g, iterator, ROWS)


def one_shot():
    g = GraphBuilder()
    made = function(g, "made", [], lambda b: [numbers(b, 3)], stateful=True)
    return negated(g, g.OneShotIterator(dataset_factory=made, shared_name="", container="", **NUMBER), NUMBER)


def test_stages_are_told_from_the_source_on():
    facts = explain_graph(initializable())
    pipeline = facts.pipelines[0]
    assert pipeline.stages == (
        "tensor slice (float(5,2))",
        "shuffle (buffer size 4, seed 1, seed2 2)",
        "map (function double of 1 node: AddV2)",
        "batch (batch size 2, drop remainder True)",
    )
    assert (pipeline.node, pipeline.iterator, pipeline.begun_by) == ("next", "IteratorV2", ("start",))
    assert [(part.name, part.dtype, str(part.shape)) for part in pipeline.components] == [("next:0", "float", "(?,2)")]


def handed_on():
    """The same with an Identity between the datasets and behind them, and a list that a function captures."""
    g = GraphBuilder()
    g.Identity(g.TensorListReserve(np.int32([2]), np.int32(3), element_dtype="float32"), name="list")
    double = function(g, "double", ["int64", "variant"], lambda b, x, _: [b.AddV2(x, x)])
    source = g.Identity(numbers(g, 3))
    mapped = g.MapDataset(source, [g.graph.output("list")], f=double, Targuments=["variant"], **NUMBER)
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(g.Identity(mapped), iterator, name="start")
    return negated(g, iterator, NUMBER)


def test_what_only_hands_a_dataset_on_is_passed():
    graph = handed_on()
    (result,) = explain_graph(graph).pipelines
    assert result.stages == ("range (start 0, stop 3, step 1)", "map (function double of 1 node: AddV2)")
    (cost,) = count_flops(graph, ["y:0"]).pipeline
    assert (cost.dataset, cost.function) == ("MapDataset", "double")


def test_elements_are_inputs_and_steps_an_epoch():
    facts = explain_graph(initializable(), "GRAPH")
    assert [tensor.name for tensor in facts.inputs] == ["next:0"]
    assert "session = tfg.Session(graph); tfg.initialize(session); session.run(['y:0'])" in facts.next_commands
    assert "tfg run GRAPH --init --fetch y:0" in map(in_commands, facts.next_commands)


def test_a_one_shot_iterator_has_its_dataset_in_a_function():
    pipeline = explain_graph(one_shot()).pipelines[0]
    assert pipeline.stages == ("range (start 0, stop 3, step 1)",)
    assert pipeline.begun_by == ()


def reduced_in_a_function():
    """Return a TF2 function with a loop over a dataset: a reduction behind a call."""

    def total(b):
        add = function(b, "add", ["int64", "int64"], lambda c, state, x: [c.AddV2(state, c.Mul(x, x))])
        types = {"Tstate": ["int64"], "Targuments": [], "output_types": ["int64"], "output_shapes": [()]}
        return [b.ReduceDataset(numbers(b, 3), [b.constant(int64(0))], [], f=add, name="all", **types)[0]]

    g = GraphBuilder()
    called = function(g, "total", [], total)
    g.PartitionedCall([], f=called, Tin=[], Tout=["int64"], name="y")
    return g.graph


def test_a_pipeline_in_a_function_is_told():
    (result,) = explain_graph(reduced_in_a_function()).pipelines
    assert (result.node, result.iterator, result.begun_by) == ("total/all", "", ())
    assert result.stages == ("range (start 0, stop 3, step 1)", "reduce (0, function add of 2 nodes: Mul, AddV2)")


def test_a_function_of_the_reduction_is_counted_for_each_element():
    (cost,) = count_flops(reduced_in_a_function(), ["y:0"]).pipeline
    assert (cost.dataset, cost.function, cost.cost.flops) == ("total/all", "add", 2)


@pytest.mark.parametrize("make", [initializable, one_shot])
def test_the_pipeline_is_a_stage_of_its_own(make):
    graph = make()
    first, *others = recover_stages(graph)
    assert first.name == "input pipeline"
    assert [node.op for stage in others for node in stage.nodes] == ["Neg"]


def test_explain_shows_the_pipeline(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(to_bytes(initializable()))
    shown = tfg("explain", path).out
    assert "input pipeline of next" in shown
    assert "gives float(?,2); begun by start" in shown
