"""Large or long work takes no more time and memory than the answer, or ends at the limits of the run."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.core.passes.rewriting import placeholder
from tests.security.bombs.media import png
from tfg import GraphBuilder, Session, optimize
from tfg.core.inference.inference import infer
from tfg.core.support.errors import DeadlineExceededError, InvalidArgumentError, ResourceExhaustedError

EMPTY = np.zeros(0, np.float32)


@pytest.mark.parametrize("ksize", [[1, 2**40, 1, 1], [1, 2**31, 2**62, 1]])
@pytest.mark.parametrize("op", ["MaxPool", "AvgPool", "MaxPoolGrad", "AvgPoolGrad", "MaxPoolWithArgmax", "MaxPoolGradGrad"])
def test_a_window_larger_than_its_image_takes_no_longer(op, ksize):
    """The time equals the time of a window just large enough to reach every element from everywhere."""
    image = np.random.default_rng(0).normal(size=(1, 4, 5, 2)).astype(np.float32)
    g = GraphBuilder()
    results = []
    for size in (ksize, [1, *(min(k, 12 + k % 2) for k in ksize[1:3]), 1]):
        attrs = {"ksize": size, "strides": [1, 2, 1, 1], "padding": "SAME"}
        pooled = g.MaxPool(image, **attrs)
        given = [np.int32(image.shape), pooled] if op == "AvgPoolGrad" else [image]
        given += [pooled, pooled] if op == "MaxPoolGrad" else [pooled, image] if op == "MaxPoolGradGrad" else []
        value = g.apply(op, *given, **attrs)
        results.append(Session(g.graph, max_memory=1 << 20).run((value[0] if isinstance(value, tuple) else value).name))
    np.testing.assert_allclose(*results, rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_centers_to_which_rounding_leaves_all_the_distance(seed):
    """Points that are centers already are drawn again and again, where others are no further than nothing from a center."""
    points = np.zeros((3, 257), np.float32)
    points[0] = np.random.default_rng(seed).normal(size=257) * 100
    g = GraphBuilder()
    g.KmeansPlusPlusInitialization(points, np.int64(3), np.int64(seed), np.int64(0), name="op")
    assert Session(g.graph, timeout=100).run("op:0").shape == (3, 257)


def test_a_class_without_weight_is_not_waited_for():
    g = GraphBuilder()
    attrs = {"num_true": 1, "num_sampled": 3, "unique": True, "range_max": 3, "unigrams": [1.0, 0.0, 1.0]}
    g.FixedUnigramCandidateSampler(np.int64([[0]]), name="op", **attrs)
    with pytest.raises(InvalidArgumentError, match=r"'op'.*2 classes"):
        Session(g.graph, timeout=100).run("op:0")


@pytest.mark.parametrize(
    ("op", "inputs"),
    [("BatchMatMulV2", 2), ("Einsum", 2), ("Cholesky", 1), ("CholeskyGrad", 2), ("MatrixInverse", 1), ("MatrixSolve", 2),
     ("MatrixTriangularSolve", 2), ("Lu", 1), ("Qr", 1), ("Svd", 1), ("SelfAdjointEigV2", 1), ("Eig", 1)],
)  # fmt: skip
def test_matrices_of_nothing_may_be_many(op, inputs):
    matrices = np.zeros((1 << 36, 0, 0))
    g = GraphBuilder()
    x = placeholder(g, "x", None, "float64")
    if op == "Einsum":
        g.Einsum([x, x], equation="bij,bjk->bik", name="op")
    else:
        g.apply(op, *[x] * inputs, name="op", **({"Tout": "complex128"} if op == "Eig" else {}))
    assert not Session(g.graph, timeout=100).run("op:0", {"x:0": matrices}).size


def test_empty_rows_are_padded_in_no_time():
    g = GraphBuilder()
    g.add("Batch", [[g.constant(np.ones((1, 0)))]], {
        "num_batch_threads": 1, "max_batch_size": 2**40, "allowed_batch_sizes": [2**40], "batch_timeout_micros": 0,
        "grad_timeout_micros": 0,
    }, "op")  # fmt: skip
    assert Session(g.graph).run("op:0").shape == (2**40, 0)


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("AsString", [np.float32(1.5)], {"precision": 2**31 - 1}),
        ("AsString", [np.int32(1)], {"width": 2**31 - 1}),
        ("Empty", [np.int32([2**31 - 1, 2**31 - 1, 2**31 - 1])], {"dtype": "float32"}),
        ("SparseBincount", [np.int64([[0, 0]]), np.int32([1]), np.int64([2**62, 2]), np.int32(4), EMPTY], {}),
        ("Empty", [np.int32([2**31 - 1, 2**31 - 1, 2**31 - 1, 0])], {"dtype": "float32"}),
    ],
)
def test_what_python_or_numpy_will_not_make_is_too_much(op, inputs, attrs):
    g = GraphBuilder()
    g.apply(op, *inputs, name="op", **attrs)
    with pytest.raises(ResourceExhaustedError, match="'op'"):
        Session(g.graph, max_memory=1 << 30).run("op:0")
    if op == "Empty":
        with pytest.raises(ResourceExhaustedError, match="'op'"):
            Session(g.graph).run("op:0")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stride", [2**31 - 1, 2**63 - 1])
@pytest.mark.parametrize("channels", [1, 16])
@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative", "Conv2DBackpropInput", "Conv2DBackpropFilter"])
def test_a_stride_beyond_the_image_leaves_one_window(op, channels, stride):
    """The stride takes the time of a stride to the end of the image, without more memory."""
    image, w = np.ones((2, 5, 6, channels), np.float32), np.ones((3, 3, channels, 2), np.float32)
    grad = np.ones((2, 1, 1, 2 * channels if op.startswith("Depthwise") else 2), np.float32)
    given = {"Conv2DBackpropInput": (np.int32(image.shape), w, grad), "Conv2DBackpropFilter": (image, np.int32(w.shape), grad)}
    results = []
    for step in (6, stride):
        g = GraphBuilder()
        value = g.apply(op, *given.get(op, (image, w)), strides=[1, step, step, 1], padding="VALID")
        results.append(Session(g.graph, max_memory=1 << 20).run(value.name))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("load", [1e-7, 1e-30])
def test_a_dense_table_takes_no_more_buckets_than_the_run_may(load):
    g = GraphBuilder()
    table = g.MutableDenseHashTableV2(
        g.constant(np.int64(-1)), g.constant(np.int64(-2)), value_dtype="int64", max_load_factor=load, name="table"
    )
    g.LookupTableInsertV2(table, np.int64([1, 2, 3]), np.int64([1, 2, 3]), name="op")
    with pytest.raises(ResourceExhaustedError, match="'op'"):
        Session(g.graph, max_memory=1 << 24 if load == 1e-7 else None).run(["op"])


@pytest.mark.parametrize("length", [255, 2**40])
@pytest.mark.parametrize("op", ["Fill", "Reshape", "RandomStandardNormal", "Transpose", "TensorListReserve", "SetSize"])
def test_a_vector_that_is_said_to_hold_more_dimensions_than_a_tensor_has(op, length):
    """No list of them is made to look at the graph."""
    g = GraphBuilder()
    vector = g.Placeholder(dtype="int32" if op != "SetSize" else "int64", shape=[length + (op == "SetSize")])
    unknown = g.Placeholder(dtype="float32")
    given = {
        "Fill": (vector, 1.0), "RandomStandardNormal": (vector,), "TensorListReserve": (vector, np.int32(2)),
        "SetSize": (vector, vector, vector),
    }.get(op, (unknown, vector))  # fmt: skip
    attrs = {"RandomStandardNormal": {"dtype": "float32"}, "TensorListReserve": {"element_dtype": "float32"}}
    value = g.apply(op, *given, **attrs.get(op, {}))
    assert infer(g.graph).spec(value).shape.rank is None


@pytest.mark.slow
def test_who_sleeps_looks_at_the_time():
    g = GraphBuilder()
    g.SleepIdentityOp(np.int32(10**9), 1.0, name="op")
    with pytest.raises(DeadlineExceededError, match="'op'"):
        Session(g.graph, timeout=0.3).run("op:0")


def test_a_list_of_rows_without_elements_is_counted():
    g = GraphBuilder()
    rows = g.TensorListLength(g.TensorListFromTensor(np.zeros((2**26, 0), np.float32), np.int32([0])))
    with pytest.raises(ResourceExhaustedError, match="TensorListFromTensor"):
        Session(g.graph, max_memory=1 << 30).run(rows)


def _shuffled_for_long(g):
    return g.RandomIndexShuffle(np.int64(5), np.uint32([1, 2, 3]), np.int64(10**6), rounds=2**26)


def _far_in_a_sequence(g):
    return g.SobolSample(np.int32(1), np.int32(1), np.int32(2**31 - 1))


def _cropped_in_vain(g):
    return g.StatelessSampleDistortedBoundingBox(
        np.int32([9, 9, 3]), np.float32([[[0, 0, 1, 1]]]), np.float32(1), np.int32([1, 2]),
        aspect_ratio_range=[1, 1], area_range=[1e-9, 1e-9], max_attempts=2**31 - 1,
    )[0]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", [_shuffled_for_long, _far_in_a_sequence, _cropped_in_vain])
def test_what_takes_as_long_as_a_number_says_is_left_to_runs(make):
    """A run checks the time limit; inference and folding would not end."""
    g = GraphBuilder()
    result = make(g)
    with pytest.raises(DeadlineExceededError):
        Session(g.graph, timeout=0.1).run(result)
    assert infer(g.graph).specs[g.graph.output(str(result))].value is None
    graph, _ = optimize(g.graph, [str(result)])
    assert result.node.name in graph


@pytest.mark.parametrize("op", ["DecodePng", "DecodeJpeg", "DecodeImage"])
def test_a_picture_that_is_too_large_to_fold_is_not_decoded_for_it(op):
    g = GraphBuilder()
    g.AddV2(placeholder(g, "x", (), "uint8"), g.apply(op, g.constant(png(6000, 6000)), channels=3), name="y")
    tracemalloc.start()
    graph, _ = optimize(g.graph, ["y"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert op in {node.op for node in graph}
    assert peak < 20 << 20
