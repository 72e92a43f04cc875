"""XLA as an engine, and the lowerings of ops. Skipped where JAX is not installed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import jax  # noqa: E402

import tfg  # noqa: E402
from tests import opcases  # noqa: E402
from tests.comparison import assert_same  # noqa: E402
from tests.core.engines.networks import assert_in_engine, network  # noqa: E402
from tests.core.engines.unsupported_cases import on_request, supported_lines  # noqa: E402
from tests.recorded_answers import answers  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.engines.engine_registry import find_engine  # noqa: E402
from tfg.core.engines.engine_runtime import EngineRuntime  # noqa: E402
from tfg.core.engines.executables import EngineSettings  # noqa: E402
from tfg.core.registry import registry  # noqa: E402
from tfg.core.registry.op_facts import has_fact  # noqa: E402
from tfg.core.runtime.session.session import Session  # noqa: E402
from tfg.core.support.errors import InvalidArgumentError, TfgError  # noqa: E402
from tfg.core.types.shapes import Shape  # noqa: E402
from tfg.core.types.tensors import Tensor  # noqa: E402

TRIED = 1
"""How many cases of each op are compiled: more take minutes."""
IN_EVERY_FORM = {
    "ResizeBilinear": 12, "ResizeNearestNeighbor": 6, "NonMaxSuppressionV5": 2, "CombinedNonMaxSuppression": 8,
    "ArgMax": 20, "ArgMin": 20, "MaxPool": 9, "MaxPoolGrad": 4,
    "SegmentMax": 12, "UnsortedSegmentMin": 11, "MatrixDiagV3": 20, "MatrixDiagPartV3": 20, "MatrixSetDiagV3": 20,
    "Empty": 0,  # has constants alone, which are computed before
    "TopK": 0,  # is older than every graph that TensorFlow still runs
    "QuantizedResizeBilinear": 0,  # has a case of floats alone; XLA takes its integers
    "Mean": 30, "SqrtGrad": 8, "RFFT": 8, "Qr": 8, "FakeQuantWithMinMaxVars": 10, "DenseBincount": 12,
}  # fmt: skip
"""The number of cases for ops with influential attributes."""


def engine():
    """XLA, for groups of any size."""
    result = find_engine("xla")
    result.smallest = 1
    return result


def cases_by_op():
    by_name = {}
    for family in opcases.families():
        for case in opcases.load_cases(family):
            found_lowering = registry.lowering(case.op)
            is_step = found_lowering is not None and not has_fact(case.op, "transparent")
            if case.is_single_op and is_step and (not found_lowering.always or case.op in ("AddN", "ZerosLike")):
                by_name.setdefault(case.op, []).append((family, case))
    return by_name


CASES = cases_by_op()


@pytest.mark.parametrize("op", sorted(CASES))
def test_lowerings(op):
    """The first case that the engine takes equals TensorFlow's result; there is a case of each op."""
    tried = 0
    for family, case in CASES[op]:
        recorded = answers(family).steps(case.key)[0]
        if recorded["error"] or tried == IN_EVERY_FORM.get(op, TRIED):
            continue
        builder = GraphBuilder()
        ((*fetches,),) = case.build(builder)
        feeds = with_constants(builder.graph, case.feeds)
        session = Session(builder.graph, engine=EngineRuntime(engine()))
        result = session.run(fetches, feeds)
        if any(group.runs for group in session.engine_report().groups):
            tried += 1
            for got, want in zip(result, recorded["results"], strict=True):
                assert_same(got, want, case.tolerance)
    assert tried == IN_EVERY_FORM.get(op, TRIED), "too few cases were taken"


def quantized_cases():
    """The first case of each op on quantized integers; a cast follows or precedes the op, as no array holds such integers."""
    cases = [(f, case) for f in ("quantized", "quantized_fused", "uniform_quantized") for case in opcases.load_cases(f)]
    able = [(f, case) for f, case in cases if registry.lowering(case.op) and not answers(f).steps(case.key)[0]["error"]]
    return {case.op: (f, case) for f, case in reversed(able)}


QUANTIZED = quantized_cases()


