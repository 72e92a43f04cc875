"""Groups of steps at work: what the shapes of their values allow, found out once for each combination of shapes.

What is of the result's shape goes tile by tile, what is smaller is computed before. Of a convolution, what multiplies its
channels by constants goes into its filters, and constants added to these are where its sums begin. Small values, and what does
not fit, go through the steps' own kernels, which also tell what is wrong.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..binding import bind_attrs, select_kernel
from ..errors import InvalidArgumentError, TfgError
from ..graph import Node
from ..numerics.feeding import BLOCK_ELEMENTS, Feeding
from ..numerics.tiles import Chain, Form, Operation, form_of
from ..op_facts import has_fact
from ..planning.plan import Step
from ..registry import Affine, affine_function, blockwise_way
from .framing import Framed
from .fusing import Fused

_WORTH_TILING: Final = 1 << 18
"""Elements of a result from which on tiles save more than dealing them out costs."""
_WORTH_FINISHING: Final = 1 << 12
"""The same of a convolution's result, and of what is multiplied and added by channel."""
_MOST_LAYOUTS: Final = 16
_NO_SLOT: Final = -2
_FACTORS: Final = 1e-12, 1e12
"""By numbers between these filters are multiplied without a loss."""

_Call = Callable[..., Any]


class _Early(NamedTuple):
    """A value, or several, computed before the tiles: of the steps' smaller results, and of what affine ops do."""

    call: _Call
    sources: tuple[int, ...]
    places: tuple[int, ...]


class _Layout(NamedTuple):
    """How a group runs on values of certain shapes.

    `fixed` are values that are the same in every run, `early` is computed before the tiles, `operands` are the chain's.
    What multiplies the channels of a convolution is in its `filters`, `summand` is what it adds to them. A lead's rows have
    yet to be multiplied by its `factor`, which its producer has in the filters.
    """

    fixed: Mapping[int, Any]
    early: tuple[_Early, ...]
    operands: tuple[int, ...]
    chain: Chain
    filters: Any = None
    summand: Any = None
    factor: Any = None


