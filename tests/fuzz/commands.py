"""Changed graphs, states and feeds, taken through every command of `tfg` in this process, with any of its options."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import os
import pathlib
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from random import Random

import click
import numpy as np

from tests.cli import running
from tests.fuzz import corpus, drawing, pipelines
from tests.fuzz.bounds import deadline
from tests.fuzz.files import SAMPLES, draw_state, originals, write_files
from tests.fuzz.mutation import changed_bytes
from tests.fuzz.trials import Trial
from tfg.cli.main import COMPARISON_FAILED, DONE, REFUSED, USAGE, commands, root
from tfg.cli.options import OutputFile
from tfg.core.op_libraries.library_loading import load_op_library
from tfg.core.passes.pass_listing import all_passes
from tfg.core.support.errors import TfgError
from tfg.core.training.optimizers import OPTIMIZERS
from tfg.formats import load, to_bytes, to_text

SECONDS = 1.0
"""What a command that takes --timeout may take."""


@dataclasses.dataclass(frozen=True)
class Invocation:
    """A command line beside the files that it may name."""

    arguments: tuple[str, ...]
    files: Mapping[str, bytes]
    origin: str

    def __call__(self) -> None:
        """Run the command, and see that it says how it ended and leaves nothing behind but what it was told to write."""
        with tempfile.TemporaryDirectory() as outside:
            folder = pathlib.Path(outside, "folder")
            write_files(folder, self.files)
            with chdir(folder), deadline(SECONDS if "timeout" in _options(self.arguments[0]) else None):
                outcome = running.tfg(*self.arguments)
            self._check(outcome)
            assert os.listdir(outside) == ["folder"], f"outside its folder: {os.listdir(outside)}"
            self._check_files(folder)

    def _check(self, outcome: running.Outcome) -> None:
        assert outcome.code in (DONE, REFUSED, USAGE, COMPARISON_FAILED), f"ended with {outcome.code}"
        errors = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
        diverged = self.arguments[0] == "train" and outcome.code == COMPARISON_FAILED
        is_listed = self.arguments[0] == "check" and outcome.code == REFUSED and "unreadable" in outcome.out
        expected = (outcome.code in (REFUSED, USAGE) and not is_listed) or diverged
        most = len(errors) if "--keep-going" in self.arguments else 1  # an error for each input
        assert expected <= len(errors) <= most * expected, f"ended with {outcome.code}, said {outcome.err!r}"

    def _check_files(self, folder: pathlib.Path) -> None:
        for name, data in self.files.items():
            assert folder.joinpath(name).read_bytes() == data, f"{name} was changed"
        made = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - set(self.files)
        default = ".html" if self.arguments[0] == "view" else None
        left = [name for name in made if not name.startswith(("out", "missing/out")) and os.path.splitext(name)[1] != default]
        left += [name for name in made if name.endswith(".tmp")]
        writes_here = self.arguments[0] == "samples" and "." in self.arguments
        assert not left or writes_here, f"left {left}"

    def snippet(self) -> str:
        return f"tfg {shlex.join(self.arguments)}  # of {self.origin}; files {dict(self.files)}"


@functools.cache
def samples() -> tuple[tuple[str, bytes], ...]:
    """The sample graphs by name, serialized, the small ones more than once: each is drawn as often as bytes go through it."""
    load_op_library(drawing.LIBRARY)
    files = sorted(SAMPLES.glob("*.pbtxt"))
    folders = sorted(path.parent for path in SAMPLES.glob("*/saved_model.pb"))
    results = [(path.stem, to_bytes(load(path))) for path in (*files, *folders)]
    return tuple(item for item in results for _ in range(max(1, 12_000 // len(item[1]))))


def draw_invocation(random: Random) -> Invocation:
    """One command on a graph that works or nearly does, its bytes sometimes changed, with states and feeds to name."""
    trial = _draw_graph(random)
    is_broken = random.random() < 0.2
    if is_broken:
        corpus.spoil_attributes(random, trial.graph)
    files = {"graph": _encoded(random, trial), "other": random.choice(samples())[1]}
    if random.random() < 0.15:
        files["graph"] = changed_bytes(random, files["graph"], files["other"])
    files |= _feed_files(random, trial)
    files |= draw_state(random).files if random.random() < 0.3 else originals()[random.choice(("npz", "V2"))]
    words = Words(random, trial, sorted(files))
    choice = _LOOKS if is_broken else [name for name in commands() if name != "ops" or random.random() < 0.3]
    return Invocation(draw_arguments(random, words, random.choice(choice)), files, trial.origin)


def _draw_graph(random: Random) -> Trial:
    """A sample graph with up to three changes, or what the other parts draw."""
    if random.random() < 0.6:
        return random.choice(_DRAWS)(random)
    name, data = random.choice(samples())
    trial = Trial(load(data), (), {}, name)
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        corpus.mutate_graph(random, trial.graph)
    return trial


_DRAWS = (corpus.draw_trial, corpus.draw_trial, drawing.draw_trial, drawing.draw_call, pipelines.draw_trial)


def _encoded(random: Random, trial: Trial) -> bytes:
    try:
        return to_text(trial.graph).encode() if random.random() < 0.05 else to_bytes(trial.graph)
    except TfgError:
        return random.choice(samples())[1]


def _feed_files(random: Random, trial: Trial) -> dict[str, bytes]:
    """An array for `--feed NAME=@FILE`."""
    value = random.choice([*trial.feeds.values(), np.ones((2, 3), np.float32)])
    if value.dtype == object:
        return {}
    buffer = io.BytesIO()
    np.save(buffer, value)
    data = buffer.getvalue()
    return {"feed.npy": changed_bytes(random, data) if random.random() < 0.2 else data}


_LOOKS = ("check", "convert", "diff", "draw", "dump", "explain", "view")
"""Commands that take graphs which no session could run."""


def draw_arguments(random: Random, words: Words, command: str) -> tuple[str, ...]:
    """A command with options that fit the graph mostly."""
    arguments = [command]
    for name, parameter in _options(command).items():
        likely = parameter.required or name in _COMMON.get(command, ())
        for _ in range(random.choice((1, 1, 2)) if parameter.multiple or parameter.nargs == -1 else 1):
            if name not in _OF_THE_PROCESS and random.random() < (0.93 if likely else 0.08):
                arguments += _given(random, words, command, parameter)
    return tuple(arguments)


_OF_THE_PROCESS = {"timeout", "max_memory", "script", "help"}
"""Bounds on the whole process, for which the fuzzer has its own, and Python programs that are to be run."""
_COMMON = {
    "convert": ("target",), "dump": ("graphs",), "explain": ("nodes",), "grad": ("y", "x"), "optimize": ("fetch", "output"),
    "run": ("fetch", "feed"), "train": ("loss",), "draw": ("out",), "ops": ("names",),
}  # fmt: skip


@functools.cache
def _options(command: str) -> Mapping[str, click.Parameter]:
    result = root.get_command(click.Context(root), command)
    assert result is not None
    return {_word(parameter): parameter for parameter in result.params}


def _word(parameter: click.Parameter) -> str:
    """The parameter's name as it is written, its longest one."""
    return parameter.opts[-1].lstrip("-").replace("-", "_")


