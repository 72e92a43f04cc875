"""Tables at terminals of any width."""

import contextlib
import io

import pytest

from tfg.cli import render
from tfg.cli.layout import cut

ROWS = [("first", "something", "###", 12), ("second", "", "#", 7)]
TABLE = render.Table(("name", "kind of thing", "", "size"), ROWS, "things")


@pytest.fixture
def shown(monkeypatch):
    """Return a table as shown at a terminal of this many columns."""
    from rich.console import Console

    def show(table, width):
        out = io.StringIO()
        monkeypatch.setattr(render, "rich_console", lambda: Console(file=out, width=width, highlight=False))
        render._print_rich([table])
        return out.getvalue().splitlines()

    return show


def test_a_table_where_there_is_room(shown):
    (head,) = [line.split() for line in shown(TABLE, 80) if "name" in line]
    assert head == ["name", "kind", "of", "thing", "size"]


def test_columns_are_left_out_in_the_order_that_the_table_states(shown):
    table = render.Table(("name", "a", "b", "c", "d"), [("n" * 9, "a" * 9, "b" * 9, "", "d" * 9)], minor=("b",))
    heads = [shown(table, width)[1].split() for width in (60, 47, 35, 34, 22)]
    assert heads[0] == ["name", "a", "b", "c", "d"]
    assert heads[1:] == [["name", "a", "b", "d"], ["name", "a", "d"], ["name", "a"], ["name"]]


def test_what_is_left_out_is_said_but_for_empty_columns(shown):
    table = render.Table(("name", "op", "", "empty", "bytes"), [("n" * 9, "Add", "###", "", 12)], minor=("", "bytes"))
    assert " ".join(map(str.strip, shown(table, 24)[-3:])) == "left out at 24 columns: bytes; a wider terminal shows all"


def test_long_words_alone_make_no_stack(shown):
    table = render.Table(("name", "op"), [("a" * 70, "Add")])
    assert len(shown(table, 60)) > 3 and "name" in shown(table, 60)[1]


def test_what_a_graph_says_is_no_markup(shown):
    table = render.Table(("name", "op", "text"), [("[red]n[/red]", "[bold]op", "\x1b[31m")])
    for width in (12, 80):
        text = "\n".join(shown(table, width))
        assert "[red]" in text.replace("\n", "") and "\x1b" not in text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_chart_has_blocks_that_the_stream_can_write(encoding):
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding)):
        chart = render.plot([4, 3, 1])
    assert chart == render.plot([4, 3, 1]).replace("\u2588", "#") and "#" in chart


@pytest.mark.parametrize(("encoding", "line"), [("ascii", "abc~"), ("utf-8", "abc\u2026")])
def test_a_line_that_is_cut_ends_with_a_character_of_the_stream(encoding, line):
    assert list(cut(["abcde"], 4, io.TextIOWrapper(io.BytesIO(), encoding))) == [line]
