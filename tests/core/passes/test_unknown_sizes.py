"""Programs on matrices of unknown sizes stay right when they are inferred, optimized and differentiated, for any sizes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.inference.forgetting import Facts, hold
from tests.core.inference.unknown_sizes import FED, INPUTS, MORE, ROWS, Program, arrays, expected
from tfg.core.gradients import gradients
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session

SEEDS = range(120)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("seed", SEEDS)
def test_facts_and_optimized_values_are_those_of_numpy(seed):
    """A run of the graph as it is gives NumPy's values, so does the optimized graph, and inference says nothing else."""
    program = Program(seed, more=MORE)
    names = [value.output.name for value in program.results]
    optimized, _ = optimize(program.graph, names, FED)
    plain, rewritten = Session(program.graph), Session(optimized)
    facts = Facts(program.graph, {})
    for rows in ROWS:
        fed = arrays(rows, seed)
        want = expected(program.results, fed)
        if want is None:
            continue
        for got in (hold([facts], plain, names, fed), rewritten.run(names, fed)):
            for result, value in zip(got, want, strict=True):
                assert result.shape == value.shape, rows
                np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9, err_msg=str(rows))


@pytest.mark.sampled(24)
@pytest.mark.parametrize("seed", SEEDS)
def test_optimized_gradients_are_numerical_gradients(seed):
    program = Program(seed, more=MORE)
    value = program.matrices[-1]
    loss = program.b.Sum(program.b.Mul(value.output, np.arange(3.0)), [0, 1])
    graph, names = gradients(program.graph, [loss.name], FED)
    named = [(place, name) for place, name in enumerate(names) if name is not None]
    if not named:
        return
    optimized, _ = optimize(graph, [name for _, name in named], FED)
    session = Session(optimized)
    for rows in ROWS:
        fed = arrays(rows, seed)
        if expected([value], fed) is None:
            continue
        for (place, _), got in zip(named, session.run([name for _, name in named], fed), strict=True):
            np.testing.assert_allclose(got, slopes(value, fed, INPUTS[place]), rtol=1e-5, atol=1e-5, err_msg=str(rows))


def slopes(value, fed, name, step=1e-6):
    """Return the central differences of the loss for an input."""
    result = np.zeros_like(fed[name])
    for place in np.ndindex(result.shape):
        losses = []
        for sign in (1, -1):
            moved = fed[name].copy()
            moved[place] += sign * step
            losses.append((value.compute({**fed, name: moved}) * np.arange(3.0)).sum())
        result[place] = (losses[0] - losses[1]) / (2 * step)
    return result
