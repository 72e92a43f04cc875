"""Calls of fused groups of steps; the layout of a group is computed once for each combination of shapes.

Small values, and values that no layout fits, go through the steps' own kernels, which also report errors.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...graph.graph import Node
from ...inference.binding import bind_attrs
from ...numerics.elementwise_tiles import OperandForm, OperationChain, TileOperation, form_of
from ...planning.plan import Step
from ...registry.registry import Affine, affine_function, blockwise_way
from ...support.errors import InvalidArgumentError, TfgError
from ...support.keyed_cache import KeyedCache
from ..steps.instructions import Call
from .step_fusion import Fused
from .tiers import LEAST_GROUPED

WORTH_TILING: Final = 1 << 18
"""The number of elements of a result from which tiles save more memory traffic than their dispatch in Python costs."""
_MOST_LAYOUTS: Final = 16
"""The number of combinations of shapes whose layouts a group keeps; a layout may hold a copy of filters."""

_Shapes = tuple[tuple[int, ...], ...]


class FusedCall:
    """A fused group of steps as a call.

    `run_body` runs some steps of the body by their own kernels, on a list of slots. `calls` are the bound kernels of the
    parts, `functions` the registered kernels, `constants` the inputs that are the same in every run, by slot. A forced call
    runs fused on values of any size.
    """

    def __init__(
        self,
        step: Fused,
        calls: Sequence[Call],
        functions: Sequence[Call],
        run_body: Callable[[slice, list[Any]], None],
        constants: Mapping[int, Any],
        is_forced: bool = False,
    ) -> None:
        self.step = step
        self.is_forced = is_forced
        self.calls = calls
        self.run_body = run_body
        self.root = step.body[-1].outputs[0]
        self.dtype = step.node.output_dtypes[0].numpy
        self.layouts: KeyedCache[_Shapes, GroupLayout | None] = KeyedCache(_MOST_LAYOUTS)
        self.produced: KeyedCache[_Shapes, tuple[int, ...]] = KeyedCache(_MOST_LAYOUTS)
        self.is_useful = False
        affine = [affine_function(inner.node.op) for inner in step.parts]
        self.normalizes = any(form is not None and form.has_factor for form in affine)
        on_tiles = [_on_tiles(call, function) for call, function in zip(calls, functions)]
        takes_out = [_takes(function, "out") for function in functions]
        self.group = FusedGroup(step, on_tiles, takes_out, dict(constants), self.dtype)

    def __call__(self, *inputs: Any) -> Any:
        slots = [*inputs, *[None] * (self.step.slots - len(inputs))]
        try:
            result = self._produced(slots) if self.step.has_producer else self._tiled(slots)
        except (TfgError, MemoryError):  # the body fails again, with the node that is at fault
            result = None
        if result is not None:
            self.is_useful = True
            return result
        # The producer may have run already, to tell the shape of its result.
        self.run_body(slice(0 if slots[self.step.body[0].outputs[0]] is None else 1, None), slots)
        return slots[self.root]

    def _tiled(self, slots: list[Any]) -> Any:
        """Return the result of elementwise steps without a producer; None if tiles do not pay."""
        shapes = tuple([value.shape for value in slots[: len(self.step.inputs)]])
        layout = self._layout(shapes, None)
        if layout is None:
            return None
        result = np.empty(shapes_of(self.step.parts, shapes)[self.root], self.dtype)
        return result if layout.chain.evaluate(result, self._operands(layout, slots, result)) else None

    def _produced(self, slots: list[Any]) -> Any:
        """Return the result of a convolution and its epilogue. The first run with new shapes shows the result's shape."""
        shapes, layout = self._known_layout(slots)
        if layout is not None:
            return self._finished(layout, slots)
        self.run_body(slice(0, 1), slots)
        self.produced[shapes] = slots[self.step.body[0].outputs[0]].shape
        return None

    def _known_layout(self, slots: list[Any]) -> tuple[Any, GroupLayout | None]:
        """Return (the inputs' shapes, the layout).

        The layout is None until a run has shown the shape of the producer's result.
        """
        shapes = tuple([value.shape for value in slots[: len(self.step.inputs)]])
        layout = self.layouts.get(shapes)
        if layout is None and (produced := self.produced.get(shapes)) is not None:
            layout = self._layout(shapes, produced)
        return shapes, layout

    def _finished(self, layout: GroupLayout, slots: list[Any]) -> Any:
        """Return the result of a convolution with an epilogue on each block.

        The result is None if an operand cannot be cut into tiles.
        """
        finished: list[Any] = []

        def epilogue(result: Any) -> Any:
            finish = layout.chain.on(result, self._operands(layout, slots, result))
            if finish is not None:
                finished.append(result)
            return finish

        first, second, *others = [slots[i] for i in self.step.parts[0].inputs]
        filters = second if layout.filters is None else layout.filters
        keywords = {} if layout.bias is None else {"bias": layout.bias}
        if not layout.chain.instructions:
            return self.calls[0](first, filters, *others, **keywords)
        result = self.calls[0](first, filters, *others, epilogue=epilogue, **keywords)
        return result if finished else None

    def _layout(self, shapes: tuple[Any, ...], produced: tuple[int, ...] | None) -> GroupLayout | None:
        try:
            return self.layouts[shapes]
        except KeyError:
            layout = self._lay_out(shapes, produced)
        self.layouts[shapes] = layout
        return layout

    def _operands(self, layout: GroupLayout, slots: Sequence[Any], result: Any) -> list[Any]:
        """Return the chain's operands in this run."""
        values: dict[int, Any] = {**layout.known, -1: result}
        for call, sources, places in layout.early:
            computed = call(*[values[i] if i in values else slots[i] for i in sources])
            values.update(zip(places, computed if len(places) > 1 else (computed,)))
        values |= layout.fixed
        return [values[i] if i in values else slots[i] for i in layout.operands]

    def _lay_out(self, shapes: tuple[Any, ...], produced: tuple[int, ...] | None) -> GroupLayout | None:
        """Return the layout for the shapes of the inputs and of the producer's result; None if tiles do not pay."""
        shape_of = shapes_of(self.step.parts, shapes, produced)
        full = shape_of[self.root]
        size = math.prod(full)
        # The epilogue overwrites the producer's blocks, which must have the shape of the result.
        if not size or (produced is not None and tuple(produced) != tuple(full)):
            return None
        if not (self.is_forced or (self._is_worth_tiling(size) if produced is None else size >= LEAST_GROUPED)):
            return None
        return _Draft(self.group, shape_of, full).layout()

    def _is_worth_tiling(self, size: int) -> bool:
        """True for elementwise steps on enough elements that tiles take less time."""
        return size >= LEAST_GROUPED if self.normalizes else size >= WORTH_TILING and len(self.calls) > 1