@pytest.mark.parametrize("op", sorted(QUANTIZED))
def test_lowerings_of_quantized_integers(op):
    """Tensors and ranges are fed; sizes and axes are constants."""
    family, case = QUANTIZED[op]
    builder = GraphBuilder()
    ((*fetches,),) = case.build(builder)
    feeds = {}
    for node in [node for node in builder.graph if node.is_constant]:
        value = node.constant_value()
        if value.dtype.kind == "f" or value.ndim > 1:
            feeds[f"{node.name}:0"] = value
            node.change_op("Placeholder")
            node.attrs = {"dtype": Tensor.from_numpy(value).dtype, "shape": Shape(value.shape)}
    session = Session(builder.graph, engine=EngineRuntime(engine()))
    for got, want in zip(session.run(fetches, feeds), answers(family).steps(case.key)[0]["results"], strict=True):
        assert_same(got, want, case.tolerance)
    assert any(group.runs for group in session.engine_report().groups)


@pytest.mark.parametrize("op", sorted(CASES))
def test_refusals(op):
    """Cases that TensorFlow refuses are refused by NumPy, and the engine leaves them to NumPy."""
    for family, case in CASES[op]:
        if not answers(family).steps(case.key)[0]["error"]:
            continue
        builder = GraphBuilder()
        ((*fetches,),) = case.build(builder)
        feeds = with_constants(builder.graph, case.feeds)
        with pytest.raises(TfgError):
            Session(builder.graph, engine=EngineRuntime(engine())).run(fetches, feeds)


def with_constants(graph, feeds):
    """Return the feeds of a case without the integers except the first, which become constants, as in most graphs."""
    left = dict(feeds)
    for name, value in feeds.items():
        if value.dtype.kind == "i" and not name.startswith("x0"):
            node = graph.output(name).node
            node.change_op("Const")
            node.attrs = {"dtype": Tensor.from_numpy(value).dtype, "value": Tensor.from_numpy(value)}
            del left[name]
    return left


@on_request
def test_the_engine_still_needs_every_line_of_its_table():
    """A line with only correct cases must go; the lines of MaxPool state the limits of the lowering."""
    assert supported_lines("xla", "padding", "data_format") == {}


def test_suppression_takes_equal_scores_in_numpys_order():
    draws = np.random.default_rng(0)
    corners, sizes = draws.random((2, 60, 1, 2), dtype="f"), draws.random((2, 60, 1, 2), dtype="f") * 0.2
    feeds = {
        "boxes:0": np.concatenate([corners, corners + sizes], -1),
        "scores:0": draws.integers(0, 9, (2, 60, 3)).astype("f"),
    }
    b = GraphBuilder()
    boxes, scores = (b.Placeholder(dtype="float32", shape=feeds[f"{n}:0"].shape, name=n) for n in ("boxes", "scores"))
    numbers = [b.constant(value) for value in (np.int32(9), np.int32(40), np.float32(0.3), np.float32(2))]
    fetches = [output.name for output in b.CombinedNonMaxSuppression(boxes, scores, *numbers, name="y")]
    session = Session(b.graph, engine=engine())
    for result, expected in zip(session.run(fetches, feeds), Session(b.graph).run(fetches, feeds)):
        np.testing.assert_array_equal(result, expected)
    assert_in_engine(session)


def test_a_network_in_single_precision():
    graph, x = network()
    session = Session(graph, engine=engine())
    result, expected = session.run("logits:0", {"x:0": x}), Session(graph).run("logits:0", {"x:0": x})
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert_in_engine(session)


def test_a_gradient():
    graph, x = network()
    graph, (gradient,) = tfg.gradients(graph, "logits:0", "x:0")
    session = Session(graph, engine=EngineRuntime(engine(), EngineSettings(verify=True)))
    result, expected = session.run(gradient, {"x:0": x}), Session(graph).run(gradient, {"x:0": x})
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert_in_engine(session)
    assert session.engine_report().differences == ()


