"""Fusion of steps: a convolution with an epilogue on each block in the cache, and chains of elementwise ops.

`with_fused_steps` forms groups in a plan, where only the dtypes are known; `fused_calls` computes layouts when values are
there. Groups whose values are small are taken apart again after some runs.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final, NamedTuple

from ...graph.graph import Node
from ...planning.plan import Plan, Step, on_own_slots, with_releases
from ...registry.catalog import CATALOG
from ...registry.op_facts import has_fact
from ...registry.registry import affine_function, blockwise_way
from ...types.dtypes import float32, float64
from ...types.tensors import Tensor
from .pad_fusion import PadFused, is_plain, with_pad_fusions

_MOST_STEPS: Final = 64
"""Steps of a group: all operands of a tile have to stay in a cache."""
_WIDER: Final = 3
"""The ratio of result to input channels from which a producer may compute some rows twice.

Without rows between producers, MobileNetV2 at batch 8 takes 1.10 of the time.
"""
_FLOATS: Final = (float32, float64)


@dataclasses.dataclass(slots=True, eq=False)
class Fused(Step):
    """A fused group of steps; `node` is the node of the last step, which computes the result.

    `body` works on `slots` slots apart from the plan's slots, the inputs first. `steps` are the steps of the group as in the
    plan. If the group `has_producer`, the first step is a convolution or a similar op with a result in blocks. The producer
    may read the result of `lead` in blocks. `lead` is a group on the first input, and may have a producer too.
    """

    body: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()
    slots: int = 0
    has_producer: bool = False
    lead: Fused | None = None


def with_fused_steps(plan: Plan, has_groups: bool = True) -> Plan:
    """Return the plan with fused steps; without groups, paddings are fused and steps that pass values on left out."""
    if plan.needs_dataflow:
        return plan
    fetched = {slot for slot in plan.fetches if slot is not None}
    single = with_pad_fusions(_without_passing_on(plan.steps, fetched), fetched)
    groups = _StepGrouping(single, fetched).groups() if has_groups else {}
    if not groups and len(single) == len(plan.steps):
        return plan
    inside = {id(step) for group in groups.values() for step in group.all_steps()}
    steps: list[Step] = []
    for step in single:
        if id(step) in groups:
            steps.append(_fused(groups[id(step)]))
        elif id(step) not in inside:
            steps.append(step)
    return dataclasses.replace(plan, steps=with_releases(steps, fetched))


def _without_passing_on(steps: Sequence[Step], fetched: Set[int]) -> list[Step]:
    """Return the steps without steps that only pass on their inputs; readers take the inputs instead."""
    remaining = []
    passed: dict[int, int] = {}
    for step in steps:
        if passed and not passed.keys().isdisjoint((*step.inputs, *step.controls)):
            inputs, controls = (tuple([passed.get(slot, slot) for slot in slots]) for slots in (step.inputs, step.controls))
            step = dataclasses.replace(step, inputs=inputs, controls=controls)
        if fetched.isdisjoint(step.outputs) and has_fact(step.node.op, "passes_each_on") and is_plain(step):
            passed.update(zip(step.outputs, step.inputs))
        else:
            remaining.append(step)
    return remaining


def settled_steps(steps: Sequence[Step], useful: Set[Fused], fed: Set[Fused], plan: Plan) -> tuple[Step, ...]:
    """Return the steps with useless groups taken apart, and with groups separated from leads that did not feed rows."""
    settled = tuple([part for step in steps for part in _settled(step, useful, fed)])
    return settled if settled == tuple(steps) else with_releases(settled, {slot for slot in plan.fetches if slot is not None})


def _settled(step: Step, useful: Set[Fused], fed: Set[Fused]) -> Iterator[Step]:
    if not isinstance(step, Fused) or (step in useful and (step.lead is None or step in fed)):
        yield step
        return
    if step.lead is not None:
        yield from _settled(step.lead, useful, fed)
    if step in useful and len(step.steps) > 1:
        yield _fused(_StepGroup(step.steps))
    else:
        yield from step.steps


def all_steps(step: Step) -> Iterator[Step]:
    """Yield the steps that a step stands for, in their order; for a group, the steps of its leads too."""
    if isinstance(step, Fused):
        if step.lead is not None:
            yield from all_steps(step.lead)
        for inner in step.steps:
            yield from all_steps(inner)
    elif isinstance(step, PadFused):
        yield from step.steps
    else:
        yield step


class _StepGroup(NamedTuple):
    """The steps of a group, a producer first, and its lead."""

    steps: Sequence[Step]
    lead: _StepGroup | None = None

    def all_steps(self) -> list[Step]:
        """Return the steps of the group and of its leads."""
        return [*(self.lead.all_steps() if self.lead else ()), *self.steps]


class _StepGrouping:
    """The grouping of steps: a first step, and steps whose values only the group reads."""

    def __init__(self, steps: Sequence[Step], fetched: Set[int]) -> None:
        self.steps = steps
        self.fetched = fetched
        self.place = {id(step): i for i, step in enumerate(steps)}
        self.made_by = {slot: i for i, step in enumerate(steps) for slot in step.outputs}
        self.readers: dict[int, set[int]] = collections.defaultdict(set)
        for i, step in enumerate(steps):
            for slot in (*step.inputs, *step.controls):
                self.readers[slot].add(i)
        self.kinds = [self._kind(step) for step in steps]

    def groups(self) -> dict[int, _StepGroup]:
        """Return all groups, by the identity of their last step."""
        taken: set[int] = set()
        groups: dict[int, _StepGroup] = {}
        for root in reversed(range(len(self.steps))):
            if root in taken or not self.kinds[root]:
                continue
            members = self._in_order(self._group(root, taken))
            group = self._with_lead(members, taken, False)
            if len(members) > 1 or group.lead:
                taken |= {self.place[id(step)] for step in group.all_steps()}
                groups[id(self.steps[root])] = group
        return groups

    def _in_order(self, group: Iterable[int]) -> list[int]:
        """Return the steps of a group in order, a producer first."""
        return sorted(group, key=lambda i: (self.kinds[i] != "producer", i))

    def _with_lead(self, members: Sequence[int], taken: Set[int], overlaps: bool) -> _StepGroup:
        """Return a group with a lead: the producer of the group's first input, where only the group reads the input, and by
        rows.

        `overlaps`: the group's reader has some rows of the group computed twice.
        """
        steps, first = [self.steps[i] for i in members], members[0]
        maker = self.made_by.get(self.steps[first].inputs[0])
        if self.kinds[first] != "producer" or maker is None or maker in taken or not self._is_inner(maker, {first}):
            return _StepGroup(steps)
        lead = self._in_order(self._group(maker, taken)) if self.kinds[maker] and self._goes_by_rows(first) else []
        if not lead or not self._is_worth_leading(lead, first, overlaps):
            return _StepGroup(steps)
        return _StepGroup(steps, self._with_lead(lead, taken, overlaps or _overlaps(self.steps[first])))

    def _is_worth_leading(self, lead: Sequence[int], first: int, overlaps: bool) -> bool:
        """Return True where a producer pays as a lead: few rows are computed twice, and only in this lead.

        Elementwise steps do not pay: computed by rows they take 0.98 to 1.01 of the time of five networks.
        """
        maker = lead[0]
        if self.kinds[maker] != "producer" or overlaps or not self._goes_by_rows(maker):
            return False
        makes_some_twice, takes_some_twice = _overlaps(self.steps[first]), _overlaps(self.steps[maker])
        return makes_some_twice is not takes_some_twice and (takes_some_twice or self._widens(maker))

    def _widens(self, i: int) -> bool:
        """True for a producer with an input much smaller than the result."""
        filters = self._constant(self.steps[i].inputs[1])
        return filters is not None and filters.shape[-1] >= _WIDER * filters.shape[-2]

    def _goes_by_rows(self, i: int) -> bool:
        """True for a producer with constant filters that takes its input and computes its result by rows."""
        step = self.steps[i]
        way, filters = blockwise_way(step.node.op), self._constant(step.inputs[1])
        if way is None or way.by_rows is None or filters is None:
            return False
        if isinstance(step, PadFused) and not way.by_rows.overlaps:
            return False
        return bool(way.by_rows.suits(step.node, filters.shape))

    def _constant(self, slot: int) -> Tensor | None:
        """Return the constant in a slot, as the graph has the constant; None for another slot."""
        maker = self.made_by.get(slot)
        return self.steps[maker].node.attr("value") if maker is not None and self.steps[maker].node.is_constant else None

    def _group(self, root: int, taken: Set[int]) -> set[int]:
        group: set[int] = set()
        pending = {root}
        producer: int | None = None
        while pending and len(group) < _MOST_STEPS:
            i = max(pending)
            pending.discard(i)
            if i in taken or not self.kinds[i] or (group and not self._is_inner(i, group)):
                continue
            begun = self._producer_behind(i)
            if begun is not None and producer not in (None, begun):
                continue
            if producer is not None and self._reads(producer, i):
                continue
            producer = producer if begun is None else begun
            group.add(i)
            if self.kinds[i] != "producer":
                pending |= self._candidates(i)
        return group

    def _producer_behind(self, i: int) -> int | None:
        """Return the producer behind a step: the step itself, or the producer whose filters absorb the step and affine
        steps between.
        """
        while self.kinds[i] == "affine":
            maker = self.made_by.get(self.steps[i].inputs[0])
            if maker is None or not self._is_inner(maker, {i}):
                return None
            i = maker
        return i if self.kinds[i] == "producer" else None

    def _reads(self, i: int, maker: int) -> bool:
        """True for a step that reads a result of another step."""
        return not set(self.steps[maker].outputs).isdisjoint(self.steps[i].inputs)

    def _candidates(self, i: int) -> set[int]:
        """Return the steps whose values a step takes; for an affine step, only the source of the first input."""
        inputs = self.steps[i].inputs[:1] if self.kinds[i] == "affine" else self.steps[i].inputs
        return {self.made_by[slot] for slot in inputs if slot in self.made_by}

    def _is_inner(self, i: int, group: Set[int]) -> bool:
        outputs = self.steps[i].outputs
        return self.fetched.isdisjoint(outputs) and all(self.readers[slot] <= group for slot in outputs)

    def _kind(self, step: Step) -> str:
        """Return the kind of a step: `producer`, `elementwise`, `affine`, or "" for a step that is not fused."""
        has_kind = type(step) in (Step, PadFused) and step.inputs and step.node.op_def is not None
        kind = _kind_of_op(step.node.op) if has_kind else ""
        if not kind or not is_plain(step) or not _is_of_floats(step.node):
            return ""
        others = step.outputs[1:]
        return "" if any(self.readers[slot] for slot in others) or not self.fetched.isdisjoint(others) else kind


@functools.cache
def _kind_of_op(op: str) -> str:
    if blockwise_way(op) is not None:
        return "producer"
    if affine_function(op) is not None:
        return "affine"
    definition = CATALOG[op]
    is_plain = not definition.is_stateful and not has_fact(op, "debug") and len(definition.outputs) == 1
    looks_at_shapes = any(attr.type == "shape" for attr in definition.attrs.values())
    return "elementwise" if is_plain and has_fact(op, "elementwise") and not looks_at_shapes else ""


def _overlaps(step: Step) -> bool:
    """True for a producer that takes some rows for two ranges of positions."""
    way = blockwise_way(step.node.op)
    return way is not None and way.by_rows is not None and way.by_rows.overlaps


def _is_of_floats(node: Node) -> bool:
    """True where the first output and all inputs have the same dtype, a dtype of NumPy's arithmetic."""
    dtype = node.output_dtypes[0]
    return dtype in _FLOATS and all(value.dtype is dtype for value in node.inputs)


def _fused(group: _StepGroup) -> Fused:
    steps = group.steps
    lead = _fused(group.lead) if group.lead else None
    inner = steps if lead is None else [lead, *steps]
    inputs, body, local = on_own_slots(inner)
    has_producer = blockwise_way(steps[0].node.op) is not None
    return Fused(
        steps[-1].node,
        inputs,
        steps[-1].outputs[:1],
        body=body[-len(steps) :],
        steps=tuple(steps),
        slots=len(local),
        has_producer=has_producer,
        lead=lead,
    )
