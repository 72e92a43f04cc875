"""Removal of dead steps, whose results nobody reads: TF1's optimizers wait for the gradients of all inputs, also of the
data.

A step that could fail must run for the failure alone. Where shapes decide the failure, a single call on zeros of the plan's
shapes tells the result for all runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...planning.plan import Plan, Step, with_releases
from ...registry.op_facts import has_fact
from ...support.user_signals import pass_on
from ...types.shapes import TensorSpec
from ..steps.constant_steps import only_computes


def without_unread(plan: Plan, specs: Mapping[Output, TensorSpec], call_of: Callable[[Node], Callable[..., Any]]) -> Plan:
    """Return the plan without dead steps that cannot fail on the values that `specs` describe.

    A dead step is read by no remaining step and by no fetch.
    """
    fetched = {slot for slot in plan.fetches if slot is not None}
    read = set(fetched)
    steps: list[Step] = []
    for step in reversed(plan.steps):
        if read.isdisjoint(step.outputs) and _never_fails(step, specs, call_of):
            continue
        read.update(step.inputs, step.controls)
        steps.append(step)
    return dataclasses.replace(plan, steps=with_releases(reversed(steps), fetched)) if len(steps) < len(plan.steps) else plan


def _never_fails(step: Step, specs: Mapping[Output, TensorSpec], call_of: Callable[[Node], Callable[..., Any]]) -> bool:
    """True for a step that only computes, with known shapes and a kernel that accepts zeros of the shapes."""
    node = step.node
    if not step.inputs or not only_computes(step):
        return False
    if not (has_fact(node.op, "settled_by_shapes") or has_fact(node.op, "total")):
        return False
    inputs = [specs[value] for value in node.inputs]
    results = [specs[value] for value in node.outputs()]
    if not all(spec.shape.is_known and not spec.dtype.is_object for spec in (*inputs, *results)):
        return False
    try:
        call_of(node)(*map(_zeros, inputs))
    except Exception as error:  # of any kind: the step stays, and its runs name the node
        pass_on(error)
        return False
    return True


def _zeros(spec: TensorSpec) -> Any:
    is_known = spec.value is not None and spec.value.dtype != object
    return spec.value if is_known else np.zeros(spec.shape.known(), spec.dtype.numpy)
