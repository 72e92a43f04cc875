"""A small ResNet in JAX beside TensorFlow's recorded loss, gradients and training steps; programs without tfg."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import jax  # noqa: E402

import tfg  # noqa: E402


@pytest.fixture(scope="module")
def recorded():
    """Return the recording of `record_residual_network`."""
    with np.load(pathlib.Path(__file__).with_name("residual_network.npz")) as archive:
        return dict(archive)


@pytest.fixture(scope="module")
def graph(recorded):
    return tfg.load(recorded["graph"].tobytes())


def values(recorded, kind):
    return {name.removeprefix(f"{kind}/"): value for name, value in recorded.items() if name.startswith(f"{kind}/")}


@pytest.fixture(scope="module")
def loss(graph, recorded):
    function, parameters = tfg.to_jax(graph, "loss:0", ["x:0", "labels:0"], state=values(recorded, "variable"))
    assert parameters.keys() == values(recorded, "variable").keys()
    return function, parameters


def test_gradients_are_tensorflows(loss, recorded):
    function, parameters = loss
    value, gradients = jax.jit(jax.value_and_grad(function))(parameters, recorded["x"], recorded["labels"])
    np.testing.assert_allclose(value, recorded["losses"][0], rtol=1e-5)
    for name, expected in values(recorded, "gradient").items():
        np.testing.assert_allclose(gradients[name], expected, atol=1e-4 * np.abs(expected).max(), rtol=1e-4, err_msg=name)


def test_training_steps_are_tensorflows(loss, recorded):
    function, parameters = loss
    rate, losses = recorded["rate"], []

    @jax.jit
    def step(parameters):
        value, gradients = jax.value_and_grad(function)(parameters, recorded["x"], recorded["labels"])
        return value, jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)

    for _ in recorded["losses"]:
        value, parameters = step(parameters)
        losses.append(value)
    np.testing.assert_allclose(losses, recorded["losses"], rtol=1e-4)
    for name, expected in values(recorded, "trained").items():
        np.testing.assert_allclose(parameters[name], expected, atol=1e-4 * max(np.abs(expected).max(), 1), err_msg=name)


def test_optimizers_of_optax_take_the_parameters(loss, recorded):
    """Plain descent gives TensorFlow's losses, and Adam reduces the loss."""
    optax = pytest.importorskip("optax")
    function, first = loss
    losses = {}
    for name, optimizer in (("sgd", optax.sgd(float(recorded["rate"]))), ("adam", optax.adam(0.01))):
        parameters, state, losses[name] = first, optimizer.init(first), []

        @jax.jit
        def step(parameters, state, optimizer=optimizer):
            value, gradients = jax.value_and_grad(function)(parameters, recorded["x"], recorded["labels"])
            updates, state = optimizer.update(gradients, state, parameters)
            return value, optax.apply_updates(parameters, updates), state

        for _ in recorded["losses"]:
            value, parameters, state = step(parameters, state)
            losses[name].append(float(value))
    np.testing.assert_allclose(losses["sgd"], recorded["losses"], rtol=1e-4)
    assert losses["adam"] == sorted(losses["adam"], reverse=True)


def test_vmap_runs_batches_apart(loss, recorded):
    """Batch normalization sees each batch alone, so that two batches at once give the two losses."""
    function, parameters = loss
    x, labels = recorded["x"], recorded["labels"]
    together = jax.vmap(function, in_axes=(None, 0, 0))(parameters, np.stack([x, x[::-1] * 2]), np.stack([labels, labels]))
    apart = [function(parameters, rows, labels) for rows in (x, x[::-1] * 2)]
    np.testing.assert_allclose(together, apart, rtol=1e-5)
    np.testing.assert_allclose(together[0], recorded["losses"][0], rtol=1e-5)


def test_a_program_runs_without_tfg(graph, recorded, tmp_path):
    """A process that cannot import tfg runs the program on batches of two sizes."""
    path = tmp_path / "loss.stablehlo"
    tfg.convert(graph, path, "loss:0", ["x:0", "labels:0"], state=values(recorded, "variable"))
    np.savez(tmp_path / "feeds.npz", x=recorded["x"], labels=recorded["labels"])
    (tmp_path / "alone.py").write_text(
        """
import sys
sys.modules["tfg"] = None  # an import of tfg fails
import jax, numpy as np
program = jax.export.deserialize(bytearray(open("loss.stablehlo", "rb").read()))
feeds = np.load("feeds.npz")
for count in (6, 2):
    print(float(program.call(feeds["x"][:count], feeds["labels"][:count])["loss"]))
assert not [name for name in sys.modules if name.startswith("tfg.")]
"""
    )
    done = subprocess.run([sys.executable, "alone.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    whole, part = map(float, done.stdout.split())
    np.testing.assert_allclose(whole, recorded["losses"][0], rtol=1e-5)
    function, parameters = tfg.to_jax(graph, "loss:0", ["x:0", "labels:0"], state=values(recorded, "variable"))
    np.testing.assert_allclose(part, function(parameters, recorded["x"][:2], recorded["labels"][:2]), rtol=1e-5)
