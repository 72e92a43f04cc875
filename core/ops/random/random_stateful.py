"""Random ops whose generator is a resource variable: an int64 vector of counter (two words) and key."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...random import philox
from ...random.philox import RESERVED_PER_OUTPUT, Philox
from ...registry.registry import WITHOUT_GRADIENT, Cost, facts, flops, kernel, shaped, without_gradient, zero_cost
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Variable
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape
from ..shared.resource_access import resource_variable
from . import _random as draws

_STATE_SIZE: Final = 3
_MASK64: Final = (1 << 64) - 1


def _state(handle: Any, algorithm: Any, tags: int = 0) -> tuple[Variable, Philox]:
    """Return the state variable and its generator; `tags` words precede the state. ThreeFry is refused: only accelerators
    have it.
    """
    _check_algorithm(algorithm)
    state, variable = _words_of(handle)
    if state.ndim != 1:
        raise InvalidArgumentError(f"RNG state must have one and only one dimension, not {state.ndim}")
    if int(algorithm) == draws.THREEFRY:
        raise UnimplementedError("the ThreeFry algorithm does not run on a CPU")
    if len(state) < _STATE_SIZE + tags:
        raise InvalidArgumentError(f"the size of state must be at least {_STATE_SIZE + tags}; got {len(state)}")
    low, high, key = (int(word) & _MASK64 for word in state[tags : tags + _STATE_SIZE])
    return variable, Philox(key, low | high << 64)


def _words_of(handle: Any) -> tuple[Array, Variable]:
    """Return the words in a generator's variable, and the variable."""
    variable = resource_variable(handle)
    if variable.dtype is not dtypes.int64:
        raise InvalidArgumentError(f"dtype of RNG state variable must be int64, not {variable.dtype}")
    return variable.read(), variable


def _advance(variable: Variable, gen: Philox, outputs: int, tags: int = 0) -> None:
    """Write back the state that lies behind `outputs` samples."""
    # TensorFlow moves on by the most that a sample may need, so that the state does not depend on how many were refused.
    counter = gen.skipped(outputs * RESERVED_PER_OUTPUT).counter
    # The words are unsigned and the variable is int64: the bits go over as they are.
    words = np.array([counter & _MASK64, counter >> 64], np.uint64).view(np.int64)
    variable.writable()[tags : tags + 2] = words


def _check_algorithm(algorithm: Any) -> None:
    """Raise InvalidArgumentError unless the scalar `algorithm` is the id of an algorithm of TensorFlow's."""
    if np.ndim(algorithm):
        raise InvalidArgumentError(f"algorithm must have shape [], not {Shape(np.shape(algorithm))}")
    if int(algorithm) not in (draws.PHILOX, draws.THREEFRY, draws.AUTO_SELECT):
        raise InvalidArgumentError(f"Unsupported algorithm id: {int(algorithm)}")


def _draw(handle: Any, algorithm: Any, dims: tuple[int, ...], distribution: Any, *arguments: Any) -> Any:
    variable, gen = _state(handle, algorithm)
    size = math.prod(dims)
    _advance(variable, gen, size)
    return distribution(gen, size, *arguments).reshape(dims)


def _register_fill(op: str, distribution: Callable[..., Any], cost: Callable[..., Cost], samples: str) -> None:
    """Register an op that fills a tensor with samples."""

    def fill(resource: Array, algorithm: Array, shape: Array, *, dtype: DType) -> Result:
        return _draw(resource, algorithm, draws.as_dims(shape), distribution, dtype.numpy)

    fill.__doc__ = samples
    kernel(op)(fill)
    shaped("*, (), <...> -> ...", op)
    flops(op)(cost)
    without_gradient(op)
    facts("random", of=(op,))


_register_fill("StatefulUniform", philox.uniform, draws.uniform_flops, "Samples uniform on [0, 1).")
facts("unit_uniform", of=("StatefulUniform",))
facts("unit_normal", of=("StatefulStandardNormal", "StatefulStandardNormalV2"))
_register_fill("StatefulStandardNormalV2", philox.normal, draws.normal_flops, "Samples of the standard normal distribution.")
_register_fill(
    "StatefulTruncatedNormal",
    philox.truncated_normal,
    draws.truncated_normal_flops,
    "Standard normal samples of magnitude below 2.",
)
_register_fill("StatefulUniformFullInt", philox.full_int, zero_cost, "Integers over the whole range of the dtype.")


