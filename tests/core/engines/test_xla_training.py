"""Training steps as a single XLA function: every update rule, checked labels, donated memory."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

from tests.cli.running import ROOT  # noqa: E402
from tests.core.engines.test_variables import state  # noqa: E402
from tests.core.engines.test_xla import engine  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.engines import automatic, engine_runtime  # noqa: E402
from tfg.core.registry import registry  # noqa: E402
from tfg.core.registry.catalog import CATALOG  # noqa: E402
from tfg.core.registry.op_facts import ops_with  # noqa: E402
from tfg.core.runtime.session.session import Session  # noqa: E402
from tfg.core.support import trials  # noqa: E402
from tfg.core.support.errors import DataLossError, InvalidArgumentError  # noqa: E402
from tfg.core.types.arrays import EngineArray  # noqa: E402

UPDATES = sorted(op for op in ops_with("training") if registry.lowering(op) is not None)


def updating(op, flags):
    """Return a graph that runs an update op on variables set by `set`; the gradient is fed."""
    b = GraphBuilder()
    resource = op.startswith("Resource")
    inputs = []
    for number, arg in enumerate(CATALOG[op].inputs):
        if arg.is_ref or (arg.dtype is not None and arg.dtype.name == "resource"):
            value = np.linspace(0.1, 1, 6, dtype="f").reshape(2, 3) * (number + 1)
            inputs.append(b.variable(value, arg.name, resource=resource).handle)
        elif arg.name in ("grad", "delta"):
            inputs.append(b.Placeholder(dtype="float32", shape=[2, 3], name="x"))
        else:
            inputs.append(b.constant(np.int64(2) if arg.name == "global_step" else np.float32(0.3 + 0.05 * number)))
    b.global_variables_initializer()
    b.apply(op, *inputs, name="train", **flags)
    return b.graph


FLAGS = ("use_nesterov", "update_slots", "multiply_linear_by_lr")


@pytest.mark.parametrize(
    "op, flags",
    [
        pytest.param(op, dict.fromkeys(known, value), id=f"{op}-{value}")
        for op in UPDATES
        for known in [[name for name in FLAGS if name in CATALOG[op].attrs]]
        for value in ([False, True] if known else [False])
    ],
)
def test_updates(op, flags):
    """Three steps of each rule equal NumPy's steps."""
    graph = updating(op, flags)
    plain, engaged = Session(graph), Session(graph, engine=engine())
    draws = np.random.default_rng(0)
    for session in (plain, engaged):
        session.run(["init"])
    for _ in range(3):
        gradient = draws.standard_normal((2, 3)).astype("f")
        for session in (plain, engaged):
            session.run(["train"], {"x:0": gradient})
    for name, value in state(plain).items():
        np.testing.assert_allclose(state(engaged)[name], value, rtol=1e-5, atol=1e-6)
    assert engaged.engine_report().groups[-1].runs == 3


@pytest.mark.parametrize("gain", [0.0, np.inf])
def test_training_is_the_same_while_auto_tries_ways(gain, monkeypatch):
    """Steps in NumPy, in both, and in turn, until NumPy is kept or, with an infinite gain, XLA."""
    monkeypatch.setattr(trials, "GAIN", gain)
    monkeypatch.setattr(engine_runtime, "PAIRED_GAIN", gain)
    monkeypatch.setattr(engine_runtime, "PAIRS_SECONDS", 0.0)
    monkeypatch.setattr(automatic, "TRIAL_SECONDS", 0.0)
    graph = updating("ResourceApplyAdam", {})
    plain, chosen = Session(graph), Session(graph, engine=automatic.AutoRuntime(engines=[engine()], patience=0.0))
    draws = np.random.default_rng(0)
    for session in (plain, chosen):
        session.run(["init"])
    for _ in range(40):
        gradient = draws.standard_normal((2, 3)).astype("f")
        for session in (plain, chosen):
            session.run(["train"], {"x:0": gradient})
        for name, value in state(plain).items():
            np.testing.assert_allclose(state(chosen)[name], value, rtol=1e-4, atol=1e-5)
    (choice,) = (choice for choice in chosen.engine_report().choices if choice.fetches == "train")
    assert choice.kept == ("xla" if gain else "numpy")


def counting():
    """Return a graph in which `v` grows by x; `y` is the new value."""
    b = GraphBuilder()
    v = b.variable(np.zeros(3, "f"), "v", resource=True)
    b.global_variables_initializer()
    x = b.Placeholder(dtype="float32", shape=[3], name="x")
    with b.control_dependencies([b.AssignAddVariableOp(v.handle, x, name="add")]):
        b.ReadVariableOp(v.handle, dtype="float32", name="y")
    session = Session(b.graph, engine=engine())
    session.run(["init"])
    return session


@pytest.mark.parametrize("reads", [False, True])
def test_memory_is_used_again_where_nobody_has_it(reads):
    """A value that was read or is still held stays unchanged by later runs."""
    session, kept = counting(), []
    (variable,) = session.held_variables()
    for _ in range(6):
        session.run(["add"], {"x:0": np.ones(3)})
        kept.append(variable.read() if reads else variable.kept)
    for count, value in enumerate(kept, 1):
        np.testing.assert_array_equal(np.asarray(value), np.full(3, count, "f"))
    del kept, value
    for _ in range(3):
        session.run(["add"], {"x:0": np.ones(3)})
    np.testing.assert_array_equal(variable.read(), np.full(3, 9))
    assert type(variable.kept) is EngineArray


