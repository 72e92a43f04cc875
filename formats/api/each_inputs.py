"""The function behind `tfg run --each` and `--sweep`: a graph run once for each of many inputs."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, Protocol

import numpy as np

from ...core.comparing.row_blocks import BlockRows, BlockRunner, BlockSize, BlockWork, InputBlock, lacks_rows, row_count
from ...core.functions.callers import called_functions
from ...core.graph.graph import Graph, GraphLike, Node, Output
from ...core.graph.metagraph import Signature, argument_tensor
from ...core.graph.traversal import topological_order
from ...core.graph.variable_nodes import find_variables
from ...core.ordering.effects import READ, accesses
from ...core.planning.reachability import needed_nodes
from ...core.registry.op_facts import has_fact
from ...core.runtime.session.runner import Runner
from ...core.runtime.session.session_like import SessionLike
from ...core.support.arguments import expect, takes
from ...core.support.display import Report
from ...core.support.errors import InternalError, InvalidArgumentError, NotFoundError, TfgError
from ...core.support.hints import Hint, step
from ...core.support.words import counted
from ...core.transforms.batch_size import find_batch, set_batch
from ...core.types.arrays import Array
from ...core.types.shapes import Shape
from ...core.types.tensors import Tensor
from ..codecs.arrow_table import ArrowFile, column_array
from ..codecs.casts import cast_value
from ..codecs.csv_table import CsvFile, Row
from ..codecs.json_inputs import WHOLE, named_values
from ..items import Item, ItemReader, Items, find_items
from ..pictures import parse_transform
from ..state import State
from ..value_literals import fed_shape, joined_rows, value_of
from .prepared_sessions import Opener, as_run, named, names_of, runtime_of_many_runs, session_on

EACH: Final = "@each"
"""The value of a --feed that stands for an input, with `:KEY` for an array or for columns, with `?OPTIONS` for a picture."""
_ALL: Final = (WHOLE, "*")
"""The keys of all columns."""
_PART: Final = re.compile(r"([^?]*)(\?.*)?", re.DOTALL)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class InputResult(Report):
    """The fetched values for an input, or the error that ended its run."""

    main_table: ClassVar[str] = "settings"

    name: str
    """The name of the input, with the values of a sweep: `photos/cat,rate=0.5`."""
    values: Mapping[str, Any]
    """The values by the names of the fetches; empty after an error."""
    error: TfgError | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    """The values of a sweep, by the names of tensors and variables."""

    def headline(self) -> str:
        return f"{self.name}: {self.error.message if self.error is not None else counted(len(self.values), 'value')}"


@takes(
    graph=GraphLike, feeds=Mapping | None, parts=Mapping | None, sweep=Mapping | None, keep_going=bool, batch=int | str,
    state=Mapping | None, seed=int | None,
)  # fmt: skip
def run_each(
    graph: GraphLike,
    inputs: Sequence[str] | str = (),
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    parts: Mapping[str, str] | None = None,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    keep_going: bool = False,
    batch: BlockSize | Literal["?"] = "auto",
    state: State | None = None,
    seed: int | None = 0,
    open_session: Opener | None = None,
) -> Iterator[InputResult]:
    """Run a graph once for each input, and yield the results in the order of the inputs.

    `inputs` are patterns of files: .npz, .npy, TFRecord, pictures, lines of JSON and rows of CSV. Arrays are fed by name. A
    file with one array without a name feeds the only input of the graph. `parts` maps a tensor to the key of an array, to
    columns (`a,b`), or for pictures to options such as `?scale=1/255`. `sweep` maps tensors and variables to values: the
    graph runs once with each combination.

    Inputs run in blocks of `batch` inputs where no node mixes their rows: results are equal to rounding. Blocks of "auto" grow
    until a run takes 50 ms; a graph for a fixed number of rows gets `batch` rows, where 1 is one by one. InvalidArgumentError
    names a node that may mix rows where `batch` is a number.

    Runs share a session where no step writes or draws. Otherwise each run begins from the initial values, or those of
    `state`. The first error ends the runs; with `keep_going` the error is in the result. `fetches` are by default the
    outputs. NotFoundError for a pattern without a file.
    """
    graph = as_run(graph, fetches)
    names = names_of(fetches)
    if not names:
        from ...core.passes.pipeline import guessed_fetches  # lazy: the processes of a batch do not need the passes

        names = guessed_fetches(graph)
    tensors = {name: graph.result(name).name for name in names}
    settings = named(sweep)
    expect(list | tuple, *settings.values())
    patterns = names_of(inputs)
    signature = graph.meta.usual_signature if graph.meta is not None else None
    arrays = InputArrays(graph, signature, tuple(tensors.values()), parts or {})

    engine = runtime_of_many_runs() if open_session is None else None

    def opened(graph: Graph) -> SessionLike:
        return session_on(graph, open_session, state, seed, engine)

    graph, size = in_batches(graph, list(tensors.values()), batch)
    runs = _Runs(graph, tensors, named(feeds), opened, size)
    # The caller learns of wrong names and files at the call, not at the first result.
    items: Sequence[Item | None] = find_items(patterns) if patterns else [None]
    total = len(items) * math.prod(map(len, settings.values()))
    return InputResults(runs.results(items, settings, arrays, keep_going), total)


def in_batches(
    graph: Graph, fetches: Sequence[str], batch: BlockSize | Literal["?"], note: Callable[[str], None] = lambda _: None
) -> tuple[Graph, BlockSize]:
    """Return a graph that takes `batch` rows where its batch is fixed, and the number of inputs in a block.

    `note` takes the changes of the graph.
    """
    if batch not in ("?", "auto") if isinstance(batch, str) else batch < 1:
        raise InvalidArgumentError(f"a batch of {batch!r}", hint='a batch is a number of inputs from 1, "auto", or "?"')
    size: BlockSize = "auto" if isinstance(batch, str) else batch
    if batch == "auto" or (isinstance(batch, int) and find_batch(graph, fetches).rows in (None, batch)):
        return graph, size
    changed = graph.copy()
    for change in set_batch(changed, fetches, batch):
        note(change)
    return changed, size


class InputResults(Iterator[InputResult]):
    """The results of `run_each`; each run starts when its result is asked for."""

    def __init__(self, results: Iterator[InputResult], total: int) -> None:
        self._results, self._total, self._done = results, total, 0

    def __next__(self) -> InputResult:
        result = next(self._results)
        self._done += 1
        return result

    def __repr__(self) -> str:
        return f"<InputResults: {self._done} of {counted(self._total, 'input')}>"


class ColumnNames(Protocol):
    """A table, as far as its columns feed tensors."""

    names: list[str]


class InputArrays:
    """The values to feed for an input: its arrays by the names of tensors."""

    def __init__(
        self,
        graph: Graph,
        signature: Signature | None,
        fetches: Sequence[str],
        parts: Mapping[str, str],
        find: Callable[[str], Output] | None = None,
    ) -> None:
        """`parts` say for tensors which part of an input feeds them. `signature` has the names of inputs.

        `find` returns the tensor of a name. InvalidArgumentError for wrong options of pictures.
        """
        self._graph, self._signature, self._fetches = graph, signature, fetches
        words = self._words = {} if signature is None else signature.fed
        self._reader = ItemReader()
        self._found: tuple[ColumnNames | None, Sequence[str]] = None, ()
        self._find = find or (lambda word: graph.output(argument_tensor(word, words, graph)))
        matches = {name: _PART.fullmatch(text) for name, text in parts.items()}
        self._tensors = {match[1] or WHOLE: name for name, match in matches.items() if match}
        self._options = {name: match[2] or "" for name, match in matches.items() if match}
        for name, options in self._options.items():
            self._find(name)
            parse_transform(options)

    def of(self, item: Item) -> dict[str, Any]:
        """Return the values to feed by the names of tensors."""
        if item.row is not None:
            return self._of_row(self._reader.table(item.path), item.row)
        if item.is_arrow:
            return self._of_arrow(self._reader.arrow(item.path), [item])
        if item.start is not None:
            return self._of_document(item)
        if item.is_picture:
            word = self._tensor(WHOLE)
            fed = self._find(word)
            picture = f"@{item.path}{self._options.get(word, '')}"
            return {fed.name: value_of(picture, fed.dtype, f"--feed {word}", fed_shape(fed))}
        values: dict[str, Any] = {}
        for key, value in self._reader.read(item).items():
            if isinstance(value, Tensor) and value.lack is not None and not self._is_fed(key):
                continue  # nobody can read it, and no tensor takes it
            fed = self._find(self._tensor(key))
            values[fed.name] = _cast(value, fed, key, functools.partial(_place, item, key))
        return values

    def _of_document(self, item: Item) -> dict[str, Any]:
        """Return the values of a line of JSON."""
        parsed, values = self._reader.document(item), {}
        try:
            given = named_values(parsed, self._signature, self._is_fed)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{item.place}: {error.message}", hint=error.hint) from None
        for key, value in given.items():
            fed = self._find(self._tensor(key))
            values[fed.name] = value_of(json.dumps(value), fed.dtype, _place(item, key))
        return values

    def close(self) -> None:
        """Close the file of the last line or row."""
        self._reader.close()

    def block(self, items: Sequence[Item]) -> InputBlock | None:
        """Return rows of a table, or lines of JSON, read and stacked at once; None for other inputs and other shapes."""
        if items[0].start is None or any(item.path != items[0].path for item in items):
            return None
        if items[0].is_arrow:
            arrays = self._of_arrow(self._reader.arrow(items[0].path), items)
            count = row_count(arrays)
            return InputBlock(arrays, [count // len(items)] * len(items)) if count and not count % len(items) else None
        rows = [row for item in items if (row := item.row) is not None]
        return self._block_of_rows(items[0].path, rows) if rows else self._block_of_documents(items)

    def _block_of_rows(self, path: str, rows: Sequence[Row]) -> InputBlock | None:
        table = self._reader.table(path)
        cells = table.read_rows(rows)
        if cells is None:
            return None
        columns = self._of_rows(table, rows, cells)
        shapes = {name: _of_rank(array[:1], rank).shape for name, (array, rank) in columns.items()}
        firsts = {shape[:1] for shape in shapes.values()}
        if len(firsts) != 1 or () in firsts:
            return None
        ((count,),) = firsts
        arrays = {name: columns[name][0].reshape(len(rows) * count, *shape[1:]) for name, shape in shapes.items()}
        return InputBlock(arrays, [count] * len(rows))

    def _block_of_documents(self, items: Sequence[Item]) -> InputBlock | None:
        given = [named_values(parsed, self._signature, self._is_fed) for parsed in self._reader.documents(items)]
        keys = given[0].keys()
        if any(one.keys() != keys for one in given):
            return None
        arrays, counts = {}, [len(one[key]) if isinstance(one[key], list) else 0 for key in keys for one in given]
        if counts != counts[: len(items)] * len(keys):
            return None
        for key in keys:
            fed = self._find(self._tensor(key))
            array = None if fed.dtype is None else joined_rows([one[key] for one in given], fed.dtype.base)
            if array is None or fed_shape(fed).rank not in (None, array.ndim):
                return None
            arrays[fed.name] = array
        return InputBlock(arrays, counts[: len(items)])

    def keys(self, items: Sequence[Item]) -> Any:
        """Return the columns of rows of a Parquet or Arrow file that feed nothing, as a table; None for other inputs."""
        if not items[0].is_arrow or any(item.path != items[0].path for item in items):
            return None
        table = self._reader.arrow(items[0].path)
        fed = self.fed_columns(table)
        rows = table.rows(items[0].start or 0, items[-1].end)
        left = [name for name in table.names if name not in fed and name != "name"]
        return rows.select(left) if left and rows.num_rows == len(items) else None

    def _of_arrow(self, table: ArrowFile, items: Sequence[Item]) -> dict[str, Any]:
        """Return the values of rows behind each other, stacked."""
        rows = table.rows(items[0].start or 0, items[-1].end)
        if rows.num_rows != len(items):
            raise InvalidArgumentError("other rows are between the rows")  # rows that a job computed before
        for key in self._keys_of(table):
            table.check(self._columns(key, table.names))
        return self.of_columns(table, lambda name: column_array(rows.column(name), name), items[0].place)

    def of_columns(self, table: ColumnNames, array: Callable[[str], Array], place: str) -> dict[str, Any]:
        """Return the values of the rows of a table, stacked; `array` returns a column, (rows, ...)."""
        values = {}
        for key in self._keys_of(table):
            fed = self._of_column(key)
            arrays = list(map(array, self._columns(key, table.names)))
            if len({one.shape for one in arrays}) > 1:
                raise InvalidArgumentError(f"{place}: the columns {key} have lists of several lengths")
            stacked = _fed_by(arrays[0] if len(arrays) == 1 else np.stack(arrays, -1), fed_shape(fed).rank)
            values[fed.name] = _cast(stacked, fed, key, lambda: place)
        return values

    def fed_columns(self, table: ColumnNames) -> set[str]:
        """Return the columns of a table that feed tensors."""
        return {name for key in self._keys_of(table) for name in self._columns(key, table.names)}

    def _columns(self, key: str, names: Sequence[str]) -> Sequence[str]:
        """Return the columns that a key stands for."""
        if key in _ALL:
            return names
        return [key] if key in names else [name.strip() for name in key.split(",")]

    def _keys_of(self, table: ColumnNames) -> Sequence[str]:
        return list(self._tensors) or self._keys(table)

    def _of_row(self, table: CsvFile, row: Row) -> dict[str, Any]:
        """Return the cells of a row, fed by the names of columns, or to the tensors that name the columns."""
        values = self._of_rows(table, [row], [table.read(row)])
        return {name: _of_rank(array, rank) for name, (array, rank) in values.items()}

    def _of_rows(
        self, table: CsvFile, rows: Sequence[Row], cells: Sequence[Sequence[str]]
    ) -> dict[str, tuple[Any, int | None]]:
        """Return the cells of rows, (rows, columns), and the rank of the tensor that they feed."""
        values = {}
        for key in self._keys_of(table):
            columns = self._columns(key, table.names)
            fed = self._of_column(key)
            places = table.places(columns)
            own = cells if places == list(range(len(table.names))) else [[row[place] for place in places] for row in cells]
            array = table.as_array(rows, own, columns, fed.dtype)
            values[fed.name] = _cast(array, fed, key, functools.partial(rows[0].place, table.path)), fed_shape(fed).rank
        return values

    def _keys(self, table: ColumnNames) -> Sequence[str]:
        """Return the keys of a table without --feed: its columns, or all together where they fit the only input."""
        if table is not self._found[0]:
            known = [name for name in table.names if self._is_tensor(name)]
            is_one = not known and self._takes(len(table.names))
            own = table.names if isinstance(table, CsvFile) or not known else known  # other columns are keys of the rows
            self._found = table, [WHOLE] if is_one else own
        return self._found[1]

    def _is_fed(self, key: str) -> bool:
        return key in self._tensors or self._is_tensor(key)

    def _is_tensor(self, word: str) -> bool:
        try:
            self._find(word)
        except TfgError:
            return False
        return True

    def _takes(self, count: int) -> bool:
        """Return True where the graph has a single input, whose rows have this number of elements."""
        names = self._inputs()
        if len(names) != 1:
            return False
        dims = fed_shape(self._find(names[0])).dims
        if not dims:
            return dims is None or count == 1
        return not isinstance(dims[-1], int) or dims[-1] == count

    def _of_column(self, key: str) -> Output:
        """Return the tensor that columns feed; NotFoundError for a column without a tensor of its name."""
        try:
            return self._find(self._tensor(key))
        except NotFoundError as error:
            way = f"choose the columns of a tensor with TENSOR={EACH}:COLUMN,COLUMN, or all with {EACH}:*"
            raise NotFoundError(f"{error.message}: {way}", hint=error.hint) from None

    def _tensor(self, key: str) -> str:
        """Return the name of the tensor for an array of the input."""
        if key in self._tensors:
            return self._tensors[key]
        return key if key != WHOLE else self._sole_input

    @functools.cached_property
    def _sole_input(self) -> str:
        """The only tensor for an input without a name; InvalidArgumentError where there is none, or several."""
        names = self._inputs()
        if len(names) != 1:
            several = ", ".join(names) or "none"
            raise InvalidArgumentError(
                f"the inputs have no names, and several tensors may take them: {several}",
                hint=Hint("choose the tensor with ", step("each_tensor")),
            )
        return names[0]

    def _inputs(self) -> list[str]:
        """Return the inputs of the signature, else the placeholders that the fetches need."""
        if self._words:
            return list(self._words)
        needed = needed_nodes([self._graph.fetch(name) for name in self._fetches])
        return [node.name for node in needed if node.must_be_fed]


class SharedRuns:
    """A session for many runs of a graph, shared where no run leaves something behind that the next run would see."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._shared: Runner | None = None
        self._leaving: dict[frozenset[str], bool] = {}

    def runner(
        self, names: Sequence[str], fed: Mapping[str, Any], prepare: Callable[[], Runner], *, own: bool = False,
        always: bool = False,
    ) -> Runner:  # fmt: skip
        """Return the session to run `names` in with these feeds: a prepared one, or that of the runs before.

        A run with a session of its `own` never shares; with `always` other runs do, whatever they write.
        """
        is_shared = not own and (always or self.leaves_nothing(names, fed))
        if is_shared and self._shared is not None:
            return self._shared
        runner = prepare()
        self._shared = runner if is_shared else None
        return runner

    def leaves_nothing(self, names: Sequence[str], fed: Mapping[str, Any]) -> bool:
        """Return True where a run of the tensors and operations with these tensors fed writes and draws nothing."""
        key = frozenset(fed)
        if key not in self._leaving:
            self._leaving[key] = self._finds_no_trace(names, fed)
        return self._leaving[key]

    def _finds_no_trace(self, names: Sequence[str], values: Mapping[str, Any]) -> bool:
        fed = frozenset(self._graph.output(name) for name in values)
        needed = needed_nodes([self._graph.fetch(name) for name in names], list(fed))
        order = topological_order(node for node in self._graph if node in needed)
        if any(access.kind != READ for access in accesses(self._graph, order, fed)):
            return False
        bodies = [self._graph.functions[name].body for name in called_functions(self._graph, order)]
        return not any(map(_leaves_trace, itertools.chain(order, *bodies)))


