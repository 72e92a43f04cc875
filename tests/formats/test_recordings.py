"""Event files and RunMetadata written by TensorFlow 2.21 and TensorBoard's summaries."""

from __future__ import annotations

import contextlib
import gzip
import pathlib
import random
import subprocess

import pytest

import tfg
from tests.cli.running import command_line
from tests.cli.running import tfg as run
from tests.fuzz.mutation import changed_bytes
from tfg.core.support.errors import InvalidArgumentError, TfgError
from tfg.core.support.regular_files import open_input
from tfg.formats.codecs import source
from tfg.formats.recordings import RecordedGraph, Tag, describe_recording

RECORDED = pathlib.Path(__file__).parent / "recorded" / "recordings"


def test_an_event_file_of_tensorflow_2():
    """Three losses, a text, a histogram, and the graph of a function."""
    recording = describe_recording(RECORDED / "events_v2")
    assert recording.kind == "event file" and recording.events == 7 and not recording.is_cut
    assert recording.tags == (
        Tag("loss", "scalars", 3, 0, 2), Tag("note", "text", 1, 5, 5), Tag("h", "histograms", 1, 1, 1),
    )  # fmt: skip
    assert recording.graphs == (RecordedGraph("graph_def", 5, True),)
    assert {"x", "sq"} <= {node.name for node in tfg.load(RECORDED / "events_v2")}


def test_an_event_file_of_a_session():
    """FileWriter writes the graph twice, as a GraphDef and as a MetaGraphDef."""
    recording = describe_recording(RECORDED / "events_v1")
    assert recording.tags == (Tag("total", "scalars", 1, 7, 7),)
    assert [(graph.what, graph.is_read) for graph in recording.graphs] == [("graph_def", False), ("meta_graph_def", True)]
    assert {node.op for node in tfg.load(RECORDED / "events_v1")} >= {"Placeholder", "Square", "ScalarSummary"}


def test_the_graph_of_a_trace_of_tensorflow_2():
    """tf.summary.trace_export writes a RunMetadata as a summary: the largest function is read as it was written."""
    recording = describe_recording(RECORDED / "events_trace")
    assert [(tag.tag, tag.kind) for tag in recording.tags] == [
        ("step_trace", "graph_run_metadata_graph"), ("loss", "scalars"), ("picture", "images"), ("sound", "audio"),
        ("note", "text"), ("h", "histograms"),
    ]  # fmt: skip
    assert [graph.what for graph in recording.graphs if graph.is_read] == ["before optimization"]
    assert {"Square", "Mul", "Sum"} <= {node.op for node in tfg.load(RECORDED / "events_trace")}


def test_the_run_metadata_in_an_event_file():
    """FileWriter.add_run_metadata: the tag is listed, and a whole graph is preferred to those of the trace."""
    folder = pathlib.Path(tfg.__file__).parent / "sample_graphs" / "recordings"
    recording = describe_recording(folder / "events.out.tfevents.linear_regression")
    assert Tag("step 5", "RunMetadata", 1, 5, 5) in recording.tags
    assert [(graph.what, graph.is_read) for graph in recording.graphs] == [
        ("graph_def", False), ("meta_graph_def", True), ("partition graph", False)
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["graph.pb", "events"])
def test_explain_reads_a_file_once(tmp_path, monkeypatch, name):
    data = (RECORDED / "events_v2").read_bytes()
    if name == "graph.pb":
        tfg.save(tfg.load(RECORDED / "events_v2"), tmp_path / "plain.pb")
        data = (tmp_path / "plain.pb").read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(data))
    opened = []
    monkeypatch.setattr(source, "open_input", lambda path: opened.append(str(path)) or open_input(path))
    assert run("explain", tmp_path / name).code == 0
    assert opened == [str(tmp_path / name)]


@pytest.mark.slow
def test_recordings_come_through_pipes():
    done = subprocess.run(command_line("explain", "-"), input=(RECORDED / "events_v1").read_bytes(), capture_output=True)
    assert b"meta_graph_def" in done.stdout


