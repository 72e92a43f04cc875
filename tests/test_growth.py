"""Analyses of whole graphs take time in proportion to the number of nodes: Python lines and calls are counted, not seconds.

With `-m growth`, every form is tried with a part of the commands and with all kinds of work on graphs.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfg
from benchmarks import growth, input_files, scale, scale_graphs
from benchmarks.scale_graphs import FORMS
from tfg.cli.main import commands, run
from tfg.core.graph.frames import Frame
from tfg.core.transforms.batch_size import set_batch
from tfg.formats.loading import load_leniently
from tfg.formats.protos.graph_pb2 import GraphDef

SMALL, LARGE = 320, 1280
MOST = 1.15
"""The largest exponent of the number of nodes in the growth of calls, with a margin for n log n."""
WORKS = {**scale.ON_FILES, **scale.ON_GRAPHS, **scale.WITHOUT_SHAPES}


FEW = 40
"""Nodes of the smallest graphs, where the commands are tried on all families."""
PARTS = 9
"""How many runs the commands on a form are divided into."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("growth")


@pytest.mark.slow
@pytest.mark.parametrize("command", growth.OTHER_FILES)
def test_commands_on_other_files_grow_with_nodes(tmp_path, command):
    growth.complete(growth.words(tmp_path, "variables", command, FEW))  # what is imported and found once is there
    exponent, counts = growth.growth(tmp_path, "variables", command, FEW)
    assert exponent < growth.MOST, counts


@pytest.mark.growth
@pytest.mark.parametrize("part", [0, *(pytest.param(place, marks=pytest.mark.slow) for place in range(1, PARTS))])
@pytest.mark.parametrize("form", growth.FORMS)
def test_every_command_grows_with_nodes(tmp_path, form, part):
    """A part of the commands on each form, as all of them take ten minutes; `-m "growth and slow"` runs the others."""
    commands = [command for one, command in growth.pairs() if one == form]
    first = (list(growth.FORMS).index(form) + part) % PARTS
    too_fast = {}
    for command in commands[first::PARTS]:
        growth.complete(growth.words(tmp_path, form, command, FEW))
        exponent, counts = growth.growth(tmp_path, form, command, FEW)
        if exponent >= growth.MOST:  # a round more, or a limit reached, at one of the sizes looks like growth
            exponent, counts = growth.growth(tmp_path, form, command, 8 * FEW)
        if exponent >= growth.MOST:
            too_fast[command] = round(exponent, 2), counts
    assert not too_fast


@pytest.mark.slow
@pytest.mark.parametrize(("form", "command"), growth.BOUNDED)
def test_doubling_results_are_refused_by_name_with_a_next_step(tmp_path, capsys, form, command):
    if command == "convert onnx":
        pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
    if command == "convert stablehlo":
        pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    assert run(growth.words(tmp_path, form, command, 2 * FEW)) == 1
    error, hint = capsys.readouterr().err.splitlines()
    assert growth.BOUNDED[form, command] in error and hint.startswith("hint: ")
    assert {"'if'", "'left'", "'right'"} & set(error.split()) or "/left: " in error or "/left'" in error or "/right: " in error


@pytest.mark.growth
@pytest.mark.parametrize(("form", "command"), growth.BOUNDED)
def test_doubling_results_are_refused_in_bounded_time(tmp_path, form, command):
    """The refusal may look at the whole graph, but not at a share of the results."""
    growth.complete(growth.words(tmp_path, form, command, FEW))  # what is imported once is there
    # Calls, as a refusal is millions of lines, and nothing makes a share of the results without calls.
    small, large = (counted(growth.complete, growth.words(tmp_path, form, command, times * FEW)) for times in (2, 6))
    assert scale.power((2, small), (6, large)) < growth.MOST, (small, large)


@pytest.mark.slow
def test_loops_in_loops_are_exported_once(tmp_path):
    """Each emission of a loop's body repeats the loops inside: two emissions a loop are 2 ** depth of the innermost."""
    growth.complete(growth.words(tmp_path, "loops_in_loops", "convert onnx", FEW))
    exponent, counts = growth.growth(tmp_path, "loops_in_loops", "convert onnx", FEW)
    assert exponent < growth.MOST, counts


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    ["products", "overflowing_products", "products_of_reads", "quotients", "sums_and_products", "mixed_products"],
)
def test_rules_for_trees_grow_with_the_tree(tmp_path, form):
    """A rule that looks at the whole tree at each node of a tree that it refuses takes the square."""
    growth.complete(growth.words(tmp_path, form, "optimize", FEW))
    exponent, counts = growth.growth(tmp_path, form, "optimize", 4 * FEW)
    assert exponent < growth.MOST, counts


@pytest.mark.slow
@pytest.mark.parametrize("way", input_files.WAYS)
def test_reading_grows_with_inputs(tmp_path, way):
    """Each row, line, record, member or file costs no more than itself; tests/cli/test_each.py counts the opened files."""
    growth.complete(input_files.words(tmp_path, way, FEW))  # what is imported and found once is there
    counts = [growth.lines(input_files.words(tmp_path, way, times * FEW)) for times in (1, 2, 4)]
    assert scale.power((1, counts[0]), (4, counts[2])) < growth.MOST, counts


