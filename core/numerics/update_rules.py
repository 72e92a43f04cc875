"""Update rules of the optimizers: each writes a variable and its slots in place from a gradient.

Arguments come in the order of TensorFlow's ops: arrays to write first, then hyperparameters (arrays of rank 0) and
gradient. All arithmetic is done in the variable's dtype. Rules are elementwise, so that they serve dense variables and
gathered rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..parallel.work_division import BLOCK_ELEMENTS, cut, divide
from ..types.arrays import Array


def in_tiles(rule: Callable[..., None], memories: Sequence[Array], arguments: Sequence[Array], gradient: int) -> None:
    """Apply a rule to arrays, tile by tile where large; the argument number `gradient` is cut into tiles too."""
    grad = arguments[gradient]
    if grad.size < 2 * BLOCK_ELEMENTS or not all(array.flags.c_contiguous for array in (*memories, grad)):
        rule(*memories, *arguments)
        return
    flat = [array.reshape(-1) for array in (*memories, grad)]

    def update(part: slice) -> None:
        *tiles, steps = [array[part] for array in flat]
        rule(*tiles, *arguments[:gradient], steps, *arguments[gradient + 1 :])

    divide(update, cut(grad.size, grad.size // BLOCK_ELEMENTS))


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


def gradient_descent(var: Array, alpha: Array, delta: Array) -> None:
    """Compute var -= alpha delta"""
    var -= delta * alpha


def momentum(var: Array, accum: Array, lr: Array, grad: Array, momentum: Array, *, use_nesterov: bool) -> None:
    """Compute accum = momentum accum + grad; var -= lr accum (Nesterov: lr grad + lr momentum accum)"""
    accum *= momentum
    accum += grad
    if use_nesterov:
        var -= grad * lr
        var -= accum * (momentum * lr)
    else:
        var -= accum * lr


def keras_momentum(var: Array, accum: Array, lr: Array, grad: Array, momentum: Array, *, use_nesterov: bool) -> None:
    """Compute accum = momentum accum - lr grad; var += accum (Nesterov: momentum accum - lr grad)"""
    step = grad * lr
    accum *= momentum
    accum -= step
    if use_nesterov:
        var += accum * momentum
        var -= step
    else:
        var += accum


def adam(var: Array, m: Array, v: Array, rates: AdamRates, grad: Array, *, use_nesterov: bool = False) -> None:
    """Kingma and Ba 2014, section 2.1, with epsilon outside of the bias correction."""
    one = var.dtype.type(1)
    scratch = _adam_moments(m, v, rates, grad)
    np.sqrt(v, out=scratch)
    scratch += rates.epsilon
    direction = grad * (one - rates.beta1) + rates.beta1 * m if use_nesterov else m
    np.divide(direction, scratch, out=scratch)
    scratch *= _unbiased_rate(one, rates)
    var -= scratch


def adam_with_amsgrad(var: Array, m: Array, v: Array, vhat: Array, rates: AdamRates, grad: Array) -> None:
    """Update by Adam with a denominator that never shrinks: Reddi, Kale, Kumar 2018."""
    alpha = _unbiased_rate(var.dtype.type(1), rates)
    _adam_moments(m, v, rates, grad)
    np.maximum(vhat, v, out=vhat)
    var -= m * alpha / (np.sqrt(vhat) + rates.epsilon)


def _unbiased_rate(one: Any, rates: AdamRates) -> Array:
    """Return the rate that corrects the bias of moments with an initial value of zero."""
    rate: Array = rates.lr * np.sqrt(one - rates.beta2_power) / (one - rates.beta1_power)
    return rate


def _adam_moments(m: Array, v: Array, rates: AdamRates, grad: Array) -> Array:
    """Move the two moments towards the gradient and its square; return a scratch array."""
    one, scratch = m.dtype.type(1), np.empty_like(m)
    _move_towards(m, grad, one - rates.beta1, scratch)
    np.multiply(grad, grad, out=scratch)
    _move_towards(v, scratch, one - rates.beta2, scratch)
    return scratch


def _move_towards(y: Array, x: Array, rate: Any, scratch: Array) -> None:
    """Compute y += (x - y) rate; `scratch`, of the same shape, may be x, and is overwritten."""
    np.subtract(x, y, out=scratch)
    scratch *= rate
    y += scratch


def ada_max(
    var: Array, m: Array, v: Array, beta1_power: Array, lr: Array, beta1: Array, beta2: Array, epsilon: Array, grad: Array
) -> None:
    """Update by Adam under the infinity norm: Kingma and Ba 2014, section 7.1."""
    one = var.dtype.type(1)
    m += (grad - m) * (one - beta1)
    np.maximum(v * beta2, np.abs(grad), out=v)
    var -= lr / (one - beta1_power) * (m / (v + epsilon))


def adadelta(var: Array, accum: Array, accum_update: Array, lr: Array, rho: Array, epsilon: Array, grad: Array) -> None:
    """Zeiler 2012."""
    rest = var.dtype.type(1) - rho
    accum *= rho
    accum += np.square(grad) * rest
    update = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
    var -= update * lr
    accum_update *= rho
    accum_update += np.square(update) * rest


def adagrad(var: Array, accum: Array, lr: Array, grad: Array, *, update_slots: bool) -> None:
    """Compute accum += grad^2; var -= lr grad / sqrt(accum)"""
    if update_slots:
        accum += grad * grad
    var -= grad * lr / np.sqrt(accum)


def adagrad_v2(var: Array, accum: Array, lr: Array, epsilon: Array, grad: Array, *, update_slots: bool) -> None:
    """Compute accum += grad^2; var -= lr grad / (sqrt(accum) + epsilon)"""
    if update_slots:
        accum += grad * grad
    var -= grad * lr / (np.sqrt(accum) + epsilon)


def adagrad_da(
    var: Array, gradient_accumulator: Array, gradient_squared_accumulator: Array, grad: Array, rates: DualAveraging
) -> None:
    """Dual averaging: Duchi, Hazan, Singer 2011. var = -lr shrink(sum g, l1 t) / (l2 t lr + sqrt(sum g^2))"""
    lr, l1, l2, global_step = rates
    gradient_accumulator += grad
    gradient_squared_accumulator += grad * grad
    step = var.dtype.type(global_step)
    total = gradient_accumulator
    if l1 > 0:
        total = np.sign(total) * np.maximum(np.abs(total) - l1 * step, var.dtype.type(0))
    np.divide(-lr * total, l2 * step * lr + np.sqrt(gradient_squared_accumulator), out=var)


def adagrad_da_rows(
    var: Array, gradient_accumulator: Array, gradient_squared_accumulator: Array, grad: Array, rates: DualAveraging
) -> None:
    """Dual averaging on rows, over the mean gradient: another form only for a step that is not positive."""
    lr, l1, l2, global_step = rates
    gradient_accumulator += grad
    gradient_squared_accumulator += grad * grad
    step = var.dtype.type(global_step)
    if l1 > 0:
        magnitude = np.maximum(np.abs(gradient_accumulator) / step - l1, var.dtype.type(0))
        mean = np.sign(gradient_accumulator) * magnitude
    else:
        mean = gradient_accumulator / step
    np.divide(-lr * step * mean, l2 * step * lr + np.sqrt(gradient_squared_accumulator), out=var)


def proximal_adagrad(var: Array, accum: Array, lr: Array, l1: Array, l2: Array, grad: Array) -> None:
    """Forward-backward splitting (Duchi, Singer 2009) under Adagrad's learning rate."""
    accum += grad * grad
    _proximal_step(var, lr / np.sqrt(accum), l1, l2, grad)


