"""`tfg run --check-numerics`: the first NaN or infinity, in the graph, in loops and in functions."""

from __future__ import annotations

import pytest

from tests.cli.running import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.types.dtypes import float32
from tfg.formats import save


def plain(g, x):
    return g.Neg(g.Log(x, name="culprit"))


def in_loop(g, x):
    """A V1 loop that takes the logarithm three times."""
    i, value = (g.Enter(v, frame_name="loop") for v in (g.constant(0), x))
    counter, carried = g.Merge([i, i])[0], g.Merge([value, value])[0]
    goes_on = g.LoopCond(g.Less(counter, g.Enter(g.constant(3), frame_name="loop", is_constant=True)))
    left, inside = (g.Switch(v, goes_on) for v in (counter, carried))
    one = g.Enter(g.constant(1), frame_name="loop", is_constant=True)
    results = (g.NextIteration(g.AddV2(left[1], one)), g.NextIteration(g.Log(inside[1], name="culprit")))
    for merge, back in zip((counter, carried), results):
        g.graph.set_input(merge.node, 1, back)
    return g.Exit(inside[0])


@pytest.fixture
def run(tmp_path):
    def run(build, values, *options):
        g = GraphBuilder()
        build_result = build(g, g.Placeholder(dtype=float32, shape=[None], name="x"))
        g.Identity(build_result, name="y")
        save(g.graph, tmp_path / "g.pb")
        return tfg("run", tmp_path / "g.pb", "--fetch", "y", "--feed", f"x={values}", *options)

    return run


@pytest.mark.parametrize("build", [plain, in_loop])
def test_names_the_node_and_its_inputs(run, build):
    done = run(build, "[2.0, 0.5]" if build is in_loop else "[-1.0, 2.0]", "--check-numerics")
    assert done.code == 1
    assert "node 'culprit' (Log): output 0 has 1 NaN of 2 elements" in done.err
    assert "its inputs were" in done.err


def test_infinities_count(run):
    assert "has 1 Inf of 2 elements" in run(plain, "[0.0, 2.0]", "--check-numerics").err


def test_finite_values_pass(run):
    assert run(plain, "[1.0, 2.0]", "--check-numerics").code == 0
    assert run(plain, "[-1.0, 2.0]").code == 0
