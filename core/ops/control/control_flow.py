"""V1 control flow: ops that make values dead or alive, and ops that carry values through the iterations of a loop.

A kernel answers for a single firing of its node. Deadness and the order of firings are the business of core/planning and
core/runtime/execute/dataflow.py: an output of value DEAD is on the untaken branch.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...inference.containers import cover, without_values
from ...registry.registry import (
    WITHOUT_GRADIENT,
    facts,
    handled_by_sweep,
    kernel,
    not_differentiable,
    onnx,
    shape,
    shaped,
    zero_cost,
)
from ...runtime.state.edge_values import DEAD
from ...runtime.state.resources import Variable
from ...support import dataclasses
from ...support.errors import AbortedError, InvalidArgumentError
from ...types.arrays import Array
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec
from ..shared.argument_checks import require_rank

PASSED_ON = ("Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond")
REFERENCES = ("RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration", "RefSelect")


@kernel("Switch", "RefSwitch", flops=zero_cost, facts=("switch", "control_flow", "inexpensive"))
def switch(data: Any, pred: Array) -> Any:
    """Return (data, dead) where `pred` is false, (dead, data) where `pred` is true."""
    if np.ndim(pred):
        raise InvalidArgumentError(f"The second input must be a scalar, but it has shape {np.shape(pred)}")
    # Output 0 is the branch of false, output 1 that of true.
    return (DEAD, data) if pred else (data, DEAD)


@shape("Switch", "RefSwitch")
def switch_shape(data: TensorSpec, pred: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    require_rank(pred, 0, "pred")
    return data, data


handled_by_sweep("Switch", "RefSwitch")


@kernel("_SwitchN", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("switch", "control_flow", "inexpensive"))
def switch_n(data: Array, output_index: Array, *, num_outs: int) -> Sequence[Any]:
    """Return `data` on output `output_index`, on the last output where the index is out of range; other outputs are dead."""
    if np.ndim(output_index):
        raise InvalidArgumentError(f"The second input must be a scalar, but it has shape {np.shape(output_index)}")
    taken = int(output_index) if 0 <= output_index < num_outs else num_outs - 1
    return [data if i == taken else DEAD for i in range(num_outs)]


@shape("_SwitchN")
def switch_n_shape(data: TensorSpec, output_index: TensorSpec, *, num_outs: int) -> list[TensorSpec]:
    return [data] * num_outs


@kernel("Merge", "RefMerge", flops=zero_cost, facts=("merge", "control_flow", "inexpensive"))
def merge(inputs: Any) -> Any:
    """Return the first live input, and its index."""
    # At most one input is live in a correct graph. TensorFlow takes the one that comes first in time.
    for i, value in enumerate(inputs):
        if value is not DEAD:
            return value, np.int32(i)
    return DEAD, DEAD


@shape("Merge", "RefMerge")
def merge_shape(inputs: list[TensorSpec]) -> tuple[Any, Any]:
    # Which input is live is known in a run only: what holds of the result holds of all of them.
    return functools.reduce(cover, map(without_values, inputs)), SCALAR


@kernel(*PASSED_ON, flops=zero_cost)
def pass_on(value: Array | Variable) -> Array | Variable:
    """The value itself."""
    return value


@shape("Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration")
def pass_on_shape(data: TensorSpec) -> TensorSpec:
    # A value that enters a loop is that of the first iteration only.
    return dataclasses.replace(data, value=None)


shaped("() -> ()", "LoopCond")


@kernel("ControlTrigger", flops=zero_cost, facts=("idle",))
def control_trigger() -> None:
    """Do nothing, but stay alive even after dead inputs."""


@kernel("RefSelect", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("inexpensive", "selects_input"))
def ref_select(index: Array, inputs: Any) -> Any:
    """The reference at position `index`."""
    if np.ndim(index):
        raise InvalidArgumentError(f"Index must be a scalar, but it has shape {np.shape(index)}")
    if not 0 <= index < len(inputs):
        raise InvalidArgumentError(f"Index must be in the range [0, {len(inputs)}) but got {int(index)}")
    return inputs[int(index)]


@shape("RefSelect")
def ref_select_shape(index: TensorSpec, inputs: list[TensorSpec]) -> TensorSpec | Shape:
    shapes = [spec.shape for spec in inputs]
    # Which reference comes out is known in a run only.
    if any(s != shapes[0] for s in shapes):
        return UNKNOWN
    return inputs[0]


@kernel("Abort", flops=zero_cost, facts=("side_effect",))
def abort(*, error_msg: str, exit_without_error: bool) -> None:
    """Raise AbortedError. TensorFlow ends the process; tfg ends only the run."""
    raise AbortedError(error_msg or ("exit without error" if exit_without_error else "Abort was run"))


not_differentiable("LoopCond", "ControlTrigger", "Abort")
handled_by_sweep("Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit")
facts("enter", "control_flow", "inexpensive", of=("Enter", "RefEnter"))
facts("exit", "control_flow", "inexpensive", of=("Exit", "RefExit"))
handled_by_sweep("NextIteration", "RefNextIteration")
facts("next_iteration", "control_flow", "inexpensive", of=("NextIteration", "RefNextIteration"))
facts("control_flow", "inexpensive", of=("LoopCond", "ControlTrigger"))
facts("initialized_reference", of=("RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSelect"))

onnx("LoopCond")(lambda g, condition: condition)
onnx("ControlTrigger")(lambda g: ())
