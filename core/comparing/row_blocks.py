"""Inputs of a graph that run in blocks: stacked along the rows, run at once, and the results split."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

import numpy as np

from ..engines.executables import difference
from ..graph.graph import Graph, Output
from ..inference.row_axes import row_axes
from ..numerics.work_division import undivided
from ..support import dataclasses
from ..support.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, TfgError
from ..support.hints import Blank, Hint, option, step
from ..types.shapes import Shape

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_Input = TypeVar("_Input")
Feeds = Mapping[str, Any]
BlockSize = int | Literal["auto"]
"""The number of inputs in a block, `auto` for one that grows."""
_COMPARED: Final = 8
"""The number of inputs that run one by one first, and then as a block, for a comparison."""
_RUN_SECONDS: Final = 0.05
"""The time of a run from which on larger blocks gain nothing: the lesser of wall time, which grows with other work on the
machine, and CPU time, which grows with the threads that read further inputs meanwhile.
"""
_GROWTH: Final = 8
"""The largest factor by which a block grows."""
_READERS: Final = 4
"""The number of threads that read inputs ahead."""
_MOST: Final = 4096
"""The largest number of inputs in a block that grew."""
_MOST_BYTES: Final = 1 << 26
"""The largest size of a block that grew; some blocks are in memory at once, as further inputs are read ahead."""


@dataclasses.dataclass(frozen=True, slots=True)
class InputBlock:
    """Stacked inputs: the arrays that they feed, and the number of rows of each."""

    feeds: Feeds
    counts: Sequence[int]

    @property
    def bytes(self) -> int:
        """Return the size of the arrays."""
        return sum(np.asarray(value).nbytes for value in self.feeds.values())

    def part(self, start: int, end: int) -> InputBlock:
        """Return the block of some inputs."""
        first, last = sum(self.counts[:start]), sum(self.counts[:end])
        return InputBlock({name: value[first:last] for name, value in self.feeds.items()}, self.counts[start:end])


def is_alike(one: Feeds, other: Feeds) -> bool:
    """Return True for inputs that can be stacked: the rows of all arrays are as many, and of the same shape in both."""
    same = one.keys() == other.keys() and all(np.shape(one[name])[1:] == np.shape(other[name])[1:] for name in one)
    return same and bool(row_count(one) and row_count(other))


def stacked(feeds: Sequence[Feeds]) -> InputBlock:
    """Return inputs stacked along their first axes."""
    first = feeds[0]
    joined = {name: np.concatenate([one[name] for one in feeds]) for name in first} if len(feeds) > 1 else first
    return InputBlock(joined, [row_count(one) or 0 for one in feeds])


def row_count(feeds: Feeds) -> int | None:
    """Return the number of rows of an input, None if its arrays differ."""
    counts = {np.shape(value)[:1] for value in feeds.values()}
    # Scalars, whose first size is (), have no rows either.
    count = counts.pop() if len(counts) == 1 else ()
    return count[0] if count else None


class BlockRows:
    """The rows in the inputs and in the results of a graph whose inputs can be stacked."""

    def __init__(self, graph: Graph, fetches: Mapping[str, str], inputs: Sequence[str], shared: Sequence[str] = ()) -> None:
        """`inputs` are stacked, `shared` are fed alike for all. InvalidArgumentError if a node may mix rows."""
        shapes = {graph.output(name): _declared(graph.output(name)) for name in inputs}
        sizes = {shape[0] for shape in shapes.values() if isinstance(shape[0], int)}
        if len(sizes) > 1:
            raise InvalidArgumentError(f"the inputs have batches of {' and '.join(map(str, sorted(sizes)))} rows")
        self.rows: int | None = next(iter(sizes), None)
        """The number of rows that a run takes; None for any number."""
        outputs = {name: graph.output(fetch) for name, fetch in fetches.items()}
        axes = row_axes(graph, list(outputs.values()), shapes, [graph.output(name) for name in shared])
        self._rows = {name: axes[output] for name, output in outputs.items()}
        moved = next((name for name, rows in self._rows.items() if rows is not None and rows.axis), None)
        if moved is not None:
            raise InvalidArgumentError(f"the rows of '{moved}' are not on its first axis")

    def filled(self, block: InputBlock) -> Feeds:
        """Return the feeds of a block, with rows from the first on repeated up to the number that a run takes."""
        count = sum(block.counts)
        if self.rows in (None, count):
            return block.feeds
        # Rows that exist and no zeros, of which a graph may make NaN or an error.
        places = np.arange(self.rows or 0) % count
        return {name: np.asarray(value)[places] for name, value in block.feeds.items()}

    def split(self, name: str, value: Any, counts: Sequence[int]) -> list[Any]:
        """Return the part of a result for each input of a block; NAME/PART is a part of the result NAME."""
        times = self.times(name)
        if not times:
            return [value] * len(counts)
        ends = (np.cumsum(counts) * times).tolist()
        return [value[end - count * times : end] for count, end in zip(counts, ends)]

    def times(self, name: str) -> int:
        """Return how many parts of a result a row has, 0 for a result that all rows share."""
        rows = self._rows[name if name in self._rows else name.rpartition("/")[0]]
        return 0 if rows is None else rows.times


def _declared(fed: Output) -> Shape:
    """Return the declared shape of an input; InvalidArgumentError without a first axis."""
    shape = fed.node.attrs.get("shape") if fed.node.is_placeholder else None
    if shape is None or not shape.rank:
        hint = Hint(step("shape", name=fed.node.name, sizes=Blank("SIZES")), " states the shape")
        raise InvalidArgumentError(f"the input '{fed.node.name}' has no first axis of rows", hint=hint)
    return shape  # type: ignore[no-any-return]


def lacks_rows(graph: Graph, feeds: Feeds) -> bool:
    """Return True for an input with fewer rows than its placeholders state."""
    shapes = {name: graph.output(name).node.attrs.get("shape") for name in feeds if graph.output(name).node.is_placeholder}
    firsts = {name: shape[0] for name, shape in shapes.items() if shape is not None and shape.rank}
    count = row_count(feeds)
    return count is not None and any(isinstance(size, int) and 0 < count < size for size in firsts.values())


@dataclasses.dataclass(frozen=True, slots=True)
class Ran(Generic[_Input]):
    """Inputs that ran together, and the result of the run, or the error of an input that ran alone."""

    inputs: Sequence[_Input]
    result: Any = None
    counts: Sequence[int] = ()
    """The rows of each input in a block; empty for an input that ran by itself."""
    error: TfgError | None = None
    seconds: float = 0.0
    """The CPU time of an input."""


@dataclasses.dataclass(frozen=True, slots=True)
class BlockWork(Generic[_Input]):
    """The work on inputs: how they are read and run."""

    read: Callable[[_Input], Feeds]
    read_block: Callable[[Sequence[_Input]], InputBlock | None]
    """Reads and stacks inputs at once, as the rows of a table; None for inputs that can only be read one by one."""
    run: Callable[[Feeds], Any]
    values: Callable[[Any], Mapping[str, Any]]
    """The values of a result by name."""
    rows: Callable[[Feeds], BlockRows]
    """Finds the rows of the graph; InvalidArgumentError if inputs cannot be stacked."""
    lacks_rows: Callable[[Feeds], bool]
    """Tells whether an input has fewer rows than a run takes."""
    note: Callable[[str], None]
    is_slow: Callable[[_Input], bool] = lambda _: False
    """Tells whether an input is worth a thread that reads the input ahead; many threads may read such inputs."""
    runs_at_once: Callable[[], int] = lambda: 1
    """How many runs may be side by side, each in a core: a block then is as many runs of its parts."""


class ReadAhead(Generic[_Input]):
    """Reads inputs that take long to read in threads, while inputs before them run: those of up to two blocks."""

    def __init__(self, work: BlockWork[_Input], inputs: Sequence[_Input]) -> None:
        self._work, self._inputs = work, inputs
        self._pool: ThreadPoolExecutor | None = None
        self._next = 0
        self._begun: collections.deque[tuple[_Input, Future[Feeds]]] = collections.deque()

    def begin(self, start: int, end: int) -> None:
        """Begin to read the inputs from a place up to another, as far as they are not begun."""
        for one in self._inputs[max(start, self._next) : end]:
            if self._work.is_slow(one):
                from concurrent.futures import ThreadPoolExecutor  # lazy: arrays are read at once

                self._pool = self._pool or ThreadPoolExecutor(_READERS, "tfg-inputs")
                self._begun.append((one, self._pool.submit(contextvars.copy_context().run, self._work.read, one)))
        self._next = max(end, self._next)

    def read(self, one: _Input) -> Feeds:
        """Return what an input feeds; inputs are asked for in their order."""
        # Inputs that are read at once, such as small arrays, have no thread and come in between.
        if self._begun and self._begun[0][0] is one:
            # By identity and in order: results of inputs that were never asked for would otherwise pile up.
            return self._begun.popleft()[1].result()
        return self._work.read(one)

    def close(self) -> None:
        """End the threads; inputs that were read for nothing are dropped."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


