"""Twenty steps of every optimizer on nets with several layers, an embedding and a shared weight, beside TensorFlow's own.

All gradients precede the first update: gradients of the first layer read the weights of the last.
"""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from tests.cases.control_flow import counted
from tests.core.training.nets import IDS, RATE, ROWS, STEPS, VARIABLES, X, Y, numbers
from tfg.core.building.builder import GraphBuilder
from tfg.core.explaining.race_report import explain_races
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.training.optimizers import OPTIMIZERS, find_optimizer, parse_schedule
from tfg.core.training.train_step import Clipping, add_training, require_order
from tfg.core.training.trainer import Trainer
from tfg.formats import load, to_bytes

RECORDED = json.loads(pathlib.Path(__file__).with_name("steps.json").read_text())
KINDS = ("ref", "resource")


FEEDS = {"ids:0": IDS}


def gathered(g, made):
    """The rows of a variable, as embedding_lookup gathers them."""
    ids = g.Placeholder(dtype="int32", shape=[None, 2], name="ids")
    return g.ResourceGather(made.handle, ids, dtype="float32") if made.is_resource else g.GatherV2(made.value, ids, 0)


def two_layers(g, w0, b0, w1):
    hidden = g.Tanh(g.AddV2(g.MatMul(g.constant(X), w0.value), b0.value))
    return g.Mean(g.Square(g.Sub(g.MatMul(hidden, w1.value), g.constant(Y))), [0, 1], name="loss")


def embedding(g, e, w):
    hidden = g.Tanh(g.Sum(gathered(g, e), [1]))
    return g.Mean(g.Square(g.Sub(g.MatMul(hidden, w.value), g.constant(Y))), [0, 1], name="loss")


def shared(g, w, v):
    hidden = g.Tanh(g.MatMul(g.Tanh(g.MatMul(g.constant(X), w.value)), w.value))
    error = g.Mean(g.Square(g.Sub(g.MatMul(hidden, v.value), g.constant(Y))), [0, 1])
    return g.AddV2(error, g.Mul(g.L2Loss(w.value), 0.1), name="loss")


NETS = {"two_layers": two_layers, "embedding": embedding, "shared": shared}


def built(net, kind):
    g = GraphBuilder()
    made = [g.variable(value, name=name, resource=kind == "resource") for name, value in VARIABLES[net].items()]
    NETS[net](g, *made)
    if "ids" not in g.graph:
        g.Placeholder(dtype="int32", shape=[None, 2], name="ids")
    g.global_variables_initializer()
    return g.graph


def trained(key, **options):
    name, kind, net = key.split("/")
    return add_training(built(net, kind), "loss:0", find_optimizer(name), learning_rate=RATE, **options)


def stepped(training):
    """Return the numbers of twenty steps."""
    trainer = Trainer(training, FEEDS, batch=ROWS)
    trainer.initialize()
    losses = [step.loss for step in trainer.steps(STEPS)]
    state = trainer.runner.state()
    return numbers(losses, [state[name].numpy() for name in training.variables])


def assert_losses(key, losses):
    """Keras computes powers of decay rates anew in each step, TF1 and tfg by products: 1 - 0.999^t has fewer equal digits."""
    rtol = 3e-5 if key.startswith("adamw") else 3e-6
    np.testing.assert_allclose(losses, RECORDED[key]["losses"], rtol=rtol, atol=1e-8)


def test_every_optimizer_is_recorded():
    assert set(RECORDED) == {f"{name}/{kind}/{net}" for name in OPTIMIZERS for kind in KINDS for net in NETS}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("key", RECORDED)
