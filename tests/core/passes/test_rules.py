"""Every local rule fires once, with the expression that is left and the same values, and is refused once."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from tests.core.passes import test_pushing
from tests.core.passes.rewriting import placeholder, rewritten
from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.rules import arithmetic, constant_rules, data_movement, uniform_draws
from tfg.core.types import dtypes

Build = Callable[..., object]


def x(b, *shape, dtype=dtypes.float32):
    return placeholder(b, "x", shape or (2, 3), dtype)


def y(b, *shape, dtype=dtypes.float32):
    return placeholder(b, "y", shape or (2, 3), dtype)


def unknown(b, name="x"):
    return placeholder(b, name, None)


def whole(b, name="x"):
    return placeholder(b, name, (2, 3), dtypes.int32)


def ones(b, *shape):
    return b.constant(np.ones(shape, np.float32))


def drawn(b):
    return b.RandomUniform([2, 3], dtype=dtypes.float32)


def batch(b, value):
    return b.StridedSlice(b.Shape(value), [0], [1], [1], shrink_axis_mask=1)


def summed(b, value, other, place):
    """Return the sum of `value`, of the broadcast shape of both, in the shape of one of them, as gradients have it."""
    shapes = [b.Shape(value), b.Shape(other)]
    return b.Reshape(b.Sum(value, b.BroadcastGradientArgs(*shapes)[place]), shapes[place])


def twice(b, value, *users):
    """Fetch `value` too, so that no rule may take the value apart."""
    return (value, *users)


# Rule -> (a graph in which it fires, what is left), (one where it must not fire).
ARITHMETIC: dict[str, tuple[Build, str, Build]] = {
    "add-zero": (lambda b: b.AddV2(x(b), 0.0), "x", lambda b: b.AddV2(x(b, 1, 3), b.constant(np.zeros((2, 3), "f")))),
    "subtract-zero": (lambda b: b.Sub(x(b), 0.0), "x", lambda b: b.Sub(0.0, x(b))),
    "multiply-by-one": (lambda b: b.Mul(1.0, x(b)), "x", lambda b: b.Mul(unknown(b), ones(b, 2, 1))),
    "divide-by-one": (lambda b: b.RealDiv(x(b), 1.0), "x", lambda b: b.RealDiv(1.0, x(b))),
    "multiply-by-zero": (lambda b: b.Mul(whole(b), 0), "[[0,0,0],[0,0,0]]", lambda b: b.Mul(x(b), 0.0)),
    "subtract-itself": (
        lambda b: b.Sub(whole(b), b.graph.output("x:0")),
        "ZerosLike(x)",
        lambda b: b.Sub(x(b), b.graph.output("x:0")),
    ),
    "logical-neutral": (
        lambda b: b.LogicalAnd(x(b, dtype=dtypes.bool_), True),
        "x",
        lambda b: b.LogicalOr(x(b, dtype=dtypes.bool_), True),
    ),
    "multiply-by-itself": (lambda b: b.Mul(x(b), b.graph.output("x:0")), "Square(x)", lambda b: b.Mul(x(b), y(b))),
    "add-negated": (lambda b: b.AddV2(x(b), b.Neg(y(b))), "Sub(x, y)", lambda b: b.AddV2(x(b), b.Abs(y(b)))),
    "subtract-negated": (lambda b: b.Sub(x(b), b.Neg(y(b))), "AddV2(x, y)", lambda b: b.Sub(b.Neg(x(b)), y(b))),
    "involution": (lambda b: b.Abs(b.Neg(b.Neg(x(b)))), "Abs(x)", lambda b: b.Neg(b.Abs(x(b)))),
    "idempotent": (lambda b: b.Relu(b.Relu(x(b))), "Relu(x)", lambda b: b.Relu(b.Relu6(x(b)))),
    "push-not-into-comparison": (
        lambda b: b.LogicalNot(b.Less(whole(b), whole(b, "y"))),
        "GreaterEqual(x, y)",
        lambda b: b.LogicalNot(b.Less(x(b), y(b))),
    ),
    "power": (lambda b: b.Pow(x(b), 0.5), "Sqrt(x)", lambda b: b.Pow(x(b, 3), b.constant(np.full((2, 3), 2, "f")))),
    "square-of-difference": (
        lambda b: b.Square(b.Sub(x(b), y(b))),
        "SquaredDifference(x, y)",
        lambda b: twice(b, d := b.Sub(x(b), y(b)), b.Square(d)),
    ),
    "divide-by-root": (
        lambda b: b.RealDiv(x(b), b.Sqrt(y(b))),
        "Mul(x, Rsqrt(y))",
        lambda b: twice(b, r := b.Sqrt(y(b)), b.RealDiv(x(b), r)),
    ),
    "divide-by-constant": (lambda b: b.RealDiv(x(b), 4.0), "Mul(x, 0.25)", lambda b: b.RealDiv(x(b), 1e-45)),
    "log-of-one-plus": (lambda b: b.Log(b.AddV2(1.0, x(b))), "Log1p(x)", lambda b: b.Log(b.AddV2(x(b), 2.0))),
    "log-of-softmax": (
        lambda b: b.Log(b.Softmax(x(b))),
        "LogSoftmax(x)",
        lambda b: twice(b, s := b.Softmax(x(b)), b.Log(s)),
    ),
    "exp-minus-one": (lambda b: b.Sub(b.Exp(x(b)), 1.0), "Expm1(x)", lambda b: b.Sub(b.Exp(x(b)), 2.0)),
    "add-many": (
        lambda b: b.AddN([b.AddN([x(b), y(b), b.Abs(b.graph.output("x:0"))]), b.graph.output("y:0")]),
        "AddN(x, y, Abs(x), y)",
        lambda b: b.AddN([x(b), y(b), b.Abs(b.graph.output("x:0"))]),
    ),
    "hoist-common-factor": (
        lambda b: b.AddV2(b.Mul(z := placeholder(b, "z"), x(b)), b.Mul(z, y(b))),
        "Mul(z, AddV2(x, y))",
        lambda b: b.AddV2(b.Mul(z := placeholder(b, "z"), x(b, 1, 3)), b.Mul(z, y(b, 2, 1))),
    ),
    "transpose-into-matmul": (
        lambda b: b.MatMul(b.Transpose(x(b), [1, 0]), y(b)),
        "MatMul(x, y)",
        lambda b: b.MatMul(b.Transpose(x(b), [0, 1]), y(b, 3, 2)),
    ),
    "transpose-into-batch-matmul": (
        lambda b: b.BatchMatMulV2(b.Transpose(x(b, 2, 3, 4), [0, 2, 1]), y(b, 2, 3, 4)),
        "BatchMatMulV2(x, y)",
        lambda b: b.BatchMatMulV2(b.Transpose(x(b, 3, 3, 2), [2, 1, 0]), y(b, 2, 3, 4)),
    ),
    "reduce-before-monotone": (
        lambda b: b.Max(b.Exp(x(b)), [0]),
        "Exp(Max(x, 0))",
        lambda b: b.Max(b.Neg(x(b)), [0]),
    ),
    "unary-after-concat": (
        lambda b: b.ConcatV2([b.Exp(x(b)), b.Exp(y(b))], 0),
        "Exp(ConcatV2(x, y, 0))",
        lambda b: b.ConcatV2([b.Exp(x(b)), b.Sin(y(b))], 0),
    ),
    "reduction-to-the-same-shape": (
        lambda b: summed(b, x(b, None, 3), y(b, 1, 3), 0),
        "x",
        lambda b: summed(b, x(b, None, 3), y(b, 1, 3), 1),
    ),
    "trivial-reduction": (
        lambda b: b.Sum(x(b, 2, 1), [1]),
        "Reshape(x, 2)",
        lambda b: b.Sum(unknown(b), [1]),
    ),
    "factor-of-product-into-weights": (
        lambda b: b.Mul(b.MatMul(x(b), b.constant(np.ones((3, 1), "f"))), 2.0),
        "MatMul(x, [[2.0],[2.0],[2.0]])",
        lambda b: b.Mul(b.MatMul(x(b), y(b, 3, 2)), 2.0),
    ),
    "draw-below": (
        lambda b: b.Less(drawn(b), -0.5),
        "Fill([2,3], False)",
        lambda b: b.LessEqual(drawn(b), 0.0),
    ),
    "draw-above": (
        lambda b: b.GreaterEqual(drawn(b), 0.0),
        "Fill([2,3], True)",
        lambda b: b.Greater(drawn(b), 0.0),
    ),
    "floor-of-draw": (
        lambda b: b.Floor(b.AddV2(drawn(b), 1.0)),
        "Fill([2,3], 1)",
        lambda b: b.Floor(b.AddV2(drawn(b), b.constant(np.nextafter(np.float32(1), np.float32(2))))),
    ),
    "cast-of-fill": (
        lambda b: b.Cast(b.Fill(placeholder(b, "s", (2,), dtypes.int32), True), DstT=dtypes.float32),
        "Fill(s, Cast(True))",
        lambda b: b.Cast(b.Fill([2], placeholder(b, "v", (), dtypes.int32)), DstT=dtypes.float32),
    ),
}  # fmt: skip

STRUCTURE: dict[str, tuple[Build, str, Build]] = {
    "merge-reshapes": (
        lambda b: b.Reshape(b.Reshape(x(b), [6]), [3, 2]),
        "Reshape(x, [3,2])",
        lambda b: b.Reshape(b.Abs(x(b)), [3, 2]),
    ),
    "one-unknown-dimension": (
        lambda b: b.Reshape(v := x(b, None, 6), b.Pack([batch(b, v), 2, 3])),
        "Reshape(x, [-1,2,3])",
        lambda b: b.Reshape(x(b, None, 6), b.Pack([batch(b, unknown(b, "y")), 6])),
    ),
    "same-shape": (lambda b: b.Reshape(x(b), [2, 3]), "x", lambda b: b.Reshape(unknown(b), [2, 3])),
    "merge-transposes": (
        lambda b: b.Transpose(b.Transpose(x(b, 2, 3, 4), [1, 2, 0]), [1, 2, 0]),
        "Transpose(x, [2,0,1])",
        lambda b: b.Transpose(b.Transpose(x(b), placeholder(b, "p", (2,), dtypes.int32)), [1, 0]),
    ),
    "transpose-as-reshape": (
        lambda b: b.Transpose(x(b, 2, 1, 3), [1, 0, 2]),
        "Reshape(x, [1,2,3])",
        lambda b: b.Transpose(x(b), [1, 0]),
    ),
    "merge-casts": (
        lambda b: b.Cast(b.Cast(whole(b), DstT=dtypes.int64), DstT=dtypes.float32),
        "Cast(x)",
        lambda b: b.Cast(b.Cast(x(b), DstT=dtypes.int32), DstT=dtypes.float32),
    ),
    "merge-bitcasts": (
        lambda b: b.Bitcast(b.Bitcast(whole(b), type=dtypes.float32), type=dtypes.uint32),
        "Bitcast(x)",
        lambda b: b.Bitcast(whole(b), type=dtypes.float32),
    ),
    "tile-once": (lambda b: b.Tile(x(b), [1, 1]), "x", lambda b: b.Tile(x(b), [1, 2])),
    "pad-nothing": (lambda b: b.Pad(x(b), [[0, 0], [0, 0]]), "x", lambda b: b.Pad(x(b), [[0, 1], [0, 0]])),
    "whole-slice": (lambda b: b.Slice(x(b), [0, 0], [2, -1]), "x", lambda b: b.Slice(x(b), [0, 0], [1, 3])),
    "merge-concats": (
        lambda b: b.ConcatV2([b.ConcatV2([x(b), y(b)], 1), b.graph.output("x:0")], 1),
        "ConcatV2(x, y, x, 1)",
        lambda b: b.ConcatV2([b.ConcatV2([x(b), y(b)], 1), placeholder(b, "z", (2, 6))], 0),
    ),
    "split-into-one": (lambda b: b.Split(0, x(b), num_split=1)[0], "x", lambda b: b.Split(0, x(b), num_split=2)[0]),
    "pack-one": (lambda b: b.Pack([x(b)], axis=1), "ExpandDims(x, 1)", lambda b: b.Pack([x(b), y(b)], axis=1)),
    "constant-select": (
        lambda b: b.SelectV2(True, x(b), y(b)),
        "x",
        lambda b: b.SelectV2(True, x(b, 1, 3), y(b)),
    ),
    "conjugate-transpose": (
        lambda b: b.Transpose(b.Conj(x(b, dtype=dtypes.complex64)), [1, 0]),
        "ConjugateTranspose(x, [1,0])",
        lambda b: twice(b, c := b.Conj(x(b, dtype=dtypes.complex64)), b.Transpose(c, [1, 0])),
    ),
}  # fmt: skip

CASES = [
    (name, rules, case) for name, rules in (("arithmetic", ARITHMETIC), ("structure", STRUCTURE)) for case in rules.items()
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("passes", "rules", "case"), CASES, ids=[case[0] for _, _, case in CASES])
def test_rule_fires(passes, rules, case):
    name, (fires, left, _) = case
    result = rewritten(fires, f"{passes},prune")
    assert name in result.fired
    assert result.text == left


@pytest.mark.parametrize(("passes", "rules", "case"), CASES, ids=[case[0] for _, _, case in CASES])
def test_rule_is_refused(passes, rules, case):
    name, (_, _, refused) = case
    assert name not in rewritten(refused, f"{passes},prune").fired


@pytest.mark.parametrize(("passes", "rules", "case"), CASES, ids=[case[0] for _, _, case in CASES])
def test_rule_leaves_fed_values_alone(passes, rules, case):
    """A fed tensor differs from the computed value: no rule looks behind a fed tensor."""
    name, (fires, _, _) = case

    b = GraphBuilder()
    fires(b)
    computed = [f"{node.name}:0" for node in b.graph if node.op not in ("Placeholder", "Const")]
    assert name not in rewritten(fires, f"{passes},prune", check=False, overridable=computed).fired


def test_every_rule_has_cases():
    arithmetical = (arithmetic.RULES, uniform_draws.RULES, constant_rules.RULES)
    for rule_sets, cases in (
        (arithmetical, ARITHMETIC | test_pushing.ARITHMETIC),
        ((data_movement.RULES,), STRUCTURE | test_pushing.STRUCTURE),
    ):
        assert {rule.name for rules in rule_sets for rule in rules.rules} == set(cases)


def test_pow_table():
    expected = {0.0: "OnesLike(x)", 1.0: "x", 2.0: "Square(x)", 3.0: "Mul(x, Square(x))", -0.5: "Rsqrt(x)"}
    for exponent, text in expected.items():
        assert rewritten(lambda b, e=exponent: b.Pow(x(b), e), "arithmetic,prune").text == text


def test_a_control_edge_of_a_constant_that_goes_is_kept():
    """x + 0 where the 0 waits for an assertion: the assertion still runs."""

    def build(b):
        value = x(b)
        check = b.Assert(placeholder(b, "ok", (), dtypes.bool_), [value])
        with b.control_dependencies([check]):
            zero = b.constant(0.0)
        return b.AddV2(value, zero)

    result = rewritten(build, check=False)
    assert any(node.op == "Assert" for node in result.after)
    assert list(itertools.chain(*(node.control_inputs for node in result.after)))


@pytest.mark.parametrize("axis", [2, 7, -3])
@pytest.mark.parametrize("op", ["Roll", "ReverseV2", "Sum", "Max"])
def test_an_axis_out_of_range_is_left_to_the_run(op, axis):
    """A rule that looks up sizes by axes meets axes that no dimension has; the node's own error is the answer."""

    def build(b):
        axes = b.constant(np.array([axis], np.int32))
        return b.Roll(x(b, 1, 1), [1], axes) if op == "Roll" else getattr(b, op)(x(b, 1, 1), axes)

    result = rewritten(build, check=False)
    assert [node.op for node in result.after if node.op not in ("Const", "Placeholder")] == [op]
