"""An engine at work: refusals, failures and wrong results leave the results of a run correct, and are reported."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.core.engines.fake_engine import FakeEngine
from tests.core.engines.test_plan_division import chain
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines.engine_registry import engine_names, find_engine
from tfg.core.engines.engine_runtime import EngineRuntime
from tfg.core.engines.executables import EngineSettings, difference
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfg.core.types.shapes import Shape

X = {"x:0": np.float32([1, 2])}
EXPECTED = [8, 27]


def refusals(session):
    """The reasons why nodes run in NumPy, by their names."""
    return {name: refusal.reason for refusal in session.engine_report().refused for name in refusal.nodes}


def test_a_group_runs_in_the_engine():
    engine = FakeEngine()
    session = Session(chain(), engine=engine)
    for _ in range(3):
        np.testing.assert_array_equal(session.run("y:0", X), EXPECTED)
    report = session.engine_report()
    assert (engine.runs, len(engine.compiled)) == (3, 1)
    assert [(g.last, g.steps, g.inputs, g.outputs, g.compiled, g.runs, g.reason) for g in report.groups] == [
        ("y", 3, 1, 1, 1, 3, None)
    ]
    assert 0 < report.groups[0].share <= 1


def test_what_does_not_compile_runs_in_numpy_and_says_why():
    session = Session(chain(), engine=FakeEngine(fails=ValueError("no such\nthing")))
    np.testing.assert_array_equal(session.run("y:0", X), EXPECTED)
    (group,) = session.engine_report().groups
    assert (group.runs, group.compiled, group.reason) == (0, 0, "it does not compile: no such thing")
    assert refusals(session) == dict.fromkeys(["first", "second"], "it does not compile: no such thing")


def test_what_fails_while_it_runs_is_not_tried_again():
    engine = FakeEngine(breaks=RuntimeError("device lost"))
    session = Session(chain(), engine=engine)
    for _ in range(2):
        np.testing.assert_array_equal(session.run("y:0", X), EXPECTED)
    assert engine.runs == 1
    assert session.engine_report().groups[0].reason == "it fails: device lost"


def test_an_engine_that_fails_to_look_at_a_graph_gets_nothing():
    class Blind(FakeEngine):
        def refuses(self, nodes, graph):
            raise ValueError("too dark")

    session = Session(chain(), engine=Blind())
    np.testing.assert_array_equal(session.run("y:0", X), EXPECTED)
    assert {r.reason for r in session.engine_report().refused} == {"the engine fails to analyze the graph: too dark"}


def test_another_dtype_is_a_failure():
    class Widening(FakeEngine):
        def compile(self, cluster, values):
            return lambda arrays: [np.float64(EXPECTED)]

    session = Session(chain(), engine=Widening())
    assert session.run("y:0", X).dtype == np.float32
    assert refusals(session)["y"] == "the engine returns another dtype: y:0 is float64"


def test_each_shape_is_compiled_once_up_to_a_number():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None], name="x")
    b.Neg(x, name="y")
    engine = FakeEngine()
    session = Session(b.graph, engine=engine)
    for size in [*range(1, 21), 3, 20]:
        np.testing.assert_array_equal(session.run("y:0", {"x:0": np.arange(size)}), -np.arange(size))
    assert len(engine.compiled) == 16
    assert session.engine_report().groups[0].reason == "its inputs had more than 16 shapes"


def test_verification_names_what_differs():
    graph = chain()
    runtime = EngineRuntime(FakeEngine(wrong=["second:0"]), EngineSettings(verify=True))
    session = Session(graph, engine=runtime)
    session.run(["second:0", "y:0"], X)
    (result,) = session.engine_report().differences
    assert (result.tensor, result.op) == ("second:0", "AddV2")
    assert result.by == "it is off by up to 1, where the largest magnitude is 9"


def test_verification_is_silent_where_nothing_differs():
    session = Session(chain(), engine=EngineRuntime(FakeEngine(), EngineSettings(verify=True)))
    session.run("y:0", X)
    assert session.engine_report().differences == ()


@pytest.mark.parametrize(
    "actual, expected, said",
    [
        (np.float32([1, 2]), np.float32([1, 2]), None),
        (np.float32([1, 2.00001]), np.float32([1, 2]), None),
        (np.float32([1, 2.1]), np.float32([1, 2]), "off by up to 0.1"),
        (np.float64([1, 2.00001]), np.float64([1, 2]), "off by"),
        (np.float32([np.nan]), np.float32([np.nan]), None),
        (np.float32([np.nan]), np.float32([1]), "other places"),
        (np.float32([np.inf]), np.float32([-np.inf]), "other places"),
        (np.int32([1, 2]), np.int32([1, 3]), "1 of 2 elements"),
        (np.int32([1]), np.int64([1]), "dtype"),
        (np.zeros((1, 0)), np.zeros((0, 1)), "shape"),
        (np.zeros(0, "f"), np.zeros(0, "f"), None),
        (np.bool_([True]), np.bool_([False]), "1 of 1"),
    ],
)
def test_differences(actual, expected, said):
    by = difference(actual, expected)
    assert by is None if said is None else said in by


def test_a_hook_sees_every_kernel():
    engine = FakeEngine()
    session = Session(chain(), engine=engine)
    seen = []

    def hook(node, call, inputs):
        seen.append(node.name)
        return call(*inputs)

    np.testing.assert_array_equal(session.run("y:0", X, hook=hook), EXPECTED)
    assert seen == ["first", "second", "y"]
    assert engine.runs == 0


def test_errors_in_a_group_name_the_node():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Neg(b.MatMul(x, b.constant(np.eye(3, dtype="f")), name="product"), name="y")
    session = Session(b.graph, engine=FakeEngine())
    with pytest.raises(Exception, match="product"):
        session.run("y:0", {"x:0": np.ones((2, 2), "f")})


def test_functions_are_divided_too():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    define(b, "twice", ["float"], lambda f, a: [f.AddV2(a, a, name="sum")])
    b.StatefulPartitionedCall([x], Tin=["float32"], Tout=["float32"], f="twice", name="y")
    engine = FakeEngine()
    np.testing.assert_array_equal(Session(b.graph, engine=engine).run("y:0", X), [2, 4])
    assert engine.compiled


def test_engines_are_found_by_name():
    with pytest.raises(NotFoundError, match="unknown engine 'abacus'") as error:
        find_engine("abacus")
    assert {"numpy", "auto", "openvino"} <= {name.strip(",") for name in error.value.hint.split()}
    assert "openvino" in engine_names()


def test_what_is_no_engine_is_refused():
    with pytest.raises(TypeError, match="3"):
        Session(chain(), engine=3)


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "code", ["import tfg; tfg.Session", "from tfg.cli.commands import dump, run; from tfg.cli.jobs import dump_job, run_job"]
)
def test_nothing_of_an_engine_is_loaded_before_it_is_asked_for(code):
    code += "; import sys; print([n for n in sys.modules if n in ('openvino', 'jax') or n.endswith(('.xla', '.openvino'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.slow
def test_dump_loads_nothing_of_engines():
    code = "from tfg.cli.commands import dump; from tfg.cli.jobs import dump_job; import sys; "
    code += "print([n for n in sys.modules if 'tfg.core.engines' in n])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_without_an_engine_there_is_no_report():
    with pytest.raises(FailedPreconditionError):
        Session(chain()).engine_report()


def test_a_compiled_program_needs_an_engine():
    b = GraphBuilder()
    attrs = {"version": 10, "module": b"", "Sout": [Shape(())], "Tout": ["float32"]}
    b.XlaCallModule([b.Placeholder(dtype="float32", shape=[2], name="x")], **attrs, name="y")
    with pytest.raises(UnimplementedError, match="only XLA can run") as error:
        Session(b.graph).run("y:0", X)
    assert error.value.node == "y"
    assert "tfg[xla]" in error.value.hint
    engine = FakeEngine(smallest=4, fails=ValueError("told to"))
    with pytest.raises(UnimplementedError):
        (session := Session(b.graph, engine=engine)).run("y:0", X)
    assert session.engine_report().groups[0].reason == "it does not compile: told to"


def test_a_factor_that_is_no_scalar_is_refused_before_an_engine_takes_it():
    class Willing(FakeEngine):
        def compile(self, cluster, values):
            return lambda arrays: [arrays[0]]

    b = GraphBuilder()
    images = b.Placeholder(dtype="float32", shape=None, name="x")
    b.AdjustContrastv2(images, b.Placeholder(dtype="float32", shape=None, name="factor"), name="y")
    with pytest.raises(InvalidArgumentError, match="scalar") as error:
        Session(b.graph, engine=Willing()).run("y:0", {"x:0": np.ones((1, 2, 2, 3)), "factor:0": [2]})
    assert error.value.node == "y"
