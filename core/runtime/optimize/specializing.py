"""Plans specialized for known shapes of the feeds. Values that follow from shapes are computed before the run.

Inference finds tensors with the same value in every run with these shapes. Inference also finds steps that return the first
input unchanged, because the input already has the requested shape. A stack stores nothing if all popped values are known.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...control_flow.copies import handed_in
from ...engines.protocol import inner_steps
from ...graph.graph import Node, Output
from ...graph.traversal import closure
from ...inference.containers import container_of
from ...inference.inference import Specs as KnownSpecs
from ...planning.plan import Loop, Plan, Step, add_loop_releases, with_releases
from ...registry.op_facts import has_fact
from ...support import dataclasses
from ...types.dtypes import variant
from ...types.shapes import TensorSpec
from ..steps.constant_steps import only_computes

Specs = Mapping[Output, TensorSpec]

_LEAST_LOOKING: Final = 0.01
"""The share of shape-reading steps that makes inference worthwhile; inference takes about the time of planning."""


@dataclasses.dataclass(slots=True, eq=False)
class Known(Step):
    """A step that need not run: its outputs have the constant `values`."""

    values: tuple[Any, ...] = ()


def certain(nodes: Sequence[Node], specs: Specs, premises: Specs) -> Specs:
    """Return the specs that hold in every run in which the specs `premises` hold.

    Inference takes for granted that the elements of a list are alike, in functions too. Specs that follow from nodes of
    which that is not known are left out.
    """
    pool = set(nodes)

    def after(node: Node) -> set[Node]:
        container = container_of(node)
        return pool.intersection(node.uses if container is None else (*node.uses, container))

    assuming = closure([node for node in nodes if _takes_for_granted(node, specs, premises)], after)
    return KnownSpecs({output: spec for output, spec in specs.items() if output.node not in assuming})


def _takes_for_granted(node: Node, specs: Specs, premises: Specs) -> bool:
    inputs, results = ([specs[value] for value in values] for values in (node.inputs, node.outputs()))
    if node.op_def is None or node.op_def.takes_functions:
        return True
    if all(spec.dtype is variant for spec in results):
        return False
    if any(spec.dtype is variant for spec in inputs):
        content = premises.get(list_behind(node.inputs[0]))
        return not has_fact(node.op, "list_read") or content is None or not content.handle
    partial = any(spec.value is not None and spec.value.dtype == object for spec in inputs)
    if not partial or has_fact(node.op, "shape_arithmetic"):
        return False
    return any(spec.value is not None and spec.value.dtype != object for spec in results)


def list_behind(handle: Output) -> Output:
    """Return the list that a node passes on, perhaps behind other nodes."""
    while handle.node.is_identity:
        handle = handle.node.inputs[0]
    return handle


def is_worth_specializing(plan: Plan) -> bool:
    """True where enough steps read shapes for specialization to be worth an inference."""
    steps = every_step(plan.steps)
    looking = sum(has_fact(step.node.op, "metadata") for step in steps)
    return bool(looking) and looking >= _LEAST_LOOKING * len(steps)


def specialized(plan: Plan, specs: Specs) -> Plan:
    """Return the plan without the steps made superfluous by `specs`, the facts about all tensors in runs of certain shapes."""
    reducing = _Reducing(specs, _known_stacks(plan, specs))
    steps = reducing.reduced(plan.steps)
    fetches = tuple(None if slot is None else reducing.slot(slot) for slot in plan.fetches)
    fetched = {slot for slot in fetches if slot is not None}
    return dataclasses.replace(plan, steps=with_releases(steps, fetched), fetches=fetches)


def steps_left(plan: Plan) -> int:
    """Return the number of steps of a plan and its loops that run."""
    return sum(type(step) is not Known for step in every_step(plan.steps))


class _Reducing:
    """The steps of a frame, and the slots with the same value as other slots."""

    def __init__(self, specs: Specs, stacks: Collection[Node]) -> None:
        self.specs = specs
        self.stacks = stacks
        self.same: dict[int, int] = {}

    def slot(self, slot: int) -> int:
        return self.same.get(slot, slot)

    def reduced(self, steps: Sequence[Step]) -> list[Step]:
        """Return copies of the remaining steps."""
        remaining: list[Step] = []
        for step in steps:
            step = dataclasses.replace(step, inputs=tuple(map(self.slot, step.inputs)))
            if isinstance(step, Loop):
                remaining.append(self._loop(step))
            elif (values := self._values(step)) is not None:
                remaining.append(Known(step.node, (), step.outputs, values=values))
            elif (source := self._handed_on(step)) is not None:
                self.same[step.outputs[0]] = step.inputs[source]
            else:
                remaining.append(step)
        return remaining

    def _loop(self, loop: Loop) -> Loop:
        inner = _Reducing(self.specs, self.stacks)
        head, body, tail = (inner.reduced(part) for part in (loop.head, loop.body, loop.tail))
        carried = tuple((inner.slot(a), b) for a, b in loop.carried if inner.slot(a) != b)
        condition, exits = inner.slot(loop.condition), tuple(map(inner.slot, loop.exits))
        staying = set(loop.entries) - {b for _, b in carried}
        add_loop_releases((head, body, tail), {*staying, *(a for a, _ in carried), condition}, exits)
        return dataclasses.replace(
            loop,
            head=tuple(head),
            body=tuple(body),
            tail=tuple(tail),
            carried=carried,
            condition=condition,
            exits=exits,
        )

    def _values(self, step: Step) -> tuple[Any, ...] | None:
        """Return the outputs of a step that are the same in every run; None where they are unknown."""
        if not step.inputs or not step.outputs or has_fact(step.node.op, "control_flow"):
            return None
        if not (only_computes(step) or (has_fact(step.node.op, "stack_pop") and _source(step.node) in self.stacks)):
            return None
        values = tuple([self.specs[output].value for output in step.node.outputs()])
        return values if all(value is not None and value.dtype != object for value in values) else None

    def _handed_on(self, step: Step) -> int | None:
        """Return the index of the input that a step returns unchanged; None for a step that does more."""
        op = step.node.op
        if has_fact(op, "stack_push") and _source(step.node) in self.stacks:
            return 1
        if len(step.outputs) != 1 or not step.inputs or not only_computes(step):
            return None
        operand, result = self.specs[step.node.inputs[0]], self.specs[step.node.output()]
        if operand.dtype is not result.dtype or not operand.shape.is_known or operand.shape.dims != result.shape.dims:
            return None
        if has_fact(op, "same_shape_same_value"):
            return 0
        if has_fact(op, "nothing_without_axes"):
            axes = self.specs[step.node.inputs[1]].shape.num_elements
            return 0 if isinstance(axes, int) and not axes else None
        return None


def _known_stacks(plan: Plan, specs: Specs) -> set[Node]:
    """Return the stacks with all popped values known and without a guarded user."""
    users: dict[Node, list[Step]] = collections.defaultdict(list)
    for step in every_step(plan.steps):
        if has_fact(step.node.op, "stack_push") or has_fact(step.node.op, "stack_pop"):
            users[_source(step.node)].append(step)
    return {
        stack
        for stack, steps in users.items()
        if _is_endless(stack, specs) and all(_is_free_of_stack(step, specs) for step in steps)
    }


def _is_endless(stack: Node, specs: Specs) -> bool:
    """True for a stack that is never full."""
    limit = specs[stack.inputs[0]].value if stack.inputs else None
    return limit is not None and bool(np.all(limit < 0))


def _is_free_of_stack(step: Step, specs: Specs) -> bool:
    if step.is_guarded or step.dereferenced or step.shared:
        return False
    node = step.node
    value = specs[node.inputs[1] if has_fact(node.op, "stack_push") else node.output()].value
    return value is not None and value.dtype != object


def _source(node: Node) -> Node:
    """Return the stack behind the handle that a node takes."""
    return handed_in(node.inputs[0]).node


def every_step(steps: Sequence[Step]) -> list[Step]:
    """Return the steps, and in place of each loop the steps inside."""
    return [step for step in inner_steps(steps) if not isinstance(step, Loop)]
