"""Variables that are read in the bodies of loops, conditionals and calls are trained."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.training.optimizers import find_optimizer
from tfg.core.training.train_step import add_training
from tfg.core.training.trainer import Trainer

RECORDED = pathlib.Path(__file__).parents[1] / "gradients" / "recorded.npz"
VARIABLES = ("w", "r", "e", "er")


@pytest.mark.slow
@pytest.mark.parametrize("key", ["call_loop_v2", "folded_passing_v2", "loop_array_v2", "loop_twice_v1", "taken_loop_v1"])
def test_a_step_goes_down_the_gradient(key: str) -> None:
    with np.load(RECORDED) as archive:
        graph = tfg.load(archive[f"{key}/graph"].tobytes())
        feeds = {name.rpartition("/")[2]: archive[name] for name in archive.files if name.startswith(f"{key}/feed/")}
    g = GraphBuilder(graph)
    g.Sum(graph.output("y:0"), [0, 1], name="loss")
    training = add_training(graph, "loss:0", find_optimizer("sgd"), learning_rate=0.5)
    assert set(training.variables) == set(VARIABLES)
    extended, names = gradients(graph, "loss:0", [f"{name}:0" for name in VARIABLES])
    session = tfg.Session(extended)
    session.run("init")
    grads = session.run(names, feeds)
    trainer = Trainer(training, feeds)
    trainer.initialize()
    before = trainer.runner.state()
    next(iter(trainer.steps(1)))
    after = trainer.runner.state()
    for name, grad in zip(VARIABLES, grads):
        want = before[name].numpy() - 0.5 * grad
        np.testing.assert_allclose(after[name].numpy(), want, rtol=1e-5, atol=1e-6, err_msg=name)
        assert np.any(grad)
