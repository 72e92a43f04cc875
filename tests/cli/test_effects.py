"""An option that names a thing and gives it a size, a value or another name changes the result, or is refused.

Nothing in between: no option is taken and then forgotten.
"""

from __future__ import annotations

import re

import click
import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.functions import define
from tfg.cli.main import commands, root
from tfg.core.graph.callers import all_nodes
from tfg.core.types.tensors import FuncRef

_TYPES = ("TENSOR=SIZES", "N|?", "FIRST,SECOND")
"""The types of options that set something, beside NAME=VALUE of any kind."""

LEAST = {
    "check": "{g}", "compare": "{g} {other} --fetch y --init", "convert": "{g} {out}.pb", "diff": "{g} {other}",
    "draw": "{g} --format dot", "dump": "{g}", "explain": "{g}", "flops": "{g} --fetch y",
    "grad": "{g} --y loss --x w --init", "join": "{g} {other} -o {out}.pb", "layers": "{g} --fetch y", "ops": "--missing {g}",
    "optimize": "{g} --fetch y -o {out}.pb", "path": "{g} x y", "reduce": "{g} --fetch y --init --test false -o {out}.pb",
    "run": "{g} --fetch y --init", "train": "{g} --loss loss --steps 3", "view": "{g} -o {out}.html",
    "unfreeze": "{g} -o {out}/ --to y --variable loss/reduction_indices",
    **dict.fromkeys(("convert --input", "convert --signature-output"), "{g} {out}/ --init --signature s --output y=y"),
    **dict.fromkeys(("convert --copy-signature", "convert --rename-signature"), "{model} {out}/"),
    **dict.fromkeys(("run --shape", "run --batch"), "{g}"), "compare --engines": "{g} --fetch y --init",
}  # fmt: skip
"""The words that each command needs, some only for an option."""

FED = "--feed x=ones(4,3)"
WORDS = {
    "--map-op": ("", "--map-op Tanh=Sigmoid"),
    "--shape": ("", "--shape x=8,3"),
    "--batch": ("", "--batch 8"),
    "--set": ("", "--set k=2"),
    **dict.fromkeys(("check --map-op", "reduce --map-op"), ("", "--map-op Tanh=MatMul")),
    **dict.fromkeys(("grad --map-op", "run --map-op", "train --map-op"), (FED, "--map-op Tanh=Sigmoid")),
    "ops --map-op": ("", "--map-op Tanh=Abort"),
    "join --connect": ("", "--connect x=x"),
    "convert --input": ("", "--input given=x"),
    "convert --signature-output": ("", "--output more=loss"),
    "convert --copy-signature": ("", "--copy-signature serving_default=second"),
    "convert --rename-signature": ("", "--rename-signature serving_default=second"),
    "compare --feed": ("", FED),
    "compare --engines": ("", "--engines numpy,numpy"),
    **dict.fromkeys(("flops --size", "layers --size"), ("--fetch chosen", "--size Where=2")),
    **dict.fromkeys(("flops --trips", "layers --trips"), ("--fetch looped", "--trips loop=7")),
    "grad --feed": ("", FED),
    "grad --override": (FED, "--override Tanh=straight_through"),
    **dict.fromkeys(("flops --feed", "optimize --feed"), ("", "--feed Tanh=ones(4,2)")),
    "reduce --feed": ("", FED),
    "run --feed": (FED, "--feed k=3"),
    "run --input-examples": (FED, """--input-examples x=[{{"a":[1]}}]"""),
    "run --assign": (FED, "--assign w=[[5,5],[5,5],[5,5]]"),
    "run --assign-add": (FED, "--assign-add w=[[5,5],[5,5],[5,5]]"),
    "run --assign-sub": (FED, "--assign-sub w=[[5,5],[5,5],[5,5]]"),
    "run --sweep": (FED, "--sweep k=1,2 -o {out}.npz"),
    "train --feed": ("", FED),
    "train --hyperparameter": (f"{FED} --optimizer momentum", "--hyperparameter momentum=0.1"),
    "train --clip": (FED, "--clip norm=0.001"),
    **dict.fromkeys(("layers --feed", "view --feed"), ("--measured --init", FED)),
}
"""The words beside an option, without which the option has no meaning, and those of the option."""
_NAMES = ("NAME", "TENSOR", "NODE", "VARIABLE", "OP", "PASS", "TENSOR[=VALUE]")
"""The words in the help for the name of a thing of the graph, or of tfg."""
WRONG = {"--input": "--input given=nowhere", "--signature-output": "--output more=nowhere"}
"""The words of options that name a thing of the graph after the equals sign."""
ELSEWHERE = {"--mesh"}
"""Options about devices: tests/core/engines/test_mesh.py has their effects."""


def setting() -> list[tuple[str, str]]:
    """Return the options of all commands that set something, by command."""
    context = click.Context(root)
    result: list[tuple[str, str]] = []
    for name in commands():
        command = root.get_command(context, name)
        assert command is not None
        options = [param for param in command.params if isinstance(param, click.Option)]
        kinds = {max(param.opts, key=len): param.type.name for param in options}
        result += [(name, option) for option, kind in kinds.items() if "=" in kind or kind in _TYPES]
    return [pair for pair in result if pair[1] not in ELSEWHERE]


