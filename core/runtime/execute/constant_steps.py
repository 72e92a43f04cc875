"""Evaluation of constant steps: steps that take constants alone and have no effects; and of nodes, without a session.

Inference evaluates constants as well, but skips some values. This module calls the kernel bound by the session. The module
accepts values of up to a megabyte and the handles of the session's variables, and leaves a failing step to the run.
Steps that follow from shapes are known by inference (`runtime/optimize/shape_programs`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...graph.graph import Node
from ...inference import binding
from ...inference.binding import select_kernel
from ...inference.node_calls import apply_kernel
from ...planning.plan import Step
from ...registry.op_facts import has_fact
from ...support.errors import ResourceExhaustedError, UnimplementedError
from ...support.user_signals import pass_on
from ...types.arrays import Array
from ...types.dtypes import resource
from ..state.resources import ANONYMOUS_NAME
from ..state.run_context import Run

_MOST_BYTES: Final = 1 << 20
"""The largest value, in bytes, that is kept for the life of the session: 1 MiB."""


# Frozen networks hardly have such steps. With weights of 8 bits, which Dequantize widens, MobileNetV2 and EfficientNet-B0 take
# 1.16 times the CPU time if such steps run.
def fixed_values(step: Step, call: Callable[..., Any], values: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the outputs of a step that are the same in every run.

    `values` holds the inputs; None marks an input that is known only during a run. The result is None if the outputs
    depend on more than the values, or are no numbers. A failing kernel also gives None, and runs report the failure.
    """
    if _gives_lasting_handle(step):
        return (call(),)
    if not step.inputs or any(value is None for value in values) or not only_computes(step):
        return None
    try:
        result = call(*values)
    except Exception as error:  # of any kind: the step stays, and its runs name the node
        pass_on(error)
        return None
    results = (result,) if len(step.outputs) == 1 else tuple(result)
    # A large value, such as a Fill of gigabytes, would stay for the life of the session.
    return results if all(map(_is_small_number, results)) else None


def is_independent(step: Step, initial: Sequence[Any]) -> bool:
    """Return True for a plain step that neither becomes a constant nor clears a constant.

    `initial` holds the constants by their slots.
    """
    if type(step) is not Step:
        return False
    clears_constants = any(initial[slot] is not None for slot in step.released)
    return not clears_constants and any(initial[slot] is None for slot in step.inputs)


def does_nothing(step: Step) -> bool:
    """True for a step that is only there for others to wait for."""
    return not step.outputs and not step.controls and has_fact(step.node.op, "idle")


def _gives_lasting_handle(step: Step) -> bool:
    """True for the handle of a named variable, which lasts as long as the session."""
    node = step.node
    if type(step) is not Step or step.is_guarded or not has_fact(node.op, "variable") or node.output_dtypes != (resource,):
        return False
    # An anonymous variable is a new one in each run, so its handle must not be kept.
    return bool(node.attr("shared_name") != ANONYMOUS_NAME.encode())


def only_computes(step: Step) -> bool:
    """True for a standalone step that computes values from values and has no effects."""
    definition = step.node.op_def
    if definition is None or definition.is_stateful or has_fact(step.node.op, "debug") or not stands_alone(step):
        return False
    # A function may have effects. A kernel that takes the context may look at the run, though its op is stateless.
    return not definition.takes_functions and not select_kernel(step.node).is_stateful


def stands_alone(step: Step) -> bool:
    """True for a standalone step that takes values alone, and always all of them."""
    return type(step) is Step and step.takes_values_alone


def _is_small_number(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype != object and value.nbytes <= _MOST_BYTES


# Values of nodes that depend on constants only, computed before a run by optimizations and exports. All work is bounded, since
# a graph may ask for anything.

FOLD_SECONDS: Final = 0.2
"""The seconds that a folded loop, or a kernel that goes through strings singly, may take."""
FOLD_FLOPS: Final = 1_000_000_000
"""The largest FLOP count of a kernel that is folded before a run."""
FOLD_BYTES: Final = 1 << 30
"""The bound on the bytes of a folded node's constants, and on the bytes that its kernel holds: 1 GiB."""


def folded_values(node: Node, inputs: Sequence[Array], most: int = FOLD_BYTES) -> list[np.ndarray[Any, Any]]:
    """Return the values of a pure node.

    Raises UnimplementedError if the kernel needs a session. Raises DeadlineExceededError or ResourceExhaustedError where
    the kernel takes more time or memory than a fold may. Callers first compare the node's FLOPs with FOLD_FLOPS.
    """
    if binding.select_kernel(node).is_stateful:
        raise UnimplementedError("its kernel needs a session")
    run = Run(0)
    run.start_clock(FOLD_SECONDS)
    run.reserve = functools.partial(_reserve, most)
    with run:
        return [np.asarray(value) for value in apply_kernel(node, inputs)]


def _reserve(most: int, size: int) -> None:
    if size > most:
        raise ResourceExhaustedError(f"it takes {size:,} bytes, too many for an optimization")