def _given(random: Random, words: Words, command: str, parameter: click.Parameter) -> list[str]:
    """The parameter with a value of its kind."""
    option = parameter.opts[-1]
    if isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count):
        return [option]
    if command == "draw" and option == "--format":
        return [option, "dot"]
    if command == "reduce" and option == "--test":  # a shell would run it
        return [option, "false"]
    value = _value(random, words, parameter)
    return [value] if isinstance(parameter, click.Argument) else [option, value]


def _value(random: Random, words: Words, parameter: click.Parameter) -> str:
    if isinstance(parameter.type, click.Choice):
        return str(random.choice(list(parameter.type.choices)))
    if isinstance(parameter.type, click.types.IntParamType):
        return str(random.choice((-1, 0, 1, 1, 2, 2, 3)))
    if isinstance(parameter.type, click.types.FloatParamType):
        return random.choice(("0", "0.1", "1e-3", "-1", "nan", "inf", "1e999", "1e-320"))
    kind = _KINDS.get(_word(parameter))
    if isinstance(parameter.type, OutputFile) and kind is not Words.out_folder:
        kind = Words.out
    writes = kind in (Words.out, Words.out_folder)
    return words.any() if kind is None or (not writes and random.random() < 0.02) else kind(words)


VALUES = (
    "1", "[1,2]", "zeros(2,3)", "normal(2)", '"abc"', "[[1],[2,3]]", "nan", "1e999", "ones(0)", "{}", "@missing.npy", "[",
    "", "@state.npz", "@state.npz:a", "@graph", "@.", "-", "randint(3,high=2)", "uniform(2,low=nan)", "null", "true",
    "[true, 2]", "zeros(1099511627776)", "[" * 2000, "1" * 5000, '["a", 1]', "18446744073709551616", "\x00", "@\x00",
    "zeros(-1)", "normal(2,scale=-1)", '["\\ud800"]', '"\\u0000"', "1e-400", "-0.0",
)  # fmt: skip
_SHAPES = ("2,3", "?,3", "", "0", "-1", "4294967296,4294967296", "2,?", "x", "()")


