"""Groups that read and write variables: all reads equal the reads of NumPy alone, also after a failure of a group."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.engines.fake_engine import FakeEngine
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines.engine_runtime import EngineRuntime, EngineSettings
from tfg.core.engines.protocol import Declined
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.resources import Variable
from tfg.core.support.errors import FailedPreconditionError, InvalidArgumentError
from tfg.core.types.arrays import EngineArray
from tfg.core.types.dtypes import float32
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef

X = {"x:0": np.float32([1, -2])}
READS = ["before:0", "after:0", "train"]


class Holding(FakeEngine):
    """A fake engine that takes variables and keeps the written values, as an engine with a device does."""

    def __init__(self, **options):
        super().__init__(takes_variables=True, **options)

    def compile(self, cluster, values):
        compiled = super().compile(cluster, values)
        tensors = len(cluster.tensors)

        def run(arrays):
            result = compiled([array.array if isinstance(array, EngineArray) else array for array in arrays])
            return [*result[:tensors], *map(EngineArray, result[tensors:])]

        return run


def training(resource):
    """Return a step of momentum on `w` and `slot`, then a step of `count`; with reads before and after."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    initial = {"w": [1, 2], "slot": [0, 0], "count": 0}
    w, slot, count = (b.variable(np.float32(value), name, resource=resource) for name, value in initial.items())
    b.global_variables_initializer()
    read = (lambda name: b.ReadVariableOp(w.handle, dtype="float32", name=name)) if resource else (
        lambda name: b.Identity(w.handle, name=name)
    )  # fmt: skip
    apply, add = (b.ResourceApplyMomentum, b.AssignAddVariableOp) if resource else (b.ApplyMomentum, b.AssignAdd)
    rate, momentum, one = (b.constant(np.float32(value)) for value in (0.1, 0.9, 1))
    update = apply(w.handle, slot.handle, rate, b.Mul(read("before"), x), momentum, name="update")
    with b.control_dependencies([update]):
        step = add(count.handle, one, name="step")
        read("after")
    with b.control_dependencies([step]):
        b.NoOp(name="train")
    return b.graph


def started(graph, engine=None, **options):
    session = Session(graph, engine=engine and EngineRuntime(engine, EngineSettings(**options)))
    session.run(["init"])
    return session


def state(session):
    """The values of a session's variables, by name."""
    return {variable.name: np.array(variable.read()) for variable in session.held_variables()}


def assert_same_state(result, expected):
    assert state(result).keys() == state(expected).keys()
    for name, value in state(expected).items():
        np.testing.assert_array_equal(state(result)[name], value)


KINDS = pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])


@KINDS
def test_a_step_is_one_group(resource):
    engine = Holding()
    session = started(training(resource), engine)
    for _ in range(3):
        session.run(["train"], X)
    assert engine.runs == 3
    assert set(engine.compiled[-1]) >= {"before", "Mul", "update", "step"}
    assert all(type(variable.kept) is EngineArray for variable in session.held_variables())


@pytest.mark.slow
@KINDS
@settings(max_examples=20, deadline=None)
@given(st.floats(0, 1), st.integers(0, 1000), st.lists(st.lists(st.sampled_from([*READS, "slot:0", "update"]), min_size=1)))
def test_whatever_is_refused_all_read_the_same(resource, chance, seed, runs):
    graph = training(resource)
    plain, engaged = started(graph), started(graph, Holding(chance=chance, seed=seed))
    for fetches in runs:
        fetches = [name for name in fetches if not (resource and name == "slot:0")]
        for result, expected in zip(engaged.run(fetches, X), plain.run(fetches, X)):
            np.testing.assert_array_equal(result, expected)
    assert_same_state(engaged, plain)


@KINDS
def test_a_group_that_fails_has_done_nothing(resource):
    """NumPy then does the step, once; the values of the engine are discarded."""
    graph, engine = training(resource), Holding()
    plain, engaged = started(graph), started(graph, engine)
    for breaks in (None, RuntimeError("device lost"), None):
        engine.breaks = breaks
        for result, expected in zip(engaged.run(READS, X), plain.run(READS, X)):
            np.testing.assert_array_equal(result, expected)
        assert_same_state(engaged, plain)
    assert engaged.engine_report().groups[-1].reason == "it fails: device lost"


@KINDS
@pytest.mark.parametrize("spoil", [lambda a: a.astype("f8"), lambda a: a[None]], ids=["dtype", "shape"])
def test_what_has_another_dtype_or_shape_is_not_stored(resource, spoil):
    class Spoiling(FakeEngine):
        def compile(self, cluster, values):
            compiled = super().compile(cluster, values)
            return lambda arrays: [*(result := compiled(arrays))[:-1], spoil(result[-1])]

    graph = training(resource)
    plain, engaged = started(graph), started(graph, Spoiling(takes_variables=True))
    engaged.run(["train"], X)
    plain.run(["train"], X)
    assert_same_state(engaged, plain)
    assert "another" in engaged.engine_report().groups[-1].reason


def test_what_is_declined_once_is_tried_again():
    engine = Holding()
    graph = training(True)
    plain, engaged = started(graph), started(graph, engine)
    for breaks in (None, Declined("not these"), None):
        engine.breaks = breaks
        engaged.run(["train"], X)
        plain.run(["train"], X)
    assert engine.runs == 3
    assert_same_state(engaged, plain)


