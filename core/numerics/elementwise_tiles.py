"""Chains of elementwise operations, evaluated tile by tile: intermediate values never leave the cache.

The result is (positions..., C), and a tile has some of the positions. Operands have a form of `form_of`.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from ..types.arrays import Array
from .gemm import repeated
from .work_division import ELEMENT_WORK, TILE_ELEMENTS, cut, divide, even, workers_for

_LINE: Final = 4096
"""The length up to which a vector is repeated: NumPy broadcasts a vector in a separate loop for each position."""


class OperandForm(enum.Enum):
    """How an operand varies over the result."""

    FULL = "a number for each element"
    VECTOR = "a number for each channel"
    IMAGES = "a number for each image and channel"
    SCALAR = "one number"


def form_of(shape: Sequence[int], full: Sequence[int]) -> OperandForm | None:
    """Return the form of an operand for a result of shape `full`; None for any other shape."""
    if tuple(shape) == tuple(full):
        return OperandForm.FULL
    size = math.prod(shape)
    if size == 1 and len(shape) <= len(full):
        return OperandForm.SCALAR
    if not 1 <= len(shape) <= len(full) or shape[-1] != full[-1]:
        return None
    if size == full[-1]:
        return OperandForm.VECTOR
    is_by_image = len(shape) == len(full) > 2 and shape[0] == full[0] and size == full[0] * full[-1]
    return OperandForm.IMAGES if is_by_image else None


class TileOperation(NamedTuple):
    """`call` on values of the tile: 0 is the tile of the result, then come the operands, then the results of the
    operations.

    `takes_out`: the call can write to a given array, which may be an input.
    """

    call: Callable[..., Any]
    takes_out: bool
    sources: tuple[int, ...]


class _Instruction(NamedTuple):
    """An operation, whether the operation writes to the tile of the result, and the values that are dead after the
    operation.
    """

    call: Callable[..., Any]
    writes: bool
    sources: tuple[int, ...]
    dead: tuple[int, ...]


class OperationChain:
    """Operations on operands of certain forms; the last operation's value is the result.

    `begins_filled`: the result holds a value at the start, which the operations may read.
    """

    def __init__(self, operations: Sequence[TileOperation], forms: Sequence[OperandForm], begins_filled: bool) -> None:
        self.forms = tuple(forms)
        self.instructions = list(_instructions(operations, begins_filled, len(forms) + 1))
        self.by_channel = not {OperandForm.VECTOR, OperandForm.IMAGES}.isdisjoint(forms)
        self.by_image = OperandForm.IMAGES in forms

    def operand(self, array: Array, form: OperandForm, columns: int) -> Operand | None:
        """Prepare an array for results of `columns` columns; None if the array cannot be cut into tiles."""
        if form is OperandForm.FULL and not array.flags.c_contiguous:
            return None
        return Operand(array, form, columns, self.fold(columns))

    def fold(self, columns: int) -> int:
        """Return the number of positions of a line."""
        return max(_LINE // columns, 1) if self.by_channel else 1

    def columns(self, shape: Sequence[int]) -> int:
        """Return the columns of a result, which count only where operands vary by channel."""
        return shape[-1] if self.by_channel else 1

    def on(self, result: Array, operands: Sequence[Array | Operand]) -> Callable[[slice, slice], None] | None:
        """Return a function that evaluates ranges of positions and channels; None if an operand cannot be cut into
        tiles.
        """
        columns = result.shape[-1]
        ready = self._ready(operands, columns)
        image = math.prod(result.shape[1:-1]) if self.by_image else 0
        return None if None in ready else _ChainRun(self, result.reshape(-1, columns), ready, image).evaluate

    def _ready(self, operands: Sequence[Array | Operand], columns: int) -> list[Operand | None]:
        return [a if isinstance(a, Operand) else self.operand(a, form, columns) for a, form in zip(operands, self.forms)]

    def evaluate(self, result: Array, operands: Sequence[Array | Operand]) -> bool:
        """Fill the result in parallel; False if an operand cannot be cut into tiles."""
        flat = result if self.by_channel else result.reshape(-1, 1)
        work = self.on(flat, operands)
        if work is None:
            return False
        columns = flat.shape[-1]
        positions, channels = result.size // columns, slice(0, columns)
        workers = workers_for(result.size * len(self.instructions) * ELEMENT_WORK)
        count = even(-(-result.size // TILE_ELEMENTS), workers) if workers > 1 else 1
        divide(lambda part: work(part, channels), cut(positions, count))
        return True


def _instructions(operations: Sequence[TileOperation], begins_filled: bool, first: int) -> Iterator[_Instruction]:
    """Yield the instructions; an operation writes to the result where the result's value is dead by then."""
    last = {source: i for i, operation in enumerate(operations) for source in operation.sources}
    held = 0 if begins_filled else None
    for i, (call, takes_out, sources) in enumerate(operations):
        # The memory of the result is free if it holds nothing, or a value that this operation is the last to read.
        writes = takes_out and (held is None or last.get(held, -1) <= i)
        if writes:
            held = first + i
        yield _Instruction(call, writes, sources, tuple(source for source in set(sources) if last[source] == i))