def _on_tiles(call: Call, function: Call) -> Call:
    """Return a step's call for tiles; a kernel that rounds few numbers otherwise than many gets `is_part`."""
    return functools.partial(call, is_part=True) if _takes(function, "is_part") else call


@functools.lru_cache(1024)
def _takes(function: Call, name: str) -> bool:
    """True if a function has a parameter of this name; NumPy's own take `out`."""
    inner = inspect.unwrap(function)
    return name == "out" if isinstance(inner, np.ufunc) else name in inspect.signature(inner).parameters


# Layouts of fused groups for certain shapes: operations of the result's shape run on tiles, all others before the tiles.
#
# Constants that multiply a convolution's channels go into the filters, and constants added to the channels are the initial
# values of the sums.

_NO_SLOT: Final = -2
"""A slot number that no value has."""


class _Early(NamedTuple):
    """A computation before the tiles: smaller results of steps, and the vectors of affine ops."""

    call: Call
    sources: tuple[int, ...]
    places: tuple[int, ...]


class GroupLayout(NamedTuple):
    """The layout of a group for certain shapes.

    `early` are computations before the tiles, `operands` are the operands of the chain. Of the values that are the same in
    every run, `known` are those that an early computation reads, and `fixed` are operands, cut for tiles. `filters` include
    the factors of a convolution's channels, `bias` is the convolution's.
    """

    known: Mapping[int, Any]
    fixed: Mapping[int, Any]
    early: tuple[_Early, ...]
    operands: tuple[int, ...]
    chain: OperationChain
    filters: Any = None
    bias: Any = None


class FusedGroup(NamedTuple):
    """Steps to fuse: their `calls`, whether each call takes `out`, and the values that are the same in every run, by slot."""

    step: Fused
    calls: Sequence[Call]
    takes_out: Sequence[bool]
    constants: Mapping[int, Any]
    dtype: np.dtype[Any]


