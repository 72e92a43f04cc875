"""Hints of errors: options for the command line, parameters of functions for Python."""

from __future__ import annotations

import ast
import copy
import functools
import importlib
import inspect
import pathlib
import pickle
import re
import string
import tomllib
from importlib import metadata

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tests.sources import nodes_of
from tfg.cli import main
from tfg.cli.next_steps import IN_COMMANDS, in_commands
from tfg.core.engines.engine_registry import OWN_ENGINES
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.support.hints import IN_PYTHON, Blank, Hint, command, extra_hint, feed, option, step, value_place

ROOT = pathlib.Path(tfg.__file__).parent


@pytest.mark.parametrize(
    ("parts", "in_python", "on_command_line"),
    [
        (("name an output with ", option("fetch")), "name an output with `fetches`", "name an output with --fetch"),
        ((feed({"x": "[[1, 2], [3, 4]]"}), " feeds an example"),
         "`feeds={'x': [[1, 2], [3, 4]]}` feeds an example", "`--feed 'x=[[1, 2], [3, 4]]'` feeds an example"),
        ((feed({"x": "uniform(2,3)", "y": "VALUE"}),),
         "`feeds={'x': numpy.ones([2, 3]), 'y': VALUE}`", "`--feed 'x=uniform(2,3)' --feed y=VALUE`"),
        ((feed({"x": "strings(20)", "y": "true"}),),
         "`feeds={'x': numpy.full([20], 'a'), 'y': True}`", "`--feed 'x=strings(20)' --feed y=true`"),
        ((feed({"x": "randint(2,high=5)", "y": "randint(high=10)", "z": "zeros(3)"}),),
         "`feeds={'x': numpy.ones([2]), 'y': 1, 'z': numpy.zeros([3])}`",
         "`--feed 'x=randint(2,high=5)' --feed 'y=randint(high=10)' --feed 'z=zeros(3)'`"),
        ((step("assign", variable="w"), " or ", step("state", path=Blank("FILE"))),
         "`session.variables['w'] = VALUE` or `tfg.restore(session, tfg.read_checkpoint(FILE))`",
         "`--assign w=VALUE` or `--state FILE`"),
        (("add ", option("state", Blank("FILE.npz"))),
         "add `tfg.restore(session, tfg.read_checkpoint(FILE.npz))`", "add --state FILE.npz"),
        ((step("shape", name="x", sizes=[None, 3]),), "`shapes={'x': [None, 3]}`", "--shape x=?,3"),
        ((step("shape", name="a b", sizes=Blank("SIZES")),), "`shapes={'a b': SIZES}`", "--shape 'a b'=SIZES"),
        (("try ", option("engine", "xla")), "try `engine='xla'`", "try --engine xla"),
        ((option("max-nodes"),), "`max_nodes`", "--max-nodes"),
        ((value_place("feed", "a b"), ": 3"), "`feeds['a b']`: 3", "--feed a b: 3"),
        ((value_place("assign-add", "w"),), "`assign_add['w']`", "--assign-add w"),
        ((command("check"), " or ", command("checkpoint", Blank("PREFIX")), " or ", command("ops", "A b")),
         "`tfg.check` or `tfg.read_checkpoint(PREFIX)` or `tfg.ops('A b')`",
         "`tfg check` or `tfg checkpoint PREFIX` or `tfg ops 'A b'`"),
        ((step("map_ops", ops={"A": "B", "C": Blank("OTHER")}),),
         "`tfg.map_ops(graph, {'A': 'B', 'C': OTHER})`", "`--map-op A=B --map-op C=OTHER`"),
        (("the names are {a}, --b",), "the names are {a}, --b", "the names are {a}, --b"),
        ((Hint(option("to", Blank("OUTPUT"))), "; ", "or stop"), "`outputs=OUTPUT`; or stop", "--to OUTPUT; or stop"),
    ],
)  # fmt: skip
def test_a_hint_in_words(parts, in_python, on_command_line):
    hint = Hint(*parts)
    for one in (hint, pickle.loads(pickle.dumps(hint)), copy.deepcopy(hint)):
        assert (one, in_commands(one)) == (in_python, on_command_line)


