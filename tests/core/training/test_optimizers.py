"""Optimizers, clipping and schedules against losses recorded from TensorFlow's own; slots carried between sessions."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.graph import Graph
from tfg.core.runtime.session.runner import Runner
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.core.training.optimizers import OPTIMIZERS, find_optimizer, parse_schedule
from tfg.core.training.train_step import Clipping, add_training
from tfg.core.training.trainer import Trainer
from tfg.formats import to_bytes

RECORDED = json.loads(pathlib.Path(__file__).with_name("losses.json").read_text())
X = np.array([[0.5, 1.0], [1.5, -0.5], [-1.0, 2.0], [2.0, 0.0]], np.float32)
Y = np.array([[1.0], [0.0], [2.0], [-1.0]], np.float32)


def regression(resource: bool) -> Graph:
    """loss = mean((x w + b - y)^2), as tests/core/training/record_losses.py has it."""
    g = GraphBuilder()
    w = g.variable(np.array([[1.0], [-1.0]], np.float32), name="w", resource=resource)
    b = g.variable(np.array([0.5], np.float32), name="b", resource=resource)
    difference = g.Sub(g.AddV2(g.MatMul(g.constant(X), w.value), b.value), g.constant(Y))
    g.Mean(g.Square(difference), [0, 1], name="loss")
    g.global_variables_initializer()
    return g.graph


def trained(key: str):
    """The training graph of a recorded case."""
    name, kind, clip, schedule = key.split("/", 3)
    return add_training(
        regression(kind == "resource"),
        "loss:0",
        find_optimizer(name),
        learning_rate=0.1,
        schedule=None if schedule == "constant" else parse_schedule(schedule),
        clipping=None if clip == "none" else Clipping(clip, 0.3),
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("key", RECORDED)
def test_losses(key: str) -> None:
    trainer = Trainer(trained(key), {})
    trainer.initialize()
    np.testing.assert_allclose([step.loss for step in trainer.steps(10)], RECORDED[key], rtol=2e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_lowers_the_loss(name: str) -> None:
    training = add_training(regression(False), "loss:0", find_optimizer(name), learning_rate=0.1)
    training.graph.check()
    trainer = Trainer(training, {})
    trainer.initialize()
    losses = [step.loss for step in trainer.steps(20)]
    assert losses[-1] < losses[0]
    assert [stage for stage, _ in training.stages] == ["forward", "gradients", "slots", "updates", "initializer"]


def test_momentum_is_carried_between_sessions() -> None:
    """Ten steps at once, and five and five with the state saved and restored between, end alike."""
    training = trained("momentum/ref/none/constant")
    whole = Trainer(training, {})
    whole.initialize()
    losses = [step.loss for step in whole.steps(10)]
    first = Trainer(training, {})
    first.initialize()
    halves = [step.loss for step in first.steps(5)]
    second = Trainer(training, {})
    second.initialize()
    second.runner.restore(first.runner.state())
    halves += [step.loss for step in second.steps(5)]
    assert halves == losses


def test_batches_go_round() -> None:
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None], name="x")
    w = g.variable(np.float32(1), name="w")
    g.Sum(g.Mul(x, w.value), [0], name="loss")
    g.global_variables_initializer()
    training = add_training(g.graph, "loss:0", find_optimizer("sgd"), learning_rate=0.0)
    trainer = Trainer(training, {"x:0": np.array([1, 2, 3], np.float32)}, batch=2)
    trainer.initialize()
    assert [step.loss for step in trainer.steps(3)] == [3.0, 4.0, 5.0]


def test_only_matching_variables_train() -> None:
    training = add_training(regression(False), "loss:0", find_optimizer("sgd"), variables="^w$", learning_rate=0.1)
    runner = Runner(Session(training.graph))
    runner.initialize()
    runner.session.run([training.train_op])
    assert training.variables == ("w",)
    assert runner.state()["b"].numpy().tolist() == [0.5]
    with pytest.raises(NotFoundError, match="no trainable variable"):
        add_training(regression(False), "loss:0", find_optimizer("sgd"), variables="nothing")


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="unknown optimizer 'sdg'"):
        find_optimizer("sdg")
    with pytest.raises(InvalidArgumentError, match="no hyperparameter 'beta'"):
        find_optimizer("momentum").configured({"beta": 1.0})
    with pytest.raises(InvalidArgumentError, match="needs decay_steps"):
        parse_schedule("cosine")
    with pytest.raises(InvalidArgumentError, match="no setting 'steps'"):
        parse_schedule("cosine(steps=3)")


@pytest.mark.live
@pytest.mark.parametrize("key", RECORDED)
def test_tensorflow_trains_the_written_graph(key: str) -> None:
    tf = pytest.importorskip("tensorflow")
    training = trained(key)
    definition = tf.compat.v1.GraphDef.FromString(to_bytes(training.graph))
    with tf.Graph().as_default() as imported:
        tf.graph_util.import_graph_def(definition, name="")
    with tf.compat.v1.Session(graph=imported) as session:
        session.run(["init", training.init_op])
        losses = [session.run(["loss:0", training.train_op])[0] for _ in range(10)]
    np.testing.assert_allclose(losses, RECORDED[key], rtol=2e-5)
    assert tfg.load(to_bytes(training.graph)).get(training.train_op) is not None


@pytest.mark.parametrize(("word", "name"), [("Adam", "adam"), ("gradient_descent", "sgd"), ("AdamW", "adamw")])
def test_other_words_for_optimizers(word: str, name: str) -> None:
    assert find_optimizer(word) is OPTIMIZERS[name]
