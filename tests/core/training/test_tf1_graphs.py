"""Training programs of TF1 (reference variables, V1 control flow, moving averages, accumulation, partial shapes).

Their own steps, also optimized, and steps that tfg adds, reach TensorFlow's losses and variables in twenty steps.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import tfg
from tests.core.training.nets import RATE, STEPS, tf1_feeds
from tfg.core.explaining.race_report import explain_races
from tfg.core.gradients import add_gradients
from tfg.core.gradients.swept_values import tensors_of
from tfg.core.training.optimizers import find_optimizer
from tfg.core.training.train_step import add_training
from tfg.formats import to_bytes

with np.load(pathlib.Path(__file__).with_name("tf1_graphs.npz")) as archive:
    RECORDED = {name: archive[name] for name in archive.files}
KEYS = sorted({name.partition("/")[0] for name in RECORDED})
FED = ("x:0", "y:0", "p:0")
OPTIMIZERS = ("sgd", "adam")


def graph_of(name):
    return tfg.load(RECORDED[name].tobytes())


def losses_of(session, step, graph):
    """Return the loss after each step."""
    losses = []
    for number in range(STEPS):
        feeds = {name: value for name, value in tf1_feeds(number).items() if name in fed_in(graph)}
        session.run(step, feeds)
        losses.append(session.run("loss:0", feeds | {name: False for name in feeds if name == "p:0"}))
    return losses


def fed_in(graph):
    """Return the fed tensors that a graph has."""
    return [name for name in FED if name.partition(":")[0] in graph]


def trained(key, name):
    pattern = "|".join(f"^{variable}$" for variable in RECORDED[f"{key}/trained"])
    return add_training(graph_of(f"{key}/forward"), "loss:0", find_optimizer(name), learning_rate=RATE, variables=pattern)


def assert_losses(got, key):
    np.testing.assert_allclose(got, RECORDED[f"{key}/losses"], rtol=1e-5, atol=1e-7)


def own(key, form):
    """Return a program with its own step, optimized by the form."""
    graph = graph_of(f"{key}/own/graph")
    init = str(RECORDED[f"{key}/own/init"])
    if form == "as it is":
        return graph, init
    feeds = {"overridable" if form == "optimized, may be fed" else "feeds": fed_in(graph)}
    return tfg.optimize(graph, ["loss:0", "step", init], **feeds)[0], init


@pytest.mark.sampled(6)
@pytest.mark.parametrize("form", ("as it is", "optimized", "optimized, may be fed"))
@pytest.mark.parametrize("key", KEYS)
def test_own_steps(key, form):
    graph, init = own(key, form)
    session = tfg.Session(graph)
    session.run(init)
    assert_losses(losses_of(session, "step", graph), f"{key}/own")
    prefix = f"{key}/own/value/"
    for name, value in RECORDED.items():
        if name.startswith(prefix):
            got = session.variables[name.removeprefix(prefix)]
            np.testing.assert_allclose(got, value, rtol=2e-5, atol=1e-6, err_msg=name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("key", KEYS)
def test_optimized_steps_have_no_more_races(key):
    states = []
    for form in ("as it is", "optimized"):
        graph, _ = own(key, form)
        states.append({race.state for run in explain_races(graph, ["step"]) for race in run.races})
    assert states[1] <= states[0]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("is_optimized", (False, True))
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("key", KEYS)
def test_added_steps(key, name, is_optimized):
    training = trained(key, name)
    graph = training.graph
    if is_optimized:
        graph, _ = tfg.optimize(graph, ["loss:0", training.train_op, "init", training.init_op], fed_in(graph))
    assert [run.races for run in explain_races(graph, [training.train_op])] == [()]
    session = tfg.Session(graph)
    for init in ("init", training.init_op):
        session.run(init)
    assert_losses(losses_of(session, training.train_op, training.graph), f"{key}/{name}")


def racing(graph, *fetches):
    """Return the states of races in a run."""
    return {race.state for run in explain_races(graph, fetches) for race in run.races}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("key", KEYS)
def test_written_models_and_gradients_have_no_race_of_their_own(key, tmp_path):
    training = trained(key, "adam")
    session = tfg.Session(training.graph)
    session.run("init")
    session.run(training.init_op)
    tfg.save_model(training.graph, tmp_path / "m", state=session, signatures={"loss": ({}, {"loss": "loss:0"})})
    model, before = tfg.load(tmp_path / "m"), graph_of(f"{key}/forward")
    saver = model.meta.saver
    for name in (saver.restore_op, saver.save_tensor, training.train_op, training.init_op, "loss:0"):
        assert not racing(model, name)
    assert racing(model, "init") <= racing(before, "init")
    variables = [node.output() for node in before if node.name in RECORDED[f"{key}/trained"]]
    after = before.copy()
    gradients = add_gradients(after, [after.output("loss:0")], [after.output(value.name) for value in variables])
    assert not racing(after, *(end.name for grad in gradients for end in tensors_of(grad)[:2]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("key", KEYS)
def test_all_variables_can_be_trained(key):
    """A GraphDef does not tell which variables are trained: moving moments, written on a branch, are among them."""
    training = add_training(graph_of(f"{key}/forward"), "loss:0", find_optimizer("sgd"), learning_rate=RATE)
    assert set(training.variables) >= set(RECORDED[f"{key}/trained"])


@pytest.mark.live
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("key", KEYS)
def test_tensorflow_takes_the_added_steps(key, name):
    tf = pytest.importorskip("tensorflow")
    training = trained(key, name)
    definition = tf.compat.v1.GraphDef.FromString(to_bytes(training.graph))
    with tf.Graph().as_default() as imported:
        tf.graph_util.import_graph_def(definition, name="")
    with tf.compat.v1.Session(graph=imported) as session:
        session.run(["init", training.init_op])
        assert_losses(losses_of(session, training.train_op, training.graph), f"{key}/{name}")


@pytest.mark.live
@pytest.mark.parametrize("key", KEYS)
def test_tensorflow_takes_the_optimized_steps(key):
    tf = pytest.importorskip("tensorflow")
    graph, init = own(key, "optimized, may be fed")
    definition = tf.compat.v1.GraphDef.FromString(to_bytes(graph))
    with tf.Graph().as_default() as imported:
        tf.graph_util.import_graph_def(definition, name="")
    with tf.compat.v1.Session(graph=imported) as session:
        session.run(init)
        assert_losses(losses_of(session, "step", graph), f"{key}/own")