def test_names_of_graphs_are_quoted_for_a_shell():
    hint = Hint(step("find_op", op="a;b"), feed({"$x": "1"}))
    assert in_commands(hint) == "`tfg dump GRAPH --op 'a;b'``--feed '$x=1'`"


def test_an_error_has_both_forms():
    error = InvalidArgumentError("the graph has no obvious output", hint=Hint("name an output with ", option("fetch")))
    assert error.__notes__ == ["hint: name an output with `fetches`"]
    again = InvalidArgumentError("in a function", hint=error.hint)
    for one in (error, again, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (one.hint, in_commands(one.hint)) == ("name an output with `fetches`", "name an output with --fetch")


def test_a_message_has_both_forms():
    error = InvalidArgumentError(Hint(value_place("feed", "x"), ": 3 is no string"))
    at_node = InvalidArgumentError(error.message, node="n", op="Neg")
    for one in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(one), in_commands(one.message)) == ("`feeds['x']`: 3 is no string", "--feed x: 3 is no string")
    assert in_commands(at_node.summary) == "node 'n' (Neg): --feed x: 3 is no string"


def test_messages_about_values_name_options_and_parameters(tmp_path):
    b = tfg.GraphBuilder()
    b.Neg(b.Placeholder(dtype="float", shape=[2, 2, 3], name="x"), name="y")
    tfg.save(b.graph, tmp_path / "graph.pb")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nno picture")
    words = ("run", tmp_path / "graph.pb", "--fetch", "y")
    refused = run(*words, "--each", tmp_path / "a.png", "--out-dir", tmp_path / "out", "--keep-going").err
    assert f"error: a: --feed x: '{tmp_path / 'a.png'}': invalid PNG data" in refused
    with pytest.raises(tfg.errors.TfgError, match=r"^`feeds\['x'\]`: '"):
        list(tfg.run_each(b.graph, str(tmp_path / "a.png"), "y:0"))
    twice = ("--feed", "x=ones(2,2,3)", "--feed", "x:0=ones(2,2,3)")
    assert "error: --feed x:0: 'x:0' is already fed" in run(*words, *twice).err
    report = tfg.run_batch(b.graph, (), "y", {"x": 1, "x:0": 1}, out_dir=tmp_path / "out")
    assert report.failed[0].error == "`feeds['x:0']`: 'x:0' is already fed"
    with pytest.raises(tfg.errors.NotFoundError, match=r"with `parts=\{TENSOR: 'COLUMN,COLUMN'\}`, or all"):
        tfg.run_batch(b.graph, {"z": [1]}, "y")


def test_a_long_detail_keeps_its_steps():
    error = InvalidArgumentError("it fails", details=[Hint(f"on '{'x' * 5000}'; ", feed({"x": "VALUE"}), " sets others")])
    assert error.details[0].endswith("; `feeds={'x': VALUE}` sets others") and len(error.details[0]) < 4000
    assert in_commands(error.details[0]).endswith("; `--feed x=VALUE` sets others")


def test_the_command_line_names_options_and_python_parameters(tmp_path):
    b = tfg.GraphBuilder()
    b.Neg(b.Placeholder(dtype="float", shape=[2], name="x"), name="y")
    tfg.save(b.graph, tmp_path / "graph.pb")
    assert "hint: `--feed 'x=uniform(2)'` feeds an example" in run("run", tmp_path / "graph.pb", "--fetch", "y").err
    with pytest.raises(tfg.errors.InvalidArgumentError) as refused:
        tfg.Session(b.graph).run("y:0")
    assert refused.value.hint == "`feeds={'x': numpy.ones([2])}` feeds an example"
    with pytest.raises(tfg.errors.InvalidArgumentError, match="cannot feed a value") as refused:
        tfg.Session(b.graph).run("y:0", feeds={"x": 1})
    assert refused.value.hint == "`feeds={'x': numpy.ones([2])}` feeds an example"
    assert tfg.Session(b.graph).run("y:0", feeds={"x": np.ones([2])}).tolist() == [-1, -1]