class FusedCall:
    """A group of steps on its inputs. `run_body` runs the steps from one on, by their own kernels, on a list of slots.

    `calls` are the bound kernels of the steps, `constants` the inputs that are the same in every run, by their slot; `lead`
    makes what the first step takes first.
    """

    def __init__(
        self,
        step: Fused,
        calls: Sequence[_Call],
        run_body: Callable[[int, list[Any]], None],
        constants: Mapping[int, Any],
        lead: FusedCall | None = None,
    ) -> None:
        self.step = step
        self.calls = calls
        self.run_body = run_body
        self.constants = dict(constants)
        self.lead = lead
        self.root = step.body[-1].outputs[0]
        self.dtype = step.node.output_dtypes[0].numpy
        self.layouts: dict[tuple[tuple[int, ...], ...], _Layout | None] = {}
        self.produced: dict[tuple[tuple[int, ...], ...], tuple[int, ...]] = {}
        self.row_layouts: dict[tuple[tuple[int, ...], ...], tuple[int, _Layout] | None] = {}
        self.make_rows = _row_function(step.body[0])
        self.is_useful = self.is_fed = False
        affine = [affine_function(inner.node.op) for inner in step.body]
        self.normalizes = any(found is not None and found.has_factor for found in affine)
        self.takes_out = [_takes(select_kernel(inner.node).function, "out") for inner in step.body]

    def __call__(self, *inputs: Any) -> Any:
        slots = [*inputs, *[None] * (self.step.slots - len(inputs))]
        try:
            result = self._produced(slots) if self.step.has_producer else self._tiled(slots)
        except (TfgError, MemoryError):  # the body fails again, with the node that is at fault
            result = None
        if result is not None:
            self.is_useful = True
            return result
        self._fill_first(slots)
        self.run_body(0 if slots[self.step.body[0].outputs[0]] is None else 1, slots)
        return slots[self.root]

    def _fill_first(self, slots: list[Any]) -> None:
        """Have the lead make what the first step takes, where nobody has yet."""
        first = self.step.body[0].inputs[0]
        if self.lead is not None and slots[first] is None:
            slots[first] = self.lead(*slots[: len(self.lead.step.inputs)])

    def _first(self, slots: list[Any]) -> tuple[Any, dict[str, Any]]:
        """(what the first step takes first, or what tells its shape, by which keyword the lead makes it by rows)."""
        feeding = None if self.lead is None else self.lead.by_rows(slots[: len(self.lead.step.inputs)])
        if feeding is not None:
            self.is_fed = True
            return _stand_in(feeding.shape, self.dtype), {"feeding": feeding}
        self._fill_first(slots)
        return slots[self.step.body[0].inputs[0]], {}

    def by_rows(self, inputs: Sequence[Any]) -> Feeding | None:
        """The result by rows; None of one that is small, or that cannot be made so.

        Rows of elementwise steps are still to be multiplied by the factor of `rows_layout`.
        """
        if self.step.has_producer:
            return self._produced_by_rows([*inputs, *[None] * (self.step.slots - len(inputs))])
        found = self.rows_layout(inputs)
        if found is None:
            return None
        like, layout = inputs[found[0]], found[1]
        make = layout.chain.rows(like.shape, self.dtype, self._operands(layout, inputs, like))
        return None if make is None else Feeding(like.shape, self.dtype, make)

    def _produced_by_rows(self, slots: list[Any]) -> Feeding | None:
        shapes = tuple([value.shape for value in slots[: len(self.step.inputs)]])
        produced = self.produced.get(shapes)
        layout = None if produced is None else self._layout(shapes, produced, slots)
        if produced is None or math.prod(produced) <= BLOCK_ELEMENTS or layout is None or self.make_rows is None:
            return None
        finish = layout.chain.on_rows(produced, self._operands(layout, slots, _stand_in(produced, self.dtype)))
        first, keywords = self._first(slots)
        if finish is None or (layout.factor is not None and "feeding" not in keywords):
            return None
        if layout.chain.instructions:
            keywords["finish"] = finish
        found: Feeding | None = self.make_rows(first, self._filters(layout, slots), summand=layout.summand, **keywords)
        return found

    def _filters(self, layout: _Layout, slots: Sequence[Any]) -> Any:
        return slots[self.step.body[0].inputs[1]] if layout.filters is None else layout.filters

    def rows_layout(self, inputs: Sequence[Any]) -> tuple[int, _Layout] | None:
        """(the number of an input of the result's shape, the layout by which rows are made)."""
        shapes = tuple([value.shape for value in inputs])
        try:
            return self.row_layouts[shapes]
        except KeyError:
            known = _shapes(self.step.body, shapes)
        full = known[self.root]
        layout = _Drafting(self, known, full, inputs).layout(leaves_factor=True) if full in shapes else None
        if len(self.row_layouts) >= _MOST_LAYOUTS:
            self.row_layouts.clear()
        self.row_layouts[shapes] = found = None if layout is None else (shapes.index(full), layout)
        return found

    def _tiled(self, slots: list[Any]) -> Any:
        """The result of elementwise steps alone; None where tiles are no use."""
        shapes = tuple([value.shape for value in slots[: len(self.step.inputs)]])
        layout = self._layout(shapes, None, slots)
        if layout is None:
            return None
        result = np.empty(_shapes(self.step.body, shapes)[self.root], self.dtype)
        return result if layout.chain.evaluate(result, self._operands(layout, slots, result)) else None

    def _produced(self, slots: list[Any]) -> Any:
        """The result of a convolution and what follows it. Inputs of new shapes show what the result's shape will be."""
        first = self.step.body[0]
        shapes = tuple([value.shape for value in slots[: len(self.step.inputs)]])
        produced = self.produced.get(shapes)
        layout = None if produced is None else self._layout(shapes, produced, slots)
        if layout is not None:
            return self._finished(layout, slots)
        self._fill_first(slots)
        slots[first.outputs[0]] = result = self.calls[0](*[slots[i] for i in first.inputs])
        if len(self.produced) >= _MOST_LAYOUTS:
            self.produced.clear()
        self.produced[shapes] = result.shape
        return None

    def _finished(self, layout: _Layout, slots: list[Any]) -> Any:
        """The result of a convolution whose blocks are finished; None where an operand cannot be cut into tiles."""
        finished: list[Any] = []

        def finishing(result: Any) -> Any:
            finish = layout.chain.on(result, self._operands(layout, slots, result))
            if finish is not None:
                finished.append(result)
            return finish

        filters, others = self._filters(layout, slots), [slots[i] for i in self.step.body[0].inputs[2:]]
        first, keywords = self._first(slots)
        if layout.factor is not None and "feeding" not in keywords:
            return None
        if layout.summand is not None:
            keywords["summand"] = layout.summand
        if not layout.chain.instructions:
            return self.calls[0](first, filters, *others, **keywords)
        result = self.calls[0](first, filters, *others, finishing=finishing, **keywords)
        return result if finished else None

    def _layout(self, shapes: tuple[Any, ...], produced: tuple[int, ...] | None, slots: list[Any]) -> _Layout | None:
        key = shapes if produced is None else (*shapes, produced)
        try:
            return self.layouts[key]
        except KeyError:
            layout = self._lay_out(shapes, produced, slots)
        if len(self.layouts) >= _MOST_LAYOUTS:  # by another thread, too, while one reads
            self.layouts.clear()
        self.layouts[key] = layout
        return layout

    def _operands(self, layout: _Layout, slots: Sequence[Any], result: Any) -> list[Any]:
        """The operands of the chain, of this run."""
        values: dict[int, Any] = {**layout.fixed, -1: result}
        for call, sources, places in layout.early:
            found = call(*[values[i] if i in values else slots[i] for i in sources])
            values.update(zip(places, found if len(places) > 1 else (found,)))
        return [values[i] if i in values else slots[i] for i in layout.operands]

    def _lay_out(self, shapes: tuple[Any, ...], produced: tuple[int, ...] | None, slots: list[Any]) -> _Layout | None:
        """The layout for shapes of the inputs and of what the producer gives; None where tiles are no use."""
        known = _shapes(self.step.body, shapes, produced)
        full = known[self.root]
        least = _WORTH_TILING if produced is None and not self.normalizes else _WORTH_FINISHING
        if math.prod(full) < least or (produced is not None and tuple(produced) != tuple(full)):
            return None
        return _Drafting(self, known, full, slots).layout()


