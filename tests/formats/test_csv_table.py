"""CSV files as values and as inputs of many runs."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, TfgError
from tfg.core.types.dtypes import float32, float64, int32, string, uint64
from tfg.core.types.shapes import Shape
from tfg.formats.codecs.csv_table import CsvFile, find_rows, read_columns
from tfg.formats.value_literals import parse_value


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbfname,a, b\r\n"x,\n1",1,2.5\r\n\r\ny,3,-4e2\r\n')
    return str(path)


def test_columns_by_name(table):
    assert parse_value(f"@{table}:a", int32).tolist() == [1, 3]
    assert parse_value(f"@{table}:a", float32, Shape((None, 1))).tolist() == [[1], [3]]
    both = parse_value(f"@{table}:b,a", float32)
    assert both.dtype == np.float32 and both.tolist() == [[2.5, 1], [-400, 3]]
    assert parse_value(f"@{table}:name", string).tolist() == [b"x,\n1", b"y"]


def test_rows_in_any_order_from_one_open_file(table):
    rows = list(find_rows(table))
    assert [(row.number, row.line) for row in rows] == [(1, 2), (2, 5)]
    file = CsvFile(table)
    assert [file.read(row) for row in reversed(rows)] == [["y", "3", "-4e2"], ["x,\n1", "1", "2.5"]]
    assert file.names == ["name", "a", "b"]
    file.close()


def test_truth_and_all_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("p,q\ntrue,0\nFALSE,1\n")
    assert parse_value(f"@{path}", float32).tolist() == [[1, 0], [0, 1]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "column", "error", "words"),
    [
        ("a,b\n1,2\n", ":c", NotFoundError, "the columns are a, b"),
        ("a,b\n1,x\n", ":b", InvalidArgumentError, "row 1 (line 2), column 'b': the cell 'x' is not a number"),
        ('a,b\n"1",2\n\n"\n3",\n', ":a,b", InvalidArgumentError, "row 2 (line 4), column 'b': the cell is empty"),
        ("b,a\n1,2\n1,2\n1,y\n", "", InvalidArgumentError, "row 3 (line 4), column 'a': the cell 'y' is not a number"),
        ("a,b\n1,2\n1\n", ":a", DataLossError, "row 2 (line 3): the row has 1 cells, but the header has 2"),
        ("a,a\n1,2\n", ":a", InvalidArgumentError, "two columns 'a'"),
        ("", ":a", DataLossError, "no header"),
        ('a\n"1\n', ":a", DataLossError, "not a CSV"),
        ("a\n1.5\n", ":a", InvalidArgumentError, "fractions"),
    ],
)
def test_damage_and_mistakes_are_told(tmp_path, text, column, error, words):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(error) as caught:
        parse_value(f"@{path}{column}", int32)
    assert words in str(caught.value) + str(caught.value.hint)


def test_any_bytes_are_a_table_or_an_error(tmp_path):
    path = tmp_path / "t.csv"
    for seed in range(50):
        path.write_bytes(np.random.default_rng(seed).integers(0, 128, 60, np.uint8).tobytes() + b"\n")
        with contextlib.suppress(TfgError):
            parse_value(f"@{path}", float32)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("dtype", "cell", "reason"),
    [
        ("int32", "1.5", "holds fractions"), ("int32", "nan", "holds NaN"), ("uint8", "300", "does not fit into uint8"),
        ("uint8", "-1", "does not fit into uint8"), ("bool", "2", "does not fit into bool"),
        ("int64", "1" * 30, "does not fit"),
        ("float", "1e39", "exceeds its largest number"), ("half", "70000", "exceeds its largest number"),
        ("float", "abc", "is not a number"), ("int32", " ", "is empty"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_whole", [True, False], ids=["column", "rows"])
def test_a_refused_cell_names_file_row_and_column(dtype, cell, reason, is_whole, tmp_path):
    """In a feed of whole columns and with an input a row."""
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,1\n1,{cell}\n1,1\n")
    g = tfg.GraphBuilder()
    g.Identity(g.Placeholder(dtype=dtype, shape=[None, 2] if is_whole else [2], name="x"), name="y")
    tfg.save(g.graph, tmp_path / "g.pb")
    words = (
        ["--feed", f"x=@{path}:a,b"] if is_whole else ["--each", path, "--feed", "x=@each:a,b", "--out-dir", tmp_path / "o"]
    )
    done = run("run", tmp_path / "g.pb", "--fetch", "y", *words)
    assert done.code == 1
    assert f"'{path}', row 2 (line 3), column 'b'" in done.err and reason in done.err


def test_a_large_integer_is_a_float_where_no_integer_holds_it(tmp_path):
    (tmp_path / "t.csv").write_text(f"a\n{'9' * 30}\n{2**64 - 1}\n")
    assert read_columns(str(tmp_path / "t.csv"), dtype=float64).tolist() == [1e30, 2.0**64]
    (tmp_path / "t.csv").write_text(f"a\n{2**64 - 1}\n")
    assert read_columns(str(tmp_path / "t.csv"), dtype=uint64).tolist() == [2**64 - 1]