@functools.cache
def calls_of(name):
    """The calls of a function in the rooms below the command line; only files with such a call are parsed."""
    paths = [path for room in ("core", "formats") for path in (ROOT / room).rglob("*.py")]
    paths = [path for path in paths if re.search(rf"\b{name}\(\"", path.read_text(encoding="utf-8"))]
    nodes = [node for path in paths for node in nodes_of(path) if isinstance(node, ast.Call) and node.args]
    called = [node for node in nodes if getattr(node.func, "id", getattr(node.func, "attr", None)) == name]
    return [node for node in called if isinstance(node.args[0], ast.Constant)]


def values_of(words):
    """The names of the values in the words of a step."""
    if callable(words):
        return set(inspect.signature(words).parameters)
    return {field for _, field, _, _ in string.Formatter().parse(words) if field is not None}


@pytest.mark.slow
def test_both_tables_have_the_words_of_every_step():
    assert IN_PYTHON.keys() == IN_COMMANDS.keys()
    assert not [kind for kind, words in IN_PYTHON.items() if values_of(words) != values_of(IN_COMMANDS[kind])]
    steps = {(call.args[0].value, frozenset(word.arg for word in call.keywords)) for call in calls_of("step")}
    steps |= {("option", frozenset(("name", "value"))), ("command", frozenset(("name", "argument")))}
    steps.add(("feed", frozenset(["feeds"])))
    assert steps == {(kind, frozenset(values_of(words))) for kind, words in IN_PYTHON.items()}


def names_in_python():
    """The parameters and the members of all that the package exports."""
    for name in tfg.__all__:
        exported = getattr(tfg, name)
        yield f"tfg.{name}"
        yield name
        yield from dir(exported) if inspect.isclass(exported) else ()
        if callable(exported):
            yield from inspect.signature(exported).parameters


def flags():
    """The options of all commands."""
    for name in main.commands():
        for parameter in importlib.import_module(f"tfg.cli.commands.{name}").command.params:
            yield from parameter.opts


@pytest.mark.slow
def test_options_and_parameters_exist():
    """An option of a hint is an option of a command, and stands for a parameter of a function or a name of the package."""
    names = {call.args[0].value for call in calls_of("option")}
    assert len(names) > 30
    assert {f"--{name}" for name in names} <= set(flags())
    known = {*names_in_python(), "session.variables", "session.engine_report()"}
    assert {Hint(option(name)).strip("`") for name in names} <= known
    called = {call.args[0].value for call in calls_of("command")}
    assert called <= set(main.commands()) and {Hint(command(name)).strip("`") for name in called} <= known


def test_hint_names_the_packages_of_the_installed_distribution(monkeypatch):
    requirements = ["click>=8.4", 'pillow>=10; extra == "image"', "onnx>=1.16 ; extra == 'onnx'"]
    monkeypatch.setattr(metadata, "requires", {"tfg": requirements}.__getitem__)
    assert extra_hint("image") == "`pip install 'pillow>=10'` (the extra tfg[image])"
    assert extra_hint("onnx") == "`pip install 'onnx>=1.16'` (the extra tfg[onnx])"


def test_hint_of_a_checkout_that_is_not_installed(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", absent)
    assert extra_hint("dask") == "`pip install '.[dask]'` (the extra tfg[dask])"


def test_every_extra_that_an_error_names_is_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    sources = [path.read_text() for room in ("core", "formats", "cli") for path in (ROOT / room).rglob("*.py")]
    named = {name for source in sources for name in re.findall(r'extra_hint\("(\w+)"\)', source)}
    assert {"image", "dask", "onnx", "cluster"} <= named
    assert named | set(OWN_ENGINES) <= set(extras)
