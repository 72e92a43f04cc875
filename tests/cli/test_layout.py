"""Output at a terminal of 80 columns: prose is broken between words, and tables leave columns out."""

from __future__ import annotations

import re
import shlex

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.cli.test_tables import ALONE, SEVERAL
from tfg import GraphBuilder, save
from tfg.cli import main, render
from tfg.cli.layout import column_widths, continued, fitting_columns, wrapped
from tfg.cli.main import commands, root

WIDTH = 80
LINES = {**ALONE, **{name: line for name, (line, _) in SEVERAL.items()}}
_STYLES = re.compile(r"\x1b\[[0-9;]*m")
_PROSE = st.text(st.sampled_from("ab -`"), max_size=200)


@pytest.fixture
def terminal(monkeypatch):
    """Run a command as at a terminal of 80 columns; return the lines and the sections of the lines."""

    def typed(*words):
        sections: list[render.Section] = []
        printed = render.print_sections

        def print_and_keep(result):
            sections.extend(result)
            printed(sections)

        monkeypatch.setenv("COLUMNS", str(WIDTH))
        monkeypatch.setattr(render, "print_sections", print_and_keep)
        done = run(*words, "--color", "always")
        return [line.rstrip() for line in _STYLES.sub("", done.out).splitlines()], sections

    return typed


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", LINES)
def test_no_line_is_longer_than_the_terminal_and_no_word_of_prose_is_broken(name, terminal):
    lines, sections = terminal(*LINES[name])
    assert sections
    assert [line for line in lines if len(line) > WIDTH and " " in line.strip()] == []
    words = {word for line in lines for word in line.split()}
    prose = [line for part in sections if isinstance(part, render.Text) and part.form == "prose" for line in part.lines()]
    assert {word for line in prose for word in line.split()} <= words


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", LINES)
def test_a_column_is_shown_or_its_name_said(name, terminal):
    lines, sections = terminal(*LINES[name])
    words = " ".join(lines).split()
    for table in (part for part in sections if isinstance(part, render.Table)):
        filled = [name for place, name in enumerate(table.columns) if any(row[place] not in (None, "") for row in table.rows)]
        assert {word for name in filled for word in name.split()} <= {word.rstrip(",;") for word in words}
        assert set(table.minor) <= set(table.columns)


@pytest.mark.parametrize("name", commands())
def test_helps_fit_80_columns(name):
    command = root.get_command(None, name)
    assert command is not None
    context = click.Context(command, info_name=f"tfg {name}", **root.context_settings)
    context.terminal_width = WIDTH
    context.meta["tfg.cli.helps"] = True
    assert [line for line in command.get_help(context).splitlines() if len(line) > WIDTH] == []


def test_hints_and_notes_are_broken_between_words(monkeypatch):
    for module in (main, render):
        monkeypatch.setattr(module, "terminal_width", lambda _stream: 40)
    plain = ["counting the nodes that loss:0, probability:0 run; --fetch chooses others"]
    shown = run("flops", SAMPLES / "xor.pbtxt").err.splitlines()
    assert len(shown) == 3 and " ".join(map(str.strip, shown)) == plain[0]
    for line in run("explain", SAMPLES / "xor.pbtxt", "nonode").err.splitlines():
        assert len(line) <= 40 or " " not in line.strip()


def test_code_in_prose_stays_on_one_line_where_it_fits():
    text = "the graph is broken: no op; `tfg check` lists all that is wrong with it"
    assert wrapped(text, 32) == "the graph is broken: no op;\n  `tfg check` lists all that is\n  wrong with it"
    assert wrapped(text, None) == wrapped(text, 100) == text


@pytest.mark.slow
@given(_PROSE, st.integers(10, 90))
def test_wrapping_keeps_the_words(text, width):
    lines = wrapped(text, width).split("\n")
    assert [word for line in lines for word in line.split()] == text.split()
    assert all(len(line) <= width or " " not in line.strip() or "`" in line for line in lines)


@given(st.lists(st.text("ab -'", min_size=1, max_size=12), min_size=1, max_size=12), st.integers(20, 90))
def test_a_shell_reads_a_continued_command_line_as_the_same_words(words, width):
    line = shlex.join(words)
    assert shlex.split(continued(line, width).replace("\\\n", "")) == words


@pytest.mark.slow
@given(st.lists(st.lists(st.text("ab ", max_size=40), min_size=2, max_size=2), min_size=1, max_size=9), st.integers(30, 120))
def test_columns_that_fit_take_no_more_than_the_width(columns, width):
    places = fitting_columns(columns, (), width)
    assert places[0] == 0 and places == sorted(places)
    widths = column_widths([columns[place] for place in places], width)
    assert sum(widths) + 3 * (len(widths) - 1) + 2 <= width


def long_rows(count):
    return [(f"scope/of/a/long/name/node_{number}", "AddV2", "x" * (number % 90), "", "y" * 40) for number in range(count)]


@pytest.mark.parametrize("count", [3, 501, 700])
def test_the_lines_of_a_long_table_end_at_the_edge_of_the_terminal(count, monkeypatch, capsys):
    columns = ("name", "op", "inputs", "empty", "attributes")
    for width in (WIDTH, None):
        monkeypatch.setattr(render, "terminal_width", lambda stream, width=width: width)
        render.print_rows(columns, iter(long_rows(count)))
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == count + 2
        assert (max(map(len, lines)) > WIDTH) is (width is None)
        assert all(line.startswith(row[0]) for line, row in zip(lines[2:], long_rows(count)))


def test_a_table_of_many_rows_ends_at_the_edge_of_the_terminal(terminal, tmp_path):
    b = GraphBuilder()
    for number in range(600):
        b.NoOp(name=f"scope/of/a/long/name/node_{number}_{'x' * (number % 90)}")
    save(b.graph, tmp_path / "g.pb")
    lines, _ = terminal("dump", tmp_path / "g.pb", "--format", "table")
    assert sum("node_" in line for line in lines) == 600 and max(map(len, lines)) <= WIDTH
