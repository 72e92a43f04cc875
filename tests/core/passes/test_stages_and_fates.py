"""Reports of `tfg dump --after` and `tfg explain --optimized` on passes."""

from __future__ import annotations

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as command
from tfg.core.passes.pipeline import node_fates, optimization_stages

CONSTANTS, KERNEL = SAMPLES / "all_constant.pbtxt", SAMPLES / "one_kernel.pbtxt"


def test_stages_start_with_the_graph_as_loaded():
    stages = optimization_stages(tfg.load(str(CONSTANTS)), ["y:0"])
    assert [(name, len(graph)) for name, graph in stages] == [("load", 5), ("fold", 5), ("cse", 3), ("prune", 1)]


def test_dump_after_a_pass_shows_what_it_changed():
    (stage,) = command("dump", KERNEL, "--after", "cse", "--fetch", "y:0", "--format", "json").json["snapshots"]
    assert [node["name"] for node in stage["diff"]["removed"]] == ["b"]


def test_dump_after_an_unknown_stage_names_those_there_are():
    done = command("dump", KERNEL, "--after", "bogus")
    assert done.code == 1
    assert "load, cse" in done.err


def test_fates():
    graph = tfg.load(str(CONSTANTS))
    fates = {fate.name: fate for fate in node_fates(graph, ["xw", "b", "y"], ["y:0"])}
    assert fates["xw"].fate.startswith("folded into a constant, then merged with")
    assert fates["b"].fate == "merged with w"
    assert (fates["y"].op, fates["y"].op_after) == ("AddV2", "Const")


def test_explain_optimized():
    (kept, gone) = command("explain", KERNEL, "x", "b", "--optimized", "--format", "json").json["nodes"]
    assert kept["fate"] == "kept: it is an input"
    assert gone["fate"] == "merged with w"


def test_explain_optimized_needs_a_node():
    assert command("explain", KERNEL, "--optimized").code == 2