def proximal_gradient_descent(var: Array, alpha: Array, l1: Array, l2: Array, delta: Array) -> None:
    """Forward-backward splitting: Duchi, Singer 2009."""
    _proximal_step(var, alpha, l1, l2, delta)


def _proximal_step(var: Array, rate: Array, l1: Array, l2: Array, grad: Array) -> None:
    one = var.dtype.type(1)
    stepped = var - grad * rate
    if l1 > 0:
        stepped = np.sign(stepped) * np.maximum(np.abs(stepped) - rate * l1, var.dtype.type(0))
    np.divide(stepped, one + l2 * rate, out=var)


def ftrl(var: Array, accum: Array, linear: Array, grad: Array, rates: Ftrl, *, multiply_linear_by_lr: bool) -> None:
    """Follow the regularized leader: McMahan et al. 2013."""
    _ftrl((var, accum, linear), grad, rates, multiply_linear_by_lr, _ftrl_minimum)


def ftrl_rows(var: Array, accum: Array, linear: Array, grad: Array, rates: Ftrl, *, multiply_linear_by_lr: bool) -> None:
    """Update rows by FTRL: differs from the dense form only at an accumulator of zero, which gives NaN."""
    _ftrl((var, accum, linear), grad, rates, multiply_linear_by_lr, _ftrl_row_minimum)


