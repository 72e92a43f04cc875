"""Update rules of the optimizers: array programs from the old values of a variable and its slots to the new.

Arguments come in the order of TensorFlow's ops: the namespace, the old values, then hyperparameters (arrays of rank 0) and
gradient. All arithmetic is done in the variable's dtype. Rules are elementwise, so that they serve dense variables and
gathered rows. A new value that others depend on is stored first, as XLA would compute it again from a copy of the old
value. `added`, `subtracted` and `multiplied` may write over their first operand: copies of temporary arrays took half as
much time again.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..types.arrays import Array
from .work_division import BLOCK_ELEMENTS, cut, divide

Values: TypeAlias = tuple[Any, ...]


def _stored(old: Array, new: Array) -> Array:
    # Most rules write in place through `added` and its kin, and return the array itself.
    if new is not old:
        old[...] = new
    return old


IN_PLACE: Final = types.SimpleNamespace(
    abs=np.abs, exp=np.exp, maximum=np.maximum, minimum=np.minimum, sign=np.sign, sqrt=np.sqrt, where=np.where,
    cond=lambda condition, program, other: program() if condition else other(), stored=_stored, added=operator.iadd,
    subtracted=operator.isub, multiplied=operator.imul,
)  # fmt: skip
"""The namespace of rules in NumPy, where new values take the places of the old; XLA's is engines.xla.tracing.Namespace."""


def update(rule: Callable[..., Values], memories: Sequence[Array], arguments: Sequence[Any]) -> None:
    """Write the new values by a rule over the old."""
    for old, new in zip(memories, rule(IN_PLACE, *memories, *arguments)):
        _stored(old, new)