def test_memory_is_really_used_again():
    session = counting()
    (variable,) = session.held_variables()
    places = []
    for _ in range(6):
        session.run(["add"], {"x:0": np.ones(3)})
        places.append(variable.kept.array.unsafe_buffer_pointer())
    assert len(set(places[-3:])) == 1
    np.testing.assert_array_equal(variable.read(), np.full(3, 6))


def test_a_failure_that_takes_values_with_it_says_so(monkeypatch):
    session = counting()
    for _ in range(3):
        session.run(["add"], {"x:0": np.ones(3)})
    (executable,) = session._runtime.groups[-1].executables.values()
    function = executable.function.function

    def failing(own, *rest):
        function(own, *rest)
        raise RuntimeError("device lost")

    monkeypatch.setattr(executable.function, "function", failing)
    with pytest.raises(DataLossError, match="values are lost: device lost"):
        session.run(["add"], {"x:0": np.ones(3)})


def test_what_somebody_else_writes_is_seen():
    session = counting()
    (variable,) = session.held_variables()
    assert session.run("y:0", {"x:0": np.ones(3)})[0] == 1
    with variable:
        variable.writable()[:] = 5
    assert session.run("y:0", {"x:0": np.ones(3)})[0] == 6
    variable.assign(np.full(3, 7, "f"))
    assert session.run("y:0", {"x:0": np.ones(3)})[0] == 8


def test_labels_out_of_range_are_the_error_of_numpy():
    b = GraphBuilder()
    v = b.variable(np.zeros(3, "f"), "v", resource=True)
    b.global_variables_initializer()
    labels = b.Placeholder(dtype="int64", shape=[2], name="labels")
    logits = b.Mul(b.ReadVariableOp(v.handle, dtype="float32"), b.constant(np.ones((2, 3), "f")))
    _, gradient = b.SparseSoftmaxCrossEntropyWithLogits(logits, labels, name="loss")
    b.AssignSubVariableOp(v.handle, b.Sum(gradient, b.constant(0)), name="train")
    plain, engaged = Session(b.graph), Session(b.graph, engine=engine())
    for given in ([0, 1], [0, 3], [-1, 2], [2, 2]):
        for session in (plain, engaged):
            if not session.held_variables():
                session.run(["init"])
            if max(given) < 3 and min(given) >= 0:
                session.run(["loss:0", "train"], {"labels:0": given})
            else:
                with pytest.raises(InvalidArgumentError, match="label value") as error:
                    session.run(["loss:0", "train"], {"labels:0": given})
                assert error.value.node == "loss"
    for name, value in state(plain).items():
        np.testing.assert_allclose(state(engaged)[name], value, rtol=1e-5, atol=1e-6)
    assert engaged.engine_report().groups[-1].runs == 2


def test_updates_before_and_after_what_is_required():
    """If XLA declines a run, NumPy starts from the variables before all updates, with a condition between two updates."""
    b = GraphBuilder()
    v, slot = (
        b.variable(np.float32(value), name, resource=True).handle for name, value in (("v", [1, 2, 3]), ("m", [0, 1, 0]))
    )
    b.global_variables_initializer()
    rate, momentum, ones = (b.constant(value.astype("f")) for value in map(np.array, (0.1, 0.9, np.ones((2, 3)))))
    labels = b.Placeholder(dtype="int64", shape=[2], name="labels")
    first = b.ResourceApplyMomentum(v, slot, rate, b.Square(b.ReadVariableOp(v, dtype="float32")), momentum, name="first")
    with b.control_dependencies([first]):
        logits = b.Mul(b.ReadVariableOp(v, dtype="float32"), ones)
        _, gradient = b.SparseSoftmaxCrossEntropyWithLogits(logits, labels, name="loss")
        b.ResourceApplyMomentum(v, slot, rate, b.Sum(gradient, b.constant(0)), momentum, name="train")
    plain, engaged = Session(b.graph), Session(b.graph, engine=engine())
    for session in (plain, engaged):
        session.run(["init"])
        for given in ([0, 1], [2, 0], [1, 1], [0, 3], [1, 2]):
            if max(given) < 3:
                session.run(["train"], {"labels:0": given})
            else:
                with pytest.raises(InvalidArgumentError, match="label value"):
                    session.run(["train"], {"labels:0": given})
    for name, value in state(plain).items():
        np.testing.assert_allclose(state(engaged)[name], value, rtol=1e-5, atol=1e-6)
    assert engaged.engine_report().groups[-1].runs == 4


COMPILING = """
import collections, numpy as np, tfg
from jax import monitoring
from tests.core.engines.networks import network
events = collections.Counter()
monitoring.register_event_listener(lambda name, **_: events.update([name.rsplit("/", 1)[-1]]))
graph, x = network()
graph, gradients = tfg.gradients(graph, "logits:0", "x:0")
session = tfg.Session(graph, engine="xla")
session.run(list(gradients), {"x:0": x})
assert session.engine_report().groups[0].runs
print(events["cache_hits"], events["cache_misses"])
"""


def test_another_process_compiles_nothing_again(tmp_path):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JAX_")}
    environment["TFG_CACHE"] = str(tmp_path / "tfg")
    options = {"stdout": subprocess.PIPE, "text": True, "env": environment, "cwd": ROOT, "check": True}
    runs = [subprocess.run([sys.executable, "-c", COMPILING], **options) for _ in range(2)]
    (_, compiled), (result, compiled_again) = ([int(count) for count in run.stdout.split()] for run in runs)
    assert (result, compiled_again) == (compiled, 0)
    assert compiled > 0
    assert (tmp_path / "tfg" / "xla").is_dir()
