"""Graphs made to take all the time or the memory there is: every one ends with one `error:` line, in time."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest

import tfg
from tfg.core.tensors import FuncRef, Tensor
from tfg.tests.cli.running import ROOT

SLACK = 8
"""Seconds for a loaded machine to start Python and its libraries, beside the limit."""
HARD_CAP = 8 << 30


def _limited():
    resource.setrlimit(resource.RLIMIT_AS, (HARD_CAP, HARD_CAP))


def command(*arguments):
    """(exit code, standard error, seconds) of a command, which is killed where it does not end by itself."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tfg", *map(str, arguments)],
        cwd=ROOT.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, preexec_fn=_limited,
    )  # fmt: skip
    return done.returncode, done.stderr, time.monotonic() - start


def errors(text):
    return [line for line in text.splitlines() if not line.startswith("hint: ")]


def endless(g):
    """A loop whose body does nothing, and whose condition holds."""
    for name, op in (("condition", "Const"), ("body", "Identity")):
        inner = tfg.GraphBuilder()
        argument = inner.Placeholder(dtype="float32", name="a")
        result = inner.constant(True) if op == "Const" else inner.Identity(argument)
        g.graph.functions[name] = tfg_function(name, inner, argument, result)
    return g.While([g.constant(1.0)], cond=FuncRef("condition"), body=FuncRef("body"))[0]


def tfg_function(name, builder, argument, result):
    from tfg.core.catalog import ArgDef, OpDef
    from tfg.core.functions import Function

    argument.node.change_op("_Arg")
    argument.node.attrs = {"T": argument.node.attrs["dtype"], "index": 0}
    argument.node.forget_dtypes()
    outputs = (ArgDef("r", dtype=result.dtype),)
    signature = OpDef(name, (ArgDef("a", dtype=argument.dtype),), outputs, {}, frozenset())
    return Function(signature, builder.graph, [argument.node], [result])


def text(g, value):
    return g.constant(Tensor.from_numpy(np.array([value], object)))


def sum_of_a_view(g):
    return g.Sum(g.BroadcastTo(g.constant(1.0), g.constant(np.array([1 << 36]))), g.constant([0]))


BOMBS = {
    "while": endless,
    "sum": sum_of_a_view,
    "regular expression": lambda g: g.StaticRegexFullMatch(text(g, b"a" * 5000 + b"!"), pattern="(a|a)*(a|a)*(b+)+$"),
    "fill": lambda g: g.Fill(g.constant(np.array([1 << 36])), g.constant(1.0)),
    "fill beyond addresses": lambda g: g.Fill(g.constant(np.array([1 << 62, 4])), g.constant(1.0)),
    "range": lambda g: g.Range(g.constant(0.0), g.constant(1e30), g.constant(1e-30)),
    "tile": lambda g: g.Tile(g.constant(np.ones(4, np.float32)), g.constant(np.array([1 << 36]))),
    "zlib": lambda g: g.DecodeCompressed(text(g, zlib.compress(bytes(1 << 28), 1)), compression_type="ZLIB"),
}


@pytest.fixture
def bomb(tmp_path):
    def write(name):
        g = tfg.GraphBuilder()
        value = BOMBS[name](g)
        path = tmp_path / "bomb.pb"
        tfg.save(g.graph, path)
        return path, str(value)

    return write


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_ends_in_time_with_one_line(bomb, name):
    path, fetch = bomb(name)
    code, stderr, seconds = command("run", path, "--fetch", fetch, "--timeout", 1, "--max-memory", "200M", "-q")
    assert (code, len(errors(stderr))) in ((0, 0), (1, 1)), stderr
    assert not stderr or stderr.startswith("error: ")
    assert seconds < 1 + SLACK


@pytest.mark.parametrize("size", ["0", "1", "64K", "1M"])
def test_less_memory_than_tfg_needs_is_wrong_usage(bomb, size):
    path, fetch = bomb("fill")
    code, stderr, _ = command("run", path, "--fetch", fetch, "--max-memory", size)
    assert (code, len(errors(stderr))) == (2, 1)
    assert "MiB" in stderr


@pytest.mark.parametrize("size", ["24M", "50M", "100M"])
def test_memory_counts_from_where_tfg_stands(tmp_path, size):
    """Linear algebra, special functions and bfloat16 of small tensors work under any limit that is taken."""
    g = tfg.GraphBuilder()
    matrix = g.constant(np.eye(3, dtype=np.float32) * 2)
    value = g.Cast(g.Cast(g.Lgamma(g.MatrixInverse(g.MatMul(matrix, matrix))), DstT="bfloat16"), DstT="float32")
    path = tmp_path / "small.pb"
    tfg.save(g.graph, path)
    code, stderr, _ = command("run", path, "--fetch", str(value), "--max-memory", size, "-q")
    assert (code, stderr) == (0, "")