class _ChainRun:
    """A chain on the arrays of a run; threads share the object.

    Images have `image` positions where images differ, else 0.
    """

    def __init__(self, chain: OperationChain, result: Array, operands: Sequence[Any], image: int) -> None:
        self.instructions = chain.instructions
        self.result = result
        self.columns = result.shape[-1]
        self.fold = chain.fold(self.columns)
        self.image = image
        self.operands = operands

    def evaluate(self, positions: slice, channels: slice) -> None:
        """Fill a range of positions and channels of the result."""
        is_whole = channels.stop - channels.start == self.columns
        fold = self.fold if is_whole else 1
        step = max(TILE_ELEMENTS // (self.columns * fold), 1) * fold
        start = positions.start
        while start < positions.stop:
            end = min(start + step, positions.stop)
            if self.image:
                # A tile ends with its image, because the operands by image have one row for a whole tile.
                end = min(end, (start // self.image + 1) * self.image)
            # The rest of an image that is shorter than a line goes position by position.
            folded = fold if end - start >= fold else 1
            end = start + (end - start) // folded * folded
            self._tile(start, end, channels, folded)
            start = end

    def _tile(self, start: int, end: int, channels: slice, fold: int) -> None:
        block = self.result[start:end, channels]
        if fold > 1:
            block = block.reshape(-1, fold * self.columns)
        image = start // self.image if self.image else 0
        values: list[Any] = [block, *[a.tile(start, end, channels, fold, image) for a in self.operands]]
        for call, writes, sources, dead in self.instructions:
            inputs = [values[i] for i in sources]
            values.append(call(*inputs, out=block) if writes else call(*inputs))
            # Tiles that nobody reads any more are freed at once: their memory, still in the cache, serves the next operation.
            for i in dead:
                values[i] = None
        # The last operation may return its input or a scalar, or be unable to write to the result.
        if values[-1] is not block:
            block[...] = values[-1]


class Operand:
    """An array that is cut into tiles."""

    __slots__ = ("array", "form", "lines")

    def __init__(self, array: Array, form: OperandForm, columns: int, fold: int) -> None:
        self.form = form
        self.lines: Any = None
        if form is OperandForm.SCALAR:
            self.array = array if not array.ndim else array.reshape(1)
            return
        self.array = array.reshape(-1, columns)
        if form is not OperandForm.FULL and fold > 1:
            self.lines = repeated(self.array, fold)

    def tile(self, start: int, end: int, channels: slice, fold: int, image: int) -> Array:
        if self.form is OperandForm.SCALAR:
            return self.array
        if self.form is OperandForm.FULL:
            block = self.array[start:end, channels]
            return block.reshape(len(block) // fold, -1) if fold > 1 else block
        row = image if self.form is OperandForm.IMAGES else 0
        return self.lines[row] if fold > 1 else self.array[row, channels]