def in_tiles(rule: Callable[..., Values], memories: Sequence[Array], arguments: Sequence[Any], gradient: int) -> None:
    """Update arrays by a rule, tile by tile where large; the argument number `gradient` is cut into tiles too."""
    grad = arguments[gradient]
    # A tile must be a view into the memory that is updated, so that strided arrays are updated as a whole.
    if grad.size < 2 * BLOCK_ELEMENTS or not all(array.flags.c_contiguous for array in (*memories, grad)):
        update(rule, memories, arguments)
        return
    flat = [array.reshape(-1) for array in (*memories, grad)]

    def update_part(part: slice) -> None:
        *tiles, steps = [array[part] for array in flat]
        update(rule, tiles, [*arguments[:gradient], steps, *arguments[gradient + 1 :]])

    divide(update_part, cut(grad.size, grad.size // BLOCK_ELEMENTS))


class AdamRates(NamedTuple):
    """The hyperparameters of Adam and its variants."""

    beta1_power: Array
    beta2_power: Array
    lr: Array
    beta1: Array
    beta2: Array
    epsilon: Array


class DualAveraging(NamedTuple):
    """The hyperparameters of Adagrad with dual averaging."""

    lr: Array
    l1: Array
    l2: Array
    global_step: Array


class Ftrl(NamedTuple):
    """The hyperparameters of FTRL."""

    lr: Array
    l1: Array
    l2: Array
    lr_power: Array


class FtrlV2(NamedTuple):
    """The hyperparameters of FTRL with shrinkage."""

    lr: Array
    l1: Array
    l2: Array
    l2_shrinkage: Array
    lr_power: Array


class RmsProp(NamedTuple):
    """The hyperparameters of RMSProp."""

    lr: Array
    rho: Array
    momentum: Array
    epsilon: Array


def gradient_descent(xp: Any, var: Any, alpha: Any, delta: Any) -> Values:
    return (xp.subtracted(var, delta * alpha),)


def momentum(xp: Any, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> Values:
    accum = _decayed(xp, accum, momentum, grad)
    if use_nesterov:
        return xp.subtracted(xp.subtracted(var, grad * lr), accum * (momentum * lr)), accum
    return xp.subtracted(var, accum * lr), accum


def _decayed(xp: Any, y: Any, factor: Any, step: Any) -> Any:
    return xp.stored(y, xp.added(xp.multiplied(y, factor), step))


def _moved(xp: Any, y: Any, way: Any, rate: Any) -> Any:
    return xp.stored(y, xp.added(y, xp.multiplied(way, rate)))


def keras_momentum(xp: Any, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> Values:
    step = grad * -lr
    accum = _decayed(xp, accum, momentum, step)
    if use_nesterov:
        return xp.added(xp.added(var, accum * momentum), step), accum
    return xp.added(var, accum), accum


def adam(xp: Any, var: Any, m: Any, v: Any, rates: AdamRates, grad: Any, *, use_nesterov: bool = False) -> Values:
    """Kingma and Ba 2014, section 2.1, with epsilon outside of the bias correction."""
    m, v = _adam_moments(xp, m, v, rates, grad)
    direction = grad * (1 - rates.beta1) + rates.beta1 * m if use_nesterov else m
    return xp.subtracted(var, direction / (xp.sqrt(v) + rates.epsilon) * _unbiased_rate(xp, rates)), m, v


def adam_with_amsgrad(xp: Any, var: Any, m: Any, v: Any, vhat: Any, rates: AdamRates, grad: Any) -> Values:
    """Update by Adam with a denominator that never shrinks: Reddi, Kale, Kumar 2018."""
    m, v = _adam_moments(xp, m, v, rates, grad)
    vhat = xp.stored(vhat, xp.maximum(vhat, v))
    return xp.subtracted(var, m * _unbiased_rate(xp, rates) / (xp.sqrt(vhat) + rates.epsilon)), m, v, vhat


def _unbiased_rate(xp: Any, rates: AdamRates) -> Any:
    """Return the rate that corrects the bias of moments with an initial value of zero."""
    return rates.lr * xp.sqrt(1 - rates.beta2_power) / (1 - rates.beta1_power)


def _adam_moments(xp: Any, m: Any, v: Any, rates: AdamRates, grad: Any) -> Values:
    """Return the two moments, moved towards the gradient and its square."""
    return _moved(xp, m, grad - m, 1 - rates.beta1), _moved(xp, v, grad * grad - v, 1 - rates.beta2)


def ada_max(
    xp: Any, var: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, grad: Any
) -> Values:
    """Update by Adam under the infinity norm: Kingma and Ba 2014, section 7.1."""
    m = _moved(xp, m, grad - m, 1 - beta1)
    v = xp.stored(v, xp.maximum(xp.multiplied(v, beta2), xp.abs(grad)))
    return xp.subtracted(var, lr / (1 - beta1_power) * (m / (v + epsilon))), m, v


def adadelta(xp: Any, var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Any) -> Values:
    """Zeiler 2012."""
    accum = _decayed(xp, accum, rho, grad * grad * (1 - rho))
    update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
    accum_update = xp.added(xp.multiplied(accum_update, rho), update * update * (1 - rho))
    return xp.subtracted(var, update * lr), accum, accum_update


def adagrad(xp: Any, var: Any, accum: Any, lr: Any, grad: Any, *, update_slots: bool) -> Values:
    accum = xp.stored(accum, xp.added(accum, grad * grad)) if update_slots else accum
    return xp.subtracted(var, grad * lr / xp.sqrt(accum)), accum


def adagrad_v2(xp: Any, var: Any, accum: Any, lr: Any, epsilon: Any, grad: Any, *, update_slots: bool) -> Values:
    accum = xp.stored(accum, xp.added(accum, grad * grad)) if update_slots else accum
    return xp.subtracted(var, grad * lr / (xp.sqrt(accum) + epsilon)), accum


def adagrad_da(
    xp: Any, var: Any, gradient_accumulator: Any, gradient_squared_accumulator: Any, grad: Any, rates: DualAveraging
) -> Values:
    """Dual averaging: Duchi, Hazan, Singer 2011. var = -lr shrink(sum g, l1 t) / (l2 t lr + sqrt(sum g^2))"""
    lr, l1, l2, global_step = rates
    step = global_step.astype(var.dtype)
    total = xp.stored(gradient_accumulator, xp.added(gradient_accumulator, grad))
    squares = xp.stored(gradient_squared_accumulator, xp.added(gradient_squared_accumulator, grad * grad))
    # The variable is computed from the sums of all gradients: its old value does not count.
    return -lr * _shrunk(xp, total, l1, l1 * step) / (l2 * step * lr + xp.sqrt(squares)), total, squares


def _shrunk(xp: Any, x: Any, l1: Any, threshold: Any) -> Any:
    """Return x nearer to zero by a threshold, if there is a factor of L1 regularization."""
    return xp.cond(l1 > 0, lambda: xp.sign(x) * xp.maximum(xp.abs(x) - threshold, 0), lambda: x)


def adagrad_da_rows(
    xp: Any, var: Any, gradient_accumulator: Any, gradient_squared_accumulator: Any, grad: Any, rates: DualAveraging
) -> Values:
    """Dual averaging on rows, over the mean gradient: another form only for a step that is not positive."""
    lr, l1, l2, global_step = rates
    step = global_step.astype(var.dtype)
    total = xp.stored(gradient_accumulator, xp.added(gradient_accumulator, grad))
    squares = xp.stored(gradient_squared_accumulator, xp.added(gradient_squared_accumulator, grad * grad))

    def shrunk() -> Any:
        return xp.sign(total) * xp.maximum(xp.abs(total) / step - l1, 0)

    mean = xp.cond(l1 > 0, shrunk, lambda: total / step)
    return -lr * step * mean / (l2 * step * lr + xp.sqrt(squares)), total, squares


def proximal_adagrad(xp: Any, var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any) -> Values:
    """Forward-backward splitting (Duchi, Singer 2009) under Adagrad's learning rate."""
    accum = xp.stored(accum, xp.added(accum, grad * grad))
    return _proximal(xp, var, lr / xp.sqrt(accum), l1, l2, grad), accum


def proximal_gradient_descent(xp: Any, var: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> Values:
    """Forward-backward splitting: Duchi, Singer 2009."""
    return (_proximal(xp, var, alpha, l1, l2, delta),)


def _proximal(xp: Any, var: Any, rate: Any, l1: Any, l2: Any, grad: Any) -> Any:
    return _shrunk(xp, var - grad * rate, l1, rate * l1) / (1 + l2 * rate)


def ftrl(xp: Any, var: Any, accum: Any, linear: Any, grad: Any, rates: Ftrl, *, multiply_linear_by_lr: bool) -> Values:
    """Follow the regularized leader: McMahan et al. 2013."""
    return _ftrl(xp, (var, accum, linear), grad, rates, multiply_linear_by_lr, _ftrl_minimum)


def ftrl_rows(xp: Any, var: Any, accum: Any, linear: Any, grad: Any, rates: Ftrl, *, multiply_linear_by_lr: bool) -> Values:
    """Update rows by FTRL: differs from the dense form only at an accumulator of zero, which gives NaN."""
    return _ftrl(xp, (var, accum, linear), grad, rates, multiply_linear_by_lr, _ftrl_row_minimum)


def ftrl_v2(xp: Any, var: Any, accum: Any, linear: Any, grad: Any, rates: FtrlV2, *, multiply_linear_by_lr: bool) -> Values:
    """FTRL with a shrinkage that is added to the gradient only, not to the accumulator."""
    return _ftrl(xp, (var, accum, linear), grad, rates, multiply_linear_by_lr, _ftrl_minimum)


def ftrl_v2_rows(
    xp: Any, var: Any, accum: Any, linear: Any, grad: Any, rates: FtrlV2, *, multiply_linear_by_lr: bool
) -> Values:
    """FTRL with shrinkage on rows."""
    return _ftrl(xp, (var, accum, linear), grad, rates, multiply_linear_by_lr, _ftrl_row_minimum)


def _ftrl(
    xp: Any, slots: Values, grad: Any, rates: Ftrl | FtrlV2, multiply_linear_by_lr: bool, minimum: Callable[..., Any]
) -> Values:
    """Return all three; `minimum` computes var from linear, the L1 threshold and the quadratic coefficient."""
    var, accum, linear = slots
    lr, l1, l2, lr_power = rates.lr, rates.l1, rates.l2, rates.lr_power
    shrunk = grad + 2 * rates.l2_shrinkage * var if isinstance(rates, FtrlV2) else grad
    new_accum = accum + grad * grad
    # The difference of both is sigma of the paper times the learning rate: how much the rate has fallen with this gradient.
    power, new_power = _ftrl_power(xp, accum, lr_power), _ftrl_power(xp, new_accum, lr_power)
    if multiply_linear_by_lr:
        step, threshold, quadratic = shrunk * lr - (new_power - power) * var, l1 * lr, new_power + 2 * l2 * lr
    else:
        step, threshold, quadratic = shrunk - (new_power - power) / lr * var, l1, new_power / lr + 2 * l2
    linear = xp.stored(linear, xp.added(linear, step))
    return minimum(xp, linear, threshold, quadratic), new_accum, linear


def _ftrl_minimum(xp: Any, linear: Any, threshold: Any, quadratic: Any) -> Any:
    return xp.where(xp.abs(linear) > threshold, (threshold * xp.sign(linear) - linear) / quadratic, 0)


def _ftrl_row_minimum(xp: Any, linear: Any, threshold: Any, quadratic: Any) -> Any:
    return (xp.maximum(xp.minimum(linear, threshold), -threshold) - linear) / quadratic


def _ftrl_power(xp: Any, accum: Any, lr_power: Any) -> Any:
    # For the usual power TensorFlow takes a root, which rounds differently from pow and costs less.
    return xp.cond(lr_power == -0.5, lambda: xp.sqrt(accum), lambda: accum**-lr_power)


def rms_prop(xp: Any, var: Any, ms: Any, mom: Any, rates: RmsProp, grad: Any) -> Values:
    """Tieleman and Hinton 2012, lecture 6.5."""
    lr, rho, momentum, epsilon = rates
    ms = _moved(xp, ms, grad * grad - ms, 1 - rho)
    mom = _decayed(xp, mom, momentum, grad * lr / xp.sqrt(ms + epsilon))
    return xp.subtracted(var, mom), ms, mom


def centered_rms_prop(xp: Any, var: Any, mg: Any, ms: Any, mom: Any, rates: RmsProp, grad: Any) -> Values:
    """Update by RMSProp with an estimate of the gradient's variance in place of the second moment."""
    lr, rho, momentum, epsilon = rates
    # E[g^2] - E[g]^2 is the variance: the moving means of both are updated before the step uses them.
    ms, mg = _moved(xp, ms, grad * grad - ms, 1 - rho), _moved(xp, mg, grad - mg, 1 - rho)
    mom = _decayed(xp, mom, momentum, grad * lr / xp.sqrt(ms - mg * mg + epsilon))
    return xp.subtracted(var, mom), mg, ms, mom


def add_sign(xp: Any, var: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: Any) -> Values:
    """Bello et al. 2017: var -= lr (alpha + sign_decay sign(g) sign(m)) g"""
    m = _decayed(xp, m, beta, grad * (1 - beta))
    return xp.subtracted(var, lr * (alpha + sign_decay * (xp.sign(grad) * xp.sign(m))) * grad), m


def power_sign(xp: Any, var: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: Any) -> Values:
    """Bello et al. 2017: var -= lr exp(logbase sign_decay sign(g) sign(m)) g"""
    m = _decayed(xp, m, beta, grad * (1 - beta))
    return xp.subtracted(var, lr * xp.exp(logbase * sign_decay * (xp.sign(grad) * xp.sign(m))) * grad), m
