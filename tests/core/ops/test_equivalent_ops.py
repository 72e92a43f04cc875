"""Ops that TensorFlow's CPU build cannot run, held against recorded ops that must give the same."""

import numpy as np
import pytest

from tests.opcases import normal
from tests.pipelines import NUMBER, function, numbers, slices
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import OutOfRangeError

CONVOLUTION = {"strides": [1, 2, 1, 1], "padding": "SAME"}
WINDOWS = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
IMAGES = normal(2, 6, 6, 3)
FILTERS = normal(3, 3, 3, 4)
GRADIENTS = normal(2, 3, 6, 4)
EQUIVALENT = {
    "Conv2DBackpropFilterV2", "Conv2DBackpropInputV2", "CTCLossV2", "ExperimentalMapDataset", "FilterByLastComponentDataset",
    "MaxPoolGradGradWithArgmax", "QuantizedReluX",
}  # fmt: skip


def run(op, *inputs, **attrs):
    builder = GraphBuilder()
    node = builder.add(op, [builder.constant(value) for value in inputs], attrs, "op")
    return Session(builder.graph).run([f"op:{i}" for i in range(len(node.output_dtypes))])


def assert_equal(got, expected):
    assert len(got) == len(expected)
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one, other)


def test_convolution_gradients_by_shapes_and_by_tensors() -> None:
    sizes = np.int32(IMAGES.shape)
    assert_equal(
        run("Conv2DBackpropInputV2", IMAGES, FILTERS, GRADIENTS, **CONVOLUTION),
        run("Conv2DBackpropInput", sizes, FILTERS, GRADIENTS, **CONVOLUTION),
    )
    assert_equal(
        run("Conv2DBackpropFilterV2", IMAGES, FILTERS, GRADIENTS, **CONVOLUTION),
        run("Conv2DBackpropFilter", IMAGES, np.int32(FILTERS.shape), GRADIENTS, **CONVOLUTION),
    )


def test_second_gradient_of_max_pool_takes_what_the_pool_took() -> None:
    pooled, argmax = run("MaxPoolWithArgmax", IMAGES, **WINDOWS)
    assert_equal(run("MaxPoolGradGradWithArgmax", IMAGES, IMAGES, argmax, **WINDOWS), [pooled])


def test_ctc_loss_with_the_blank_first() -> None:
    logits = normal(5, 2, 4)
    indices, lengths = np.int64([[0, 0], [0, 1], [1, 0]]), np.int32([5, 4])
    labels = np.int32([0, 2, 1])
    loss, gradient = run("CTCLoss", logits, indices, labels, lengths)
    blank_first = np.roll(logits, 1, axis=2)
    result = run("CTCLossV2", blank_first, indices, labels + 1, lengths)
    for one, other in zip(result, [loss, np.roll(gradient, 1, axis=2)], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)  # the softmax adds in the order of the classes


def test_quantized_relu_with_a_bound() -> None:
    features = np.arange(0, 256, 5, dtype=np.uint8)
    attrs = {"Tinput": "quint8", "out_type": "quint8"}
    builder = GraphBuilder()
    quantized = builder.Bitcast(builder.constant(features), type="quint8", name="features")
    low, high = builder.constant(np.float32(-10)), builder.constant(np.float32(10))
    bounded = builder.add("QuantizedReluX", [quantized, builder.constant(np.float32(6)), low, high], attrs, "bounded")
    six = builder.add("QuantizedRelu6", [quantized, low, high], attrs, "six")
    results = Session(builder.graph).run([f"{node.name}:{i}" for node in (bounded, six) for i in range(3)])
    assert_equal(results[:3], results[3:])


def elements(dataset, builder, **spec):
    """Return the elements of a dataset in order."""
    iterator = builder.IteratorV2(shared_name="", container="", **spec)
    builder.MakeIterator(dataset, iterator, name="start")
    builder.IteratorGetNext(iterator, name="next", **spec)
    session = Session(builder.graph)
    session.run("start")
    result = []
    with pytest.raises(OutOfRangeError):
        while True:
            result.append(session.run("next:0").tolist())
    return result


def test_a_map_of_the_first_kind() -> None:
    for op in ("ExperimentalMapDataset", "MapDataset"):
        builder = GraphBuilder()
        square = function(builder, "square", ["int64"], lambda b, x: [b.Mul(x, x)])
        mapped = getattr(builder, op)(numbers(builder, 4), [], f=square, Targuments=[], **NUMBER)
        assert elements(mapped, builder, **NUMBER) == [0, 1, 4, 9]


def test_a_filter_by_the_last_component() -> None:
    builder = GraphBuilder()
    rows = slices(builder, np.int64([1, 2, 3, 4]), np.array([True, False, True, False]))
    assert elements(builder.FilterByLastComponentDataset(rows, **NUMBER), builder, **NUMBER) == [1, 3]