@pytest.mark.slow
@pytest.mark.parametrize("form", ["while_in_while", "forked_conditionals", "twice"])
def test_loops_branches_and_calls_are_traced_once(tmp_path, form):
    """Each trace of a loop's body that repeats the loops inside multiplies the traces of the innermost by the depth."""
    pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    sizes = (FEW, 2 * FEW, 4 * FEW) if form != "twice" else (16, 32, 44)  # below the largest number of calls
    growth.complete(growth.words(tmp_path, form, "convert stablehlo", sizes[0]))  # what is imported and found once is there
    counts = [growth.lines(growth.words(tmp_path, form, "convert stablehlo", size)) for size in sizes]
    assert scale.power((sizes[0], counts[0]), (sizes[2], counts[2])) < growth.MOST, counts


@pytest.mark.slow
def test_every_command_is_measured():
    measured = {words.split()[0] for words in growth.COMMANDS.values()}
    assert measured | set(growth.WITHOUT_GRAPHS) == set(commands())
    every = {(form, command) for form in growth.FORMS for command in growth.COMMANDS}
    assert growth.LARGE_RESULTS.keys() | growth.BOUNDED.keys() < every


@pytest.mark.growth
@pytest.mark.parametrize("form", FORMS)
def test_calls_grow_with_nodes(folder, form):
    for work in WORKS:
        calls(folder, form, work, FEW)  # what is imported and found once is there
        small, large = (calls(folder, form, work, count) for count in (SMALL, LARGE))
        assert scale.power((SMALL, small), (LARGE, large)) < MOST, f"{work}: {small} calls, then {large}"


@pytest.mark.slow
@pytest.mark.parametrize(("work", "most"), [("plan", 70), ("explain", 175)])
def test_a_plain_node_takes_few_calls(folder, work, most):
    """What depends on the op alone is asked once for an op, not once for a node."""
    calls(folder, "chain", work, SMALL)
    small, large = (calls(folder, "chain", work, count) for count in (SMALL, LARGE))
    assert (large - small) / (LARGE - SMALL) < most


@pytest.mark.slow
@pytest.mark.parametrize(("work", "most"), [("explain", 2.6), ("flops", 2), ("plan", 2), ("run", 2)])
def test_nodes_of_equal_functions_take_few_calls(folder, work, most):
    """Equal bodies are decoded, checked, inferred, planned and bound once; what is left is a node for each call."""

    def calls_a_node(form):
        calls(folder, form, work, SMALL)
        small, large = (calls(folder, form, work, count) for count in (SMALL, LARGE))
        return (large - small) / (LARGE - SMALL)

    assert calls_a_node("functions") < most * calls_a_node("chain")


def calls(folder: pathlib.Path, form: str, work: str, size: int) -> int:
    """How many calls of functions, Python's and C's, a piece of work makes on a graph of a form and a number of nodes."""
    path = str(scale.graph_path(folder, form, size, work))
    return counted(WORKS[work], path if work in scale.ON_FILES else tfg.load(path))


def counted(work: Callable[[Any], object], given: Any) -> int:
    """Return the number of function calls of a piece of work."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work(given)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.slow
def test_calls_grow_with_faults(tmp_path):
    """A graph with many missing inputs, as after a cut through a larger graph, is checked as fast."""
    by_name = {}
    for count in (SMALL, LARGE):
        path = tmp_path / f"{count}.pb"
        nodes = [scale_graphs.node(f"sum_{i}", "AddV2", f"lost_{i}", "sum_0", **scale_graphs.FLOAT) for i in range(count)]
        path.write_bytes(GraphDef(node=nodes).SerializeToString())
        by_name[count] = counted(load_leniently, str(path))
    assert scale.power(*by_name.items()) < MOST, by_name


@pytest.mark.slow
def test_calls_grow_with_the_depth_of_loops():
    """Nested loops are visited once per loop, at any depth."""
    by_name = {}
    for depth in (SMALL, LARGE):
        frames = [Frame("", None)]
        for i in range(depth):
            frames.append(Frame(f"loop_{i}", frames[-1]))
            frames[-2].children.append(frames[-1])
        by_name[depth] = counted(Frame.nodes_within, frames[0])
    assert scale.power(*by_name.items()) < MOST, by_name


@pytest.mark.slow
@pytest.mark.parametrize("is_chain", [False, True])
def test_another_batch_grows_with_states(is_chain):
    """States of the old batch that meet the batch in turn, or all at once, are found in the same few sweeps."""

    def graph(count):
        b = tfg.GraphBuilder()
        x = last = b.Placeholder(dtype="float32", shape=[16, 3], name="x")
        ends = []
        for _ in range(count):
            state = b.Fill(np.array([16, 3], np.int32), np.float32(0))
            last = b.Tanh(b.Reshape(b.AddV2(last if is_chain else x, state), np.array([16, 3], np.int32)))
            ends.append(last)
        b.Identity(last if is_chain else b.AddN(ends), name="y")
        return b.graph

    def work(given):
        set_batch(given, ["y:0"], "?")

    counted(work, graph(2))  # what is imported and found once is there
    by_count = {count: counted(work, graph(count)) for count in (10, 40)}
    assert scale.power(*by_count.items()) < MOST, by_count