class Words:
    """What command lines say of a graph: names of nodes and tensors, values, files, and what is nearly that."""

    def __init__(self, random: Random, trial: Trial, files: Sequence[str]) -> None:
        self._random = random
        self._trial = trial
        self._names = [node.name for node in trial.graph] or ["x"]
        self._files = [*files, "state", "state.npz", "missing", ".", ""]

    def any(self) -> str:
        return self._random.choice((self.tensor, self.feed, self.file, self.regex, self.passes, self.text))()

    def text(self) -> str:
        return self._random.choice(drawing.STRINGS).decode("utf-8", "surrogateescape")

    def node(self) -> str:
        return self._random.choice(self._names)

    def tensor(self) -> str:
        if self._trial.fetches and self._random.random() < 0.5:
            return self._random.choice(self._trial.fetches)
        return self.node() + self._random.choice((":0", ":0", ":0", "", ":1", ":99", ":", ":-1"))

    def feed(self) -> str:
        feeds = [(name, array) for name, array in self._trial.feeds.items() if array.dtype != object]
        if feeds and self._random.random() < 0.7:
            name, array = self._random.choice(feeds)
            return f"{name}={json.dumps(array.tolist(), default=str)}" if self._random.random() < 0.7 else f"{name}=@feed.npy"
        return f"{self.tensor()}={self._random.choice(VALUES)}"

    def shape(self) -> str:
        return f"{self.tensor()}={self._random.choice(_SHAPES)}"

    def number(self) -> str:
        return f"{self.node()}={self._random.choice(('0', '1', '3', '-1', 'x', '1e3', '9' * 30))}"

    def file(self) -> str:
        return self._random.choice(self._files)

    def graph(self) -> str:
        return "graph" if self._random.random() < 0.97 else self.file()

    def second_graph(self) -> str:
        return self._random.choice(("other", "graph", "graph", self.file()))

    def state(self) -> str:
        return self._random.choice(("state", "state.npz", "state", self.file()))

    def out(self) -> str:
        return self._random.choice(
            ("out", "out", "out.npz", "out.dot", "out.json", "out.npy", "missing/out", ".", "out\x00", "")
        )

    def regex(self) -> str:
        return self._random.choice((".*", "A", "(", "(a+)+$", "[", "^x", "\\", "(?i)X", "(?<=a)b", self.node()))

    def passes(self) -> str:
        chosen = [one.name for one in self._random.sample(list(all_passes()), 2)]
        return (
            ",".join(chosen)
            if self._random.random() < 0.7
            else self._random.choice(("default", "cse{}", "fold{limit=1KB}", "fold{", ","))
        )

    def op(self) -> str:
        return self._random.choice((*drawing.ops()[::7], "Nonsense", ".*", ""))

    def steps(self) -> str:
        return self._random.choice(("1", "2", "3", "epoch", "epoch", "0", "-1", "1e3"))

    def engine(self) -> str:
        return self._random.choice(("openvino", "numpy", "f32", "bf16", "none", ""))

    def address(self) -> str:
        return self._random.choice(("grpc://", "local:0", "local:-1", "local:x", "x:", ""))

    def out_folder(self) -> str:
        return self._random.choice(("out", "out/more", "out\x00", ""))

    def pattern(self) -> str:
        return self._random.choice(("*", "feed*", "state*", "graph", "[", "missing*", "**", ""))

    def swept(self) -> str:
        return f"{self.tensor()}={self._random.choice(('1,2', '1', '', ',', 'x', '[1,2],[3]', '1..3', 'nan,inf'))}"

    def function(self) -> str:
        return self._random.choice([*self._trial.graph.functions, "missing"])

    def mapped(self) -> str:
        return f"{self.op()}={self.op()}"

    def library(self) -> str:
        return drawing.LIBRARY if self._random.random() < 0.8 else self.file()

    def optimizer(self) -> str:
        return self._random.choice((*OPTIMIZERS, "none"))

    def setting(self) -> str:
        name = self._random.choice([name for one in OPTIMIZERS.values() for name in one.hyperparameters] or ["momentum"])
        return f"{name}={self._random.choice(('0', '0.9', '-1', 'nan', 'x', ''))}"

    def rows(self) -> str:
        return self._random.choice(("?", "0", "1", "3", "64", "-1", "1e9", ""))

    def clip(self) -> str:
        return self._random.choice(("norm=1", "value=0.5", "global_norm=2", "norm=-1", "norm=nan", "x=1", "norm", ""))

    def schedule(self) -> str:
        return self._random.choice(
            (
                "cosine(decay_steps=10)",
                "cosine",
                "x(",
                "polynomial(decay_steps=0)",
                "exponential(decay_steps=1e999)",
                "inverse_time(x=1)",
            )
        )