class BlockRunner(Generic[_Input]):
    """Runs inputs one by one first, then in blocks if the graph keeps their rows apart and a comparison agrees.

    A block with a failure is halved until the input with the failure is alone.
    """

    def __init__(self, work: BlockWork[_Input], size: BlockSize) -> None:
        self._work = work
        self._asked = size
        self._ahead = ReadAhead(work, ())
        self._pool: ThreadPoolExecutor | None = None
        self._begin()

    def _begin(self) -> None:
        """Run inputs one by one, as nothing is known of blocks of such inputs."""
        self.rows: BlockRows | None = None
        """The rows of the graph, once inputs run in blocks."""
        self._fed: Set[str] = frozenset()
        """The names of the tensors that the rows of the graph were found for."""
        self._is_settled = self._asked == 1
        self._first: collections.deque[tuple[Feeds, Any]] = collections.deque(maxlen=_COMPARED)
        self._alone = float("inf")
        self._size = 1
        self._most = _MOST
        self._best = float("inf")
        self._is_compared = True

    def results(self, inputs: Sequence[_Input], begin: Callable[[int], None] = lambda _: None) -> Iterator[Ran[_Input]]:
        """Yield what became of inputs, in their order; `begin` is called with the number of inputs before they are read."""
        place = 0
        with contextlib.closing(ReadAhead(self._work, inputs)) as self._ahead, contextlib.ExitStack() as closing:
            closing.callback(self._end_threads)
            while place < len(inputs):
                taken = inputs[place : place + self._size]
                begin(len(taken))
                self._ahead.begin(place, place + 2 * max(self._size, _READERS))
                if len(taken) == 1:
                    yield self._one(taken[0])
                else:
                    yield from self._together(taken)
                place += len(taken)

    def _end_threads(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _one(self, one: _Input) -> Ran[_Input]:
        """Run an input by itself."""
        started = time.process_time()
        try:
            feeds = self._ahead.read(one)
        except InternalError:
            raise
        except TfgError as error:
            return Ran([one], error=error, seconds=time.process_time() - started)
        # Whether rows stay apart depends on which tensors are fed.
        if self._is_other(feeds):
            self._begin()
        if not self._is_settled and self._work.lacks_rows(feeds):
            self._settle_filled(feeds)
        # A run takes a fixed number of rows, of which this input may have fewer.
        if self.rows is not None and self.rows.rows is not None and is_alike(feeds, feeds):
            return next(self._halved([one], stacked([feeds])))
        try:
            result, taken = _timed(self._work.run, feeds)
        except InternalError:
            raise
        except TfgError as error:
            return Ran([one], error=error, seconds=time.process_time() - started)
        if not self._is_settled:
            self._consider(feeds, result, taken)
        return Ran([one], result, seconds=time.process_time() - started)

    def _is_other(self, feeds: Feeds) -> bool:
        """Return True if the rows of the graph are not known for what an input feeds: a further tensor may mix them."""
        return self.rows is not None and feeds.keys() != self._fed

    def _consider(self, feeds: Feeds, result: Any, seconds: float) -> None:
        """Begin with blocks after some inputs, if one of two takes no longer than it may, or its parts run side by side."""
        self._first.append((feeds, result))
        # The least of several: the first run also makes plans and programs.
        self._alone = min(self._alone, seconds)
        # A run that takes long alone gains nothing from company, unless the parts of a block run side by side.
        gains = self._asked != "auto" or 2 * self._alone <= _RUN_SECONDS or self._work.runs_at_once() > 1
        if len(self._first) == _COMPARED and gains:
            self._is_settled = True
            self._settle()

    def _settle(self) -> None:
        # Of inputs of several shapes the first shape decides: others make blocks of their own later.
        alike = [pair for pair in self._first if is_alike(pair[0], self._first[0][0])]
        self._first.clear()
        if len(alike) < 2:
            return
        try:
            rows = self._work.rows(alike[0][0])
        except InvalidArgumentError as error:
            self._refuse(error)
            return
        if rows.rows is not None:
            return  # an input has as many rows as a run takes
        size = max(_power(_RUN_SECONDS / max(self._alone, 1e-6), _COMPARED), self._work.runs_at_once())
        size = size if self._asked == "auto" else self._asked
        alike = alike[: max(size, 2)]  # long runs are not worth a longer comparison than the first block is
        block = stacked([feeds for feeds, _ in alike])
        try:
            together = self._work.run(block.feeds)
        except InternalError:
            raise
        except TfgError as error:
            self._refuse(InvalidArgumentError(f"a block of inputs fails: {error.message}", node=error.node, op=error.op))
            return
        unlike = self._unlike(rows, block, together, [result for _, result in alike])
        if unlike is not None:
            self._refuse(InvalidArgumentError(f"'{unlike}' has other values in a block of inputs than one by one"))
            return
        self.rows, self._fed, self._size = rows, alike[0][0].keys(), size

    def _unlike(self, rows: BlockRows, block: InputBlock, result: Any, alone: Sequence[Any]) -> str | None:
        """Return the name of a value that differs, by more than rounding, between a block and its first inputs alone."""
        for name, value in self._work.values(result).items():
            others = (self._work.values(one)[name] for one in alone)
            if not all(map(is_same, rows.split(name, value, block.counts), others)):
                return name
        return None

    def _settle_filled(self, feeds: Feeds) -> None:
        """Fill runs of a fixed number of rows; the results of a row must not depend on the others."""
        self._is_settled = True
        try:
            rows = self._work.rows(feeds)
        except InvalidArgumentError as error:
            self._refuse(error)
            return
        self.rows, self._fed, self._size, self._is_compared = rows, feeds.keys(), rows.rows or 1, False

    def _refuse(self, error: InvalidArgumentError) -> None:
        """Go on one by one, or raise the error if blocks were asked for."""
        if self._asked != "auto":
            hint = error.hint or Hint("leave out ", option("batch"), ": inputs then run one by one")
            raise InvalidArgumentError(
                f"the inputs cannot run in blocks: {error.message}", node=error.node, op=error.op, hint=hint
            )
        self._work.note(f"inputs run one by one: {error}")

    def _together(self, inputs: Sequence[_Input]) -> Iterator[Ran[_Input]]:
        """Run inputs in as few blocks as their shapes allow."""
        started = time.process_time()
        try:
            block = self._work.read_block(inputs)
        except TfgError:
            block = None  # the reading one by one finds the input with the error
        if block is not None:
            yield from self._halved(inputs, block, (time.process_time() - started) / len(inputs))
            return
        taken: list[tuple[_Input, Feeds]] = []
        for one in inputs:
            try:
                feeds = self._ahead.read(one)
            except InternalError:
                raise
            except TfgError as error:
                yield from self._of_read(taken)
                taken = []
                yield Ran([one], error=error)
                continue
            if taken and not is_alike(feeds, taken[0][1]):
                yield from self._of_read(taken)
                taken = []
            taken.append((one, feeds))
        yield from self._of_read(taken, (time.process_time() - started) / len(inputs))

    def _of_read(self, taken: Sequence[tuple[_Input, Feeds]], seconds: float = 0.0) -> Iterator[Ran[_Input]]:
        if taken:
            yield from self._halved([one for one, _ in taken], stacked([feeds for _, feeds in taken]), seconds)

    def _halved(self, inputs: Sequence[_Input], block: InputBlock, seconds: float = 0.0) -> Iterator[Ran[_Input]]:
        """Run a block; after an error run its halves. `seconds` is the CPU time that an input took so far."""
        if self.rows is None or self._is_other(block.feeds):
            yield from map(self._one, inputs)
            return
        # Rounded up, so that there are no more parts than runs side by side.
        size = -(-len(inputs) // self._work.runs_at_once()) if self.rows.rows is None else len(inputs)
        if size < len(inputs):
            yield from self._side_by_side(inputs, block, size, seconds)
            return
        started = time.process_time()
        try:
            if self.rows.rows is not None and len(inputs) > 1 and sum(block.counts) > self.rows.rows:
                raise ResourceExhaustedError("the rows of the inputs do not fit into a run")
            result, taken = _timed(self._work.run, self.rows.filled(block))
        except InternalError:
            raise
        except TfgError as error:
            used = seconds + (time.process_time() - started) / len(inputs)
            if len(inputs) == 1:
                yield Ran(inputs, error=error, seconds=used)
                return
            middle = len(inputs) // 2
            # Memory bounds all later blocks too; another error belongs to an input.
            if isinstance(error, ResourceExhaustedError):
                self._size = self._most = middle
            yield from self._halved(inputs[:middle], block.part(0, middle), used)
            yield from self._halved(inputs[middle:], block.part(middle, len(inputs)), used)
            return
        self._grow(block, taken)
        if not self._is_compared and len(inputs) > 1:
            self._compare_filled(block, result)
        yield Ran(inputs, result, block.counts, None, seconds + (time.process_time() - started) / len(inputs))

    def _side_by_side(self, inputs: Sequence[_Input], block: InputBlock, size: int, seconds: float) -> Iterator[Ran[_Input]]:
        """Run the parts of a block, of `size` inputs each, at once; a part with an error runs again by itself, halved."""
        from concurrent.futures import ThreadPoolExecutor  # lazy: most engines divide each run among the cores

        self._pool = self._pool or ThreadPoolExecutor(self._work.runs_at_once(), "tfg-streams")
        started = time.process_time()
        starts = range(0, len(inputs), size)
        parts = [block.part(start, min(start + size, len(inputs))) for start in starts]
        # Tells the engine that runs have a core each; NumPy's steps in them are not divided either.
        with undivided():
            begun = [self._pool.submit(contextvars.copy_context().run, _timed, self._work.run, part.feeds) for part in parts]
        # All parts end before results are given on, so that no run goes on when the caller stops.
        errors = [future.exception() for future in begun]
        used = seconds + (time.process_time() - started) / len(inputs)
        if not any(errors):
            self._grow(block, min(used * len(inputs), sum(future.result()[1] for future in begun)))
        for start, part, future, error in zip(starts, parts, begun, errors):
            ran = inputs[start : start + size]
            if error is None:
                yield Ran(ran, future.result()[0], part.counts, None, used)
            elif isinstance(error, TfgError) and not isinstance(error, InternalError):
                yield from self._halved(ran, part, used)
            else:
                raise error

    def _compare_filled(self, block: InputBlock, result: Any) -> None:
        """Compare the first input of a block with a run that repeats the input; InvalidArgumentError for other values."""
        assert self.rows is not None
        self._is_compared = True
        # Once a graph: the analysis of rows says that they stay apart, and this run holds it against the kernels.
        alone = self._work.run(self.rows.filled(block.part(0, 1)))
        (count, *_) = block.counts
        parts = {name: self.rows.split(name, value, [count])[0] for name, value in self._work.values(alone).items()}
        for name, value in self._work.values(result).items():
            if not is_same(self.rows.split(name, value, block.counts)[0], parts[name]):
                raise InvalidArgumentError(f"'{name}' of an input depends on the other inputs of a run")

    def _grow(self, block: InputBlock, seconds: float) -> None:
        """Let blocks grow until a run takes as long as it may; the first run of a size also prepares programs."""
        count = len(block.counts)
        # Parts of halved blocks and the last block are smaller than the size, and their times say nothing of it.
        if self._asked != "auto" or count != self._size or (self.rows is not None and self.rows.rows is not None):
            return
        self._best = min(self._best, seconds)
        # By at most this factor, since the time of a short run is largely that of the call, and tells little of a large block.
        factor = _power(_RUN_SECONDS / max(self._best, 1e-6), _GROWTH)
        most = max(min(self._most, count * _MOST_BYTES // max(block.bytes, 1)), count)
        if factor > 1 and count < most:
            self._size, self._best = min(factor * count, most), float("inf")


def _timed(run: Callable[[Feeds], Any], feeds: Feeds) -> tuple[Any, float]:
    """Return the result of a run, and the lesser of its CPU time and its wall time."""
    cpu, clock = time.process_time(), time.perf_counter()
    result = run(feeds)
    return result, min(time.process_time() - cpu, time.perf_counter() - clock)


def _power(value: float, most: int) -> int:
    """Return the largest power of two up to a value, from 1 to `most`."""
    # Few sizes, since each new one makes another plan, and another program of an engine.
    return min(1 << max(int(value).bit_length() - 1, 0), most)


def is_same(part: Any, alone: Any) -> bool:
    """Return True for values that are equal to rounding."""
    part, alone = np.asarray(part), np.asarray(alone)
    if alone.dtype == object or part.dtype == object:
        return part.shape == alone.shape and bool((part == alone).all())
    return difference(part, alone) is None
