"""Changed copies of the sample graphs, taken through every command of `tfg` in this process."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir
from random import Random

from click.testing import CliRunner

import tfg
from tests.fuzz import corpus
from tfg.cli.main import root
from tfg.core.errors import TfgError
from tfg.core.op_libraries.loading import load_op_library
from tfg.formats import load, to_bytes, to_text

SAMPLES = pathlib.Path(tfg.__file__ or ".").with_name("sample_graphs")
LIBRARY = str(SAMPLES / "skipgram_ops.py")


@dataclasses.dataclass(frozen=True)
class Invocation:
    """A command line on a file's contents; GRAPH stands for the file, OUT for one that may be written."""

    arguments: tuple[str, ...]
    data: bytes
    origin: str

    def __call__(self) -> None:
        """Run the command; whatever it raises but click's own errors comes out."""
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            path, out = os.path.join(folder, "graph"), os.path.join(folder, "out")
            pathlib.Path(path).write_bytes(self.data)
            given = [argument.replace("GRAPH", path).replace("OUT", out) for argument in self.arguments]
            result = CliRunner().invoke(root, given, catch_exceptions=True)
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception

    def snippet(self) -> str:
        return f"tfg {shlex.join(self.arguments)}  # GRAPH is {self.origin}, changed"


@functools.cache
def samples() -> tuple[tuple[str, bytes], ...]:
    """The sample graphs by name, serialized."""
    load_op_library(LIBRARY)
    files = sorted(SAMPLES.glob("*.pbtxt"))
    folders = sorted(path.parent for path in SAMPLES.glob("*/saved_model.pb"))
    return tuple((path.stem, to_bytes(load(path))) for path in (*files, *folders))


def draw_invocation(random: Random) -> Invocation:
    """One command on a sample with up to three changes: to the graph, or to the bytes of the file."""
    name, data = random.choice(samples())
    graph = load(data)
    names = [node.name for node in graph]
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        corpus.mutate_graph(random, graph)
    try:
        text = to_text(graph).encode() if random.random() < 0.2 else to_bytes(graph)
    except TfgError:
        text = data
    if random.random() < 0.25:
        text = changed_bytes(random, text)
    return Invocation(draw_arguments(random, names), text, name)


def changed_bytes(random: Random, data: bytes) -> bytes:
    """A few bytes overwritten, a piece cut out, doubled or moved."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        start = random.randrange(len(changed) + 1)
        end = min(len(changed), start + random.choice((1, 2, 4, 16, 100)))
        piece = bytes(changed[start:end])
        match random.randrange(4):
            case 0:
                changed[start:end] = random.randbytes(len(piece))
            case 1:
                del changed[start:end]
            case 2:
                changed[start:start] = piece * random.choice((1, 2, 10))
            case 3:
                changed[end:end] = bytes(random.choice((b"\0", b"\xff", b"\x80", b"-1", b"{", b"}", b'"')))
    return bytes(changed)


def draw_arguments(random: Random, names: Sequence[str]) -> tuple[str, ...]:
    """A command with options that fit the graph mostly."""
    options = _Options(random, names)
    command = random.choice([name for name in vars(_Options) if not name.startswith("_")])
    arguments = [command, *getattr(options, command)()]
    if random.random() < 0.2:
        arguments.append(random.choice(_ODD_OPTIONS))
    return tuple(arguments)


_VALUES = (
    "1", "[1,2]", "zeros(2,3)", "normal(2)", '"abc"', "[[1],[2,3]]", "nan", "1e999", "ones(0)", "{}", "@missing.npy", "[", "",
)  # fmt: skip
_ODD_OPTIONS = ("--format=json", "--tag=serve", f"--op-library={LIBRARY}", "--map-op=Add=AddV2", "--seed=-1")
_PASSES = ("prune,fold", "default,quantize-weights", "cse{}", "layout", "inline,fuse")


class _Options:
    """The options of each command, drawn for a graph with nodes of these names."""

    def __init__(self, random: Random, names: Sequence[str]) -> None:
        self._random = random
        self._names = names

    def _node(self) -> str:
        return self._random.choice(self._names)

    def _tensor(self) -> str:
        return self._node() + self._random.choice((":0", ":0", ":0", "", ":1", ":99"))

    def _feed(self) -> list[str]:
        return ["--feed", f"{self._tensor()}={self._random.choice(_VALUES)}"]

    def _some(self, *options: Sequence[str]) -> Iterator[str]:
        for option in options:
            if self._random.random() < 0.3:
                yield from option

    def dump(self) -> list[str]:
        kind = self._random.choice(("json", "csv", "list"))
        stages = ["--stages"] if self._random.random() < 0.1 else []
        return ["GRAPH", *stages, *self._some(["--shapes"], ["--format", kind], ["--fetch", self._tensor()], ["--op", "A.*"])]

    def explain(self) -> list[str]:
        return ["GRAPH", *self._some([self._node()], ["--fetch", self._tensor()], ["--format", "json"])]

    def run(self) -> list[str]:
        kind = self._random.choice(("json", "table"))
        options = self._some(self._feed(), self._feed(), ["--init"], ["--seed", "3"], ["--steps", "2"], ["--format", kind])
        return ["GRAPH", "--fetch", self._tensor(), *options]

    def draw(self) -> list[str]:
        return ["GRAPH", "--out", "OUT.dot", *self._some(["--shapes"], ["--clusters"], ["--fetch", self._tensor()])]

    def diff(self) -> list[str]:
        return ["GRAPH", str(SAMPLES / "square.pbtxt")]

    def convert(self) -> list[str]:
        flags = ("--text", "--freeze", "--init", "--inline-functions", "--strip-default-attrs", "--clear-devices")
        ends = self._some(["--to", self._tensor()], ["--from", self._tensor()])
        return ["GRAPH", "OUT", *self._some(*([flag] for flag in flags)), *ends]

    def grad(self) -> list[str]:
        kind = self._random.choice(("--check", "--jacobian"))
        options = self._some([kind], ["--init"], ["-o", "OUT"], self._feed())
        return ["GRAPH", "--y", self._tensor(), "--x", self._tensor(), *options]

    def train(self) -> list[str]:
        return ["GRAPH", "--loss", self._tensor(), "--steps", "2", "-o", "OUT", *self._some(self._feed(), ["--var", ".*"])]

    def flops(self) -> list[str]:
        shape, loss = ["--shape", f"{self._node()}=2,?"], ["--backward", "--loss", self._tensor()]
        flags = (["--format", "json"], ["--batch", "4"], ["--measured", "--init"], ["--per-variable"])
        return ["GRAPH", *self._some(["--fetch", self._tensor()], shape, loss, *flags, self._feed())]

    def optimize(self) -> list[str]:
        names = (["--keep", self._node()], ["--init-op", self._node()], ["--passes", self._random.choice(_PASSES)])
        options = self._some(["--verify"], ["--costs"], *names)
        return ["GRAPH", "-o", "OUT", "--fetch", self._tensor(), *options]
