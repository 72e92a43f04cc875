"""Stochastic dual coordinate ascent: the pass over a mini-batch, fingerprints of example ids, the shrinking of weights."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from ...codecs.cityhash import fingerprint128
from ...numerics import sdca
from ...registry.registry import NOT_DIFFERENTIABLE, Cost, flops, kernel, shape
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, merge_shapes


@kernel("SdcaFprint", shape="n -> n 2", arithmetic=False)
def sdca_fprint(input: Array) -> Result:
    """Return 128-bit fingerprints of strings (n) as pairs of int64 (n, 2); the first number is never 0 or 1."""
    if input.ndim != 1:
        raise InvalidArgumentError(f"Input must be a vector, got shape {Shape(input.shape)}")
    words = np.array([fingerprint128(value) for value in input.tolist()], np.uint64).reshape(-1, 2)
    # 0 and 1 are left free for sentinels, such as the empty key of a hash table; the difference wraps around.
    words[words[:, 0] < 2, 0] -= np.uint64(2)
    return words.view(np.int64)


@kernel("SdcaShrinkL1", gradient=NOT_DIFFERENTIABLE, facts=("side_effect",))
def sdca_shrink_l1(weights: Any, *, l1: float, l2: float) -> None:
    """Shrink each weight towards zero by l1 / l2."""
    shrinkage = l1 / np.float64(l2)
    for variable in weights:
        memory = variable.writable()
        # In place: the variable's memory is the op's result.
        memory[...] = np.sign(memory) * np.maximum(np.abs(memory) - np.float32(shrinkage), np.float32(0))


@flops("SdcaShrinkL1")
def sdca_shrink_l1_flops(weights: list[TensorSpec]) -> Cost:
    """A sign, a modulus, a difference, a maximum and a product each."""
    return Cost(flops=sum((5 * spec.shape.num_elements for spec in weights), start=0))


@kernel("SdcaOptimizer", gradient=NOT_DIFFERENTIABLE, facts=("random",))
def sdca_optimizer(
    ctx: KernelContext,
    sparse_example_indices: list[Array],
    sparse_feature_indices: list[Array],
    sparse_feature_values: list[Array],
    dense_features: list[Array],
    example_weights: Array,
    example_labels: Array,
    sparse_indices: list[Array],
    sparse_weights: list[Array],
    dense_weights: list[Array],
    example_state_data: Array,
    *,
    loss_type: str,
    adaptative: bool,
    l1: float,
    l2: float,
    num_loss_partitions: int,
) -> Any:
    """Return (example states (n, 4), deltas of sparse weights, deltas of dense weights) after using each example once.

    Examples are drawn in random order. TensorFlow has no seed for the order; here the session's seed decides.
    """
    if not sparse_weights and not dense_weights:
        raise InvalidArgumentError("Requires at least one feature to train.")
    count = example_weights.size
    weights, labels = example_weights.reshape(-1), example_labels.reshape(-1)
    if labels.size != count:
        raise InvalidArgumentError(f"Expected {count} example labels but got {labels.size}")
    settings = sdca.SdcaSettings(sdca.LOSSES[loss_type], l1, np.float64(l2), num_loss_partitions)
    sparse = [
        _sparse_group(i, count, examples, features, sparse_feature_values, sparse_indices[i], sparse_weights[i])
        for i, (examples, features) in enumerate(zip(sparse_example_indices, sparse_feature_indices))
    ]
    dense = [_dense_group(i, count, *item) for i, item in enumerate(zip(dense_features, dense_weights))]
    if example_state_data.shape != (count, 4):
        raise InvalidArgumentError(f"example_state_data must have shape ({count},4), not {Shape(example_state_data.shape)}")
    # A copy, of which each example's row is written while others are read.
    state = np.array(example_state_data, order="C")
    converted = [settings.loss.convert(float(label)) for label in labels]
    groups = [*sparse, *dense]
    # Once for the whole batch: features do not change, weights do.
    norms = sdca.squared_norms(groups, count)
    for i in _order(ctx, settings, groups, converted, weights, norms, state[:, 0], adaptative):
        label = converted[i]
        if label is None:
            raise InvalidArgumentError(f"{loss_type} does not support the label {labels[i]}")
        sdca.train_example(settings, groups, i, label, float(weights[i]), norms[i], state[i])
    deltas = [[group.deltas.reshape(w.shape) for group, w in zip(sparse, sparse_weights)]]
    deltas.append([group.deltas.reshape(w.shape) for group, w in zip(dense, dense_weights)])
    return state, *deltas


def _dense_group(i: int, count: int, features: Array, weights: Array) -> sdca.FeatureGroup:
    if features.ndim != 2:
        raise InvalidArgumentError(f"Dense features at index {i} must be rank 2 but is rank {features.ndim}")
    flat = weights.reshape(-1)
    if features.shape[1] > len(flat):
        raise InvalidArgumentError(f"More dense features than we have parameters for: {features.shape[1]}")
    if len(features) < count or features.shape[1] < len(flat):
        raise InvalidArgumentError(f"dense features {Shape(features.shape)} for {count} examples and {len(flat)} weights")
    return sdca.FeatureGroup(flat, np.zeros_like(flat), [slice(None)] * count, list(features))


def _sparse_group(
    i: int, count: int, examples: Array, features: Array, values: list[Array], indices: Array, weights: Array
) -> sdca.FeatureGroup:
    """Return the sparse features of group i, as places among its weights. Example indices must be in order."""
    examples, features = examples.reshape(-1), features.reshape(-1)
    if len(examples) != len(features):
        raise InvalidArgumentError(f"{len(examples)} example indices and {len(features)} feature indices in group {i}")
    # Groups without values hold indicators, each worth 1; they come last.
    numbers = values[i].reshape(-1) if i < len(values) else np.ones(len(features), np.float32)
    if len(numbers) != len(features):
        raise InvalidArgumentError(f"{len(features)} features and {len(numbers)} values in group {i}")
    place_of = {index: place for place, index in enumerate(indices.reshape(-1).tolist())}
    flat = weights.reshape(-1)
    places, strengths, start = [], [], 0
    for example in range(count):
        end = start
        while end < len(examples) and examples[end] == example:
            end += 1
        own = features[start:end].tolist()
        if any(place_of.get(f, len(flat)) >= len(flat) for f in own):
            raise InvalidArgumentError(f"Found sparse feature indices out of valid range in group {i}: {own}")
        if len(set(own)) != len(own):
            raise InvalidArgumentError("Duplicate index in sparse vector.")
        places.append(np.array([place_of[f] for f in own], np.intp))
        strengths.append(numbers[start:end])
        start = end
    return sdca.FeatureGroup(flat, np.zeros_like(flat), places, strengths)


def _order(
    ctx: KernelContext,
    settings: sdca.SdcaSettings,
    groups: list[sdca.FeatureGroup],
    labels: list[Any],
    weights: Array,
    norms: Array,
    duals: Array,
    is_adaptive: bool,
) -> Any:
    """Return the order of examples: a permutation, or drawn with adaptive probabilities that fall with each draw."""
    count = len(labels)
    # A new seed for each run of a program, unless the session has one.
    seed = secrets.randbits(64) if ctx.session.seed is None else ctx.session.seed % 2**64
    random = ctx.state(lambda: np.random.default_rng(seed))
    if not is_adaptive or any(label is None for label in labels) or not count:
        return random.permutation(count)
    chances = sdca.adaptive_probabilities(settings, groups, labels, weights, norms, duals)
    total = chances.sum()
    # Weights that have diverged give no distribution to draw from.
    if not 0 < total < np.inf or chances.min() < 0:
        return random.permutation(count)
    seen = np.zeros(count, np.int64)
    order: list[int] = []
    # A bound, as each repetition of an example is ten times less likely to be kept.
    for _ in range(2 * count):
        picked = int(random.choice(count, p=chances / total))
        if len(order) < count and random.random() <= 0.1 ** seen[picked]:
            seen[picked] += 1
            order.append(picked)
    # What the draws missed follows by falling probability, so that every example can be used.
    unseen = sorted(np.flatnonzero(seen == 0).tolist(), key=lambda i: -chances[i])
    return (order + unseen)[:count]


@kernel("SdcaOptimizerV2", gradient=NOT_DIFFERENTIABLE, facts=("random",))
def sdca_optimizer_v2(
    ctx: KernelContext, *inputs: Any, loss_type: str, adaptive: bool, l1: float, l2: float, num_loss_partitions: int
) -> Any:
    """As SdcaOptimizer."""
    options: dict[str, Any] = {"l1": l1, "l2": l2, "num_loss_partitions": num_loss_partitions}
    return sdca_optimizer(ctx, *inputs, loss_type=loss_type, adaptative=adaptive, **options)


@shape("SdcaOptimizer", "SdcaOptimizerV2")
def sdca_optimizer_shape(*inputs: Any) -> tuple[Any, Any, Any]:
    sparse, dense, state = inputs[7], inputs[8], inputs[9]
    return merge_shapes(state.shape, Shape([None, 4])), [spec.shape for spec in sparse], [spec.shape for spec in dense]


@flops("SdcaOptimizer", "SdcaOptimizerV2")
def sdca_optimizer_flops(*inputs: Any) -> Cost:
    """Of each feature two scores from shrunk weights, the norm and the delta; an example's scalars are not counted."""
    features = [*inputs[1], *inputs[3]]
    return Cost(flops=sum((20 * spec.shape.num_elements for spec in features), start=0))
