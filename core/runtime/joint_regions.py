"""Branches of a plan that processes share: each does some, from the first step to the last, and hands out what others read."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..numerics.products import divide
from ..numerics.rehearsal import Rehearsal
from ..numerics.teamwork import Form, result_array
from .instructions import Instruction, released_slots
from .joint_calls import JointCall
from .parallel_regions import Region
from .region_calls import Execute, branches_of


class JointRegion:
    """A region on the slots of a run; `call` is how it is done, with the values that enter it.

    `initial` are the slots as every run begins with them.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        region: Region,
        initial: Sequence[Any],
        rehearsal: Rehearsal,
        execute: Execute,
    ) -> None:
        self.in_order = instructions[region.start : region.stop]
        steps = [instruction[-1] for instruction in self.in_order]
        made = dict.fromkeys(slot for step in steps for slot in step.outputs)
        read = dict.fromkeys(slot for step in steps for slot in step.inputs)
        self.released = frozenset(slot for instruction in self.in_order for slot in released_slots(instruction))
        self.inputs = tuple([slot for slot in read if slot not in made and initial[slot] is None])
        self.outputs = tuple([slot for slot in made if slot not in self.released])
        branches, _ = branches_of(instructions, region)
        calls = _Branches(self.in_order, branches, self.inputs, self.outputs, initial, execute)
        self.call = JointCall(calls.in_order, [None] * len(self.inputs), rehearsal, calls.shared)

    def __call__(self, slots: list[Any]) -> None:
        for slot, value in zip(self.outputs, self.call(*[slots[slot] for slot in self.inputs])):
            slots[slot] = value
        for slot in self.released:
            slots[slot] = None


@dataclasses.dataclass(slots=True)
class _Branches:
    """The steps of a region as calls from the values that enter it to the tuple of those that leave it."""

    inside: Sequence[Instruction]
    branches: Sequence[Sequence[Instruction]]
    inputs: Sequence[int]
    outputs: Sequence[int]
    initial: Sequence[Any]
    execute: Execute
    forms: list[Form] = dataclasses.field(default_factory=list)
    are_numbers: list[bool] = dataclasses.field(default_factory=list)

    def in_order(self, *values: Any) -> tuple[Any, ...]:
        """One step after the other. The first time tells what results are like, for inputs of the same shapes."""
        slots = self._slots(values)
        self.execute(self.inside, slots)
        results = tuple([slots[slot] for slot in self.outputs])
        if not self.forms:
            self.forms = [Form(value.shape, value.dtype) for value in results]
            self.are_numbers = [isinstance(value, np.generic) for value in results]
        return results

    def shared(self, *values: Any) -> tuple[Any, ...]:
        """The branches as parts of one division. ValueError where results are of other shapes than they were."""
        slots = self._slots(values)
        results = [result_array(form.shape, form.dtype) for form in self.forms]

        def run(branch: Sequence[Instruction]) -> None:
            self.execute(branch, slots)
            made = {slot for instruction in branch for slot in instruction[-1].outputs}
            for result, slot in zip(results, self.outputs):
                if slot in made:
                    _copy(slots[slot], result)

        divide(run, self.branches, into=results[0])
        return tuple([result[()] if is_number else result for result, is_number in zip(results, self.are_numbers)])

    def _slots(self, values: Sequence[Any]) -> list[Any]:
        slots = list(self.initial)
        for slot, value in zip(self.inputs, values):
            slots[slot] = value
        return slots


def _copy(value: Any, result: Any) -> None:
    if value.shape != result.shape or value.dtype != result.dtype:
        raise ValueError(f"{value.dtype} of shape {value.shape} where there was {result.dtype} of shape {result.shape}")
    np.copyto(result, value)
