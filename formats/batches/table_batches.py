"""The function behind `tfg.map_batches`: a graph as a function of tables, for Ray, Spark, Beam and data frames."""

from __future__ import annotations

import collections
import functools
import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, Unpack

import numpy as np

from ...core.comparing.row_blocks import BlockRunner, BlockSize, BlockWork, InputBlock, Ran, lacks_rows
from ...core.graph.graph import Graph
from ...core.runtime.session.runner import StepResult
from ...core.support.arguments import checked, names_of
from ...core.support.errors import ArgumentTypeError, InvalidArgumentError
from ...core.support.hints import Hint
from ...core.support.places import absolute
from ...core.types.arrays import Array, object_array
from ...core.types.tensors import as_bytes_array
from ..api.graph_reading import GraphReading
from ..api.run_plan import RunPlan, RunRequest, given_pairs
from ..api.session_setup import SessionSetup
from ..codecs.arrow_table import arrow_column, column_array
from ..codecs.csv_table import missing_column
from ..items import InputArrays
from .each_inputs import RowKeywords, StepRuns, in_batches, values_of

_PLACE = "the table"
_RECEIVED: Final[collections.OrderedDict[str, TableFunction]] = collections.OrderedDict()
"""The functions that this process received last, by their keys: Ray and Spark send the function again with each task."""
_MOST_RECEIVED: Final = 4
"""The number of functions that a process keeps open."""
_RECEIVING: Final = threading.Lock()


@checked
def map_batches(
    graph: Graph | str | os.PathLike[str],
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    session: SessionSetup | None = None,
    **options: Unpack[RowKeywords],
) -> TableFunction:
    """Return a function from a table to a table of the same kind, with a row of results for each row.

    A table is a dictionary of arrays, a pandas or polars DataFrame, or a Table or RecordBatch of pyarrow; an iterator of
    tables gives an iterator. Columns feed the tensors of their names, or those of `parts`, or together the only input. The
    result has the columns that feed nothing, and a column for each of `fetches`, by default the outputs. `feeds` are values
    for all rows.

    Rows run in blocks as in `run_each`. The function can be pickled. A process opens the graph once in each thread, however
    often a cluster sends the function. `session` has the values of variables and the engine, by default the fastest that is
    installed there, unless TFG_ENGINE names one.
    """
    request = RunRequest(names_of(fetches), given_pairs(feeds))
    source = graph if isinstance(graph, Graph) else absolute(os.fspath(graph))  # workers have folders of their own
    return TableFunction(source, request, dict(options["parts"] or {}), options["batch"], session)


class TableFunction:
    """A graph as a function of tables, as `map_batches` makes it."""

    def __init__(
        self, graph: Graph | str, request: RunRequest, parts: Mapping[str, str], batch: BlockSize | Literal["?"],
        session: SessionSetup | None, note: Callable[[str], None] | None = None, key: str | None = None,
    ) -> None:  # fmt: skip
        """`note` takes remarks, such as the node that keeps rows apart. `key` is that of the function that was copied."""
        self._settings = graph, request, parts, batch, session or SessionSetup(), note
        self._local = threading.local()
        self._key = key or uuid.uuid4().hex

    def __reduce__(self) -> tuple[Any, ...]:
        # The function is pickled by its settings, because a session holds locks and memory of this process.
        return _received, (*self._settings, self._key)

    def __repr__(self) -> str:
        graph, request, *_ = self._settings
        return f"<TableFunction of {graph!r}: {', '.join(request.fetches) or 'all outputs'}>"

    def __call__(self, batch: Any) -> Any:
        """Return the results for the rows of a table, or of the tables of an iterator."""
        if isinstance(batch, Iterator):
            return map(self, batch)
        # Each thread has an object of its own, which holds the rows of the current table.
        if not hasattr(self._local, "rows"):
            self._local.rows = _TableRows(*self._settings)
        rows: _TableRows = self._local.rows
        table = _table_of(batch)
        return table.with_results(rows.fed(table), rows.results(table))


def _received(*settings: Any) -> TableFunction:
    """Return the copy of a function that tasks before have used here, with its sessions, otherwise a new copy."""
    key: str = settings[-1]
    with _RECEIVING:
        # The function is taken out and put in again, so that the one used longest ago is the first to go.
        function = _RECEIVED.pop(key, None) or TableFunction(*settings)
        _RECEIVED[key] = function
        while len(_RECEIVED) > _MOST_RECEIVED:
            _RECEIVED.popitem(last=False)
        return function