@pytest.fixture
def places(tmp_path):
    """Graphs of tanh(x w) k with its mean as loss, a loop of k rounds, and the rows of x that are above zero."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[4, 3], name="x")
    k = b.PlaceholderWithDefault(np.float32(1), shape=[], name="k")
    w = b.variable(np.sin(np.arange(6, dtype=np.float32)).reshape(3, 2), name="w")
    y = b.Mul(b.Tanh(b.MatMul(x, w)), k, name="y")
    b.Mean(y, np.array([0, 1], np.int32), name="loss")
    b.Square(b.Gather(x, b.Where(b.Greater(b.Sum(x, np.int32(1)), np.float32(0)), name="Where")), name="chosen")
    define(b, "goes", ["float32", "float32"], lambda inner, i, h: [inner.Less(i, h)])
    define(b, "turn", ["float32", "float32"], lambda inner, i, h: [inner.AddV2(i, np.float32(1)), inner.Neg(h)])
    b.Identity(b.StatelessWhile([k, k], cond=FuncRef("goes"), body=FuncRef("turn"), name="loop")[1], name="looped")
    b.global_variables_initializer()
    tfg.save(b.graph, tmp_path / "g.pb")
    tfg.map_ops(b.graph, {"Tanh": "Sigmoid"})
    tfg.save(b.graph, tmp_path / "other.pb")
    files = {name: str(tmp_path / f"{name}.pb") for name in ("g", "other")}
    return files | {"model": str(SAMPLES / "scaler_saved_model"), "out": str(tmp_path / "out")}


def outcome(words, places, tmp_path):
    """Return all that a command leaves: its output, its exit code, and the contents of the files that it writes."""
    before = set(tmp_path.rglob("*"))
    done = run(*(word.format(**places) for word in words))
    written = {path for path in tmp_path.rglob("*") if path not in before and path.is_file()}
    contents = {str(path): path.read_bytes() for path in written}
    for path in written:
        path.unlink()
    return done, (done.code, _without_times(done.out), contents)


def _without_times(text):
    """Return a table without the column of milliseconds, which differ from run to run."""
    column = re.search(r"^.* (ms +)", text, re.MULTILINE)
    if column is None:
        return text
    start, end = (place - column.start() for place in column.span(1))
    return [line[:start] + line[end:] for line in text.splitlines()]


def words_of(command, option):
    """Return the words of a command line without an option, and the words of the option."""
    name = f"{command} {option}"
    beside, words = WORDS.get(name) or WORDS[option]
    return [*command.split(), *LEAST.get(name, LEAST[command]).split(), *beside.split()], words.split()


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("command", "option"), setting())
def test_it_changes_the_result_or_is_refused(command, option, places, tmp_path):
    least, words = words_of(command, option)
    without = outcome(least, places, tmp_path)[1]
    done, result = outcome([*least, *words], places, tmp_path)
    assert result != without, done
    assert done.code in (0, 1, 3), done.err


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("command", "option"), [pair for pair in setting() if pair[1] not in ("--batch", "--engines")])
def test_a_name_that_nothing_has_is_told(command, option, places, tmp_path):
    least, words = words_of(command, option)
    _, _, value = words[1].partition("=")
    wrong = WRONG[option].split() if option in WRONG else [words[0], f"nowhere={value}"]
    done, _ = outcome([*least, *wrong, *words[2:]], places, tmp_path)
    assert "nowhere" in done.err, done


@pytest.mark.parametrize("command", [command for command, option in setting() if option == "--set"])
@pytest.mark.parametrize(("value", "runs", "goes"), [("true", "Exp", "Log"), ("false", "Log", "Exp")])
def test_a_flag_leaves_one_branch(command, value, runs, goes, places, tmp_path):
    """Of a V1 conditional, and of a conditional in a function; the rest of the graph keeps its nodes."""
    b = tfg.GraphBuilder()
    x, flag = b.Placeholder(dtype="float", shape=[], name="x"), b.Placeholder(dtype="bool", shape=[], name="flag")
    off, on = b.Switch(x, flag)
    merged = b.Merge([b.Log(off), b.Exp(on)])[0]
    branches = {
        "then_branch": FuncRef(define(b, "then", ["float"], lambda g, x: [g.Exp(x)])),
        "else_branch": FuncRef(define(b, "other", ["float"], lambda g, x: [g.Log(x)])),
    }
    choose = define(
        b, "choose", ["bool", "float"],
        lambda g, flag, x: g.StatelessIf(flag, [x], Tout=["float"], output_shapes=[[]], **branches),
    )  # fmt: skip
    b.AddV2(merged, b.PartitionedCall([flag, x], f=FuncRef(choose), Tout=["float"])[0], name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    least, _ = words_of(command, "--set")
    extra = ["--passes", "remove_training_nodes"] if command == "optimize" else []
    done = run(*(word.format(**places) for word in [*least, "--set", f"flag={value}", *extra]))
    assert done.code == 0, done.err
    ops = [node.op for node in all_nodes(tfg.load(tmp_path / "out.pb"))]
    assert ops.count(runs) == 2
    assert not {goes, "Switch", "Merge", "StatelessIf"} & set(ops)


def naming() -> list[tuple[str, str]]:
    """Return the options that name a thing, by command."""
    context = click.Context(root)
    params = [(name, param) for name in LEAST if " " not in name for param in root.get_command(context, name).params]
    return [(name, max(param.opts, key=len)) for name, param in params if param.metavar in _NAMES and param.opts[0][0] == "-"]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("command", "option"), naming())
def test_a_name_of_nothing_is_refused(command, option, places, tmp_path):
    done, _ = outcome([command, *LEAST[command].split(), option, "nowhere"], places, tmp_path)
    assert done.code == 2 or (done.code and "nowhere" in done.err), done
