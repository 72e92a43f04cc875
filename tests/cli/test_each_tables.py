"""`tfg run --each`: rows of Parquet and Arrow files, fed by the names of columns, and results as columns."""

from __future__ import annotations

import pickle
import sys
import tracemalloc

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.formats.batches.each_tasks import TaskQueue, sweep_tasks

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


@pytest.mark.slow
def test_groups_of_rows_are_shards_also_with_processes(graph, tmp_path):
    many = np.tile(X, (200, 1))
    for name, group in {"a": 2000, "b": 600}.items():
        write(tmp_path / f"{name}.parquet", {"x": lists(many), "id": np.arange(len(many))}, group)
    inputs = ("--each", tmp_path / "a.parquet", "--each", tmp_path / "b.parquet")
    words = ("run", graph, "--fetch", "y", *inputs, "--on", "local:2", "--output", tmp_path / "r.parquet")
    done = run(*words)
    assert done.code == 0 and "10,000 results written to 8 shards" in done.err, done.err
    sizes = [parquet.read_metadata(path).num_rows for path in sorted(tmp_path.glob("r-*.parquet"))]
    assert sizes == [2000, 2000, 1000, 1200, 1200, 1200, 1200, 200]
    table, _ = read(tmp_path, ".parquet")
    np.testing.assert_allclose(np.array(table["y"].to_pylist()), np.tile(X @ W, (400, 1)), rtol=1e-5, atol=1e-6)
    (tmp_path / "r-00001-of-00008.parquet").unlink()
    assert "2,000 results written" in run(*words).err
    assert "shard_size differs" in run(*words, "--shard-size", "1000").err


@pytest.mark.slow
def test_a_shard_of_rows_travels_as_a_few_numbers(tmp_path):
    write(tmp_path / "t.arrow", {"x": np.arange(9000)}, group=3000)
    tasks = sweep_tasks([str(tmp_path / "t.arrow")], [("rate", ["1", "2"])])
    placed = tasks.placed([f"r-{number}" for number in range(3)], tasks.shard_ends(None))
    queue = TaskQueue(placed.in_shards([1, 2]))
    part = queue.take(1)
    assert len(pickle.dumps(part)) < 1000
    assert list(pickle.loads(pickle.dumps(part))) == list(part) == list(placed)[6000:12000]
    assert list(queue.take(1)) == list(placed)[12000:] and not queue and not queue.take(1)


def test_few_bytes_are_kept_of_each_row(tmp_path):
    write(tmp_path / "t.parquet", {"x": np.zeros(1 << 20, np.int8)}, group=1 << 20)
    tracemalloc.start()
    try:
        tasks = sweep_tasks([str(tmp_path / "t.parquet")], [])
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert len(tasks) == 1 << 20 and tasks[1 << 19].name == "t-524289"