@pytest.mark.parametrize("dtype, largest", [("half", 2048), ("bfloat16", 256)])
@pytest.mark.parametrize("op, options", [("Cumsum", {}), ("Cumsum", {"exclusive": True, "reverse": True})])
def test_running_sums_of_16_bits_are_rounded_row_after_row(op, options, dtype, largest):
    """Sums of ones end where 1 is half of the distance to the next number."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3000], name="x")
    b.Cast(getattr(b, op)(b.Cast(x, DstT=dtype), b.constant(np.int32(0)), **options), DstT="float32", name="y")
    session = Session(b.graph, engine=engine())
    sums = session.run("y:0", {"x:0": np.ones(3000, "f")})
    assert_in_engine(session)
    ones = np.arange(3000) if options else np.arange(1, 3001)
    np.testing.assert_array_equal(sums[::-1] if options else sums, np.minimum(ones, largest))


def in_both(graph, feeds):
    """Return the values of `y` in XLA and in NumPy; XLA ran the whole graph."""
    session = Session(graph, engine=engine())
    result = session.run("y:0", feeds)
    assert_in_engine(session)
    return result, Session(graph).run("y:0", feeds)


WINDOWS = [((2, 2), (2, 2)), ((3, 3), (2, 2)), ((3, 2), (1, 1)), ((1, 1), (2, 2)), ((2, 3), (3, 1)), ((6, 6), (2, 2))]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("window, strides", WINDOWS)
def test_pools(window, strides, padding):
    """Special values are as in NumPy; the elements of a window are added in another order."""
    b, draws = GraphBuilder(), np.random.default_rng(0)
    attrs = {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding}
    image, arriving = (b.Placeholder(dtype="float32", shape=None, name=name) for name in ("x", "dy"))
    b.MaxPool(image, name="largest", **attrs)
    b.MaxPool(b.Cast(image, DstT="int32"), name="largest_integers", **attrs)
    b.AvgPool(image, name="mean", **attrs)
    b.AvgPoolGrad(b.Shape(image), arriving, name="gradient", **attrs)
    x = draws.integers(-20, 3, (2, 9, 8, 3)).astype("f")
    shape = Session(b.graph).run("mean:0", {"x:0": x}).shape
    session, expected = Session(b.graph, engine=engine()), Session(b.graph)
    feeds = {"x:0": x, "dy:0": draws.standard_normal(shape)}
    fetches = ["largest:0", "largest_integers:0", "mean:0", "gradient:0"]
    for result, value in zip(session.run(fetches, feeds), expected.run(fetches, feeds)):
        np.testing.assert_allclose(result, value, atol=1e-6)
    special = np.where(draws.random(x.shape) < 0.5, draws.choice(np.float32([np.nan, np.inf, -np.inf]), x.shape), x)
    for fetch in ("largest:0", "mean:0"):
        np.testing.assert_allclose(*(each.run(fetch, {"x:0": special}) for each in (session, expected)), atol=1e-6)
    assert_in_engine(session, 3)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("window, strides", WINDOWS)
def test_gradients_of_pools(window, strides, padding):
    """The gradient of a window goes to the first largest element; many elements are equal here."""
    b, draws = GraphBuilder(), np.random.default_rng(0)
    attrs = {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding}
    image = b.Placeholder(dtype="float32", shape=[2, 9, 8, 3], name="x")
    y = b.MaxPool(image, **attrs)
    arriving = b.Placeholder(dtype="float32", shape=None, name="dy")
    b.MaxPoolGrad(image, y, arriving, name="y", **attrs)
    x = draws.integers(-2, 3, (2, 9, 8, 3)).astype("f")
    shape = Session(b.graph).run(y.name, {"x:0": x}).shape
    result, expected = in_both(b.graph, {"x:0": x, "dy:0": draws.standard_normal(shape)})
    np.testing.assert_allclose(result, expected, atol=1e-6)


def test_in_three_dimensions_the_gradient_goes_to_all_that_are_near():
    """As in TensorFlow: to elements less than 1e-5 from the largest."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[1, 4, 1, 1, 1], name="x")
    attrs = {"ksize": [1, 4, 1, 1, 1], "strides": [1, 4, 1, 1, 1], "padding": "VALID"}
    b.MaxPool3DGrad(x, b.MaxPool3D(x, **attrs), np.ones((1, 1, 1, 1, 1), np.float32), name="y", **attrs)
    near = np.array([1, 1 + 5e-6, 1 - 2e-6, 0.5], np.float32).reshape(1, 4, 1, 1, 1)
    for result in in_both(b.graph, {"x:0": near}):
        assert result.ravel().tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("size", [3, 6])
def test_pools_with_explicit_paddings(size):
    """Windows of few places are slices, and those of many XLA's windows."""
    b = GraphBuilder()
    window = {"ksize": [1, size, 2, 1], "strides": [1, 2, 1, 1], "padding": "EXPLICIT"}
    window["explicit_paddings"] = [0, 0, 2, 1, 1, 0, 0, 0]
    x, dy = (b.Placeholder(dtype="float32", shape=None, name=name) for name in ("x", "dy"))
    b.MaxPoolGrad(x, b.MaxPool(x, name="y", **window), dy, name="dx", **window)
    feeds = {"x:0": np.random.default_rng(0).standard_normal((2, 8, 7, 3)) - 2}
    feeds["dy:0"] = Session(b.graph).run("y:0", feeds) + 1
    session = Session(b.graph, engine=engine())
    for result, expected in zip(session.run(["y:0", "dx:0"], feeds), Session(b.graph).run(["y:0", "dx:0"], feeds)):
        np.testing.assert_allclose(result, expected, atol=1e-6)
    assert_in_engine(session)


