"""Errors of several lines: line feeds from tfg are line feeds, line feeds in text of a graph are escapes."""

from __future__ import annotations

import ast
import pathlib

import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.sources import nodes_of
from tfg.core.support.errors import InvalidArgumentError, UnimplementedError

HOSTILE = "a\x1b[31m\nerror: all is well"
ROOT = pathlib.Path(tfg.__file__).parent


@pytest.fixture
def two_refusals(tmp_path):
    """A graph with two nodes without a lowering to ONNX; the name of the second node is hostile."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="string", shape=[2], name="x")
    b.AddN([b.StringToHashBucketFast(x, num_buckets=7, name="hash"), b.StringToHashBucketStrong(x, num_buckets=7, key=[1, 2])],
           name="y")  # fmt: skip
    tfg.save(b.graph, tmp_path / "g.pb")
    return tmp_path / "g.pb"


def test_each_refusal_has_a_line(two_refusals, tmp_path):
    pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
    done = run("convert", two_refusals, tmp_path / "g.onnx", "--to", "y")
    first, *lines = done.err.splitlines()
    assert done.code == 1 and first == "error: ONNX does not support 2 nodes of the graph:"
    assert [line.partition(" (")[0] for line in lines[:2]] == ["  StringToHashBucketFast", "  StringToHashBucketStrong"]
    assert "\\n" not in done.err


def test_lines_of_strangers_stay_on_theirs(monkeypatch, capsys):
    error = UnimplementedError(HOSTILE, node=HOSTILE, hint=HOSTILE, details=[HOSTILE, "second"])
    monkeypatch.setattr("tfg.cli.jobs.explain_job.explain", lambda *_, **__: (_ for _ in ()).throw(error))
    done = run("explain", SAMPLES / "xor.pbtxt")
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\n", "\\n")
    assert done.err.splitlines() == [f"error: node '{shown}': {shown}", f"  {shown}", "  second", f"hint: {shown}"]


def test_an_error_in_python_has_all_its_lines():
    error = InvalidArgumentError("two nodes:", node="a", op="B", details=["one", "two"])
    assert str(error) == "node 'a' (B): two nodes:\n  one\n  two"
    assert error.summary == "node 'a' (B): two nodes:" and error.message == "two nodes:"


def test_values_that_click_lists_have_lines_of_their_own():
    done = run("draw", SAMPLES / "xor.pbtxt", "--format", "nothing")
    assert done.code == 2 and "\\n" not in done.err and "\\t" not in done.err


def _raised_with_line_feeds(path):
    """Return the lines of a module that raise or return an error with a line feed in the message."""
    calls = [node for node in nodes_of(path) if isinstance(node, ast.Call) and node.args]
    errors = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id.endswith("Error")]
    for error in errors:
        if any(isinstance(part, ast.Constant) and "\n" in str(part.value) for part in ast.walk(error.args[0])):
            yield f"{path.relative_to(ROOT)}:{error.lineno}"


@pytest.mark.slow
def test_messages_are_one_line():
    """`details` has the text of several lines."""
    sources = [path for part in ("cli", "core", "formats") for path in (ROOT / part).rglob("*.py")]
    assert [place for path in sources for place in _raised_with_line_feeds(path)] == []
