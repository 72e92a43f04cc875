"""Signatures of kernels: the context parameter."""

from __future__ import annotations

import numpy as np

from tfg.core.registry.registry import Kernel


def test_a_ufunc_takes_no_context_whether_or_not_it_has_a_signature(monkeypatch):
    """NumPy's ufuncs have none before NumPy 2.4."""

    def refuse(function):
        raise ValueError("callable is not supported by signature")

    monkeypatch.setattr("inspect.signature", refuse)
    assert not Kernel("Frexp", np.frexp, {}, "NumPy").is_stateful


def test_a_function_whose_first_parameter_is_a_context_has_state():
    def draw(ctx, shape):
        return np.zeros(shape)

    assert Kernel("RandomUniform", draw, {}, "NumPy").is_stateful