def ftrl_v2(var: Array, accum: Array, linear: Array, grad: Array, rates: FtrlV2, *, multiply_linear_by_lr: bool) -> None:
    """FTRL with a shrinkage that is added to the gradient only, not to the accumulator."""
    _ftrl((var, accum, linear), grad, rates, multiply_linear_by_lr, _ftrl_minimum)


def ftrl_v2_rows(var: Array, accum: Array, linear: Array, grad: Array, rates: FtrlV2, *, multiply_linear_by_lr: bool) -> None:
    """FTRL with shrinkage on rows."""
    _ftrl((var, accum, linear), grad, rates, multiply_linear_by_lr, _ftrl_row_minimum)


def _ftrl(
    slots: tuple[Array, Array, Array], grad: Array, rates: Ftrl | FtrlV2, multiply_linear_by_lr: bool,
    minimum: Callable[[Array, Array, Array], Array],
) -> None:  # fmt: skip
    """Update all three; `minimum` computes var from linear, the L1 threshold and the quadratic coefficient."""
    var, accum, linear = slots
    lr, l1, l2, lr_power = rates.lr, rates.l1, rates.l2, rates.lr_power
    kind = var.dtype.type
    shrunk = grad + kind(2) * rates.l2_shrinkage * var if isinstance(rates, FtrlV2) else grad
    new_accum = accum + grad * grad
    power, new_power = _ftrl_power(accum, lr_power), _ftrl_power(new_accum, lr_power)
    if multiply_linear_by_lr:
        linear += shrunk * lr - (new_power - power) * var
        threshold, quadratic = l1 * lr, new_power + kind(2) * l2 * lr
    else:
        linear += shrunk - (new_power - power) / lr * var
        threshold, quadratic = l1, new_power / lr + kind(2) * l2
    accum[...] = new_accum
    var[...] = minimum(linear, threshold, quadratic)


def _ftrl_minimum(linear: Array, threshold: Array, quadratic: Array) -> Array:
    shrunk = (threshold * np.sign(linear) - linear) / quadratic
    return np.where(np.abs(linear) > threshold, shrunk, linear.dtype.type(0))


def _ftrl_row_minimum(linear: Array, threshold: Array, quadratic: Array) -> Array:
    return (np.maximum(np.minimum(linear, threshold), -threshold) - linear) / quadratic


def _ftrl_power(accum: Array, lr_power: Array) -> Array:
    return np.sqrt(accum) if lr_power == lr_power.dtype.type(-0.5) else np.power(accum, -lr_power)


def rms_prop(var: Array, ms: Array, mom: Array, rates: RmsProp, grad: Array) -> None:
    """Tieleman and Hinton 2012, lecture 6.5."""
    lr, rho, momentum, epsilon = rates
    scratch = np.multiply(grad, grad, out=np.empty_like(ms))
    _move_towards(ms, scratch, var.dtype.type(1) - rho, scratch)
    root = np.add(ms, epsilon, out=scratch)
    np.sqrt(root, out=root)
    step = grad * lr
    step /= root
    mom *= momentum
    mom += step
    var -= mom


def centered_rms_prop(var: Array, mg: Array, ms: Array, mom: Array, rates: RmsProp, grad: Array) -> None:
    """Update by RMSProp with an estimate of the gradient's variance in place of the second moment."""
    lr, rho, momentum, epsilon = rates
    rest = var.dtype.type(1) - rho
    ms += (np.square(grad) - ms) * rest
    mg += (grad - mg) * rest
    mom *= momentum
    mom += grad * lr / np.sqrt(ms - np.square(mg) + epsilon)
    var -= mom


def add_sign(var: Array, m: Array, lr: Array, alpha: Array, sign_decay: Array, beta: Array, grad: Array) -> None:
    """Bello et al. 2017: var -= lr (alpha + sign_decay sign(g) sign(m)) g"""
    var -= lr * (alpha + sign_decay * _sign_agreement(m, beta, grad)) * grad


def power_sign(var: Array, m: Array, lr: Array, logbase: Array, sign_decay: Array, beta: Array, grad: Array) -> None:
    """Bello et al. 2017: var -= lr exp(logbase sign_decay sign(g) sign(m)) g"""
    var -= lr * np.exp(logbase * sign_decay * _sign_agreement(m, beta, grad)) * grad


def _sign_agreement(m: Array, beta: Array, grad: Array) -> Array:
    m *= beta
    m += grad * (m.dtype.type(1) - beta)
    return np.sign(grad) * np.sign(m)
