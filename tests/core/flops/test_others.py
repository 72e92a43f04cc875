"""FLOPs formulas of ops that stand alone, and of those that cost what others do: older versions, fused ops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions_sequences
from tests.core.flops.counting import Tally, counted, normal, positive
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, agree, hold, holds
from tfg.core.registry import registry
from tfg.core.types.dtypes import float32, int64
from tfg.core.types.shapes import Shape, TensorSpec

HELD: Cases = {}
IMAGE = (2, 4, 4, 3)


def _accumulator(op, shape):
    return lambda g: g.add(op, [], {"dtype": "float", "shape": shape})


# ---- gradients of shapes, histograms


@holds(HELD, "TileGrad")
def tile_grad(draw, tally):
    times, size = draw(SMALL), draw(SMALL)
    np.add.reduce(normal(tally, times, size), 0)
    return Node([(times * size,), np.int32([times])])


@holds(HELD, "MirrorPadGrad")
def mirror_pad_grad(draw, tally):
    size = draw(st.integers(2, 5))
    before, after = draw(st.integers(0, size)), draw(st.integers(0, size))
    grad = normal(tally, before + size + after)
    middle = grad[before : before + size].copy()
    middle[:before] = middle[:before] + grad[:before][::-1]
    middle[size - after :] = middle[size - after :] + grad[before + size :][::-1]
    return Node([grad.shape, np.int32([[before, after]])], {"mode": "SYMMETRIC"})


@holds(HELD, "HistogramFixedWidth")
def histogram_fixed_width(draw, tally):
    values, bins = normal(tally, draw(SMALL)), counted(np.zeros(4), tally)
    for place in np.asarray(np.minimum((np.maximum(values, -1.0) - -1.0) / 0.5, 3.0)).astype(int):
        bins[place : place + 1] = bins[place : place + 1] + 1.0
    return Node([values.shape, np.float32([-1, 1]), np.int32(4)])


@holds(HELD, "Bucketize")
def bucketize(draw, tally):
    """Of values below all boundaries, which halve them most often."""
    count, size = draw(SMALL), draw(st.integers(0, 9))
    for _ in range(count):
        definitions_sequences.binary_search(counted(np.arange(size), tally), -1.0, lambda item, value: item <= value)
    return Node([(count,)], {"boundaries": [float(i) for i in range(size)]})


@holds(HELD, "IsotonicRegression")
def isotonic_regression(draw, tally):
    """Of rising rows: each number is above the mean so far, and joins the pool."""
    rows, size = draw(SMALL), draw(SMALL)
    for row in counted(np.tile(np.arange(size), (rows, 1)), tally):
        mean = row[:1]
        for i in range(1, size):
            assert np.asarray(mean < row[i : i + 1])
            mean = (row[i : i + 1] * 1.0 + mean * float(i)) / (1.0 + i)
    return Node([(rows, size)])


@holds(HELD, "DebugNumericSummary")
def debug_numeric_summary(draw, tally):
    x = normal(tally, draw(SMALL))
    _ = np.isnan(x), np.isfinite(x), x <= -9.0, x >= 9.0, x < 0.0, x == 0.0, x > 0.0
    np.minimum.reduce(x), np.maximum.reduce(x)
    deviations = x - np.add.reduce(x, keepdims=True) / len(x)
    _ = np.add.reduce(deviations * deviations, keepdims=True) / len(x)
    return Node([x.shape])


@holds(HELD, "CustomAggregator")
def custom_aggregator(draw, tally):
    x, bins = normal(tally, draw(SMALL)), draw(st.sampled_from([0, 4]))
    for number in np.split(x, len(x)):
        np.minimum(number, 9.0), np.maximum(number, -9.0)
    if bins:
        np.minimum(np.maximum(np.floor((x - -2.0) / 0.5), 0.0), 3.0)
    attrs = {"id": "a", "calibration_method": 1, "num_bins": bins, "min_percentile": 0.0, "max_percentile": 1.0}
    return Node([x.shape], attrs)


# ---- training


def gradient_accumulator(kind):
    shape = (2, 3)

    @holds(HELD, f"{kind}AccumulatorApplyGradient")
    def apply(draw, tally):
        _ = normal(tally, *shape) + normal(tally, *shape)
        return Node([_accumulator(f"{kind}ConditionalAccumulator", shape), np.int64(0), shape])

    @holds(HELD, f"{kind}AccumulatorTakeGradient")
    def take(draw, tally):
        _ = normal(tally, *shape) / float(draw(SMALL))
        return Node([_accumulator(f"{kind}ConditionalAccumulator", shape), np.int32(1)], {"dtype": "float"})


gradient_accumulator("")
gradient_accumulator("Resource")


@holds(HELD, "SparseAccumulatorApplyGradient")
def sparse_accumulator_apply(draw, tally):
    """At most: all rows are there already."""
    rows = draw(SMALL)
    _ = normal(tally, rows, 3) + normal(tally, rows, 3)
    handle = _accumulator("SparseConditionalAccumulator", (9, 3))
    return Node([handle, np.int64(0), np.arange(rows), (rows, 3), np.int64([9, 3])], {"has_known_shape": True})


@holds(HELD, "NegTrain")
def neg_train(draw, tally):
    """Each example pulls at its label and at the noise."""
    vocabulary, size, count, noise = 3, draw(SMALL), draw(SMALL), draw(SMALL)
    inner, outer = positive(tally, vocabulary, size), positive(tally, vocabulary, size)
    for example in range(count):
        source = inner[example % vocabulary]
        update = None
        for sample in range(1 + noise):
            target, sign = outer[sample % vocabulary], 1.0 if sample == 0 else -1.0
            x = np.add.reduce(np.append(source * target, counted(0.0, tally)), keepdims=True)
            step = counted(np.array([0.1]), tally) * sign / (np.exp(x * sign) + 1.0)
            pull = target * step
            target[:] = target + source * step
            update = pull if update is None else update + pull
        source[:] = source + update
    words = np.zeros(count, np.int32)
    variables = [lambda g: g.VariableV2(dtype="float", shape=(vocabulary, size))] * 2
    return Node([*variables, words, words, np.float32(0.1)], {"vocab_count": [1] * vocabulary, "num_negative_samples": noise})


@holds(HELD, "SdcaShrinkL1")
def sdca_shrink_l1(draw, tally):
    shape = draw(SMALL), 1
    weights = normal(tally, *shape)
    _ = np.sign(weights) * np.maximum(abs(weights) - 0.1, 0.0)
    return Node([[lambda g: g.VariableV2(dtype="float", shape=shape)]], {"l1": 0.1, "l2": 1.0})


def sdca(op, adaptive):
    @holds(HELD, op)
    def case(draw, tally):
        """A dense and a sparse group: each feature of each example, whose own scalars are not counted."""
        examples, dense, sparse = draw(SMALL), draw(SMALL), draw(SMALL)
        for size in (examples * dense, examples * sparse):
            values, weights, deltas = (normal(tally, size, seed=i) for i in range(3))
            values * values + np.zeros(size)
            for moved in (weights, weights + deltas * 2.0):
                shrunk = np.sign(moved) * np.maximum(abs(moved) - 0.1, 0.0)
                _ = values * shrunk + np.zeros(size)
            _ = deltas + values * 0.5
        places, features = np.repeat(np.arange(examples), sparse), np.tile(np.arange(sparse), examples)
        inputs = [
            [places], [features], [places.shape], [(examples, dense)], (examples,), (examples,),
            [np.arange(sparse)], [(1, sparse)], [(1, dense)], (examples, 4),
        ]  # fmt: skip
        attrs = {"loss_type": "logistic_loss", "l1": 0.1, "l2": 1.0, "num_loss_partitions": 2, "num_inner_iterations": 1}
        return Node(inputs, {**attrs, adaptive: False})


sdca("SdcaOptimizer", "adaptative")
sdca("SdcaOptimizerV2", "adaptive")


@holds(HELD, "NearestNeighbors")
def nearest_neighbors(draw, tally):
    """Their choice by the distances is not counted."""
    points, centers, size = draw(SMALL), draw(SMALL), draw(SMALL)
    x, c = normal(tally, points, size), normal(tally, centers, size)
    squares = [np.add.reduce(one * one, 1) for one in (x, c)]
    product = x @ c.T
    np.maximum(squares[0][:, None] - product * 2.0 + squares[1], 0.0)
    return Node([x.shape, c.shape, np.int64(1)], {}, tally.macs)


@holds(HELD, "KMC2ChainInitialization")
def kmc2_chain_initialization(draw, tally):
    """Draws are not counted."""
    distances = positive(tally, draw(SMALL))
    reach = distances[:1]
    for i in range(1, len(distances)):
        if np.asarray(distances[i : i + 1] > reach * 0.5):
            reach = distances[i : i + 1]
    return Node([distances.shape, np.int64(0)])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)


ALSO_HELD = ("SparseAccumulatorTakeGradient",)


def test_sparse_accumulator_take_gradient():
    """Only a run knows how many rows there are."""
    tally = Tally()
    _ = normal(tally, 2, 3) / 4.0
    outputs = [TensorSpec(int64, Shape([2])), TensorSpec(float32, Shape([2, 3])), TensorSpec(int64, Shape([2]))]
    agree(registry.flops_function("SparseAccumulatorTakeGradient")(None, None, outputs=outputs), tally)