@pytest.mark.parametrize("padding", ["SAME", "VALID", "EXPLICIT"])
@pytest.mark.parametrize("size, stride", [(1, 1), (2, 1), (3, 2), (3, 4), (5, 1)])
@pytest.mark.parametrize("channels, filters", [(1, 5), (1, 31), (1, 32), (2, 16), (3, 1), (3, 24), (7, 8), (8, 5)])
def test_convolutions_of_few_filters(channels, filters, size, stride, padding):
    b, draws = GraphBuilder(), np.random.default_rng(0)
    window = {"strides": [1, 1, stride, 1], "padding": padding}
    window |= {"explicit_paddings": [0, 0, 2, 1, 0, 3, 0, 0]} if padding == "EXPLICIT" else {}
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    weights = b.constant(draws.standard_normal((3, size, channels, filters)).astype("f"))
    b.Conv2D(x, weights, name="y", **window)
    result, expected = in_both(b.graph, {"x:0": draws.standard_normal((2, 7, 11, channels))})
    np.testing.assert_allclose(result, expected, atol=1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_stays_in_its_windows(value):
    b, draws = GraphBuilder(), np.random.default_rng(0)
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    weights = b.constant(draws.standard_normal((3, 3, 1, 4)).astype("f"))
    b.Conv2D(x, weights, strides=[1, 1, 1, 1], padding="SAME", name="y")
    image = draws.standard_normal((1, 8, 8, 1)).astype("f")
    image[0, 3, 4] = value
    session = Session(b.graph, engine=engine())
    result = session.run("y:0", {"x:0": image})
    assert session.engine_report().groups[0].reason == "an input does not fit its op, or is not finite"
    is_far = np.ones((8, 8), bool)
    is_far[2:5, 3:6] = False
    assert np.isfinite(result[0, is_far]).all()
    assert not np.isfinite(result[0, ~is_far]).any()


@pytest.mark.parametrize("padding", ["SAME", "VALID", "EXPLICIT"])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize(
    "images, filters, stride",
    [
        ((2, 6, 7, 3), (3, 2, 3, 40), 1),  # fewer positions than filters
        ((2, 9, 8, 3), (3, 3, 3, 4), 2),  # few channels and strides
        ((2, 9, 8, 10), (3, 3, 10, 4), 2),
        ((5, 45, 40, 2), (3, 3, 2, 100), 1),  # more elements than a part of the batch takes
        ((5, 45, 40, 2), (1, 1, 2, 4), 2),
        ((2, 9, 8, 4), (3, 3, 2, 6), 1),  # two groups
        ((0, 9, 8, 3), (3, 3, 3, 40), 1),
        ((2, 9, 1, 3), (3, 2, 3, 40), 2),  # no window fits without padding
    ],
)
def test_gradients_of_convolutions(images, filters, stride, dilation, padding):
    b, draws = GraphBuilder(), np.random.default_rng(0)
    window = {"strides": [1, stride, stride, 1], "dilations": [1, dilation, dilation, 1], "padding": padding}
    window |= {"explicit_paddings": [0, 0, 2, 1, 0, 3, 0, 0]} if padding == "EXPLICIT" else {}
    x, w = (b.Placeholder(dtype="float32", shape=None, name=name) for name in "xw")
    b.Conv2D(x, w, name="y", **window)
    feeds = {"x:0": draws.standard_normal(images), "w:0": draws.standard_normal(filters)}
    dy = b.Placeholder(dtype="float32", shape=None, name="dy")
    feeds["dy:0"] = draws.standard_normal(Session(b.graph).run("y:0", feeds).shape)
    b.Conv2DBackpropInput(b.constant(np.int32(images)), w, dy, name="dx", **window)
    b.Conv2DBackpropFilter(x, b.constant(np.int32(filters)), dy, name="dw", **window)
    session = Session(b.graph, engine=engine())
    for result, expected in zip(session.run(["dx:0", "dw:0"], feeds), Session(b.graph).run(["dx:0", "dw:0"], feeds)):
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.abs(expected).max(initial=0))
    assert_in_engine(session)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_64_bits_stay_64_bits(dtype):
    """JAX would halve them, and does so outside."""
    b = GraphBuilder()
    x = b.Placeholder(dtype=dtype, shape=[2], name="x")
    b.AddV2(x, x, name="y")
    session = Session(b.graph, engine=engine())
    value = np.array([2**40 + 1, 3], dtype)
    result = session.run("y:0", {"x:0": value})
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, value * 2)
    assert_in_engine(session)
    assert jax.numpy.zeros(1).dtype == np.float32


