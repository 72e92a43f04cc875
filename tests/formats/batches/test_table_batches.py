"""`tfg.map_batches`: a graph as a function of tables, of any kind."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tfg.core.support.errors import InvalidArgumentError, TfgError

COUNT = 30
X = np.sin(np.arange(3 * COUNT, dtype=np.float32)).reshape(COUNT, 3)
W = np.cos(np.arange(6, dtype=np.float32)).reshape(3, 2)


@pytest.fixture
def graph():
    """y = x W with x of (?,3), checked for NaN, and its mean; the upper case of texts; the square of a scalar."""
    g = tfg.GraphBuilder()
    x = g.CheckNumerics(g.Placeholder(dtype="float32", shape=[None, 3], name="x"), message="not finite")
    g.MatMul(x, W, name="y")
    g.Mean(x, np.int32([0, 1]), name="mean")
    g.StringUpper(g.Placeholder(dtype="string", shape=[None], name="s"), name="u")
    g.Square(g.Placeholder(dtype="float32", shape=[], name="one"), name="squared")
    g.StringLower(g.Placeholder(dtype="string", shape=[], name="text"), name="lower")
    return g.graph


def values(column):
    return np.array([np.asarray(cell) for cell in column])


def kinds():
    pandas, polars = (
        pytest.importorskip(name, reason="the extra tfg[clients] is not installed") for name in ("pandas", "polars")
    )
    pyarrow = pytest.importorskip("pyarrow", reason="the extra tfg[arrow] is not installed")
    columns = {"id": list(range(COUNT)), "x": list(X), "s": [f"row {k}" for k in range(COUNT)]}
    lists = {**columns, "x": X.tolist()}
    yield pandas.DataFrame(columns), lambda table: dict(table.items())
    yield polars.DataFrame(lists), lambda table: {name: table[name].to_list() for name in table.columns}
    for table in (pyarrow.table(lists), pyarrow.RecordBatch.from_pydict(lists)):
        yield table, lambda table: dict(zip(table.schema.names, (column.to_pylist() for column in table.columns)))


def test_a_table_of_each_kind_gives_its_own_kind(graph):
    function = tfg.map_batches(graph, ["y", "u"])
    for table, read in kinds():
        result = function(table)
        assert type(result) is type(table)
        columns = read(result)
        assert list(columns) == ["id", "y", "u"] and list(columns["id"]) == list(range(COUNT))
        np.testing.assert_allclose(values(columns["y"]), X @ W, rtol=1e-5, atol=1e-6)
        assert bytes(columns["u"][3]) == b"ROW 3"


def test_arrays_and_iterators(graph):
    function = pickle.loads(pickle.dumps(tfg.map_batches(graph, "y", parts={"x": "a,b,c"})))
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "key": np.arange(COUNT)}
    results = list(function(iter([table, table])))
    assert len(results) == 2 and list(results[1]) == ["key", "y"]
    np.testing.assert_allclose(results[1]["y"], X @ W, rtol=1e-5, atol=1e-6)
    assert "TableFunction" in repr(function)
    empty = function({name: column[:0] for name, column in table.items()})
    assert list(empty) == ["key", "y"] and empty["y"].dtype == np.float32


def test_a_process_opens_a_function_once_however_often_it_comes(graph):
    """Ray and Spark send the function with each task."""
    sent = pickle.dumps(tfg.map_batches(graph, "y"))
    first = pickle.loads(sent)
    assert pickle.loads(sent) is first and pickle.loads(pickle.dumps(first)) is first
    for _ in range(4):
        assert pickle.loads(pickle.dumps(tfg.map_batches(graph, "y"))) is not first
    assert pickle.loads(sent) is not first  # a process keeps few functions


def test_a_function_finds_its_file_from_every_folder(graph, tmp_path, monkeypatch):
    tfg.save(graph, tmp_path / "g.pb")
    monkeypatch.chdir(tmp_path)
    function = tfg.map_batches("g.pb", "y")
    monkeypatch.chdir("/")
    np.testing.assert_allclose(function({"x": X})["y"], X @ W, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [str, object])
def test_texts_are_utf_8_in_arrays_of_all_kinds(graph, dtype):
    texts = ["straße", "x"]
    assert tfg.map_batches(graph, "u")({"s": np.array(texts, dtype)})["u"].tolist() == ["STRAßE".encode(), b"X"]


@pytest.mark.parametrize("count", [2, COUNT])
def test_results_keep_zeros_at_the_ends_of_strings(graph, count):
    """One by one, and in blocks, and of strings without rows."""
    texts = np.array([b"a\0"] * count, object)
    result = tfg.map_batches(graph, "u")({"s": texts})["u"]
    assert result.dtype == object and result.tolist() == [b"A\0"] * count
    assert tfg.map_batches(graph, "lower")({"text": texts})["lower"].tolist() == texts.tolist()


@pytest.mark.parametrize("batch", [1, 4, "auto"])
def test_graphs_without_rows_run_row_by_row(graph, batch):
    result = tfg.map_batches(graph, "squared", batch="auto")({"one": np.arange(12, dtype=np.float32)})
    assert result["squared"].tolist() == [k * k for k in range(12)]
    if batch == 4:
        return
    result = tfg.map_batches(graph, "mean", batch=batch)({"x": X})
    np.testing.assert_allclose(result["mean"], X.mean(1), rtol=1e-4, atol=1e-6)


def test_numbered_columns_of_pandas(graph):
    pandas = pytest.importorskip("pandas", reason="the extra tfg[clients] is not installed")
    result = tfg.map_batches(graph, "y", parts={"x": "0,1,2"})(pandas.DataFrame(np.concatenate([X, X[:, :1]], 1)))
    assert list(result.columns) == [3, "y"]
    np.testing.assert_allclose(values(result["y"]), X @ W, rtol=1e-5, atol=1e-6)


def test_each_table_feeds_its_own_columns(graph):
    function = tfg.map_batches(graph, "y")
    assert list(function({"x": X})) == ["y"]
    np.testing.assert_allclose(function({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})["y"], X @ W, rtol=1e-5, atol=1e-6)


def test_errors_name_the_row_and_the_column(graph):
    bad = X.copy()
    bad[20, 1] = np.nan
    with pytest.raises(tfg.errors.TfgError, match="row 21 of the table: not finite"):
        tfg.map_batches(graph, "y")({"x": bad})
    with pytest.raises(tfg.errors.NotFoundError, match="choose the columns of a tensor"):
        tfg.map_batches(graph, "y")({"z": bad})
    with pytest.raises(tfg.errors.InvalidArgumentError, match="column 'x' has missing values"):
        tfg.map_batches(graph, "y")({"x": np.array([[1.0, 2.0, 3.0], None], object)})
    with pytest.raises(tfg.errors.NotFoundError, match="the table has no column 'b'"):
        tfg.map_batches(graph, "y", parts={"x": "a,b,c"})({"a": bad[:, 0]})
    with pytest.raises(TypeError, match="a table must be"):
        tfg.map_batches(graph, "y")([1, 2])


def test_a_saved_model_from_its_path():
    """By the names of its signature, with its variables."""
    function = pickle.loads(pickle.dumps(tfg.map_batches(SAMPLES / "scaler_saved_model", "scaled")))
    model = tfg.Model(SAMPLES / "scaler_saved_model")
    x = np.arange(24, dtype=np.float32).reshape(12, 2)
    np.testing.assert_allclose(function({"x": x})["scaled"], model(x=x)["scaled"])


def test_run_batch_takes_a_table_of_each_kind_and_gives_its_own_kind(graph):
    for table, read in kinds():
        result = tfg.run_batch(graph, table, ["y", "u"])
        assert type(result) is type(table)
        columns = read(result)
        assert list(columns) == ["id", "y", "u"] and bytes(columns["u"][3]) == b"ROW 3"
        np.testing.assert_allclose(values(columns["y"]), X @ W, rtol=1e-5, atol=1e-6)


def test_run_batch_of_a_table_has_states_and_parts_and_no_files(graph, tmp_path):
    g = tfg.GraphBuilder()
    offset = g.VariableV2(shape=[], dtype="float", name="offset")
    g.AddV2(g.Placeholder(dtype="float32", shape=[None], name="x"), g.Identity(offset), name="y")
    table = {"a": np.arange(3, dtype=np.float32), "key": np.arange(3)}
    result = tfg.run_batch(g.graph, table, "y", parts={"x": "a"}, state={"offset": np.float32(5)})
    assert list(result) == ["key", "y"] and result["y"].tolist() == [5, 6, 7]
    tfg.save(graph, tmp_path / "g.pb")
    assert tfg.run_batch(tmp_path / "g.pb", {"x": X[:0]}, "y")["y"].shape == (0,)
    with pytest.raises(TfgError, match="row 2 of the table"):
        tfg.run_batch(graph, {"x": np.float32([[1, 2, 3], [np.nan, 1, 1]])}, "y")
    for name, value in {"output": "y.npz", "on": "local:2", "sweep": {"x": [1]}, "steps": 2, "top_k": 1}.items():
        with pytest.raises(InvalidArgumentError, match=f"`{name}` has no effect on a table"):
            tfg.run_batch(graph, {"x": X}, "y", **{name: value})