class _AnyTable(Protocol):
    """A table of any kind."""

    names: list[str]

    def __len__(self) -> int: ...

    def array(self, name: str) -> Array:
        """Return a column, (rows, ...)."""

    def with_results(self, fed: set[str], results: Mapping[str, Array]) -> Any:
        """Return a table of the same kind with the columns that are not `fed`, and the results."""


class _ArrayTable:
    """A dictionary of arrays."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table, self.names = table, list(table)

    def __len__(self) -> int:
        return len(next(iter(self._table.values()), ()))

    def array(self, name: str) -> Array:
        return _regular(np.asarray(self._table[name]), name)

    def with_results(self, fed: set[str], results: Mapping[str, Array]) -> Any:
        return {**{name: column for name, column in self._table.items() if name not in fed}, **results}


class _PandasTable:
    """A DataFrame of pandas: arrays are in cells."""

    def __init__(self, table: Any) -> None:
        # As text, since pandas numbers columns by default.
        self._table, self._labels = table, {str(label): label for label in table.columns}
        self.names = list(self._labels)

    def __len__(self) -> int:
        return len(self._table)

    def array(self, name: str) -> Array:
        return _regular(self._table[self._labels[name]].to_numpy(), name)

    def with_results(self, fed: set[str], results: Mapping[str, Array]) -> Any:
        # A result replaces a column of its name.
        left_out = [label for name, label in self._labels.items() if name in fed or name in results]
        rest = self._table.drop(columns=left_out)
        return rest.assign(**{name: array if array.ndim == 1 else list(array) for name, array in results.items()})


class _ArrowTable:
    """A Table or a RecordBatch of pyarrow."""

    def __init__(self, table: Any) -> None:
        self._table, self.names = table, table.schema.names

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def array(self, name: str) -> Array:
        return column_array(self._table.column(name), name)

    def with_results(self, fed: set[str], results: Mapping[str, Array]) -> Any:
        rest = {name: self._table.column(name) for name in self.names if name not in fed and name not in results}
        columns = {**rest, **{name: arrow_column(array, name) for name, array in results.items()}}
        return type(self._table).from_arrays(list(columns.values()), names=list(columns))


class _PolarsTable(_ArrowTable):
    """A DataFrame of polars, by way of pyarrow."""

    def __init__(self, table: Any) -> None:
        super().__init__(table.to_arrow())

    def with_results(self, fed: set[str], results: Mapping[str, Array]) -> Any:
        # Whoever has a table of polars has imported polars.
        return sys.modules["polars"].from_arrow(super().with_results(fed, results))


_KINDS: Mapping[tuple[str, str], Callable[[Any], _AnyTable]] = {
    ("pandas", "DataFrame"): _PandasTable,
    ("pyarrow", "Table"): _ArrowTable,
    ("pyarrow", "RecordBatch"): _ArrowTable,
    ("polars", "DataFrame"): _PolarsTable,
}
"""The kinds of tables by the package and the name of the class: none of the packages is imported."""


def is_table(value: Any) -> bool:
    """Return True for a dictionary of arrays, a DataFrame and a table of pyarrow."""
    return _kind_of(value) is not None


def _kind_of(batch: Any) -> Callable[[Any], _AnyTable] | None:
    if isinstance(batch, Mapping):
        return _ArrayTable
    # With the classes above: packages derive tables of their own from a DataFrame.
    names = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(batch).__mro__)
    return next((_KINDS[name] for name in names if name in _KINDS), None)


def _table_of(batch: Any) -> _AnyTable:
    kind = _kind_of(batch)
    if kind is not None:
        return kind(batch)
    raise ArgumentTypeError(
        f"a table must be a dictionary of arrays, a DataFrame or a table of pyarrow, not {type(batch).__name__}"
    )


def _regular(column: Array, name: str) -> Array:
    """Return a column of cells with arrays as an array; strings as bytes."""
    if column.dtype != object or not len(column):
        return as_bytes_array(column) if column.dtype.kind in "US" else column
    if any(cell is None for cell in column):
        raise InvalidArgumentError(f"column '{name}' has missing values", hint="fill them, or feed other columns")
    # Other cells stay as they are, for an error that names the row.
    if isinstance(column[0], str | bytes):
        return object_array([cell.encode() if isinstance(cell, str) else cell for cell in column], column.shape)
    try:
        return np.stack([np.asarray(cell) for cell in column])
    except ValueError:
        raise InvalidArgumentError(f"the arrays of column '{name}' have several shapes") from None


class _TableRows:
    """The runs of a graph on rows of tables, in a thread."""

    def __init__(
        self, source: Graph | str, request: RunRequest, parts: Mapping[str, str], batch: BlockSize | Literal["?"],
        session: SessionSetup, note: Callable[[str], None] | None,
    ) -> None:  # fmt: skip
        note = (lambda _: None) if note is None else note
        graph = source if isinstance(source, Graph) else GraphReading().load(source)
        fetches = list(RunPlan(graph, request, session.signature).fetches.values())
        graph, size = in_batches(graph, fetches, batch, note)
        plan = RunPlan(graph, request, session.signature)
        runs = StepRuns(graph, session.of_many_runs(), plan)
        self._columns = InputArrays(graph, plan.names.signature, list(plan.fetches.values()), parts, plan.names.input)
        dtypes = {name: graph.output(fetch).dtype for name, fetch in plan.fetches.items()}
        self._dtypes = {name: dtype.base.numpy for name, dtype in dtypes.items() if dtype is not None}
        self._table: _AnyTable = _ArrayTable({})
        self._arrays: dict[str, Array] = {}
        work: BlockWork[int] = BlockWork(
            self._row, self._block, runs.steps, values_of, runs.rows, functools.partial(lacks_rows, graph), note,
            runs_at_once=runs.runs_at_once,
        )  # fmt: skip
        self._runner = BlockRunner(work, size)

    def fed(self, table: _AnyTable) -> set[str]:
        """Return the columns of a table that feed tensors."""
        return self._columns.fed_columns(table)

    def results(self, table: _AnyTable) -> dict[str, Array]:
        """Return a column for each fetch; the error of a row names the row."""
        if not len(table):
            return {name: np.empty(0, dtype) for name, dtype in self._dtypes.items()}
        self._table = table
        fed = self.fed(table)
        if missing := fed.difference(table.names):
            raise missing_column(_PLACE, min(missing), table.names)
        self._arrays = {name: table.array(name) for name in fed}
        columns: dict[str, list[Array]] = {}
        for ran in self._runner.results(range(len(table))):
            if ran.error is not None:
                problem = Hint(f"row {ran.inputs[0] + 1:,} of {_PLACE}: ", ran.error.message)
                raise type(ran.error)(problem, hint=ran.error.hint)
            for name, rows in self._rows(ran).items():
                columns.setdefault(name, []).append(rows)
        return {name: _joined(name, parts) for name, parts in columns.items()}

    def _rows(self, ran: Ran[int]) -> dict[str, Array]:
        """Return the results of rows that ran together, (rows, ...)."""
        steps: Sequence[StepResult] = ran.result
        rows = self._runner.rows
        results = {}
        for name, value in values_of(steps).items():
            if rows is not None and rows.times(name) == 1 and set(ran.counts) == {1}:
                results[name] = value[: len(ran.counts)]  # the parts are one behind the other as they are
                continue
            parts = [value] if not ran.counts or rows is None else rows.split(name, value, ran.counts)
            # The dtype matters for strings, which NumPy would make bytes without the zeros at their ends.
            dtype = self._dtypes.get(name)
            arrays = [np.asarray(part, dtype) for part in parts]
            results[name] = np.stack([array[0, ...] if array.ndim and len(array) == 1 else array for array in arrays])
        return results

    def _row(self, number: int) -> dict[str, Any]:
        return self._stacked(slice(number, number + 1))

    def _block(self, numbers: Sequence[int]) -> InputBlock | None:
        feeds = self._stacked(slice(numbers[0], numbers[-1] + 1))
        return InputBlock(feeds, [1] * len(numbers)) if all(len(value) == len(numbers) for value in feeds.values()) else None

    def _stacked(self, rows: slice) -> dict[str, Any]:
        return self._columns.of_columns(self._table, lambda name: self._arrays[name][rows], f"row {rows.start + 1:,}")


def _joined(name: str, parts: Sequence[Array]) -> Array:
    try:
        return np.concatenate(parts)
    except ValueError:
        raise InvalidArgumentError(f"the results '{name}' of rows have several shapes") from None