@KINDS
def test_an_uninitialized_variable_is_the_error_that_it_is_in_numpy(resource):
    graph = training(resource)
    errors = []
    for engine in (None, Holding()):
        with pytest.raises(FailedPreconditionError) as error:
            Session(graph, engine=engine).run(["train"], X)
        errors.append((error.value.message, error.value.node))
    assert errors[0] == errors[1]


@KINDS
def test_a_gradient_of_another_shape_is_the_error_that_it_is_in_numpy(resource):
    graph = training(resource)
    errors = []
    for engine in (None, Holding()):
        session = started(graph, engine)
        with pytest.raises(InvalidArgumentError) as error:
            session.run(["train"], {"x:0": np.ones((3, 2), "f")})
        errors.append((error.value.message, error.value.node))
        assert state(session)["count"] == 0
    assert errors[0] == errors[1]


@KINDS
def test_a_hook_sees_kernels_on_what_the_engine_wrote(resource):
    graph = training(resource)
    plain, engaged, seen = started(graph), started(graph, Holding()), []

    def hook(node, call, inputs):
        seen.append(node.name)
        return call(*inputs)

    for step in range(4):
        result = engaged.run(READS[:2], X, hook=hook if step % 2 else None)
        np.testing.assert_array_equal(result, plain.run(READS[:2], X))
    assert seen.count("update") == 2


def test_two_handles_may_lead_to_one_variable():
    """A value written through a handle is read through the other handle, in the engine; the first run finds no value."""
    b = GraphBuilder()
    first, second = (b.VarHandleOp(dtype="float32", shape=[], shared_name="v", name=name) for name in "ab")
    one, two = b.constant(np.float32(1)), b.constant(np.float32(2))
    with b.control_dependencies([b.AssignVariableOp(first, one)]):
        added = b.AssignAddVariableOp(second, two)
    with b.control_dependencies([added]):
        b.ReadVariableOp(first, dtype="float32", name="y")
    session = Session(b.graph, engine=Holding())
    assert [session.run("y:0"), session.run("y:0")] == [3, 3]
    assert sum(group.runs for group in session.engine_report().groups) == 1


@pytest.mark.parametrize("verify", [False, True])
def test_two_references_lead_to_one_variable_in_some_calls(verify):
    """A function that moves a value from the first argument to the second, called with two variables and with the same
    twice.
    """

    def moving(f, source, target):
        x = f.constant(np.float32(1))
        taken = f.AssignSubVariableOp(source, x)
        with f.control_dependencies([taken]):
            added = f.AssignAddVariableOp(target, f.Mul(f.ReadVariableOp(source, dtype="float32"), f.constant(np.float32(10))))
        with f.control_dependencies([added]):
            return [f.ReadVariableOp(target, dtype="float32")]

    b = GraphBuilder()
    v, w = (b.variable(np.float32(value), name, resource=True).handle for name, value in (("v", 3), ("w", 5)))
    b.global_variables_initializer()
    define(b, "moving", ["resource", "resource"], moving, stateful=True)
    for name, arguments in (("apart", (v, w)), ("same", (v, v))):
        b.StatefulPartitionedCall(list(arguments), Tout=["float32"], f=FuncRef("moving"), name=name)
    plain, engaged = started(b.graph), started(b.graph, Holding(), verify=verify)
    for name in ("apart", "same", "same", "apart"):
        assert engaged.run(f"{name}:0") == plain.run(f"{name}:0")
    assert_same_state(engaged, plain)
    report = engaged.engine_report()
    assert not report.differences
    assert sorted(group.runs for group in report.groups if group.runs) == [2, 2]


@pytest.mark.slow
def test_threads_lose_no_update():
    session = started(training(True), Holding())
    threads = [threading.Thread(target=lambda: [session.run(["train"], X) for _ in range(25)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state(session)["count"] == 100


@KINDS
def test_verification_names_the_node_that_wrote(resource):
    session = started(training(resource), Holding(wrong=["update"]), verify=True)
    session.run(["train"], X)
    (result,) = session.engine_report().differences
    assert (result.tensor, result.op) == ("update", "ResourceApplyMomentum" if resource else "ApplyMomentum")


def test_verification_steps_once():
    graph = training(True)
    plain, engaged = started(graph), started(graph, Holding(), verify=True)
    for _ in range(2):
        engaged.run(["train"], X)
        plain.run(["train"], X)
    assert_same_state(engaged, plain)
    assert engaged.engine_report().differences == ()


def test_what_was_read_of_a_held_value_stays():
    """Neither a write in place nor another value changes an array that somebody has."""
    variable = Variable("v", float32, Shape((2,)))
    variable.assign(EngineArray(np.float32([1, 2])))
    read = variable.read()
    variable.writable()[:] = 5
    np.testing.assert_array_equal(read, [1, 2])
    np.testing.assert_array_equal(variable.read(), [5, 5])
    memory = variable.memory()
    variable.assign(EngineArray(np.float32([3, 4])))
    np.testing.assert_array_equal(memory.read(), [3, 4])
    variable.assign(EngineArray(np.float32([3, 4, 5])))
    np.testing.assert_array_equal(memory.read(), [3, 4])
