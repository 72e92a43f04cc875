"""Hints of errors: options for the command line, parameters of functions for Python."""

from __future__ import annotations

import ast
import functools
import inspect
import pathlib
import pickle
import re

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as command
from tests.sources import nodes_of
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.support.hints import PARAMETERS, Hint, command_form, in_python

ROOT = pathlib.Path(tfg.__file__).parent
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ("name an output with --fetch", "name an output with `fetches`"),
        ("`--feed 'x=[[1, 2], [3, 4]]'` feeds an example", "`feeds={'x': [[1, 2], [3, 4]]}` feeds an example"),
        ("feed valid values: --feed x=VALUE --feed y=VALUE", "feed valid values: `feeds={'x': VALUE, 'y': VALUE}`"),
        ("`tfg run --init` or `--assign w=VALUE` initializes it, `--state FILE` restores it",
         "`tfg.initialize(session)` or `session.variables['w'] = VALUE` initializes it, "
         "`tfg.restore(session, tfg.read_checkpoint(FILE))` restores it"),
        ("use the file as a state, with --state FILE.npz",
         "use the file as a state, with `tfg.restore(session, tfg.read_checkpoint(FILE))`"),
        ("set the shape, e.g. with --shape x=?,3", "set the shape, e.g. with `shapes={'x': [None, 3]}`"),
        ("try --engine xla, or leave the node to NumPy", "try `engine='xla'`, or leave the node to NumPy"),
        ("`--map-op A=B --map-op C=D` reads them", "`tfg.map_ops(graph, {'A': 'B', 'C': 'D'})` reads them"),
        ("the names are a, b", "the names are a, b"),
    ],
)  # fmt: skip
def test_a_hint_names_parameters(hint, expected):
    assert in_python(hint) == expected
    assert command_form(Hint(hint)) == hint


def test_an_error_has_both_forms():
    error = InvalidArgumentError("the graph has no obvious output", hint="name an output with --fetch")
    assert error.hint == "name an output with `fetches`"
    assert error.__notes__ == ["hint: name an output with `fetches`"]
    again = InvalidArgumentError("in a function", hint=error.hint)
    for one in (error, again, pickle.loads(pickle.dumps(error))):
        assert (one.hint, command_form(one.hint)) == ("name an output with `fetches`", "name an output with --fetch")


def test_the_command_line_names_options_and_python_parameters(tmp_path):
    b = tfg.GraphBuilder()
    b.Neg(b.Placeholder(dtype="float", shape=[2], name="x"), name="y")
    tfg.save(b.graph, tmp_path / "graph.pb")
    assert "hint: `--feed 'x=uniform(2)'` feeds an example" in command("run", tmp_path / "graph.pb", "--fetch", "y").err
    with pytest.raises(tfg.errors.InvalidArgumentError) as refused:
        tfg.Session(b.graph).run("y:0")
    assert refused.value.hint == "`feeds={'x': numpy.ones([2])}` feeds an example"
    with pytest.raises(tfg.errors.InvalidArgumentError, match="cannot feed a value") as refused:
        tfg.Session(b.graph).run("y:0", feeds={"x": 1})
    assert refused.value.hint == "`feeds={'x': numpy.ones([2])}` feeds an example"
    assert tfg.Session(b.graph).run("y:0", feeds={"x": np.ones([2])}).tolist() == [-1, -1]


def texts_of(path):
    """Yield the texts of a file that are no docstrings; VALUE stands for each computed part."""
    nodes = nodes_of(path)
    notes = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "VALUE" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (notes | parts):
            yield node.value


@functools.cache
def hints():
    """The texts with options in the rooms below the command line; only files with an option in the source are parsed."""
    paths = [path for room in ("core", "formats") for path in (ROOT / room).rglob("*.py") if path.name != "hints.py"]
    sources = [path for path in paths if OPTION.search(path.read_text(encoding="utf-8"))]
    return {text for path in sources for text in texts_of(path) if OPTION.search(text)}


def test_no_hint_names_an_option_in_python():
    assert len(hints()) > 80
    assert not [text for text in hints() if OPTION.search(in_python(text))]


def names_in_python():
    """The parameters and the members of all that the package exports."""
    for name in tfg.__all__:
        exported = getattr(tfg, name)
        yield f"tfg.{name}"
        yield name
        yield from dir(exported) if inspect.isclass(exported) else ()
        if callable(exported):
            yield from inspect.signature(exported).parameters


def test_the_parameters_exist():
    """An option of a hint stands for a parameter of a function, or for a name of the package."""
    known = {*names_in_python(), "session.variables", "session.engine_report()"}
    assert not {name for name in PARAMETERS.values() if name not in known}
    options = {option for text in hints() for option in OPTION.findall(text)}
    names = {option: PARAMETERS.get(option, option.replace("-", "_")) for option in options}
    assert {option for option, name in names.items() if name not in known} <= COMMAND_ONLY


COMMAND_ONLY = {"all", "allow-files", "assign-add", "assign-sub", "list", "out-dir", "overwrite", "target", "wrap"}
"""Options of texts that are no hints, and options inside of command lines that have their own call."""
