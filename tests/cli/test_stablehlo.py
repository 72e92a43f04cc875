"""`tfg convert` to StableHLO, and `tfg.convert`. Skipped where JAX is not installed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import tfg  # noqa: E402
from tests.cli.running import tfg as run  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402

ALONE = """
import sys, jax, numpy
program = jax.export.deserialize(bytearray(open(sys.argv[1], "rb").read()))
rows = [program.call(numpy.ones((count, 2), "f"))["y"].tolist() for count in (1, 2)]
assert rows == [[[7]], [[7], [7]]] and not any(name.startswith("tfg") for name in sys.modules), rows
"""


@pytest.fixture
def model(tmp_path):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 2], name="x")
    b.MatMul(x, b.variable(np.float32([[3], [4]]), "w"), name="y")
    b.AsString(x, name="words")
    b.global_variables_initializer()
    tfg.save(b.graph, tmp_path / "g.pb")
    return tmp_path / "g.pb"


def test_a_program_runs_without_tfg_on_any_number_of_rows(model):
    target = model.with_suffix(".stablehlo")
    done = run("convert", model, target, "--init", "--to", "y", "--verify")
    assert done.code == 0, done.err
    assert "JAX compared with tfg" in done.out
    assert "inputs: x" in done.err
    ended = subprocess.run([sys.executable, "-c", ALONE, str(target)], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_shape_of_an_input_may_be_given(model):
    target = model.with_suffix(".stablehlo")
    assert run("convert", model, target, "--init", "--to", "y", "--shape", "x=5,2").code == 0
    assert jax.export.deserialize(bytearray(target.read_bytes())).in_avals[0].shape == (5, 2)


def test_refused_nodes_are_named_and_nothing_is_written(model):
    target = model.with_suffix(".stablehlo")
    done = run("convert", model, target, "--init", "--to", "words")
    assert (done.code, target.exists()) == (1, False)
    assert "AsString (words)" in done.err
    assert run("convert", model, target, "--init", "--to", "y", "--text").code == 2


def test_the_function_writes_the_same_program(model):
    target = model.with_suffix(".stablehlo")
    tfg.convert(tfg.load(model), target, "y:0", state={"w": np.float32([[1], [2]])})
    program = jax.export.deserialize(bytearray(target.read_bytes()))
    assert program.call(np.ones((2, 2), np.float32))["y"].tolist() == [[3], [3]]


def test_a_counter_comes_and_goes_as_a_value(tmp_path):
    target = tmp_path / "scaler.stablehlo"
    done = run("convert", "sample_graphs/scaler_saved_model", target, "--verify")
    assert done.code == 0, done.err
    assert "its old value is input calls_before" in done.err