def test_run_metadata():
    recording = describe_recording(RECORDED / "run_metadata")
    assert recording.kind == "RunMetadata" and recording.executions == 9
    assert recording.devices == ("/job:localhost/replica:0/task:0/device:CPU:0",)
    assert recording.graphs == (RecordedGraph("partition graph", 8, True),)
    assert "_Arg" in {node.op for node in tfg.load(RECORDED / "run_metadata")}


def test_an_event_file_without_a_graph():
    assert describe_recording(RECORDED / "events_plain").graphs == ()
    with pytest.raises(InvalidArgumentError, match="has no graph"):
        tfg.load(RECORDED / "events_plain")


def test_a_file_that_is_being_written(tmp_path):
    whole = (RECORDED / "events_v2").read_bytes()
    (tmp_path / "events").write_bytes(whole[:-5])
    recording = describe_recording(tmp_path / "events")
    assert recording.is_cut and recording.events == 6


def test_explain_shows_tags_and_how_to_read_the_graph():
    path = RECORDED / "events_v2"
    shown = run("explain", path).out
    assert "loss  scalars" in shown and f"tfg dump {path}" in shown
    assert run("explain", path, "--format", "json").json["tags"][0]["last_step"] == 2
    assert "Square" in run("dump", path).out
    assert describe_recording(RECORDED.parent / "v2.index") is None


@pytest.mark.parametrize("name", ["events_v2", "events_v1", "events_trace", "run_metadata"])
def test_damaged_recordings_are_errors(tmp_path, name):
    data, generator = (RECORDED / name).read_bytes(), random.Random(0)
    for _ in range(40):
        (tmp_path / "file").write_bytes(changed_bytes(generator, data))
        with contextlib.suppress(TfgError):
            describe_recording(tmp_path / "file")
        with contextlib.suppress(TfgError):
            tfg.load(tmp_path / "file")


@pytest.mark.parametrize("name, argument, output, value", [
    ("events_trace", "x", "Identity:0", 28.0), ("run_metadata", "_arg_x_0_0", "Merge/MergeSummary:0", None),
])  # fmt: skip
def test_the_results_of_a_recorded_function_are_its_outputs(name, argument, output, value):
    """The function of the trace is 2 * sum(x * x)."""
    facts = tfg.explain(tfg.load(str(RECORDED / name)))
    assert [tensor.name for tensor in facts.outputs] == [output]
    assert [tensor.name for tensor in facts.inputs] == [f"{argument}:0"]
    done = run("run", RECORDED / name, "--feed", f"{argument}=[1, 2, 3]", "--format", "json")
    (fetched,) = done.json["steps"][0]["values"]
    assert fetched["name"] == output and (value is None or fetched["value"] == value)
    assert run("flops", RECORDED / name).err == f"counting the nodes that {output} run; --fetch chooses others\n"


def test_flops_of_a_recorded_function_follow_from_the_recorded_shape_of_its_argument():
    """Of 3 elements: 3 squares, 3 products, 2 sums."""
    count = run("flops", RECORDED / "events_trace", "--format", "json").json
    assert count["sections"]["forward"]["flops"] == 8
    other = run("flops", RECORDED / "events_trace", "--shape", "x=5", "--format", "json").json
    assert other["sections"]["forward"]["flops"] == 14


@pytest.mark.parametrize("command", ["flops", "optimize", "run", "reduce", "grad", "train"])
def test_a_graph_without_an_obvious_output_names_candidates(command, tmp_path):
    """All ends of the graph are summaries."""
    words = {"optimize": ("-o", tmp_path / "x.pb"), "reduce": ("--test", "false"), "run": ("--feed", "x=[1, 2]")}
    done = run(command, RECORDED / "events_v1", *words.get(command, ()))
    assert done.code in (1, 2) and "Merge/MergeSummary" in done.err
