"""Precomputation of values that follow from shapes alone, without waiting for the tensors.

Dropout draws a number for each element of a tensor of a group: the count is computed apart from the group, before the group
runs, from the shapes of the inputs. So the drawn numbers exist when the group begins, and the group stays whole.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from ..functions.callers import function_references
from ..graph.graph import Graph
from ..ordering.effects import accesses
from ..planning.plan import Plan, Step
from ..registry.op_facts import has_fact
from ..types import dtypes
from .protocol import Cluster, Engine, ShapePrecompute, results_of
from .static_inputs import fixed_inputs
from .step_bodies import body_of, constants_by_slot, is_held_together

_COUNTS = (dtypes.int32, dtypes.int64)


@dataclasses.dataclass(frozen=True, slots=True)
class PrecomputedPlan:
    """A plan with precomputing steps added, and for each step whether an engine takes the step.

    `instead` maps an input of a step to the precomputing step that provides the value.
    """

    plan: Plan
    able: list[bool]
    instead: Mapping[int, Mapping[int, int]]


def with_precomputed_shapes(plan: Plan, graph: Graph, able: Sequence[bool], engine: Engine) -> PrecomputedPlan:
    """Return the plan in which steps that are not `able` no longer wait for groups just for values that follow from shapes."""
    return _Precomputing(plan, graph, able, engine).precomputed()


class _Precomputing:
    def __init__(self, plan: Plan, graph: Graph, able: Sequence[bool], engine: Engine) -> None:
        self.plan = plan
        self.graph = graph
        self.able = able
        self.engine = engine
        self.constants = constants_by_slot(plan)
        self.makers = {slot: i for i, step in enumerate(plan.steps) for slot in step.outputs}
        self.made: dict[int, ShapePrecompute | None] = {}
        self.slots = plan.slots

    def precomputed(self) -> PrecomputedPlan:
        """Return the plan with each precomputing step before the first reader."""
        steps: list[Step] = []
        able: list[bool] = []
        places: dict[int, int] = {}
        instead: dict[int, dict[int, int]] = {}
        for step, is_able in zip(self.plan.steps, self.able):
            taken = {} if is_able or type(step) is not Step else self.taken(step)
            for slot, made in taken.items():
                if slot not in places:
                    places[slot] = len(steps)
                    steps.append(made)
                    able.append(False)
            if taken:
                instead[len(steps)] = {i: places[slot] for i, slot in enumerate(step.inputs) if slot in taken}
                step = dataclasses.replace(step, inputs=tuple(taken[i].outputs[0] if i in taken else i for i in step.inputs))
            steps.append(step)
            able.append(is_able)
        return PrecomputedPlan(dataclasses.replace(self.plan, steps=tuple(steps), slots=self.slots), able, instead)

    def taken(self, step: Step) -> dict[int, ShapePrecompute]:
        """Return the precomputing steps by the slots of a step's inputs that they provide."""
        by_slot = {slot: self.of_slot(slot) for slot in step.inputs if self.is_made(slot)}
        return {slot: made for slot, made in by_slot.items() if made is not None}

    def is_made(self, slot: int) -> bool:
        """Return True for a slot that a step of a group fills."""
        return slot in self.makers and self.able[self.makers[slot]]

    def of_slot(self, slot: int) -> ShapePrecompute | None:
        """Return the step that precomputes a slot; None where the value follows from more than shapes."""
        if slot not in self.made:
            self.made[slot] = self.step(slot)
        return self.made[slot]

    def step(self, slot: int) -> ShapePrecompute | None:
        values, shapes, known = {self.makers[slot]}, set[int](), set[int]()
        pending = [slot]
        while pending:
            step = self.plan.steps[self.makers[pending.pop()]]
            if not _is_count(step):
                return None
            if has_fact(step.node.op, "metadata"):
                shapes.update(self.makers[i] for i in step.inputs if self.is_made(i))
                continue
            inner = [i for i in step.inputs if self.is_made(i)]
            known.update(i for i in step.inputs if i not in inner)
            pending += [i for i in inner if self.makers[i] not in values]
            values.update(self.makers[i] for i in inner)
        if not shapes or not self.close(shapes):
            return None
        members = [self.plan.steps[i] for i in sorted(values | shapes)]
        inputs, body = body_of(members, self.constants, [slot], frozenset(self.plan.feeds))
        if not self.keeps_shapes(members):
            return None
        fixed = {*fixed_inputs(body, self.engine), *(place for place, i in enumerate(inputs) if i in known)}
        if not fixed.isdisjoint(body.variables):
            return None
        self.slots += 1
        node = self.plan.steps[self.makers[slot]].node
        return ShapePrecompute(node, inputs, (self.slots - 1,), cluster=Cluster(self.graph, body), known=tuple(sorted(fixed)))

    def close(self, members: set[int]) -> bool:
        """Add the predecessors in groups to `members`; False where inference cannot tell the shapes of a predecessor."""
        pending = list(members)
        while pending:
            step = self.plan.steps[pending.pop()]
            if not _has_shape(step):
                return False
            more = {self.makers[i] for i in step.inputs if self.is_made(i)} - members
            members |= more
            pending += more
        return True

    def keeps_shapes(self, members: Sequence[Step]) -> bool:
        """Return False where the run assigns to a variable read by `members`: the variable may get another shape."""
        assigning = [step.node for step in self.plan.steps if has_fact(step.node.op, "assignment")]
        if not assigning:
            return True
        nodes, fed = [step.node for step in members], frozenset(self.plan.fed)
        states = [{access.state for access in accesses(self.graph, part, fed)} for part in (nodes, assigning)]
        return states[0].isdisjoint(states[1])


def _is_count(step: Step) -> bool:
    """Return True for a step that computes integers from tensors."""
    values = (*step.node.inputs, *results_of(step))
    return (
        all(value.dtype in _COUNTS for value in results_of(step))
        and _has_shape(step)
        and not any(value.dtype is dtypes.resource for value in values)
    )


def _has_shape(step: Step) -> bool:
    """Return True for a step with inferable shapes and without effects."""
    is_call = next(function_references(step.node), None) is not None
    changes = has_fact(step.node.op, "side_effect") or not step.node.output_dtypes
    values = (*step.node.inputs, *results_of(step))
    return type(step) is Step and not (is_call or changes or any(map(is_held_together, values)))
