"""Training ops: a single table of update rules, each as ref and resource op, dense and, where TensorFlow has a kernel,
sparse.

Inputs of every op: the variables to write, then scalars and the gradient in the order of the rule's parameters. Sparse ops
also have `indices`, the rows of the variables for the gradient's rows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...inference.binding import bundled, input_bundles
from ...numerics import update_rules
from ...numerics.integers import extremes
from ...numerics.update_rules import Values
from ...registry.catalog import CATALOG
from ...registry.registry import Cost, facts, flops, kernel, lower, shape, without_gradient
from ...runtime.state.resources import Variable
from ...support.errors import InvalidArgumentError, NotFoundError
from ...types.arrays import Array
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ..shared.resource_access import resource_variable, rounds_without_repeats


class _UpdateWork(NamedTuple):
    """The work of an update for each element; `more` FLOPs where the op's flag is set (use_nesterov, update_slots ...)."""

    flops: int
    more: int = 0
    transcendentals: int = 0


UPDATE_RULES: tuple[tuple[str, Callable[..., Values], _UpdateWork], ...] = (
    ("GradientDescent", update_rules.gradient_descent, _UpdateWork(2)),
    ("Momentum", update_rules.momentum, _UpdateWork(4, more=2)),
    ("KerasMomentum", update_rules.keras_momentum, _UpdateWork(4, more=2)),
    ("Adam", update_rules.adam, _UpdateWork(12, more=3)),
    ("AdamWithAmsgrad", update_rules.adam_with_amsgrad, _UpdateWork(13)),
    ("AdaMax", update_rules.ada_max, _UpdateWork(10)),
    ("Adadelta", update_rules.adadelta, _UpdateWork(16)),
    ("Adagrad", update_rules.adagrad, _UpdateWork(4, more=2)),
    ("AdagradV2", update_rules.adagrad_v2, _UpdateWork(5, more=2)),
    ("AdagradDA", update_rules.adagrad_da, _UpdateWork(12)),
    ("ProximalAdagrad", update_rules.proximal_adagrad, _UpdateWork(15)),
    ("ProximalGradientDescent", update_rules.proximal_gradient_descent, _UpdateWork(8)),
    # A flag may save work: with multiply_linear_by_lr FTRL multiplies where it otherwise divides twice by the rate.
    ("Ftrl", update_rules.ftrl, _UpdateWork(17, more=-1)),
    ("FtrlV2", update_rules.ftrl_v2, _UpdateWork(19, more=-1)),
    ("RMSProp", update_rules.rms_prop, _UpdateWork(11)),
    ("CenteredRMSProp", update_rules.centered_rms_prop, _UpdateWork(16)),
    ("AddSign", update_rules.add_sign, _UpdateWork(11)),
    ("PowerSign", update_rules.power_sign, _UpdateWork(10, transcendentals=1)),
)


class _Layout:
    """The positions of an op's inputs, and whether its variables are references or handles."""

    def __init__(self, op: str) -> None:
        arguments = CATALOG[op].inputs
        names = [arg.name for arg in arguments]
        self.op = op
        self.names = names
        self.is_resource = op.startswith("Resource")
        self.is_strict = op.removeprefix("Resource") in _STRICT_OPS
        self.variables = sum(arg.is_ref or (arg.dtype is not None and arg.dtype.name == "resource") for arg in arguments)
        self.gradient = next(i for i, name in enumerate(names) if name in ("grad", "delta"))
        self.indices = names.index("indices") if "indices" in names else None
        self.scalars = [i for i in range(self.variables, len(names)) if i not in (self.gradient, self.indices)]

    def resolve(self, inputs: Sequence[Any]) -> list[Variable]:
        """Return the variables behind the first inputs, all initialized and of equal shape and dtype."""
        first = inputs[: self.variables]
        variables = [self._behind(handle) for handle in first] if self.is_resource else list(first)
        first_value = variables[0].read()
        for i, variable in enumerate(variables):
            value = variable.read()
            if value.shape != first_value.shape or value.dtype != inputs[self.gradient].dtype:
                raise InvalidArgumentError(
                    f"{self.op}: '{self.names[i]}' is {value.dtype} of shape {Shape(value.shape)}, "
                    f"var has shape {Shape(first_value.shape)} and the gradient is {inputs[self.gradient].dtype}"
                )
        return variables

    def _behind(self, handle: Any) -> Variable:
        """Return the variable of a handle; for an uninitialized variable TensorFlow reports an internal error."""
        try:
            return resource_variable(handle)
        except NotFoundError as error:
            raise InvalidArgumentError(f"{self.op}: invalid variable reference, {error.message}", hint=error.hint) from None

    def check_scalars(self, inputs: Sequence[Any]) -> None:
        for i in self.scalars:
            name, value = self.names[i], inputs[i]
            if value.ndim:
                raise InvalidArgumentError(f"{self.op}: {name} is not a scalar but of shape {Shape(value.shape)}")
            if self.is_strict and name in _CONDITIONS and not _CONDITIONS[name][0](value):
                raise InvalidArgumentError(f"{self.op}: {name} must be {_CONDITIONS[name][1]}, not {value}")