def test_steps_are_those_of_tensorflow(key):
    training = trained(key)
    got = stepped(training)
    assert_losses(key, got["losses"])
    np.testing.assert_allclose(got["ends"], RECORDED[key]["ends"], rtol=1e-4 if key.startswith("adamw") else 1e-5, atol=1e-6)
    assert [run.races for run in explain_races(training.graph, ["loss:0", training.train_op])] == [()]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("options", (
    {"clipping": Clipping("value", 0.05)},
    {"clipping": Clipping("norm", 0.1)},
    {"clipping": Clipping("global_norm", 0.1)},
    {"schedule": parse_schedule("exponential(decay_steps=3,decay_rate=0.5)")},
), ids=str)  # fmt: skip
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_references_are_trained_as_resources_are(name, options):
    references, resources = (stepped(trained(f"{name}/{kind}/two_layers", **options)) for kind in KINDS)
    assert references == resources


@pytest.mark.sampled(4)
@pytest.mark.parametrize("key", [f"{name}/ref/shared" for name in OPTIMIZERS])
def test_optimized_steps_are_the_same(key):
    training = trained(key)
    graph, _ = optimize(training.graph, ["loss:0", training.train_op, "init", training.init_op])
    assert [run.races for run in explain_races(graph, ["loss:0", training.train_op])] == [()]
    trainer = Trainer(training, FEEDS, batch=ROWS)
    trainer.runner.session = type(trainer.runner.session)(graph)
    trainer.initialize()
    assert_losses(key, [step.loss for step in trainer.steps(STEPS)])


def looked_up_in_a_loop(kind):
    """The net with an embedding, which a V1 loop looks up column by column."""
    g = GraphBuilder()
    e, w = (g.variable(value, name=n, resource=kind == "resource") for n, value in VARIABLES["embedding"].items())
    ids = g.Placeholder(dtype="int32", shape=[None, 2], name="ids")

    def step(values, fixed):
        with g.control_dependencies([values[0]]):
            column = g.StridedSlice(values[1], [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2)
            rows = g.ResourceGather(fixed[0], column, dtype="float32") if e.is_resource else g.GatherV2(fixed[0], column, 0)
            return [g.AddV2(values[0], rows), g.ReverseV2(values[1], [1])]

    initial = [g.constant(np.zeros((ROWS, 3), np.float32)), ids]
    total = counted(g, "columns", 2, initial, [e.handle if e.is_resource else e.value], step)[1]
    g.Mean(g.Square(g.Sub(g.MatMul(g.Tanh(total), w.value), g.constant(Y))), [0, 1], name="loss")
    g.global_variables_initializer()
    return g.graph


@pytest.mark.sampled(16)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["momentum", *(name for name in OPTIMIZERS if name != "momentum")])
def test_rows_that_a_loop_looks_up_are_trained_as_tensorflow_trains_rows(name, kind):
    """Momentum moves a row again only in steps that look the row up."""
    training = add_training(looked_up_in_a_loop(kind), "loss:0", find_optimizer(name), learning_rate=RATE)
    key = f"{name}/{kind}/embedding"
    got = stepped(training)
    assert_losses(key, got["losses"])
    np.testing.assert_allclose(got["ends"], RECORDED[key]["ends"], rtol=1e-4 if name == "adamw" else 1e-5, atol=1e-6)
    assert [run.races for run in explain_races(training.graph, ["loss:0", training.train_op])] == [()]


def branched(kind, predicate):
    """A net that takes its second layer, and the read of its weight, on a branch of a V1 conditional."""
    g = GraphBuilder()
    w, v = (g.variable(value, name=n, resource=kind == "resource") for n, value in VARIABLES["shared"].items())
    p = predicate(g)
    first = g.MatMul(g.constant(X), w.value)
    switched = g.Switch(w.handle if kind == "resource" else w.value, p)[1]
    inside = g.ReadVariableOp(switched, dtype="float32") if kind == "resource" else switched
    hidden = g.Merge([g.Switch(first, p)[0], g.Tanh(g.MatMul(g.Switch(first, p)[1], inside))])[0]
    g.Mean(g.Square(g.Sub(g.MatMul(hidden, v.value), g.constant(Y))), [0, 1], name="loss")
    g.global_variables_initializer()
    return g.graph