_TENSORS = (
    "fetch", "target", "y", "x", "grad_y", "stop", "loss", "to", "from", "keep", "fed", "overridable", "init_op", "signature",
)  # fmt: skip
_FEEDS = ("feed", "assign", "assign_add", "assign_sub", "vjp", "jvp", "hessian_vector")
_KINDS: Mapping[str, Callable[[Words], str]] = {
    **dict.fromkeys(("graph", "graphs", "source", "before"), Words.graph), "after": Words.second_graph,
    **dict.fromkeys(_TENSORS, Words.tensor), **dict.fromkeys(_FEEDS, Words.feed), "shape": Words.shape,
    **dict.fromkeys(("around", "highlight", "nodes", "stage", "scope"), Words.node),
    **dict.fromkeys(("state", "prefix", "compare", "run_metadata"), Words.state), "allow_files": Words.file,
    **dict.fromkeys(("size", "trips"), Words.number), "batch": Words.rows,
    **dict.fromkeys(("name", "op", "var", "wrt", "exclude", "device"), Words.regex),
    **dict.fromkeys(("passes", "disable"), Words.passes), "map_op": Words.mapped, "op_library": Words.library,
    **dict.fromkeys(("family", "tag"), Words.text), "names": Words.op, "optimizer": Words.optimizer, "set": Words.setting,
    **dict.fromkeys(("on", "address"), Words.address), "each": Words.pattern, "sweep": Words.swept,
    "steps": Words.steps, **dict.fromkeys(("engine", "precision"), Words.engine), "function": Words.function,
    "expand": Words.node,
    **dict.fromkeys(("out_dir", "save_model", "copy"), Words.out_folder), "clip": Words.clip, "schedule": Words.schedule,
}  # fmt: skip
"""The kinds of options and arguments by name; options that write, but no folder, take names of output files."""