@functools.lru_cache(1024)
def stand_in(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array with a shape and a dtype, but without memory for elements."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def shapes_of(
    parts: Sequence[Step], shapes: Sequence[tuple[int, ...]], produced: tuple[int, ...] | None = None
) -> dict[int, tuple[int, ...]]:
    """Return the shapes of all values, by slot; InvalidArgumentError if they do not broadcast."""
    shape_of = dict(enumerate(shapes))
    for i, step in enumerate(parts):
        if i == 0 and produced is not None:
            shape_of[step.outputs[0]] = produced
            continue
        if step.node.is_constant:
            shape_of[step.outputs[0]] = step.node.attr("value").shape
            continue
        inputs = [shape_of[slot] for slot in step.inputs]
        is_affine = affine_function(step.node.op) is not None
        shape_of[step.outputs[0]] = inputs[0] if is_affine else _broadcast(inputs, step.node)
    return shape_of


def _broadcast(shapes: Sequence[tuple[int, ...]], node: Node) -> tuple[int, ...]:
    if shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise InvalidArgumentError(str(error), node=node.name, op=node.op) from None


class _Draft:
    """Makes the layout of a group for certain shapes, by slot, and a result of shape `full`."""

    def __init__(self, group: FusedGroup, shapes: Mapping[int, tuple[int, ...]], full: tuple[int, ...]) -> None:
        self.group = group
        self.shapes = dict(shapes)
        self.full = full
        self.next_slot = group.step.slots
        self.block = group.step.parts[0].outputs[0] if group.step.has_producer else _NO_SLOT
        self.fixed: dict[int, Any] = dict(group.constants)
        self.early: list[_Early] = []
        self.operands: list[int] = []
        self.forms: list[OperandForm] = []
        self.draft: list[tuple[Call, bool, tuple[int, ...], int]] = []
        self.same: dict[int, int] = {}

    def layout(self) -> GroupLayout | None:
        """Return the layout; None if an operand has no tiles."""
        parts = self.group.step.parts
        for i, step in enumerate(parts):
            affine = affine_function(step.node.op)
            if i == 0 and self.group.step.has_producer:
                continue
            if step.node.is_constant or self.shapes[step.outputs[0]] != self.full:
                self._compute_early(_Early(self.group.calls[i], step.inputs, step.outputs))
            elif affine is not None:
                self._add_affine(step, affine)
            elif step is not parts[-1] and (same := self._factor_of_one(self.group.calls[i], step)) is not None:
                self.same[step.outputs[0]] = self.same.get(same, same)
            else:
                self.draft.append((self.group.calls[i], self.group.takes_out[i], step.inputs, step.outputs[0]))
        for same, slot in self.same.items():
            self._rename(same, slot)
        filters, bias = self._absorbed() if self.group.step.has_producer else (None, None)
        if not self._take_operands():
            return None
        chain = self._chain()
        fixed = {
            slot: chain.operand(self.fixed[slot], form, chain.columns(self.full) if self.block == _NO_SLOT else self.full[-1])
            for slot, form in zip(self.operands, self.forms)
            if slot in self.fixed and form is not OperandForm.FULL
        }
        read = {slot for early in self.early for slot in early.sources}
        known = {slot: value for slot, value in self.fixed.items() if slot in read}
        return GroupLayout(known, fixed, tuple(self.early), tuple(self.operands), chain, filters, bias)

    def _factor_of_one(self, call: Call, step: Step) -> int | None:
        """Return the slot of the other factor where a step multiplies by constant ones, as swish does; else None."""
        for factor, other in itertools.permutations(step.inputs, 2) if call is np.multiply else ():
            if factor in self.fixed and self.shapes[other] == self.full and np.all(self.fixed[factor] == 1):
                return other
        return None

    def _absorbed(self) -> tuple[Any, Any]:
        """Return (filters, bias) of a convolution that absorbs the first operations with constant vectors.

        A bias that the kernel does not take stays an operation.
        """
        way = blockwise_way(self.group.step.parts[0].node.op)
        filters = self._filters()
        if way is None:
            return None, None
        factor, bias = self._take_vectors(self.block, filters is not None)
        if bias is not None and not way.takes_bias:
            self._add_first(self.block, bias)
            bias = None
        return None if factor is None else _constant(way.scaled(filters, factor)), bias

    def _filters(self) -> Any:
        """Return the producer's filters where they are constant, else None."""
        return self.group.constants.get(self.group.step.parts[0].inputs[1])

    def _take_vectors(self, value: int, has_factor: bool) -> tuple[Any, Any]:
        """Return (factor, bias) of the first operations, which multiply by or add constant vectors, and remove the
        operations.

        (x + a) * b is x * b + a * b.
        """
        factor: Any = None
        bias: Any = None
        while self.draft:
            call, _, sources, target = self.draft[0]
            vector = self._only_vector(sources, value)
            # Only constant filters can take in a factor.
            if vector is None or call not in (np.add, np.multiply) or (call is np.multiply and not has_factor):
                break
            if call is np.multiply:
                factor = vector if factor is None else factor * vector
                bias = None if bias is None else bias * vector
            else:
                bias = vector if bias is None else bias + vector
            self.draft.pop(0)
            self._rename(target, value)
        return factor, bias

    def _add_first(self, value: int, bias: Any) -> None:
        """Have the first operation add a vector to a value."""
        slot, result = self.next_slot, self.next_slot + 1
        self.next_slot += 2
        self.fixed[slot], self.shapes[slot] = bias, bias.shape
        self._rename(value, result)
        self.draft.insert(0, (np.add, True, (value, slot), result))

    def _rename(self, old: int, new: int) -> None:
        """Let the operations take a value in place of another."""
        self.draft = [
            (call, takes_out, tuple([new if slot == old else slot for slot in sources]), target)
            for call, takes_out, sources, target in self.draft
        ]

    def _only_vector(self, sources: tuple[int, ...], value: int) -> Any:
        """Return the vector of an operation on a value that no other operation reads; None for another operand."""
        others = [slot for slot in sources if slot != value]
        uses = sum(slot == value for _, _, taken, _ in self.draft for slot in taken)
        if len(others) != 1 or len(sources) != 2 or uses != 1:
            return None
        vector = self.fixed.get(others[0])
        return vector.reshape(-1) if vector is not None and form_of(vector.shape, self.full) is OperandForm.VECTOR else None

    def _compute_early(self, early: _Early) -> None:
        """Compute a value now where its sources are the same in every run, else in each run before the tiles."""
        # -1 stands for the block, of which a computation before the tiles takes the shape alone.
        if not self.fixed.keys() >= {*early.sources} - {-1}:
            self.early.append(early)
            return
        nothing = stand_in(self.full, self.group.dtype)
        result = early.call(*[nothing if i < 0 else self.fixed[i] for i in early.sources])
        self.fixed.update(zip(early.places, result if len(early.places) > 1 else (result,)))

    def _take_operands(self) -> bool:
        """Collect the operands of the operations; False if an operand has no form that tiles can be cut from."""
        made = {target for *_, target in self.draft}
        made.add(self.block)
        for slot in dict.fromkeys(slot for _, _, sources, _ in self.draft for slot in sources if slot not in made):
            form = form_of(self.shapes[slot], self.full)
            if form is None:
                return False
            self.operands.append(slot)
            self.forms.append(form)
        return True

    def _add_affine(self, step: Step, affine: Affine) -> None:
        """Add the operations x * factor + bias; both vectors are computed before the tiles."""
        bound = functools.partial(affine.function, **bind_attrs(step.node, affine.function))
        factor, bias = self.next_slot, self.next_slot + 1
        self.next_slot += 2
        self.shapes[factor] = self.shapes[bias] = self.full[-1:]
        if affine.has_factor:
            self._compute_early(_Early(bound, (-1, *step.inputs[1:]), (factor, bias)))
            self.draft.append((np.multiply, True, (step.inputs[0], factor), self.next_slot))
            self.draft.append((np.add, True, (self.next_slot, bias), step.outputs[0]))
            self.next_slot += 1
        else:
            self._compute_early(_Early(bound, (-1, *step.inputs[1:]), (bias,)))
            self.draft.append((np.add, True, (step.inputs[0], bias), step.outputs[0]))

    def _chain(self) -> OperationChain:
        numbers = {slot: 1 + i for i, slot in enumerate(self.operands)}
        numbers[self.block] = 0
        operations = []
        for call, takes_out, sources, target in self.draft:
            operations.append(TileOperation(call, takes_out, tuple([numbers[slot] for slot in sources])))
            numbers[target] = len(self.operands) + len(operations)
        return OperationChain(operations, self.forms, self.block != _NO_SLOT)


def _constant(filters: Any) -> Any:
    """Return the filters made read-only, so that arrays derived from them may be cached."""
    filters.flags.writeable = False
    return filters