def _leaves_trace(node: Node) -> bool:
    """Return True for a node after which the next run may differ: it draws, or changes something, such as a queue."""
    return has_fact(node.op, "random") or (has_fact(node.op, "side_effect") and not has_fact(node.op, "diagnostic"))


class _Runs:
    """The runs of `run_each`."""

    def __init__(
        self, graph: Graph, fetches: Mapping[str, str], feeds: Mapping[str, Any], opened: Callable[[Graph], SessionLike],
        batch: BlockSize,
    ) -> None:  # fmt: skip
        self._graph, self._fetches, self._feeds, self._opened, self._batch = graph, fetches, feeds, opened, batch
        self._variables = find_variables(graph)
        self._sessions = SharedRuns(graph)

    def results(
        self, items: Sequence[Item | None], sweep: Mapping[str, Sequence[Any]], arrays: InputArrays, keep_going: bool
    ) -> Iterator[InputResult]:
        """Yield the result of each input and setting."""
        if not sweep and isinstance(items, Items):
            yield from self._in_blocks(items, arrays, keep_going)
            return
        for item, values in itertools.product(items, list(itertools.product(*sweep.values()))):
            settings = tuple(zip(sweep, values))
            words = [item.name] if item is not None else []
            name = ",".join([*words, *(f"{key}={value}" for key, value in settings)])
            try:
                yield InputResult(name, self._run(arrays.of(item) if item is not None else {}, settings), None, settings)
            except InternalError:
                raise
            except TfgError as error:
                if not keep_going:
                    raise
                yield InputResult(name, {}, error, settings)

    def _in_blocks(self, items: Sequence[Item], arrays: InputArrays, keep_going: bool) -> Iterator[InputResult]:
        """Yield the result of each input; inputs run in blocks where they can be stacked."""
        work = BlockWork(
            arrays.of, arrays.block, lambda values: self._run(values, ()), lambda result: result, self._rows,
            functools.partial(lacks_rows, self._graph), lambda _: None,
        )  # fmt: skip
        runner = BlockRunner(work, self._batch)
        for ran in runner.results(items):
            if ran.error is not None:
                if not keep_going:
                    raise ran.error
                yield InputResult(ran.inputs[0].name, {}, ran.error)
            elif not ran.counts or runner.rows is None:
                yield InputResult(ran.inputs[0].name, ran.result)
            else:
                parts = {name: runner.rows.split(name, value, ran.counts) for name, value in ran.result.items()}
                for place, item in enumerate(ran.inputs):
                    yield InputResult(item.name, {name: values[place] for name, values in parts.items()})

    def _rows(self, fed: Mapping[str, Any]) -> BlockRows:
        if not self._sessions.leaves_nothing(list(self._fetches.values()), {**self._feeds, **fed}):
            raise InvalidArgumentError("a run changes the state of the next run, or draws random numbers")
        return BlockRows(self._graph, self._fetches, list(fed), list(self._feeds))

    def _run(self, values: Mapping[str, Any], settings: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        assigned = {name: value for name, value in settings if name in self._variables}
        fed = {self._graph.output(name).name: value for name, value in settings if name not in self._variables}
        feeds = {**self._feeds, **fed, **values}
        names = list(self._fetches.values())
        runner = self._sessions.runner(names, feeds, lambda: self._prepared(assigned), own=bool(assigned))
        return dict(zip(self._fetches, runner.session.run(names, feeds)))

    def _prepared(self, assigned: Mapping[str, Any]) -> Runner:
        runner = Runner(self._opened(self._graph))
        for name, value in assigned.items():
            runner.assign(name, lambda variable, value=value: value)  # type: ignore[misc]
        return runner


def _place(item: Item, key: str) -> str:
    """Return the place of a value: the file or the line, and the name."""
    return item.place if key == WHOLE else f"{item.place}, key '{key}'"


def _cast(value: Array | Tensor, fed: Output, key: str, place: Callable[[], str]) -> Array:
    """Return an array in the dtype of a tensor; an error begins with the place of the array."""
    try:
        array = value.numpy() if isinstance(value, Tensor) else value
        return cast_value(array, fed.dtype.base if fed.dtype is not None else None, key or "the input")
    except TfgError as error:
        raise type(error)(f"{place()}: {error.message}", hint=error.hint) from None


def _fed_by(array: Any, rank: int | None) -> Any:
    """Return rows, (rows, ...), as a stack of arrays of a rank: axes of size 1 are behind the rows. A row may have no axis of
    rows.
    """
    if rank is None or rank == array.ndim:
        return array
    if rank > array.ndim:
        return array.reshape(len(array), *(1,) * (rank - array.ndim), *array.shape[1:])
    if rank < array.ndim - 1 or len(array) != 1:
        raise InvalidArgumentError(f"rows of shape {Shape(array.shape[1:])} do not stack to rank {rank}")
    return array[0, ...]


def _of_rank(cells: Any, rank: int | None) -> Any:
    """Return one row of cells, (1, columns), as an array of a rank: the columns last, a single column as one element."""
    count = cells.shape[1]
    if rank is None or (rank == 0 and count > 1):
        rank = 0 if count == 1 else 1
    return cells.reshape((1,) * (rank - 1) + (count,)) if rank else cells.reshape(())