def _row_function(step: Step) -> _Call | None:
    """What makes the results of a step by rows."""
    way = blockwise_way(step.node.op)
    if way is None or way.by_rows is None:
        return None
    attrs = bind_attrs(step.node, way.by_rows.make)
    return functools.partial(way.by_rows.make, **attrs | (step.frame.keywords if isinstance(step, Framed) else {}))


def _stand_in(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array that only tells shape and dtype."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def _shapes(
    body: Sequence[Step], shapes: Sequence[tuple[int, ...]], produced: tuple[int, ...] | None = None
) -> dict[int, tuple[int, ...]]:
    """The shapes of all values, by slot; InvalidArgumentError where they do not broadcast."""
    known = dict(enumerate(shapes))
    for i, step in enumerate(body):
        if i == 0 and produced is not None:
            known[step.outputs[0]] = produced
            continue
        inputs = [known[slot] for slot in step.inputs]
        is_affine = affine_function(step.node.op) is not None
        known[step.outputs[0]] = inputs[0] if is_affine else _broadcast(inputs, step.node)
    return known


def _broadcast(shapes: Sequence[tuple[int, ...]], node: Node) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise InvalidArgumentError(str(error), node=node.name, op=node.op) from None


class _Drafting:
    """Makes the layout of a group for certain shapes."""

    def __init__(
        self, group: FusedCall, known: Mapping[int, tuple[int, ...]], full: tuple[int, ...], slots: Sequence[Any]
    ) -> None:
        self.group = group
        self.shapes = dict(known)
        self.full = full
        self.slots = slots
        self.next_slot = group.step.slots
        self.block = group.step.body[0].outputs[0] if group.step.has_producer else _NO_SLOT
        self.fixed: dict[int, Any] = dict(group.constants)
        self.early: list[_Early] = []
        self.operands: list[int] = []
        self.forms: list[Form] = []
        self.draft: list[tuple[_Call, bool, tuple[int, ...], int]] = []
        self.same: dict[int, int] = {}

    def layout(self, leaves_factor: bool = False) -> _Layout | None:
        """The layout; None where an operand has no form that tiles can be cut of."""
        for i, step in enumerate(self.group.step.body):
            affine = affine_function(step.node.op)
            if i == 0 and self.group.step.has_producer:
                continue
            if self.shapes[step.outputs[0]] != self.full:
                self._compute_early(_Early(self.group.calls[i], step.inputs, step.outputs))
            elif affine is not None:
                self._add_affine(step, affine)
            elif step is not self.group.step.body[-1] and (same := self._factor_of_one(self.group.calls[i], step)) is not None:
                self.same[step.outputs[0]] = self.same.get(same, same)
            else:
                self.draft.append((self.group.calls[i], self.group.takes_out[i], step.inputs, step.outputs[0]))
        for same, slot in self.same.items():
            self._rename(same, slot)
        filters, summand = self._absorbed() if self.group.step.has_producer else (None, None)
        factor = self._left_factor() if leaves_factor else self._factor_of_lead()
        if factor is not None and not leaves_factor:
            filters = _taking_factor(self._filters() if filters is None else filters, factor)
        if not self._take_operands():
            return None
        chain = self._chain()
        fixed = {
            slot: chain.operand(self.fixed[slot], form, chain.columns(self.full) if self.block == _NO_SLOT else self.full[-1])
            for slot, form in zip(self.operands, self.forms)
            if slot in self.fixed and form is not Form.FULL
        }
        return _Layout(fixed, tuple(self.early), tuple(self.operands), chain, filters, summand, factor)

    def _factor_of_one(self, call: _Call, step: Step) -> int | None:
        """The slot of what a step multiplies by ones that are the same in every run, as swish does; else None."""
        for factor, other in itertools.permutations(step.inputs, 2) if call is np.multiply else ():
            if factor in self.fixed and self.shapes[other] == self.full and np.all(self.fixed[factor] == 1):
                return other
        return None

    def _absorbed(self) -> tuple[Any, Any]:
        """(filters, summand) of the convolution that does what the first operations do with vectors that are always the same.

        A summand that the kernel does not take stays as an operation.
        """
        way = blockwise_way(self.group.step.body[0].node.op)
        filters = self._filters()
        if way is None:
            return None, None
        factor, summand = self._take_vectors(self.block, filters is not None)
        if summand is not None and not way.takes_summand:
            self._add_first(self.block, summand)
            summand = None
        return None if factor is None else _constant(way.scaled(filters, factor)), summand

    def _filters(self) -> Any:
        """The producer's, where they are always the same."""
        return self.group.constants.get(self.group.step.body[0].inputs[1])

    def _take_vectors(self, value: int, has_factor: bool) -> tuple[Any, Any]:
        """(factor, summand) of the first operations, which multiply and add vectors that are always the same, and go.

        (x + a) * b is x * b + a * b.
        """
        factor: Any = None
        summand: Any = None
        while self.draft:
            call, _, sources, target = self.draft[0]
            vector = self._only_vector(sources, value)
            if vector is None or call not in (np.add, np.multiply) or (call is np.multiply and not has_factor):
                break
            if call is np.multiply:
                factor = vector if factor is None else factor * vector
                summand = None if summand is None else summand * vector
            else:
                summand = vector if summand is None else summand + vector
            self.draft.pop(0)
            self._rename(target, value)
        return factor, summand

    def _add_first(self, value: int, summand: Any) -> None:
        """Have the first operation add a vector to a value."""
        slot, result = self.next_slot, self.next_slot + 1
        self.next_slot += 2
        self.fixed[slot], self.shapes[slot] = summand, summand.shape
        self._rename(value, result)
        self.draft.insert(0, (np.add, True, (value, slot), result))

    def _left_factor(self) -> Any:
        """The factor that rows are left to be multiplied by: where f is positive max(x * f + s, 0) = max(x + s / f, 0) * f."""
        before = list(self.draft)
        value = next((slot for slot in before[0][2] if self.shapes[slot] == self.full), _NO_SLOT)
        factor, summand = self._take_vectors(value, has_factor=True)
        lets_through = len(self.draft) == 1 and has_fact(self.group.step.body[-1].node.op, "homogeneous")
        if factor is None or not lets_through or not np.all((factor > _FACTORS[0]) & (factor < _FACTORS[1])):
            self.draft = before
            return None
        if summand is not None:
            self._add_first(value, summand / factor)
        return factor

    def _factor_of_lead(self) -> Any:
        """What the rows of the lead have yet to be multiplied by."""
        lead = self.group.lead
        if lead is None or lead.step.has_producer:
            return None
        found = lead.rows_layout(self.slots[: len(lead.step.inputs)])
        return None if found is None else found[1].factor

    def _rename(self, old: int, new: int) -> None:
        """Have the operations take one value in another's place."""
        self.draft = [
            (call, takes_out, tuple([new if slot == old else slot for slot in sources]), target)
            for call, takes_out, sources, target in self.draft
        ]

    def _only_vector(self, sources: tuple[int, ...], value: int) -> Any:
        """The vector of an operation on a value that no other reads; None where it is another."""
        others = [slot for slot in sources if slot != value]
        uses = sum(slot == value for _, _, taken, _ in self.draft for slot in taken)
        if len(others) != 1 or len(sources) != 2 or uses != 1:
            return None
        vector = self.fixed.get(others[0])
        return vector.reshape(-1) if vector is not None and form_of(vector.shape, self.full) is Form.VECTOR else None

    def _compute_early(self, early: _Early) -> None:
        """Now, where what it takes is the same in every run, or in each run."""
        if not self.fixed.keys() >= {*early.sources} - {-1}:
            self.early.append(early)
            return
        nothing = _stand_in(self.full, self.group.dtype)
        found = early.call(*[nothing if i < 0 else self.fixed[i] for i in early.sources])
        self.fixed.update(zip(early.places, found if len(early.places) > 1 else (found,)))

    def _take_operands(self) -> bool:
        """Note what the operations take; False where one of it has no form that tiles can be cut of."""
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
        """x * factor + summand, vectors that are computed before."""
        bound = functools.partial(affine.function, **bind_attrs(step.node, affine.function))
        factor, summand = self.next_slot, self.next_slot + 1
        self.next_slot += 2
        self.shapes[factor] = self.shapes[summand] = self.full[-1:]
        if affine.has_factor:
            self._compute_early(_Early(bound, (-1, *step.inputs[1:]), (factor, summand)))
            self.draft.append((np.multiply, True, (step.inputs[0], factor), self.next_slot))
            self.draft.append((np.add, True, (self.next_slot, summand), step.outputs[0]))
            self.next_slot += 1
        else:
            self._compute_early(_Early(bound, (-1, *step.inputs[1:]), (summand,)))
            self.draft.append((np.add, True, (step.inputs[0], summand), step.outputs[0]))

    def _chain(self) -> Chain:
        numbers = {slot: 1 + i for i, slot in enumerate(self.operands)}
        numbers[self.block] = 0
        operations = []
        for call, takes_out, sources, target in self.draft:
            operations.append(Operation(call, takes_out, tuple([numbers[slot] for slot in sources])))
            numbers[target] = len(self.operands) + len(operations)
        return Chain(operations, self.forms, self.block != _NO_SLOT)


def _constant(filters: Any) -> Any:
    """Filters that nobody may write to: what is made of them may be kept."""
    filters.flags.writeable = False
    return filters


def _taking_factor(filters: Any, factor: Any) -> Any:
    """Filters (..., C / groups, F) that multiply each of the C channels by its factor too."""
    depth, count = filters.shape[-2:]
    by_group = factor.reshape(-1, depth)
    return _constant(filters * np.repeat(by_group, count // len(by_group), 0).T)


def _takes(function: _Call, name: str) -> bool:
    """True where a function has a parameter of this name; of NumPy's own, `out` is asked for."""
    inner = inspect.unwrap(function)
    return name == "out" if isinstance(inner, np.ufunc) else name in inspect.signature(inner).parameters
