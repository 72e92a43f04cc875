"""Fusion of steps: a convolution with an epilogue on each block in the cache, and chains of elementwise ops.

`with_fused_steps` forms groups in a plan, where only the dtypes are known; `fused_calls` computes layouts when values are
there. Groups whose values are small are taken apart again after some runs.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Sequence, Set
from typing import Final

from ...building.gradbuilder import parts_of
from ...graph.graph import Node
from ...planning.plan import Plan, Step, on_own_slots, with_releases
from ...planning.planner import compile_plan
from ...registry.catalog import CATALOG
from ...registry.op_facts import has_fact
from ...registry.registry import Composition, affine_function, blockwise_way, lowering
from ...support import dataclasses
from ...support.errors import TfgError
from ...types.dtypes import float32, float64
from ...types.shapes import UNKNOWN

_MOST_STEPS: Final = 64
"""Steps of a group: all operands of a tile have to stay in a cache."""
_FLOATS: Final = (float32, float64)


@dataclasses.dataclass(slots=True, eq=False)
class Fused(Step):
    """A fused group of steps; `node` is the node of the last step, which computes the result.

    `body` works on `slots` slots apart from the plan's slots, the inputs first. `parts` compute the same: the body with the
    first step taken apart, if the first step is a convolution that finishes its result. `steps` are the steps of the group
    as in the plan. If the group `has_producer`, the first step is a convolution or a similar op with a result in blocks.
    """

    body: tuple[Step, ...] = ()
    parts: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()
    slots: int = 0
    has_producer: bool = False


def with_fused_steps(plan: Plan, has_groups: bool = True) -> Plan:
    """Return the plan with fused steps; without groups, only steps that pass values on are left out."""
    if plan.needs_dataflow:
        return plan
    fetched = {slot for slot in plan.fetches if slot is not None}
    single = _without_passing_on(plan.steps, fetched)
    grouping = _StepGrouping(single, fetched)
    groups = grouping.groups() if has_groups else {}
    if not groups and len(single) == len(plan.steps):
        return plan
    inside = {id(step) for group in groups.values() for step in group}
    steps: list[Step] = []
    for step in single:
        if id(step) in groups:
            steps.append(_fused(groups[id(step)], grouping.apart(groups[id(step)][0])))
        elif id(step) not in inside:
            steps.append(step)
    return dataclasses.replace(plan, steps=with_releases(steps, fetched))


# The gradient of swish has an IdentityN between convolution, normalization and activation, which parted their group: without
# it EfficientNet-B0 takes 7 % less time at batch 8.
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


def settled_steps(steps: Sequence[Step], useful: Set[Fused], plan: Plan) -> tuple[Step, ...]:
    """Return the steps with useless groups taken apart."""
    settled = [part for step in steps for part in (step.steps if isinstance(step, Fused) and step not in useful else (step,))]
    if settled == list(steps):
        return tuple(steps)
    return with_releases(settled, {slot for slot in plan.fetches if slot is not None})


class _StepGrouping:
    """The grouping of steps: a first step, and steps whose values only the group reads."""

    def __init__(self, steps: Sequence[Step], fetched: Set[int]) -> None:
        self.steps = steps
        self.fetched = fetched
        self.made_by = {slot: i for i, step in enumerate(steps) for slot in step.outputs}
        self.readers: dict[int, set[int]] = collections.defaultdict(set)
        for i, step in enumerate(steps):
            for slot in (*step.inputs, *step.controls):
                self.readers[slot].add(i)
        self._apart: dict[int, Plan | None] = {}
        self.kinds = [self._kind(step) for step in steps]

    def groups(self) -> dict[int, list[Step]]:
        """Return all groups in order, a producer first, by the identity of their last step."""
        taken: set[int] = set()
        groups: dict[int, list[Step]] = {}
        # Groups are searched from the end: found back from its result, a group holds the whole chain and not only its first
        # steps.
        for root in reversed(range(len(self.steps))):
            if root in taken or not self.kinds[root]:
                continue
            members = self._group(root, taken)
            if len(members) > 1 or self.apart(self.steps[root]) is not None:
                taken |= members
                in_order = sorted(members, key=lambda i: (self.kinds[i] != "producer", i))
                groups[id(self.steps[root])] = [self.steps[i] for i in in_order]
        return groups

    def _group(self, root: int, taken: Set[int]) -> set[int]:
        group: set[int] = set()
        pending = {root}
        producer: int | None = None
        while pending and len(group) < _MOST_STEPS:
            # The latest step comes first: when a step is looked at, each of its readers is in the group or never will be.
            i = max(pending)
            pending.discard(i)
            if i in taken or not self.kinds[i] or (group and not self._is_inner(i, group)):
                continue
            begun = self._producer_behind(i)
            # A group works on the blocks of one producer; two convolutions have blocks of their own.
            if begun is not None and producer not in (None, begun):
                continue
            # The producer runs first, so it cannot read a step of its own group.
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
        has_kind = type(step) is Step and step.inputs and step.node.op_def is not None
        kind = _kind_of_op(step.node.op) if has_kind else ""
        if not kind or not is_plain(step) or not _is_of_floats(step.node):
            return ""
        if has_fact(step.node.op, "finished_product") and self.apart(step) is None:
            return ""
        # A fused group makes the first output alone: moments of a batch, for example, must be unread.
        others = step.outputs[1:]
        return "" if any(self.readers[slot] for slot in others) or not self.fetched.isdisjoint(others) else kind

    def apart(self, step: Step) -> Plan | None:
        """Return the plan of the parts of a finished product; None for other steps, and parts that form no group."""
        if not has_fact(step.node.op, "finished_product"):
            return None
        # Most convolutions of a network have the same attributes, and their parts differ in nothing else.
        key = id(step.node.attrs)
        if key not in self._apart:
            self._apart[key] = _plan_of_parts(step.node)
        return self._apart[key]


@functools.cache
def _kind_of_op(op: str) -> str:
    if blockwise_way(op) is not None or has_fact(op, "finished_product"):
        return "producer"
    if affine_function(op) is not None:
        return "affine"
    definition = CATALOG[op]
    is_plain = not definition.is_stateful and not has_fact(op, "debug") and len(definition.outputs) == 1
    # A shape in an attribute is that of the whole tensor: the kernel would refuse a tile.
    looks_at_shapes = any(attr.type == "shape" for attr in definition.attrs.values())
    return "elementwise" if is_plain and has_fact(op, "elementwise") and not looks_at_shapes else ""


def _is_of_floats(node: Node) -> bool:
    """True if the first output and all inputs have the same dtype, a dtype of NumPy's arithmetic."""
    dtype = node.output_dtypes[0]
    return dtype in _FLOATS and all(value.dtype is dtype for value in node.inputs)


