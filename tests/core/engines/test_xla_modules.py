"""Programs exported by JAX as nodes of a graph: known and unknown shapes, platforms, and invalid programs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import jax  # noqa: E402
from jax import export  # noqa: E402

from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.runtime.session.session import Session  # noqa: E402
from tfg.core.support.errors import UnimplementedError  # noqa: E402
from tfg.core.types.shapes import Shape  # noqa: E402

HERE = {"gpu": "cuda"}.get(jax.default_backend(), jax.default_backend())
"""The platform of this machine."""
WEIGHTS = np.arange(12, dtype="f").reshape(4, 3)


def model(x, n):
    return jax.numpy.tanh(x @ WEIGHTS), x.sum(0), n + 1


def expected(x, n):
    return np.tanh(x @ WEIGHTS), x.sum(0), n + 1


def exported(rows, platforms=(HERE,)):
    """Return the program of the model for this number of rows, or for an expression."""
    dims = export.symbolic_shape(f"{rows}, 4")
    specs = [jax.ShapeDtypeStruct(dims, np.float32), jax.ShapeDtypeStruct((), np.int32)]
    return export.export(jax.jit(model), platforms=platforms)(*specs)


def graph(program, rows=None, **changes):
    """Return a graph that calls a program, as jax2tf writes the call."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, None], name="x")
    n = b.Placeholder(dtype="int32", shape=[], name="n")
    attrs = {
        "module": program.mlir_module_serialized,
        "version": program.calling_convention_version,
        "platforms": [name.upper().encode() for name in program.platforms],
        "Sout": [Shape((rows, 3)), Shape((4,)), Shape(())],
        "Tout": ["float32", "float32", "int32"],
    }
    y = b.XlaCallModule([x, n], **(attrs | changes), name="call")
    b.Neg(y[0], name="negative")
    return b.graph


FETCHES = ["call:0", "call:1", "call:2", "negative:0"]


def assert_runs(session, rows):
    x = np.random.default_rng(rows).standard_normal((rows, 4)).astype("f")
    result = session.run(FETCHES, {"x:0": x, "n:0": 3})
    y, total, count = expected(x, np.int32(3))
    for got, want in zip(result, (y, total, count, -y), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        assert got.dtype == want.dtype


def assert_refused(graph, rows, said):
    """The run fails at the node, and the report says why."""
    session = Session(graph, engine="xla")
    with pytest.raises(UnimplementedError, match="only XLA can run") as error:
        session.run(FETCHES, {"x:0": np.zeros((rows, 4), "f"), "n:0": 3})
    assert error.value.node == "call"
    assert "tfg[xla]" in error.value.hint
    (group,) = session.engine_report().groups
    assert said in group.reason


@pytest.mark.parametrize("platforms", [(HERE,), ("tpu", HERE)])
def test_known_shapes(platforms):
    assert_runs(Session(graph(exported("2", platforms), 2), engine="xla"), 2)


@pytest.mark.parametrize("platforms", [(HERE,), ("tpu", HERE)])
def test_unknown_shapes(platforms):
    session = Session(graph(exported("rows", platforms)), engine="xla")
    for rows in (5, 1, 5):
        assert_runs(session, rows)
    assert session.engine_report().groups[0].compiled == 2


def test_what_a_program_asks_of_shapes_is_checked():
    made = graph(exported("2*rows"))
    assert_runs(Session(made, engine="xla"), 4)
    assert_refused(made, 3, "it does not compile")


def test_arguments_of_other_shapes():
    assert_refused(graph(exported("2"), 2), 3, "the program takes tensor<2x4xf32>")


def test_another_platform():
    assert_refused(
        graph(exported("2", ("tpu",)), 2), 2, f"its program is for tpu, not for JAX's platform {jax.default_backend()}"
    )


def test_an_old_calling_convention():
    assert_refused(graph(exported("2"), 2, version=5), 2, "its calling convention is 5")


@pytest.mark.parametrize("module", [b"", b"StableHLO_v1", b"ML\xefR" + bytes(40)])
def test_what_is_no_program(module):
    assert_refused(graph(exported("2"), 2, module=module), 2, "the module is not a program")


def test_fewer_results():
    made = graph(exported("2"), 2, Sout=[Shape((2, 3))] * 4, Tout=["float32"] * 4)
    assert_refused(made, 2, "the program returns 3 results, not 4")


def test_a_program_of_constants():
    program = export.export(jax.jit(lambda x: x * 2))(jax.ShapeDtypeStruct((3,), np.float32))
    b = GraphBuilder()
    attrs = {
        "version": program.calling_convention_version,
        "platforms": [HERE.upper().encode()],
        "Sout": [Shape((3,))],
        "Tout": ["float32"],
    }
    b.XlaCallModule([b.constant(np.ones(3, "f"))], module=program.mlir_module_serialized, **attrs, name="y")
    np.testing.assert_array_equal(Session(b.graph, engine="xla").run("y:0"), np.full(3, 2))


def test_auto_runs_at_once_in_xla_what_nothing_else_runs():
    session = Session(graph(exported("2"), rows=2), engine="auto")
    for _ in range(3):
        assert_runs(session, 2)
    (choice,) = session.engine_report().choices
    assert choice.kept == "xla"
