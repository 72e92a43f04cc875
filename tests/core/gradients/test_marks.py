"""No mark hides a derivative: where a float output varies with a float input, TensorFlow said that no gradient flows."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Sequence

import numpy as np
import pytest

from tests import opcases
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.gradients.swept_values import has_gradient
from tfg.core.registry import registry
from tfg.core.registry.catalog import CATALOG, ArgDef, OpDef
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import TfgError, UnimplementedError
from tfg.core.types.dtypes import DType

FLOATS = (np.float32, np.float64)
BY_LOOPS = {"StackPushV2"}
"""The loop that a stack belongs to takes it back."""


@functools.cache
def in_tensorflow() -> dict[str, str]:
    """`none` or `function` for each op of TensorFlow's registry of gradients."""
    lines = pathlib.Path(__file__).with_name("tensorflow_registry.txt").read_text().splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def carries_floats(family: str, case: opcases.Case) -> bool:
    """Whether the case runs, with a float among inputs and outputs."""
    step = answers(family).steps(case.key)[0]
    return not step["error"] and any(map(is_float, case.feeds.values())) and any(map(is_float, step["results"]))


def is_float(value: object) -> bool:
    array = np.asarray(value)
    return array.dtype in FLOATS and array.size > 0


def varying_input(case: opcases.Case) -> str | None:
    """An input with which a float output varies smoothly: two central differences of different steps agree, and are not 0."""
    builder = GraphBuilder()
    (fetches,) = case.build(builder)
    session = Session(builder.graph, seed=0)
    return next((name for name, x in case.feeds.items() if is_float(x) and _varies(session, fetches, case.feeds, name)), None)


def _varies(session: Session, fetches: list[str], feeds: dict[str, np.ndarray], name: str) -> bool:
    x = feeds[name]
    direction = np.random.default_rng(0).uniform(0.5, 1.5, x.shape).astype(x.dtype)
    step = 1e-2 if x.dtype == np.float32 else 1e-4
    with np.errstate(all="ignore"):
        try:
            wide, narrow = (_slope(session, fetches, {**feeds}, name, direction, h) for h in (step, step / 2))
        except TfgError:  # a value beside the case's is refused
            return False
    pairs = [(w, n) for w, n in zip(wide, narrow) if w.shape == n.shape]
    return any(np.any((np.abs(w) > 1e-2) & (np.abs(w - n) < 0.05 * np.abs(w))) for w, n in pairs)


def _slope(session, fetches, feeds, name, direction, h):
    above, below = (session.run(fetches, {**feeds, name: feeds[name] + side * h * direction}) for side in (1, -1))
    pairs = [(np.float64(a), np.float64(b)) for a, b in zip(above, below) if is_float(a)]
    return [(a - b) / (2 * h) if a.shape == b.shape else np.zeros(0) for a, b in pairs]


@pytest.mark.sampled(10)
@pytest.mark.ops(single=True, where=lambda case: registry.gradient_function(case.op) is registry.NOT_DIFFERENTIABLE)
def test_what_is_not_differentiable_is_so_in_tensorflow_or_flat(cases: Sequence[tuple[str, opcases.Case]]) -> None:
    opcases.for_each(cases, check_flatness)


def check_flatness(family: str, case: opcases.Case) -> None:
    if carries_floats(family, case):
        assert in_tensorflow().get(case.op) == "none" or varying_input(case) is None


@pytest.mark.slow
def test_the_differences_see_ops_without_a_gradient() -> None:
    """What they are for: dozens of ops that TensorFlow has no gradient of vary with their inputs."""
    unknown = (
        (family, case)
        for op, pairs in opcases.by_op().items()
        if registry.gradient_function(op) is registry.WITHOUT_GRADIENT
        for family, case in pairs
        if case.is_single_op
    )
    ops = {case.op for family, case in unknown if carries_floats(family, case) and varying_input(case) is not None}
    assert ops >= {"AudioSpectrogram", "Mfcc", "LRNGrad"} and len(ops) > 20


def test_what_may_carry_a_gradient_is_marked_by_tensorflow_only() -> None:
    """Also ops that no case runs alone: one whose interface takes and gives floats is not differentiable as in TensorFlow."""
    registry.load_all_families()
    hidden = [
        op for op in sorted(registry.registered_ops())
        if CATALOG.is_builtin(op) and registry.gradient_function(op) is registry.NOT_DIFFERENTIABLE
        and op not in in_tensorflow() and op not in BY_LOOPS and _carries(CATALOG[op])
    ]  # fmt: skip
    assert not hidden


def _carries(op: OpDef) -> bool:
    return any(_may_be_float(op, arg) for arg in op.inputs) and any(_may_be_float(op, arg) for arg in op.outputs)


def _may_be_float(op: OpDef, arg: ArgDef) -> bool:
    if arg.dtype is not None:
        return has_gradient(arg.dtype)
    allowed = op.attrs[str(arg.type_attr or arg.type_list_attr)].allowed
    return allowed is None or any(has_gradient(dtype) for dtype in allowed if isinstance(dtype, DType))


@pytest.mark.parametrize("op", ["AudioSpectrogram"])
def test_a_gradient_that_nobody_knows_is_an_error(op: str) -> None:
    """It names the node, and comes only where a gradient has to flow through it."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[8, 1], name="x")
    g.AudioSpectrogram(x, window_size=4, stride=2, name="spectrogram")
    g.Square(x, name="beside")
    with pytest.raises(UnimplementedError, match="spectrogram") as raised:
        gradients(g.graph, ["spectrogram:0"], ["x:0"])
    assert raised.value.hint
    assert gradients(g.graph, ["beside:0"], ["x:0"]) != [None]
