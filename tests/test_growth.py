"""What looks at whole graphs takes time by the number of their nodes: the calls that Python makes are counted, not seconds."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from typing import Any

import pytest

import tfg
from benchmarks import scale, scale_graphs
from benchmarks.scale_graphs import FORMS
from tfg.core.control_flow.frames import Frame
from tfg.core.passes.loops.frame_hoisting import nodes_within
from tfg.formats.loading import load_leniently
from tfg.formats.protos.graph_pb2 import GraphDef

SMALL, LARGE = 320, 1280
MOST = 1.15
"""The power of the number of nodes with which calls may grow; a little is for what is n log n."""
WORKS = {**scale.ON_FILES, **scale.ON_GRAPHS, **scale.WITHOUT_SHAPES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("growth")


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("form", FORMS)
def test_calls_grow_with_nodes(folder, form, work):
    calls(folder, form, work, SMALL)  # what is imported and found once is there
    small, large = (calls(folder, form, work, count) for count in (SMALL, LARGE))
    assert scale.power((SMALL, small), (LARGE, large)) < MOST, f"{small} calls, then {large}"


def calls(folder: pathlib.Path, form: str, work: str, size: int) -> int:
    """How many calls of functions, Python's and C's, a piece of work makes on a graph of a form and a number of nodes."""
    path = str(scale.graph_path(folder, form, size, work))
    return counted(WORKS[work], path if work in scale.ON_FILES else tfg.load(path))


def counted(work: Callable[[Any], object], given: Any) -> int:
    """How many calls of functions a piece of work makes on what it is given."""
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


def test_calls_grow_with_faults(tmp_path):
    """A graph of whose inputs many do not exist, as a cut through a larger one leaves it, is looked through as fast."""
    found = {}
    for count in (SMALL, LARGE):
        path = tmp_path / f"{count}.pb"
        nodes = [scale_graphs.node(f"sum_{i}", "AddV2", f"lost_{i}", "sum_0", **scale_graphs.FLOAT) for i in range(count)]
        path.write_bytes(GraphDef(node=nodes).SerializeToString())
        found[count] = counted(load_leniently, str(path))
    assert scale.power(*found.items()) < MOST, found


def test_calls_grow_with_the_depth_of_loops():
    """Loops in one another are gone through once for a loop, however deep it lies."""
    found = {}
    for depth in (SMALL, LARGE):
        frames = [Frame("", None)]
        for i in range(depth):
            frames.append(Frame(f"loop_{i}", frames[-1]))
            frames[-2].children.append(frames[-1])
        found[depth] = counted(nodes_within, frames[0])
    assert scale.power(*found.items()) < MOST, found
