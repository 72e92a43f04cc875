"""The Tab key over the names of a stranger: the shell runs nothing, and the name arrives as the graph has it."""

from __future__ import annotations

import os
import pathlib

import pytest

from tests.cli.test_completion import offered
from tests.security.shells import STARTS, shell_in
from tfg.formats.protos.meta_graph_pb2 import SavedModel

HOSTILE = [
    "y$(touch X)",
    "y`touch X`",
    "y;touch X",
    "y&touch X&",
    "y|touch X",
    "y\n touch X",
    "y>X",
    "y<(touch X)",
    "y'$(touch X)'",
    'y"$(touch X)"',
    "y\\$(touch X)",
    "y!touch X",
    "y!!",
    "y${IFS}",
    "y{a,b}",
    "y*",
    "y?[a-z]",
    "y#z",
    "y=$(touch X)",
    "y z",
    "y  z ",
    "y%1",
    "yé→ü",
    "y\u00a0z\u3000w",
    "#z",
    "=ls",
    "$(touch X)",
    "*",
    "-z",
    "--output=X",
    "!;touch X #",
    "!$(touch X)",
    "'$(touch X)",
    "'';touch X;'",
    '"$(touch X)',
]
"""Names with what shells expand, at the beginning and inside."""
SHOWN = [name for name in HOSTILE if "\n" not in name]
FEW = ["y$(touch X)`touch X`;touch X", "y'a\"b\\c!!", "y z*?&|<>#~=é", "*#"]


def graph_file(folder: pathlib.Path, name: str, file: str = "graph.pb") -> str:
    """Write a graph whose node, function and signature have a name; the node of a scope is below the name."""
    model = SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.graph_def.node.add(name=name, op="NoOp")
    function = meta.graph_def.library.function.add()
    function.signature.name = name
    meta.signature_def[name].method_name = "m"
    (folder / file).write_bytes(model.SerializeToString())
    return file


@pytest.fixture(params=STARTS)
def shell(request, tmp_path):
    with shell_in(tmp_path, request.param, is_served=True) as started:
        yield started
        assert not list(tmp_path.glob("X*")), "a name ran"


@pytest.mark.slow
def test_a_node_arrives_as_the_graph_has_it(shell):
    for name in FEW:
        graph = graph_file(shell.folder, name)
        assert shell.words_of(f"tfg run {graph} --fetch \t") == ["run", graph, "--fetch", name]


@pytest.mark.slow
def test_every_node_arrives_as_the_graph_has_it(shell):
    for name in SHOWN:
        graph = graph_file(shell.folder, name)
        assert shell.words_of(f"tfg run {graph} --fetch \t") == ["run", graph, "--fetch", name]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "quote"), enumerate(["'", '"']))
def test_a_node_arrives_after_an_open_quote(shell, first, quote):
    for name in SHOWN[first::2]:
        graph = graph_file(shell.folder, name)
        assert shell.words_of(f"tfg run {graph} --fetch {quote}\t") == ["run", graph, "--fetch", name]


@pytest.mark.slow
def test_a_name_that_begins_with_a_quote_stays_in_the_quote_of_the_user(tmp_path):
    """bash drops a quote that follows its like; without a history, `!` keeps no line from running."""
    with shell_in(tmp_path, "bash", is_served=True) as started:
        started.press("set +H\r")
        for quote, name in (('"', "!;touch X #"), ("'", "'';touch X;'")):
            graph = graph_file(tmp_path, name)
            assert started.words_of(f"tfg run {graph} --fetch {quote}\t") == ["run", graph, "--fetch", name]
    assert not list(tmp_path.glob("X*"))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["run graph.pb --signature", "run graph.pb --function", "dump graph.pb --fetch"])
def test_signatures_and_functions_arrive(shell, place):
    for name in FEW:
        graph_file(shell.folder, name)
        assert shell.words_of(f"tfg {place} \t") == [*place.split(), name]


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize("file", ["f$(touch X)`touch X`.pb", "f 'a' \"b\"\\c.pb", "f;touch X&|<>!#~*?.pb"])
def test_a_file_arrives_and_gives_its_names(shell, file):
    graph_file(shell.folder, "node", file)
    assert shell.words_of("tfg run f\t--fetch n\t") == ["run", file, "--fetch", "node"]


@pytest.mark.slow
def test_a_file_arrives_after_an_open_quote_and_an_equals_sign(shell):
    graph_file(shell.folder, "node", "f $(touch X).pb")
    words = shell.words_of("tfg run 'f\t--output=f\t")
    assert words == ["run", "f $(touch X).pb", "--output=f $(touch X).pb"]


@pytest.mark.slow
def test_a_part_of_a_word_stays(shell):
    """What is before `=` in `--fetch=`, and several names with a common beginning."""
    graph = graph_file(shell.folder, "y $(touch X)")
    assert shell.words_of(f"tfg run {graph} --fetch=y\t") == ["run", graph, "--fetch=y $(touch X)"]
    assert shell.words_of(f"tfg run {graph} --fetch y\\ \t") == ["run", graph, "--fetch", "y $(touch X)"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["y\n touch X", "y\x1b[2J", "y\u202ez", "y\tz"])
def test_what_a_prompt_cannot_show_is_not_offered(name, tmp_path):
    graph = graph_file(tmp_path, name)
    assert offered("run", str(tmp_path / graph), "--fetch", "") == []


@pytest.mark.slow
def test_no_name_becomes_an_option(tmp_path):
    """`--log-file=X` as a name in the place of a node would write a file at Enter."""
    graph = tmp_path / graph_file(tmp_path, "--log-file=X")
    assert offered("explain", str(graph), "") == []
    assert offered("run", str(graph), "--fetch", "") == ["--log-file=X"]


@pytest.mark.slow
def test_the_tab_key_writes_and_reads_nothing_but_the_graph(tmp_path):
    """A log file is made by Enter; a pipe and standard input keep what they hold."""
    graph, log, pipe = tmp_path / graph_file(tmp_path, "node"), tmp_path / "log", tmp_path / "pipe"
    assert offered("run", str(graph), "--log-file", str(log), "--fetch", "n") == ["node"]
    assert not log.exists()
    os.mkfifo(pipe)
    assert offered("run", str(pipe), "--fetch", "n") == []
    assert offered("run", "-", "--fetch", "n") == []
