"""Update rules of the optimizers as array programs, from the old values of the variables, in TensorFlow's order, to the
new.

`numerics.updates` has the same rules for NumPy, in place, and their sources. A value that others depend on is stored first.
"""

from __future__ import annotations

from typing import Any

from ...numerics.update_rules import AdamRates, RmsProp

_Values = tuple[Any, ...]


def gradient_descent(xla: Any, var: Any, alpha: Any, delta: Any) -> _Values:
    return (var - alpha * delta,)


def momentum(xla: Any, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> _Values:
    accum = xla.stored(accum, accum * momentum + grad)
    step = grad * lr + accum * (momentum * lr) if use_nesterov else accum * lr
    return var - step, accum


def keras_momentum(xla: Any, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> _Values:
    step = grad * lr
    accum = xla.stored(accum, accum * momentum - step)
    return var + (accum * momentum - step if use_nesterov else accum), accum


def adam(xla: Any, var: Any, m: Any, v: Any, rates: AdamRates, grad: Any, *, use_nesterov: bool) -> _Values:
    m, v = _adam_moments(xla, m, v, rates.beta1, rates.beta2, grad)
    direction = grad * (1 - rates.beta1) + rates.beta1 * m if use_nesterov else m
    return var - _unbiased_rate(xla, rates) * direction / (xla.sqrt(v) + rates.epsilon), m, v


def _unbiased_rate(xla: Any, rates: AdamRates) -> Any:
    return rates.lr * xla.sqrt(1 - rates.beta2_power) / (1 - rates.beta1_power)


def adam_with_amsgrad(xla: Any, var: Any, m: Any, v: Any, vhat: Any, rates: AdamRates, grad: Any) -> _Values:
    m, v = _adam_moments(xla, m, v, rates.beta1, rates.beta2, grad)
    vhat = xla.stored(vhat, xla.maximum(vhat, v))
    return var - m * _unbiased_rate(xla, rates) / (xla.sqrt(vhat) + rates.epsilon), m, v, vhat


def _adam_moments(xla: Any, m: Any, v: Any, beta1: Any, beta2: Any, grad: Any) -> _Values:
    return xla.stored(m, m + (grad - m) * (1 - beta1)), xla.stored(v, v + (grad * grad - v) * (1 - beta2))


def ada_max(
    xla: Any, var: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, grad: Any
) -> _Values:
    m = xla.stored(m, m + (grad - m) * (1 - beta1))
    v = xla.stored(v, xla.maximum(v * beta2, xla.abs(grad)))
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def adadelta(xla: Any, var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Any) -> _Values:
    accum = xla.stored(accum, accum * rho + grad * grad * (1 - rho))
    update = xla.sqrt(accum_update + epsilon) / xla.sqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


def adagrad(xla: Any, var: Any, accum: Any, lr: Any, grad: Any, *, update_slots: bool) -> _Values:
    accum = xla.stored(accum, accum + grad * grad) if update_slots else accum
    return var - grad * lr / xla.sqrt(accum), accum


def adagrad_v2(xla: Any, var: Any, accum: Any, lr: Any, epsilon: Any, grad: Any, *, update_slots: bool) -> _Values:
    accum = xla.stored(accum, accum + grad * grad) if update_slots else accum
    return var - grad * lr / (xla.sqrt(accum) + epsilon), accum


def rms_prop(xla: Any, var: Any, ms: Any, mom: Any, rates: RmsProp, grad: Any) -> _Values:
    lr, rho, momentum, epsilon = rates
    ms = xla.stored(ms, ms + (grad * grad - ms) * (1 - rho))
    mom = xla.stored(mom, mom * momentum + grad * lr / xla.sqrt(ms + epsilon))
    return var - mom, ms, mom


def centered_rms_prop(xla: Any, var: Any, mg: Any, ms: Any, mom: Any, rates: RmsProp, grad: Any) -> _Values:
    lr, rho, momentum, epsilon = rates
    ms = xla.stored(ms, ms + (grad * grad - ms) * (1 - rho))
    mg = xla.stored(mg, mg + (grad - mg) * (1 - rho))
    mom = xla.stored(mom, mom * momentum + grad * lr / xla.sqrt(ms - mg * mg + epsilon))
    return var - mom, mg, ms, mom


def add_sign(xla: Any, var: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: Any) -> _Values:
    m = xla.stored(m, m * beta + grad * (1 - beta))
    return var - lr * (alpha + sign_decay * xla.sign(grad) * xla.sign(m)) * grad, m


def power_sign(xla: Any, var: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: Any) -> _Values:
    m = xla.stored(m, m * beta + grad * (1 - beta))
    return var - lr * xla.exp(logbase * sign_decay * xla.sign(grad) * xla.sign(m)) * grad, m