def _fused(steps: Sequence[Step], apart: Plan | None) -> Fused:
    inputs, body, local = on_own_slots(steps)
    parts, slots = (body, len(local)) if apart is None else _with_parts(body, len(local), apart)
    return Fused(
        steps[-1].node,
        inputs,
        steps[-1].outputs[:1],
        body=body,
        parts=parts,
        steps=tuple(steps),
        slots=slots,
        has_producer=blockwise_way(parts[0].node.op) is not None,
    )


# Finished products: a fused op that TensorFlow's optimizer, or tfg's, made of a convolution and the ops behind.
#
# Its kernel finishes blocks, too, but only with its own ops. Taken apart, they join the group: constant factors and biases go
# into filters and sums, and a residual behind is added on the same block. A frozen ResNet-50 then takes 0.95 of the time of
# the graph before the optimizer, and with the kernel 1.09.


def _with_parts(body: tuple[Step, ...], slots: int, plan: Plan) -> tuple[tuple[Step, ...], int]:
    """Return the steps with the first replaced by the steps of its plan, and the number of slots then."""
    first, *others = body
    local: dict[int | None, int] = dict(zip((*plan.feeds, *plan.fetches), (*first.inputs, *first.outputs)))
    inner = [slot for slot in range(plan.slots) if slot not in local]
    local.update((slot, slots + i) for i, slot in enumerate(inner))
    parts = [
        step.moved(tuple([local[slot] for slot in step.inputs]), tuple([local[slot] for slot in step.outputs]), ())
        for step in plan.steps
    ]
    return (*parts, *others), slots + len(inner)


def _plan_of_parts(node: Node) -> Plan | None:
    """Return the plan of a finished product's parts, the product first; None for parts that form no group."""
    rule = lowering(node.op)
    assert rule is not None and isinstance(rule.function, Composition)
    try:
        graph, inputs, outputs = parts_of(node, rule.function, [UNKNOWN] * len(node.inputs))
        plan = compile_plan(graph, outputs, inputs)
    except TfgError:  # the kernel says what is wrong with the node
        return None
    # Constants, such as the epsilon of a normalization, may come before the product in the plan.
    first, *others = sorted(plan.steps, key=lambda step: _kind_of_op(step.node.op) != "producer")
    forms_group = all(step.node.is_constant or _kind_of_op(step.node.op) in ("elementwise", "affine") for step in others)
    return dataclasses.replace(plan, steps=(first, *others)) if forms_group and others else None


def is_plain(step: Step) -> bool:
    """True for a step that takes and returns values alone, with channels last, outside training."""
    if not step.takes_values_alone:
        return False
    definition = step.node.op_def
    if definition is not None and _ASKED.isdisjoint(definition.attrs):  # most nodes; saves making their defaults
        return True
    return not step.node.attr("is_training") and step.node.attr("data_format", b"NHWC") in (b"NHWC", b"NDHWC")


_ASKED: Final = frozenset(("is_training", "data_format"))