_STRICT_OPS = ("ApplyProximalAdagrad", "SparseApplyProximalAdagrad", "SparseApplyFtrl", "SparseApplyFtrlV2")
"""The ops (also as Resource...) whose kernels in TensorFlow check the values of scalars."""

_NO_EMPTY_ROWS = ("Adagrad", "AdagradV2", "AdagradDA", "ProximalAdagrad", "ProximalGradientDescent", "Ftrl", "FtrlV2")
"""Rules whose sparse kernels in TensorFlow refuse variables with empty rows."""

_CONDITIONS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "lr": (lambda value: value > 0, "positive"),
    "l1": (lambda value: value >= 0, "non-negative"),
    "l2": (lambda value: value >= 0, "non-negative"),
    "l2_shrinkage": (lambda value: value >= 0, "non-negative"),
    "lr_power": (lambda value: value <= 0, "non-positive"),
}


def _on_inputs(update: Callable[..., Values]) -> Callable[..., Values]:
    """Return a rule with separate hyperparameters: the rule itself takes some of them as a tuple."""
    bundles = input_bundles(update, has_context=True)
    return (lambda xp, *values, **attrs: update(xp, *bundled(values, bundles), **attrs)) if bundles else update


def _as_kernel(apply: Callable[..., Any], update: Callable[..., Values]) -> Callable[..., Any]:
    """`apply` by the name of the rule, with the attributes that the rule asks for."""
    kernel_function = functools.update_wrapper(apply, update)
    kernel_function.__signature__ = _kernel_signature(update)  # type: ignore[attr-defined]
    return kernel_function


