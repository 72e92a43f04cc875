"""`tfg run --each`: rows of Parquet and Arrow files, fed by the names of columns, and results as columns."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run

pa = pytest.importorskip("pyarrow", reason="the extra tfg[arrow] is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="the extra tfg[arrow] is not installed")

COUNT = 25
X = np.sin(np.arange(3 * COUNT, dtype=np.float32)).reshape(COUNT, 3)
W = np.cos(np.arange(6, dtype=np.float32)).reshape(3, 2)


@pytest.fixture
def graph(tmp_path):
    """y = x W with x of (?,3); the upper case of texts s of (?); the mean of x for each row."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 3], name="x")
    g.MatMul(x, W, name="y")
    g.StringUpper(g.Placeholder(dtype="string", shape=[None], name="s"), name="u")
    g.Mean(x, np.int32([1]), name="m")
    tfg.save(g.graph, tmp_path / "g.pb")
    return tmp_path / "g.pb"


def write(path, columns, group=10):
    table = pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=group)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=group)


def read(folder, ending):
    paths = sorted(folder.glob(f"r-*{ending}"))
    tables = [parquet.read_table(path) if ending == ".parquet" else pa.ipc.open_file(path).read_all() for path in paths]
    return pa.concat_tables(tables), len(paths)


def lists(array):
    return pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), array.shape[1])


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("batch", ["1", "6"])
def test_columns_feed_and_results_are_columns_beside_the_keys(ending, batch, graph, tmp_path):
    write(tmp_path / f"t{ending}", {"id": np.arange(COUNT), "x": lists(X), "s": [f"row {k}" for k in range(COUNT)]})
    words = ("--fetch", "y", "--fetch", "u", "--fetch", "m", "--each", tmp_path / f"t{ending}", "--batch", batch)
    done = run("run", graph, *words, "--output", tmp_path / f"r{ending}", "--shard-size", "10")
    assert done.code == 0 and f"{COUNT} results written to 3 shards" in done.err, done.err
    table, shards = read(tmp_path, ending)
    assert shards == 3 and table.column_names == ["name", "id", "y", "u", "m"]
    assert table["id"].to_pylist() == list(range(COUNT)) and table["name"].to_pylist()[4] == "t-000005"
    np.testing.assert_allclose(np.array(table["y"].to_pylist()), X @ W, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(table["m"].to_numpy(), X.mean(1), rtol=1e-5, atol=1e-6)
    assert table["u"].to_pylist()[7] == b"ROW 7"


def test_columns_of_numbers_feed_a_tensor(graph, tmp_path):
    write(tmp_path / "t.parquet", {"a": X[:, 0], "b": X[:, 1], "key": np.arange(COUNT), "c": X[:, 2]})
    words = ("--fetch", "y", "--each", tmp_path / "t.parquet", "--feed", "x=@each:a,b,c")
    assert run("run", graph, *words, "--output", tmp_path / "r.parquet").code == 0
    table, _ = read(tmp_path, ".parquet")
    assert table.column_names == ["name", "key", "y"]
    np.testing.assert_allclose(np.array(table["y"].to_pylist()), X @ W, rtol=1e-5, atol=1e-6)
    results = list(tfg.run_each(graph, str(tmp_path / "t.parquet"), "y:0", parts={"x": "a,b,c"}))
    np.testing.assert_allclose(np.concatenate([result.values["y:0"] for result in results]), X @ W, rtol=1e-5, atol=1e-6)


def test_results_of_other_inputs_go_to_parquet(graph, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(",".join(map(str, row)) + "\n" for row in X.tolist()))
    words = ("--fetch", "y", "--each", tmp_path / "t.csv", "--feed", "x=@each")
    assert run("run", graph, *words, "--output", tmp_path / "r.parquet").code == 0
    table, _ = read(tmp_path, ".parquet")
    assert table.column_names == ["name", "y"] and table.num_rows == COUNT


def test_faults_of_tables_name_the_column_and_the_row(graph, tmp_path):
    write(tmp_path / "t.parquet", {"x": [[1.0, 2.0, 3.0], [1.0, 2.0], None], "when": pa.array([0, 1, 2], pa.timestamp("s"))})
    words = (
        "run",
        graph,
        "--fetch",
        "y",
        "--each",
        tmp_path / "t.parquet",
        "--output",
        tmp_path / "r.parquet",
        "--keep-going",
    )
    done = run(*words)
    assert done.code == 1 and "1 result written" in done.err
    assert "t-000003: column 'x' has missing values" in done.err and "t-000002:" in done.err
    assert "has no column 'z'" in run(*words, "--feed", "x=@each:z", "--overwrite").err
    assert "which no tensor has" in run(*words, "--feed", "x=@each:when", "--overwrite").err
    (tmp_path / "t.parquet").write_bytes(b"PAR1 damaged PAR1")
    done = run(*words)
    assert done.code == 1 and f"'{tmp_path / 't.parquet'}' is damaged" in done.err


def test_without_the_extra_an_error_names_it(graph, tmp_path, monkeypatch):
    write(tmp_path / "t.parquet", {"x": lists(X)})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = run("run", graph, "--fetch", "y", "--each", tmp_path / "t.parquet", "--output", tmp_path / "r.csv")
    assert done.code == 1 and "the extra tfg[arrow]" in done.err