def test_what_shapes_are_computed_from_is_part_of_what_is_compiled():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[6], name="x")
    rows = b.Placeholder(dtype="int32", shape=[], name="rows")
    y = b.Reshape(b.Neg(x), b.Pack([rows, b.constant(np.int32(-1))], axis=0))
    b.Shape(y, name="shape")
    b.Identity(y, name="y")
    session = Session(b.graph, engine=engine())
    for count in (2, 3, 2):
        y, shape = session.run(["y:0", "shape:0"], {"x:0": np.arange(6), "rows:0": count})
        np.testing.assert_array_equal(y, -np.arange(6.0).reshape(count, -1))
        np.testing.assert_array_equal(shape, [count, 6 // count])
    (group,) = session.engine_report().groups
    assert (group.compiled, group.runs, group.reason) == (2, 3, None)


def test_large_constants_are_arguments():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2000], name="x")
    b.Mul(x, b.constant(np.arange(2000, dtype="f")), name="y")
    session = Session(b.graph, engine=engine())
    np.testing.assert_array_equal(session.run("y:0", {"x:0": np.full(2000, 2)}), 2.0 * np.arange(2000))
    assert_in_engine(session)


def test_dtypes_without_a_kernel_are_the_error_that_they_are_in_numpy():
    b = GraphBuilder()
    x = b.Placeholder(dtype="uint16", shape=[0], name="x")
    b.RealDiv(x, x, name="y")
    for session in (Session(b.graph), Session(b.graph, engine=engine())):
        with pytest.raises(TfgError):
            session.run("y:0", {"x:0": []})


BIASES = [((2, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 3), (1,)), ((2, 3), ()), ((2, 3, 3), (3, 1)), ((3,), (3,))]


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("shape, biases", BIASES)
def test_biases_are_a_vector_of_as_many_as_there_are_channels(shape, biases, data_format):
    b = GraphBuilder()
    x, bias = (b.Placeholder(dtype="float32", name=name) for name in ("x", "bias"))
    b.BiasAdd(b.Neg(x), bias, data_format=data_format, name="y")
    session = Session(b.graph, engine=engine())
    with pytest.raises(InvalidArgumentError, match="'y'"):
        session.run("y:0", {"x:0": np.ones(shape), "bias:0": np.ones(biases)})


def test_a_vector_is_no_condition():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", name="x")
    b.Assert(b.Equal(x, x), [x], name="y")
    with pytest.raises(InvalidArgumentError, match="'y'"):
        Session(b.graph, engine=engine()).run(["y"], {"x:0": np.ones(1)})


def test_tensors_without_elements():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 3], name="x")
    b.Sum(b.Neg(x), b.constant([0]), name="y")
    session = Session(b.graph, engine=engine())
    np.testing.assert_array_equal(session.run("y:0", {"x:0": np.zeros((0, 3))}), np.zeros(3))
    assert_in_engine(session)


def test_computed_indices_and_divisors_are_checked():
    b = GraphBuilder()
    i = b.Placeholder(dtype="int32", shape=[1], name="i")
    rows = b.constant(np.arange(6, dtype="f").reshape(3, 2))
    b.Neg(b.GatherV2(rows, i, b.constant(np.int32(0))), name="taken")
    b.Neg(b.FloorDiv(b.constant(np.int32([7])), i), name="divided")
    session = Session(b.graph, engine=engine())
    for _ in range(2):
        np.testing.assert_array_equal(session.run("taken:0", {"i:0": [2]}), [[-4, -5]])
        np.testing.assert_array_equal(session.run("divided:0", {"i:0": [-2]}), [4])
        with pytest.raises(InvalidArgumentError):
            session.run("taken:0", {"i:0": [3]})
        with pytest.raises(InvalidArgumentError):
            session.run("divided:0", {"i:0": [0]})
    assert [group.runs for group in session.engine_report().groups] == [2, 2]


def test_a_precision_cannot_be_asked_for():
    with pytest.raises(InvalidArgumentError, match="bf16"):
        find_engine("xla", "bf16")