@kernel(
    "StatefulStandardNormal", shape="*, <...> -> ...", gradient=WITHOUT_GRADIENT, flops=draws.normal_flops, facts=("random",)
)
def stateful_standard_normal(resource: Array, shape: Array, *, dtype: DType) -> Result:
    """Samples of the standard normal distribution; the state begins with the number of its algorithm."""
    dims = draws.as_dims(shape)
    tag = _words_of(resource)[0].reshape(-1)[:1]
    # The first version of the op has no input for the algorithm: its number is the first word of the state.
    variable, gen = _state(resource, np.int64(tag[0] if len(tag) else 0), tags=1)
    _advance(variable, gen, math.prod(dims), tags=1)
    return philox.normal(gen, math.prod(dims), dtype.numpy).reshape(dims)


@kernel("StatefulUniformInt", shape="*, *, <...>, () + -> ...", flops=draws.uniform_int_flops, facts=("random",))
def stateful_uniform_int(
    resource: Array, algorithm: Array, shape: Array, minval: Array, maxval: Array, *, dtype: DType
) -> Result:
    """Integers uniform on [minval, maxval)."""
    low, high = draws.int_bounds(minval, maxval)
    return _draw(resource, algorithm, draws.as_dims(shape), philox.uniform_int, low, high, dtype.numpy)


@kernel("StatefulRandomBinomial", shape="*, *, <s...>, ~... + -> s...", flops=draws.binomial_flops, facts=("random",))
def stateful_random_binomial(
    resource: Array, algorithm: Array, shape: Array, counts: Array, probs: Array, *, dtype: DType
) -> Result:
    """Binomial samples; `shape` ends with the shape that counts and probabilities broadcast to."""
    _check_algorithm(algorithm)
    resource_variable(resource).read()  # a state that is not there is reported first
    # Unlike its siblings, this kernel of TensorFlow does not resolve AUTO_SELECT.
    if int(algorithm) != draws.PHILOX:
        raise InvalidArgumentError(f"Unsupported algorithm id: {algorithm}")
    variable, gen = _state(resource, algorithm)
    drawn = draws.draw_binomial(gen, shape, counts, probs, dtype)
    parameters = np.broadcast_shapes(counts.shape, probs.shape)
    batches = math.prod(parameters)
    samples = math.prod(drawn.shape[: drawn.ndim - len(parameters)])
    # TensorFlow's count for this op: up to 100 attempts of two numbers for each sample, in whole blocks. The order of C++'s
    # operators, too: the division comes after all products, and cuts off once.
    _advance(variable, gen, batches * 2 * 100 * (samples + 3) // 4)
    return drawn


@kernel("RngSkip", shape="*, (), () ->", flops=zero_cost, facts=("side_effect",))
def rng_skip(resource: Array, algorithm: Array, delta: Array) -> None:
    """Move the generator on by `delta` samples."""
    if np.ndim(delta):
        raise InvalidArgumentError(f"delta must have shape [], not {Shape(np.shape(delta))}")
    variable, gen = _state(resource, algorithm)
    _advance(variable, gen, int(delta))


without_gradient("StatefulUniformInt", "StatefulRandomBinomial", "RngSkip")


@kernel("RngReadAndSkip", shape="-> 3", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect", "random"))
def rng_read_and_skip(resource: Array, alg: Array, delta: Array) -> Result:
    """Return the state (3) before the call, and advance it by `delta` samples."""
    if np.ndim(alg) or np.ndim(delta):
        raise InvalidArgumentError(f"alg and delta must be scalars, not of shape {np.shape(alg)} and {np.shape(delta)}")
    variable, gen = _state(resource, alg)
    # A copy, because the advance writes into the variable's memory.
    before = np.array(variable.read()[:_STATE_SIZE])
    _advance(variable, gen, int(delta))
    return before


@kernel("NonDeterministicInts", shape="<...> -> ...", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("random",))
def non_deterministic_ints(ctx: KernelContext, shape: Array, *, dtype: DType) -> Result:
    """Integers over the whole range of the dtype, from the operating system."""
    dims = draws.as_dims(shape)
    if dtype.name not in ("int32", "int64", "uint32", "uint64"):
        raise InvalidArgumentError(f"Unsupported dtype: {dtype}")
    # Not from the session's seed: TensorFlow's op has no seed either, and never repeats itself.
    data = secrets.token_bytes(math.prod(dims) * dtype.numpy.itemsize)
    return np.frombuffer(data, dtype.numpy).reshape(dims)
