"""Quantized ops in ONNX models: TensorFlow's integers, for constant and for computed ranges and sizes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
pytestmark = pytest.mark.engine

from tests import opcases  # noqa: E402
from tests.core.engines.test_onnx_values import run  # noqa: E402
from tests.recorded_answers import answers  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.registry import registry  # noqa: E402
from tfg.core.support.errors import UnimplementedError  # noqa: E402
from tfg.core.types.shapes import Shape  # noqa: E402

FAMILIES = ("quantized", "quantized_fused", "uniform_quantized")
CASES = {
    f"{family} {case.key}": (case, answers(family).steps(case.key)[0])
    for family in FAMILIES
    for case in opcases.load_cases(family)
    if registry.onnx_lowering(case.op) is not None
}
NEEDS_CONSTANTS = (
    "QuantizedConcat", "QuantizedConcatV2", "QuantizedResizeBilinear", "UniformRequantize", "UniformQuantizedAdd",
    "UniformQuantizedDot",
)  # fmt: skip
"""Ops whose axes, sizes or scales must be constants."""
ROUNDED = ("QuantizedInstanceNorm",)
"""Ops with sums of floats, where another order of terms may give the next integer."""


def built(case):
    builder = GraphBuilder()
    ((*fetches,),) = case.build(builder)
    return builder, [builder.graph.output(name) for name in fetches]


def fed(graph, has_sizes):
    """Make placeholders of the constants, and return the constants as feeds; the placeholders have sizes or ranks only."""
    feeds = {}
    for node in [node for node in graph if node.is_constant]:
        value = node.constant_value()
        feeds[node.name] = value
        dims = value.shape if has_sizes or value.ndim < 2 else [value.shape[0], None, None, *value.shape[3:]][: value.ndim]
        node.change_op("Placeholder")
        node.attrs = {"dtype": node.output_dtypes[0], "shape": Shape(dims)}
    return feeds


def assert_equal(results, recorded, op):
    for got, want in zip(results, recorded["results"], strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
        else:
            np.testing.assert_allclose(got.astype(np.int64), want, rtol=0, atol=op in ROUNDED)


@pytest.mark.parametrize("key", CASES)
def test_integers_are_tensorflows(key, tmp_path):
    case, recorded = CASES[key]
    # The only op of quantized numbers that takes floats, too, and in ONNX it does not.
    is_of_floats = case.op == "QuantizedResizeBilinear" and recorded["results"][0].dtype.kind == "f"
    if not recorded["error"] and not is_of_floats:
        builder, outputs = built(case)
        assert_equal(run(builder, {}, outputs, tmp_path / "m.onnx"), recorded, case.op)


def first_of_each_op():
    cases = {case.op: (case, recorded) for case, recorded in reversed(CASES.values()) if not recorded["error"]}
    return {op: pair for op, pair in cases.items() if op not in NEEDS_CONSTANTS}


@pytest.mark.parametrize(("case", "recorded"), first_of_each_op().values(), ids=first_of_each_op())
def test_tensors_and_ranges_may_be_computed(case, recorded, tmp_path):
    builder, outputs = built(case)
    assert_equal(run(builder, fed(builder.graph, True), outputs, tmp_path / "m.onnx"), recorded, case.op)


BEYOND = np.float32([1, 5])
"""A range without zero: the integer -64 stands for zero."""


@pytest.mark.parametrize("is_computed", [False, True])
def test_ranges_without_zero(is_computed, tmp_path):
    """The integers are those of TensorFlow 2.21."""
    b = GraphBuilder()
    feeds = {"low": BEYOND[0], "high": BEYOND[1]} if is_computed else {}
    low, high = (b.Placeholder(dtype="float", shape=[], name=name) if is_computed else BEYOND[i] for i, name in
                 enumerate(("low", "high")))  # fmt: skip
    a, w = np.uint8([[0, 10, 255]]), np.uint8([[1], [2], [100]])
    product = b.QuantizedMatMul(
        *(b.Bitcast(b.constant(array), type="quint8") for array in (a, w)), low, high, np.float32(-1), np.float32(2),
        Toutput="qint32",
    )  # fmt: skip
    x, filters = np.arange(12, dtype=np.uint8).reshape(1, 3, 4, 1) * 20, np.arange(4, dtype=np.uint8).reshape(2, 2, 1, 1) * 50
    convolved = b.QuantizedConv2D(
        *(b.Bitcast(b.constant(array), type="quint8") for array in (x, filters)), low, high, np.float32(-5), np.float32(-1),
        strides=[1] * 4, padding="SAME", out_type="qint32",
    )  # fmt: skip
    result, image = run(b, feeds, [product[0], convolved[0]], tmp_path / "m.onnx")
    assert result.tolist() == [[-6733]]
    assert image.ravel().tolist() == [
        -102264, -121784, -141304, -84232, -180344, -199864, -219384, -127272, -137092, -148852, -160612, -90596,
    ]  # fmt: skip


def test_images_of_unknown_sizes(tmp_path):
    """A convolution whose images and ranges are fed."""
    key = next(key for key in CASES if key.startswith("quantized QuantizedConv2D["))
    case, recorded = CASES[key]
    builder, outputs = built(case)
    feeds = fed(builder.graph, False)
    filters = builder.graph.node(next(name for name, value in feeds.items() if value.ndim == 4 and value.shape[3] == 4))
    filters.set_attr("shape", Shape(feeds[filters.name].shape))
    assert_equal(run(builder, feeds, outputs, tmp_path / "m.onnx"), recorded, case.op)


def test_products_of_more_bits_are_refused(tmp_path):
    b = GraphBuilder()
    x = b.Bitcast(b.Placeholder(dtype="int32", shape=[2, 2], name="x"), type="qint32")
    y = b.QuantizedMatMul(x, x, *np.float32([-1, 1, -1, 1]), Toutput="qint32")
    with pytest.raises(UnimplementedError) as refusal:
        run(b, {"x": np.zeros((2, 2), np.int32)}, [y[0]], tmp_path / "m.onnx")
    assert any("8 bits" in line for line in refusal.value.details)


def test_quotients_of_constants_are_rounded_as_the_runtime_rounds(tmp_path):
    """-7 / 2 is -3 in ONNX, when tfg folds constants and when onnxruntime divides."""
    b = GraphBuilder()
    images = np.uint8([[250], [3]]).reshape(1, 1, 2, 1)
    for name, tensor in (
        ("folded", b.constant(images)),
        ("divided", b.Placeholder(dtype="uint8", shape=images.shape, name="x")),
    ):
        b.QuantizedResizeBilinear(b.Bitcast(tensor, type="quint8"), np.int32([1, 7]), *np.float32([0, 1]), name=name)
    results = run(b, {"x": images}, [b.graph.output("folded:0"), b.graph.output("divided:0")], tmp_path / "m.onnx")
    np.testing.assert_array_equal(*results)