def placeholder(g):
    return g.Placeholder(dtype="bool", shape=[], name="p")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ("sgd", "adam", "adamw"))
@pytest.mark.parametrize("side", (False, True))
def test_branches_switch_no_update_off(name, kind, side):
    """Each side is trained as the graph with a constant predicate is."""
    results = []
    for predicate, feeds in ((placeholder, {"p:0": side}), (lambda g: g.constant(side), {})):
        training = add_training(branched(kind, predicate), "loss:0", find_optimizer(name), learning_rate=RATE)
        assert [run.races for run in explain_races(training.graph, ["loss:0", training.train_op])] == [()]
        trainer = Trainer(training, feeds)
        trainer.initialize()
        results.append([step.loss for step in trainer.steps(5)])
    assert results[0] == results[1]
    assert results[0][0] > results[0][-1]


def test_a_step_whose_updates_do_not_wait_is_refused():
    training = trained("sgd/ref/two_layers")
    gate = training.graph["train/gate"]
    for user in list(gate.uses):
        training.graph.remove_control_input(user, gate)
    with pytest.raises(InvalidArgumentError, match=r"no path orders a training step: .* reads 'w1', and .* writes 'w1'"):
        require_order(built("two_layers", "ref"), training)


@pytest.mark.live
@pytest.mark.sampled(2)
@pytest.mark.parametrize("key", RECORDED)
def test_tensorflow_takes_the_same_steps_with_the_written_graph(key):
    tf = pytest.importorskip("tensorflow")
    training = trained(key)
    definition = tf.compat.v1.GraphDef.FromString(to_bytes(training.graph))
    with tf.Graph().as_default() as imported:
        tf.graph_util.import_graph_def(definition, name="")
    with tf.compat.v1.Session(graph=imported) as session:
        session.run(["init", training.init_op])
        feeds = [{"ids:0": np.roll(IDS, -ROWS * step, 0)[:ROWS]} for step in range(STEPS)]
        losses = [session.run(["loss:0", training.train_op], feed)[0] for feed in feeds]
    assert_losses(key, losses)


with np.load(pathlib.Path(__file__).with_name("own_steps.npz")) as archive:
    OWN = {name: archive[name] for name in archive.files}
PROGRAMS = sorted(name.removesuffix("/graph") for name in OWN if name.endswith("/graph"))


def run_own(graph, key):
    """Return the numbers of twenty steps of TensorFlow's own graph; the loss of Keras is that of the step itself."""
    session = Session(graph)
    session.run("init")
    losses = []
    for number in range(STEPS):
        feeds = {"ids:0": np.roll(IDS, -ROWS * number, 0)[:ROWS]}
        losses.append(session.run("loss:0", feeds))
        if not key.startswith("Keras"):
            session.run("step", feeds)
    return numbers(losses, session.run([f"end_{place}:0" for place in range(len(VARIABLES["whole"]))]))


@pytest.mark.sampled(24)
@pytest.mark.parametrize("is_optimized", (False, True))
@pytest.mark.parametrize("key", PROGRAMS)
def test_own_steps_of_all_optimizers(key, is_optimized):
    """The graphs of all 21 optimizers of TF1 and Keras: an embedding with sparse updates, and a weight in two layers."""
    graph = load(OWN[f"{key}/graph"].tobytes())
    if is_optimized:
        ends = [f"end_{place}:0" for place in range(len(VARIABLES["whole"]))]
        graph, _ = optimize(graph, ["loss:0", "step", "init", *ends], ["ids:0"])
    got = run_own(graph, key)
    np.testing.assert_allclose(got["losses"], OWN[f"{key}/losses"], rtol=3e-6, atol=1e-8)
    np.testing.assert_allclose(got["ends"], OWN[f"{key}/ends"], rtol=1e-5, atol=1e-6)
