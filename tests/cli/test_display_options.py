"""An option that changes the display also changes JSON and CSV, or is refused with JSON and CSV."""

from __future__ import annotations

import importlib
import itertools
import re

import click
import pytest

from tests.cli.running import SAMPLES, STAGES
from tests.cli.running import tfg as run
from tfg.cli import main

XOR, SQUARE, KERAS = SAMPLES / "xor.pbtxt", SAMPLES / "square.pbtxt", SAMPLES / "keras_classifier"
COUNT = ("flops", XOR, "--fetch", "loss", "--batch", 4)
DUMP, DRAW = ("dump", XOR), ("draw", XOR)
PLAIN = {"checkpoint": ("checkpoint", KERAS / "variables" / "variables"), "ops": ("ops",)}
CASES = {
    ("checkpoint", "--name"): (PLAIN["checkpoint"], ("--name", "_all")),
    ("checkpoint", "--exclude"): (PLAIN["checkpoint"], ("--exclude", "_all")),
    ("compare", "--all"): (("compare", XOR, XOR, "--fetch", "probability", "--init", "--feed", "x=[[0,1]]"), ("--all",)),
    ("dump", "--stage"): (("dump", *STAGES), ("--stage", "1")),
    ("dump", "--after"): (DUMP, ("--after", "prune", "--fetch", "loss")),
    ("dump", "--name"): (DUMP, ("--name", "hidden")),
    ("dump", "--exclude"): (DUMP, ("--exclude", "hidden")),
    ("dump", "--op"): (DUMP, ("--op", "MatMul")),
    ("dump", "--scope"): (DUMP, ("--scope", "hidden")),
    ("dump", "--device"): (DUMP, ("--device", "nowhere")),
    ("dump", "--to"): (DUMP, ("--to", "logits")),
    ("dump", "--around"): (DUMP, ("--around", "logits")),
    ("dump", "--shapes"): (DUMP, ("--shapes",)),
    ("flops", "--view"): (COUNT, ("--view", "scope")),
    ("flops", "--top"): (COUNT, ("--top", "1")),
    ("flops", "--depth"): ((*COUNT, "--view", "scope"), ("--depth", "1")),
    ("flops", "--name"): (COUNT, ("--name", "hidden")),
    ("flops", "--op"): (COUNT, ("--op", "MatMul")),
    ("flops", "--threshold"): (COUNT, ("--threshold", "100")),
    ("flops", "--per-variable"): ((*COUNT, "--backward"), ("--per-variable",)),
    ("ops", "--family"): (PLAIN["ops"], ("--family", "matmul")),
    ("ops", "--missing-kernel"): (PLAIN["ops"], ("--missing-kernel",)),
    ("ops", "--custom"): (PLAIN["ops"], ("--custom",)),
    ("ops", "--flops"): (PLAIN["ops"], ("--flops",)),
    ("path", "--all"): (("path", XOR, "x", "loss"), ("--all",)),
    ("path", "--raw"): (("path", KERAS, "measurements", "output_0"), ("--raw",)),
    ("run", "--top-k"): (("run", KERAS, "--feed", "measurements=[[5.1, 3.5, 1.4, 0.2]]"), ("--top-k", "2")),
    ("diff", "--raw"): (("diff", KERAS, SAMPLES / "scaler_saved_model"), ("--raw",)),
    ("explain", "--missing"): (("explain", XOR), ("--missing",)),
    ("explain", "--races"): (("explain", XOR), ("--races",)),
}
"""By command and option: a command line, and the option with a value that leaves something out or shows something else."""
OF_PICTURES = ("draw", "view")
"""The commands with a picture as the result."""
OF_STAGES = {
    ("explain", "--raw"),
    ("dump", "--elements"),
    ("train", "--dump-stages"),
    ("check", "--ignore"),
    ("checkpoint", "--for"),
}
"""Options with separate results; the tests of their commands check these results in JSON."""
_SHOWS = re.compile(
    r"Only (nodes|tensors|ops|this node)|Show |Rows |Number of (rows\.|scope levels)|List |Leave out |With several"
    r"|Infer the shapes"
)


def commands():
    return {
        name: importlib.import_module(f"tfg.cli.commands.{name}").command
        for name in main.commands()
        if name not in OF_PICTURES
    }


def test_every_option_of_what_is_shown_is_here():
    shown = {
        (name, option.opts[0])
        for name, command in commands().items()
        for option in command.params
        if isinstance(option, click.Option) and "--help-all" not in option.opts and _SHOWS.match(option.help or "")
    }
    assert shown - OF_STAGES - {("optimize", "--list")} == set(CASES)


def formats(name):
    (option,) = [option for option in commands()[name].params if "--format" in option.opts]
    return sorted({"json", "csv"} & set(option.type.choices))


@pytest.mark.sampled(14)
@pytest.mark.parametrize(
    ("case", "format_"), [(case, format_) for case in CASES for format_ in formats(case[0])], ids=lambda value: " ".join(value)
    if isinstance(value, tuple) else value
)  # fmt: skip
def test_it_has_an_effect_on_data(case, format_):
    words, option = CASES[case]
    plain, chosen = run(*words, "--format", format_), run(*words, *option, "--format", format_)
    assert plain.code in (0, 3) or "CSV holds a single table" in plain.err
    assert chosen.code == 2 or chosen.out != plain.out, chosen.err


def test_rows_of_a_view_are_the_tables():
    """A table leaves out rows that compute nothing."""
    view = (*COUNT, "--view", "scope", "--depth", 2)
    rows = run(*view, "--format", "json").json["rows"]
    lines = run(*view, "--top", 100).out.partition("own FLOPs")[2].splitlines()[2:]
    shown = [line.split()[0] for line in itertools.takewhile(str.strip, lines)]
    assert shown == [row["name"] for row in rows if row["flops"] or row["transcendentals"]]


@pytest.mark.slow
def test_all_rows_are_data_unless_some_are_asked_for():
    every = run(*COUNT, "--view", "node", "--format", "json").json["rows"]
    assert len(every) > 20
    for format_, count in (("json", lambda out: len(out.json["rows"])), ("csv", lambda out: len(out.out.splitlines()) - 1)):
        assert count(run(*COUNT, "--view", "node", "--format", format_)) == len(every)
        assert count(run(*COUNT, "--view", "node", "--top", 5, "--format", format_)) == 5
