"""Bodies of steps taken out of a plan, on slots of their own with the constants that they read; and plans of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ..control_flow.copies import handed_in
from ..control_flow.frames import MERGE, SWITCH
from ..functions.implementations import function_called
from ..graph.graph import Function, Output
from ..planning.plan import Plan, Step, add_releases, on_own_slots
from ..planning.planner import plan_of_function
from ..registry.op_facts import has_fact
from ..support.errors import UnimplementedError
from ..types import dtypes
from ..types.dtypes import DType
from ..types.tensors import FuncRef
from .protocol import Body, inputs_of


def is_constant_step(step: Step) -> bool:
    """Return True for a constant, whose value exists before anything runs."""
    return type(step) is Step and step.node.is_constant and not step.is_guarded


def only_decides(step: Step) -> bool:
    """Return True for a step of a V1 conditional that decides the branch, or joins the branches."""
    return step.node.op in (*SWITCH, *MERGE) or (step.is_guarded and step.node.is_no_op)


def constants_by_slot(plan: Plan) -> dict[int, Step]:
    """Return the constants of a plan by their slots."""
    return {step.outputs[0]: step for step in plan.steps if is_constant_step(step)}


def body_of(
    members: Sequence[Step], constant_steps: Mapping[int, Step], outputs: Sequence[int], fed: Set[int]
) -> tuple[tuple[int, ...], Body]:
    """Return the slots that `members` read from the rest of the plan, and the members' body, with results in the slots
    `outputs`.

    Members are in order. `constant_steps` are the plan's constants, `fed` the slots that are fed.
    """
    made = {slot for step in members for slot in step.outputs}
    taken = dict.fromkeys(slot for step in members for slot in step.inputs if slot not in made)
    constants = [constant_steps[slot] for slot in taken if slot in constant_steps]
    inputs, body, local = on_own_slots([*constants, *members])
    results = tuple(local[slot] for slot in outputs)
    lasting = {*results, *(local[step.outputs[0]] for step in constants)}
    add_releases(body, lasting)
    variables = tuple(sorted(local[slot] for slot in _variables(members, set(inputs), fed)))
    return inputs, Body(body, len(local), len(inputs), results, variables)


def _variables(members: Sequence[Step], inputs: Set[int], fed: Set[int]) -> set[int]:
    """Return the inputs where handles arrive, or references that are not fed."""
    variables = set()
    for step in members:
        for slot, value in zip(step.inputs, inputs_of(step)):
            is_variable = value.dtype is dtypes.resource and not is_of_run(value)
            if slot in inputs and (is_variable or (is_reference(value.dtype) and slot not in fed)):
                variables.add(slot)
    return variables


def is_reference(dtype: DType | None) -> bool:
    """Return True for a V1 reference."""
    return dtype is not None and dtype.is_ref


def is_of_run(handle: Output) -> bool:
    """Return True for a handle of an object made by a node with the fact `run_state`."""
    return has_fact(handed_in(handle).node.op, "run_state")


def is_held_together(value: Output) -> bool:
    """Return True for a list, and for the handle of an object that lives as long as the run."""
    return value.dtype is dtypes.variant or (value.dtype is dtypes.resource and is_of_run(value))


def called_plan(functions: Mapping[str, Function], reference: FuncRef) -> tuple[Function, Plan]:
    """Return the function that a call runs, and its plan; UnimplementedError for a missing function, or for any dtypes."""
    function = function_called(functions, reference.name)
    if function is None:
        raise UnimplementedError(f"function '{reference.name}' is not in the library")
    if function.signature.attrs:
        raise UnimplementedError(f"function '{function.name}' is instantiated for each call")
    return function, plan_of_function(function)
