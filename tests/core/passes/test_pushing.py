"""Rules that move constants, factors, transposes and casts: each fires once and is refused once, with the reason."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.core.passes.rewriting import placeholder, rewritten
from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.types import dtypes

Build = Callable[..., object]


def x(b, *shape, dtype=dtypes.float32):
    return placeholder(b, "x", shape or (2, 3), dtype)


def y(b, *shape, dtype=dtypes.float32):
    return placeholder(b, "y", shape or (2, 3), dtype)


def z(b, *shape, dtype=dtypes.float32):
    return placeholder(b, "z", shape or (2, 3), dtype)


def full(value, *shape, dtype="f"):
    return np.full(shape, value, dtype)


def twice(b, value, *users):
    """Fetch `value` too, so that no rule may take the value apart."""
    return (value, *users)


def split(b, f, g=None):
    """Return the difference between f of the first half and g of the second half of x."""
    first, second = b.Split(0, x(b, 4, 3), num_split=2)
    return b.Sub(f(b, first), (g or f)(b, second))


def flipped(b, value):
    return b.Transpose(value, [1, 0])


def looked_up(b, table):
    """Return rows of a table, looked up by the unique indices."""
    rows, places = b.Unique(placeholder(b, "i", (5,), dtypes.int32))
    return b.GatherV2(b.GatherV2(table, rows, 0), places, 0)


IMAGE = (1, 4, 4, 2)
STRIDES = {"strides": [1, 1, 1, 1], "padding": "SAME"}

# Rule -> (a graph in which it fires, what is left), (one where it must not fire, and the reason if one is given).
ARITHMETIC: dict[str, tuple[Build, str, Build, str | None]] = {
    "merge-offsets": (
        lambda b: b.Sub(b.AddV2(x(b), 1.0), b.Sub(3.0, y(b))),
        "AddV2(AddV2(x, -2), y)",
        lambda b: b.AddV2(b.AddV2(x(b), full(2, 2, 1)), full(3, 1, 3)),
        "the combined constant would be larger than each",
    ),
    "merge-factors": (
        lambda b: b.RealDiv(6.0, b.Mul(2.0, x(b))),
        "RealDiv(3, x)",
        lambda b: b.Mul(b.Mul(x(b), 1e30), 1e30),
        "the combined constant overflows, underflows or cancels",
    ),
    "scale-an-affine-function": (
        lambda b: b.Mul(b.AddV2(b.Mul(x(b), 3.0), 5.0), 2.0),
        "AddV2(Mul(x, 6), 10)",
        lambda b: twice(b, s := b.AddV2(b.Mul(x(b), 3.0), 5.0), b.Mul(s, 2.0)),
        None,
    ),
    "negate-the-constant": (
        lambda b: b.Neg(b.Mul(x(b), 2.0)),
        "Mul(x, -2)",
        lambda b: b.Neg(b.Mul(x(b), y(b))),
        None,
    ),
    "hoist-common-denominator": (
        lambda b: b.Sub(b.RealDiv(x(b), d := z(b)), b.RealDiv(y(b), d)),
        "RealDiv(Sub(x, y), z)",
        lambda b: b.AddV2(b.RealDiv(x(b, 1, 3), d := z(b)), b.RealDiv(y(b, 2, 1), d)),
        "the parts that differ may broadcast differently",
    ),
    "hoist-from-many": (
        lambda b: b.AddN([b.Mul(x(b), f := z(b)), b.Mul(f, y(b)), b.Mul(f, placeholder(b, "w"))]),
        "Mul(AddN(x, y, w), z)",
        lambda b: b.AddN([b.Mul(x(b), f := z(b)), b.Mul(f, y(b)), b.Neg(f)]),
        None,
    ),
    "merge-constants-of-many": (
        lambda b: b.AddN([x(b), full(1, 2, 3), y(b), full(2, 2, 3), b.ZerosLike(z(b))]),
        "AddN(x, y, [[3.0,3.0,3.0],[3.0,3.0,3.0]])",
        lambda b: b.AddN([x(b), full(3e38, 2, 3), y(b), full(3e38, 2, 3)]),
        "the combined constant overflows, underflows or cancels",
    ),
    "factor-of-input-into-weights": (
        lambda b: b.MatMul(b.Mul(x(b), 2.0), full(3, 3, 1)),
        "MatMul(x, [[6.0],[6.0],[6.0]])",
        lambda b: b.MatMul(b.Mul(x(b), full(2, 2, 1)), full(3, 3, 1)),
        "the factor is neither a scalar nor a vector of the input channels",
    ),
    "offset-into-later-bias": (
        lambda b: b.BiasAdd(b.AddV2(x(b), np.array([1, 2, 3], "f")), np.array([4, 5, 6], "f")),
        "BiasAdd(x, [5.0,7.0,9.0])",
        lambda b: b.BiasAdd(b.AddV2(x(b), full(1, 2, 1)), np.array([4, 5, 6], "f")),
        "the constant varies along more than the channels",
    ),
    "offset-into-earlier-bias": (
        lambda b: b.AddV2(b.BiasAdd(x(b), np.array([4, 5, 6], "f")), 1.0),
        "BiasAdd(x, [5.0,6.0,7.0])",
        lambda b: b.AddV2(b.BiasAdd(x(b, 1, 3), np.array([4, 5, 6], "f")), full(1, 2, 3)),
        "the constant may broadcast the other operand",
    ),
}  # fmt: skip

STRUCTURE: dict[str, tuple[Build, str, Build, str | None]] = {
    "unary-before-split": (
        lambda b: split(b, lambda b, v: b.Cast(v, DstT=dtypes.float64)),
        "Sub(Split(0, Cast(x)), Split(0, Cast(x)):1)",
        lambda b: split(b, lambda b, v: b.Exp(v), lambda b, v: b.Sin(v)),
        None,
    ),
    "transpose-before-split": (
        lambda b: split(b, flipped),
        "Sub(Split(1, Transpose(x, [1,0])), Split(1, Transpose(x, [1,0])):1)",
        lambda b: split(b, flipped, lambda b, v: b.Reshape(v, [3, 2])),
        None,
    ),
    "transpose-after-concat": (
        lambda b: b.ConcatV2([flipped(b, x(b)), flipped(b, y(b))], -1),
        "Transpose(ConcatV2(x, y, 0), [1,0])",
        lambda b: b.ConcatV2(
            [b.Transpose(x(b, 2, 3, 4), [1, 2, 0]), b.Transpose(y(b, 2, 4, 3), [2, 1, 0])], 0
        ),
        "the transposes differ",
    ),
    "transposes-around-unary": (
        lambda b: flipped(b, b.Exp(b.Neg(flipped(b, x(b))))),
        "Exp(Neg(x))",
        lambda b: twice(b, t := b.Transpose(x(b, 2, 3, 4), [1, 2, 0]), b.Transpose(b.Neg(t), [0, 2, 1])),
        "other nodes also read the inner transpose",
    ),
    "narrow-before-moving": (
        lambda b: b.Cast(flipped(b, x(b)), DstT=dtypes.float16),
        "Transpose(Cast(x), [1,0])",
        lambda b: b.Cast(flipped(b, x(b)), DstT=dtypes.int32),
        None,
    ),
    "widen-after-moving": (
        lambda b: flipped(b, b.Cast(x(b), DstT=dtypes.float64)),
        "Cast(Transpose(x, [1,0]))",
        lambda b: flipped(b, b.Cast(x(b), DstT=dtypes.int32)),
        None,
    ),
    "join-neighbouring-constants": (
        lambda b: b.ConcatV2([full(1, 2, 1), x(b), full(2, 2, 1), full(3, 2, 1)], 1),
        "ConcatV2([[1.0],[1.0]], x, [[2.0,3.0],[2.0,3.0]], 1)",
        lambda b: b.ConcatV2([full(1, 2, 1), x(b), full(2, 2, 1), y(b), full(3, 2, 1)], 1),
        None,
    ),
    "slice-of-pack": (
        lambda b: b.StridedSlice(b.Pack([x(b), y(b)]), [-1], [0], [1], shrink_axis_mask=1),
        "y",
        lambda b: b.StridedSlice(b.Pack([x(b), y(b)]), [1], [2], [1]),
        "the slice takes more than one element",
    ),
    "unpack-of-pack": (
        lambda b: [b.Neg(v) for v in b.Unpack(b.Pack([x(b), y(b)], axis=1), num=2, axis=1)],
        "Neg(x); Neg(y)",
        lambda b: list(b.Unpack(b.Pack([x(b), y(b)]), num=2)),
        "other nodes refer to it, or it waits for other nodes",
    ),
    "merge-gathers": (
        lambda b: b.GatherV2(b.GatherV2(x(b, 4, 3), [3, 1, 0], 0), [2, 0], 0),
        "GatherV2(x, [0,3], 0)",
        lambda b: b.GatherV2(b.GatherV2(x(b, 4, 3), [2, 1, 0], 1), [2, 0], 0),
        None,
    ),
    "gather-of-unique": (
        lambda b: looked_up(b, x(b)),
        "GatherV2(x, i, 0)",
        lambda b: b.GatherV2(b.GatherV2(x(b), [1, 0], 0), b.Unique(placeholder(b, "i", (5,), dtypes.int32))[1], 0),
        None,
    ),
    "uncast-indices": (
        lambda b: b.SegmentSum(x(b), b.Cast(placeholder(b, "i", (2,), dtypes.int32), DstT=dtypes.int64)),
        "SegmentSum(x, i)",
        lambda b: b.SegmentSum(x(b), b.Cast(placeholder(b, "i", (2,), dtypes.int64), DstT=dtypes.int32)),
        "the cast may change the numbers",
    ),
    "select-of-equals": (
        lambda b: b.SelectV2(placeholder(b, "c", (3,), dtypes.bool_), v := x(b), v),
        "x",
        lambda b: b.SelectV2(placeholder(b, "c", (2, 1), dtypes.bool_), v := x(b, 3), v),
        "the condition may broadcast the values",
    ),
}  # fmt: skip

GROUPS = {"arithmetic": ARITHMETIC, "structure": STRUCTURE}
CASES = [(passes, rule) for passes, cases in GROUPS.items() for rule in cases]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("passes", "rule"), CASES)
def test_rule_fires(passes, rule):
    fires, left, _, _ = GROUPS[passes][rule]
    result = rewritten(fires, f"{passes},prune")
    assert rule in result.fired
    assert result.text == left


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("passes", "rule"), CASES)
def test_rule_is_refused(passes, rule):
    _, _, refused, reason = GROUPS[passes][rule]
    result = rewritten(refused, f"{passes},prune")
    assert rule not in result.fired
    assert reason is None or reason in result.reasons


@pytest.mark.parametrize(("passes", "rule"), CASES)
def test_rule_leaves_fed_values_alone(passes, rule):
    b = GraphBuilder()
    fires = GROUPS[passes][rule][0]
    fires(b)
    computed = [v.name for node in b.graph if node.op not in ("Placeholder", "Const") for v in node.outputs()]
    assert rule not in rewritten(fires, f"{passes},prune", check=False, overridable=computed).fired


# Trees of sums and products, and what is left of each.
TREES: list[tuple[Build, str]] = [
    (lambda b: b.Sub(1.0, b.AddV2(x(b), 3.0)), "Sub(-2, x)"),
    (lambda b: b.Sub(1.0, b.Sub(3.0, x(b))), "AddV2(x, -2)"),
    (lambda b: b.Sub(b.Sub(x(b), 1.0), 3.0), "AddV2(x, -4)"),
    (lambda b: b.Neg(b.AddV2(x(b), 3.0)), "Sub(-3, x)"),
    (lambda b: b.Neg(b.Sub(x(b), y(b))), "Sub(y, x)"),
    (lambda b: b.AddV2(b.AddV2(b.AddV2(x(b), 1.0), y(b)), 2.0), "AddV2(AddV2(x, 3), y)"),
    (lambda b: b.AddV2(b.AddV2(x(b, 3), 1.0), b.AddV2(y(b), 2.0)), "AddV2(AddV2(x, 3), y)"),
    (lambda b: b.AddV2(b.AddV2(y(b), 1.0), b.AddV2(x(b, 3), 2.0)), "AddV2(AddV2(x, 3), y)"),
    (lambda b: b.RealDiv(6.0, b.RealDiv(2.0, x(b))), "Mul(x, 3)"),
    (lambda b: b.Mul(b.RealDiv(6.0, x(b)), 2.0), "RealDiv(12, x)"),
    (lambda b: b.Mul(b.Mul(x(b), 2.0), b.Mul(y(b), 3.0)), "Mul(Mul(x, 6), y)"),
    (lambda b: b.Mul(b.Reciprocal(x(b)), y(b)), "RealDiv(y, x)"),
    (lambda b: b.Mul(b.Neg(x(b)), 3.0), "Mul(x, -3)"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "left"), TREES, ids=[left for _, left in TREES])
def test_trees_of_constants(build, left):
    assert rewritten(build, "arithmetic,prune").text == left


@pytest.mark.parametrize("dtype", [dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.complex64, dtypes.float64])
def test_offsets_merge_in_every_dtype(dtype):
    """Integers at the limits of their range are included: the arithmetic is modulo a power of two."""

    def build(b):
        c, d = (b.constant(np.array(value).astype(dtype.numpy)) for value in (200, 100))
        return b.Sub(c, b.Sub(x(b, dtype=dtype), d))

    result = rewritten(build, "arithmetic,prune")
    assert result.ops().count("Sub") == 1


def test_quotients_of_integers_stay():
    """7 / 2 * 2 is 6, not 7."""

    def build(b):
        return b.Mul(b.Div(x(b, dtype=dtypes.int32), 2), 2)

    result = rewritten(build, "arithmetic,prune")
    assert result.text == "Mul(Div(x, 2), 2)"


CONVOLUTIONS: dict[str, Build] = {
    "Conv2D": lambda b, v, f: b.Conv2D(v, full(0.5, 3, 3, 2, 3), data_format=f, **STRIDES),
    "DepthwiseConv2dNative": lambda b, v, f: b.DepthwiseConv2dNative(v, full(0.5, 3, 3, 2, 2), data_format=f, **STRIDES),
}


@pytest.mark.parametrize("op", CONVOLUTIONS)
@pytest.mark.parametrize("f", ["NHWC", "NCHW"])
@pytest.mark.parametrize("factor", [np.float32(2), np.array([2, 3], "f")])
def test_factors_of_channels_go_into_the_weights(op, f, factor):
    shape = IMAGE if f == "NHWC" else (1, 2, 4, 4)
    aligned = factor if f == "NHWC" or not factor.ndim else factor.reshape(2, 1, 1)
    result = rewritten(lambda b: CONVOLUTIONS[op](b, b.Mul(x(b, *shape), aligned), f), "arithmetic,prune")
    assert result.text.startswith(f"{op}(x, c[3,3,2,")


def test_a_product_with_transposed_weights_is_scaled_along_its_columns():
    def build(b):
        weights = np.arange(6, dtype="f").reshape(2, 3)
        return b.MatMul(b.Mul(x(b), np.array([1, 2, 3], "f")), weights, transpose_b=True)

    assert rewritten(build, "arithmetic,prune").text == "MatMul(x, [[0.0,2.0,6.0],[3.0,8.0,15.0]])"


def test_ensured_shapes_are_not_joined():
    """A property of each part need not hold for the whole."""

    def build(b):
        parts = [b.EnsureShape(v, shape=[2, 3]) for v in (x(b, None, 3), y(b, None, 3))]
        return b.ConcatV2(parts, 0)

    assert "unary-after-concat" not in rewritten(build, "arithmetic,prune").fired


def test_a_reshape_to_the_same_sizes_goes_where_one_is_not_known():
    """The number of elements and all sizes except the last agree, so the last size agrees too."""

    assert rewritten(lambda b: b.Reshape(x(b, None, 3, 4), b.Shape(y(b, None, 3, 4))), "structure,prune").text == "x"
    other = rewritten(lambda b: b.Reshape(x(b, None, 3, 4), b.Shape(y(b, None, 4, 3))), "structure,prune")
    assert other.text == "Reshape(x, Shape(y))"
    none = rewritten(lambda b: b.Reshape(x(b, None, 0), b.Shape(y(b, None, 0))), "structure,prune")
    assert none.text == "Reshape(x, Shape(y))"


def test_a_slice_of_a_pack_keeps_what_the_pack_waits_for():
    """An assertion before the pack still runs when only an element is taken."""
    b = GraphBuilder()
    check = b.Assert(placeholder(b, "ok", (), dtypes.bool_), [x(b)])
    with b.control_dependencies([check]):
        pack = b.Pack([b.graph.output("x:0"), y(b)])
    fetch = b.StridedSlice(pack, [1], [2], [1], shrink_axis_mask=1)
    after, _ = optimize(b.graph, [fetch.name], ["x:0", "y:0", "ok:0"], "structure,prune")
    feeds = {"x:0": full(1, 2, 3), "y:0": full(2, 2, 3), "ok:0": np.bool_(True)}
    np.testing.assert_array_equal(Session(after).run(fetch.name, feeds), full(2, 2, 3))
    assert any(node.op == "Assert" for node in after)


def test_a_constant_deep_in_a_sum_keeps_what_it_waits_for():
    b = GraphBuilder()
    check = b.Assert(placeholder(b, "ok", (), dtypes.bool_), [x(b)])
    with b.control_dependencies([check]):
        one = b.constant(1.0)
    fetch = b.AddV2(b.AddV2(b.graph.output("x:0"), one), 2.0)
    after, _ = optimize(b.graph, [fetch.name], ["x:0", "ok:0"], "arithmetic,prune")
    assert sorted(node.op for node in after) == ["AddV2", "Assert", "Const", "Identity", "Placeholder", "Placeholder"]


def test_nothing_is_made_that_has_no_kernel():
    result = rewritten(lambda b: b.Square(b.Sub(x(b, dtype=dtypes.uint8), y(b, dtype=dtypes.uint8))), "arithmetic")
    assert result.text == "Square(Sub(x, y))"
    assert "TensorFlow has no kernel of SquaredDifference for these dtypes" in result.reasons
    assert result.ops() == ["Placeholder", "Placeholder", "Square", "Sub"]


@pytest.mark.parametrize("add", ["AddV2", "AddN"])
def test_a_factor_that_goes_into_weights_is_not_hoisted(add):
    def build(b):
        factor = b.constant(np.arange(1, 5, dtype="f"))
        x, weights = placeholder(b, "x"), b.constant(np.ones((3, 4), "f"))
        terms = [b.Mul(b.MatMul(x, weights), factor), b.Mul(placeholder(b, "y", (2, 4)), factor)]
        return b.AddN(terms) if add == "AddN" else b.AddV2(*terms)

    result = rewritten(build, "arithmetic,batchnorm,prune")
    assert result.text.count("Mul(") == 1 + result.text.count("MatMul(")
    assert "weights" in result.reasons
    assert not result.fired & {"hoist-common-factor", "hoist-from-many"}


@pytest.mark.parametrize("axis", [[0], [[1]], 5, -4])
@pytest.mark.parametrize("kind", ["constants", "transposes", "split"])
def test_axes_that_are_no_scalar_in_range(kind, axis):
    """TensorFlow's kernels also accept a vector of a single number, and rules meet axes out of range."""

    def build(b):
        x, where = placeholder(b, "x"), b.constant(np.array(axis, np.int32))
        order = b.constant(np.int32([1, 0]))
        if kind != "split":
            one = b.constant(np.ones((2, 3), np.float32))
            joined = [x, one, one] if kind == "constants" else [b.Transpose(x, order), b.Transpose(b.Neg(x), order)]
            attrs = {"N": len(joined), "T": x.dtype, "Tidx": dtypes.int32}
            return b.graph.add_node("op", "ConcatV2", [*joined, where], (), attrs).output()
        parts = b.graph.add_node("op", "Split", [where, x], (), {"num_split": 1, "T": x.dtype})
        return b.Transpose(parts.output(), order)

    assert rewritten(build, check=False).after