@functools.cache  # a rule is registered for up to four ops
def _kernel_signature(update: Callable[..., Values]) -> inspect.Signature:
    """Return the signature of a rule's kernels: any inputs, and the rule's attributes."""
    inputs = inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL)
    attrs = [p for p in inspect.signature(update).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return inspect.Signature([inputs, *attrs])


def _dense(layout: _Layout, update: Callable[..., Values]) -> Callable[..., Any]:
    """Return the kernel that applies `update` to whole variables."""
    step = _on_inputs(update)

    def apply(*inputs: Any, **attrs: Any) -> Any:
        variables = layout.resolve(inputs)
        layout.check_scalars(inputs)
        shape = variables[0].read().shape
        if inputs[layout.gradient].shape != shape:
            raise InvalidArgumentError(
                f"{layout.op}: var has shape {Shape(shape)}, the gradient {Shape(inputs[layout.gradient].shape)}"
            )
        memories = [variable.writable() for variable in variables]
        rule = functools.partial(step, **attrs) if attrs else step
        update_rules.in_tiles(rule, memories, inputs[layout.variables :], layout.gradient - layout.variables)
        return None if layout.is_resource else variables[0]

    return _as_kernel(apply, update)


def _sparse(layout: _Layout, update: Callable[..., Values]) -> Callable[..., Any]:
    """Return the kernel that applies `update` to some rows; a row that occurs several times is updated as often, in order."""
    indices_at = layout.indices
    assert indices_at is not None
    step = _on_inputs(update)

    def apply(*inputs: Any, **attrs: Any) -> Any:
        variables = layout.resolve(inputs)
        layout.check_scalars(inputs)
        indices = inputs[indices_at]
        _check_rows(layout, variables[0], inputs[layout.gradient], indices)
        memories = [variable.writable() for variable in variables]
        # An indexed assignment would keep only the last update of a repeated row; TensorFlow applies one after another.
        for chosen in rounds_without_repeats(indices):
            rows = indices[chosen]
            parts = [memory.take(rows, axis=0) for memory in memories]
            arguments = [value for i, value in enumerate(inputs) if i >= layout.variables and i != indices_at]
            # The gradient's place among the arguments, once variables and indices are taken out.
            place = layout.gradient - layout.variables - (layout.gradient > indices_at)
            arguments[place] = arguments[place][chosen]
            update_rules.update(functools.partial(step, **attrs), parts, arguments)
            for memory, part in zip(memories, parts):
                memory[rows] = part
        return None if layout.is_resource else variables[0]

    return _as_kernel(apply, update)


def _check_rows(layout: _Layout, variable: Variable, grad: Array, indices: Array) -> None:
    shape = variable.read().shape
    if not shape:
        raise InvalidArgumentError(f"{layout.op}: var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise InvalidArgumentError(f"{layout.op}: indices must be one-dimensional, not of shape {Shape(indices.shape)}")
    if grad.shape != (len(indices), *shape[1:]):
        raise InvalidArgumentError(
            f"{layout.op}: {len(indices)} indices and var of shape {Shape(shape)} do not fit a gradient of {Shape(grad.shape)}"
        )
    if 0 in shape[1:] and layout.op.split("Apply")[1] in _NO_EMPTY_ROWS:
        raise InvalidArgumentError(f"{layout.op}: the rows of var, of shape {Shape(shape)}, must not be empty")
    if indices.size and not 0 <= (ends := extremes(indices))[0] <= ends[1] < shape[0]:
        bad = np.flatnonzero((indices < 0) | (indices >= shape[0]))
        raise InvalidArgumentError(f"{layout.op}: index {indices[bad[0]]} at offset {bad[0]} in indices is out of range")


def _training_shape(layout: _Layout, *inputs: TensorSpec) -> Any:
    for i in layout.scalars:
        merge_shapes(inputs[i].shape, SCALAR)
    content = [_content_shape(layout, spec) for spec in inputs[: layout.variables]]
    if layout.indices is None:
        content.append(inputs[layout.gradient].shape)
    merged = functools.reduce(merge_shapes, content)
    return [] if layout.is_resource else merged


def _content_shape(layout: _Layout, spec: TensorSpec) -> Shape:
    if not layout.is_resource:
        return spec.shape
    return spec.handle[0].shape if spec.handle else Shape()


def _training_flops(
    layout: _Layout,
    work: _UpdateWork,
    *inputs: TensorSpec,
    use_nesterov: bool = False,
    update_slots: bool = False,
    multiply_linear_by_lr: bool = False,
) -> Cost:
    more = work.more if use_nesterov or update_slots or multiply_linear_by_lr else 0
    return Cost(work.flops + more, transcendentals=work.transcendentals) * inputs[layout.gradient].shape.num_elements


def _register_rule(rule: str, update: Callable[..., Values], work: _UpdateWork) -> None:
    ops = [f"{prefix}{rule}" for prefix in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")]
    available = [op for op in ops if op in CATALOG]
    for op in available:
        layout = _Layout(op)
        rows, rows_work = _ROW_UPDATES.get(update, (update, work))
        kernel(op)(_dense(layout, update) if layout.indices is None else _sparse(layout, rows))
        shape(op)(functools.partial(_training_shape, layout))
        flops(op)(functools.partial(_training_flops, layout, work if layout.indices is None else rows_work))
        if layout.indices is None:
            # Sparse ops have no lowering: how often a row repeats, and so how often it is updated, is known in a run only.
            lower(op, updates=layout.variables)(update)
    without_gradient(*available)
    facts("training", "side_effect", of=available)


_ROW_UPDATES: dict[Callable[..., Values], tuple[Callable[..., Values], _UpdateWork]] = {
    update_rules.adagrad_da: (update_rules.adagrad_da_rows, _UpdateWork(13)),
    update_rules.ftrl: (update_rules.ftrl_rows, _UpdateWork(15, more=-1)),
    update_rules.ftrl_v2: (update_rules.ftrl_v2_rows, _UpdateWork(17, more=-1)),
}
"""Rules that TensorFlow computes in another form for sparse gradients."""

for _rule, _update, _work in UPDATE_RULES:
    _register_rule(_rule, _update, _work)
