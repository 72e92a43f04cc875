"""Every rule keeps the promise of the accuracy class for infinities, NaN, signed zeros, and the smallest and largest
numbers.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import tfg
from tests.cli import running
from tests.core.passes import test_batch_norm, test_fuse, test_pushing, test_rules
from tests.core.passes.adversarial import DTYPES, differences, retyped, specials
from tests.core.passes.rewriting import Build, built, placeholder
from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.base.accuracy import Accuracy
from tfg.core.passes.pass_listing import all_passes, find_pass
from tfg.core.support.errors import TfgError
from tfg.core.types import dtypes

_DRAWS = 5


def x(b, *shape):
    return placeholder(b, "x", shape or (6,))


def y(b, *shape):
    return placeholder(b, "y", shape or (6,))


def z(b):
    return placeholder(b, "z", (6,))


TRAINING: dict[str, Build] = {
    "passed-on": lambda b: b.StopGradient(x(b)),
}
EXAMPLES: dict[str, tuple[Build, str]] = {
    **{name: (case[0], "arithmetic,prune") for name, case in (test_rules.ARITHMETIC | test_pushing.ARITHMETIC).items()},
    **{name: (case[0], "structure,prune") for name, case in (test_rules.STRUCTURE | test_pushing.STRUCTURE).items()},
    **{f"tree {left}": (build, "arithmetic,prune") for build, left in test_pushing.TREES},
    **{name: (case[0], "batchnorm,prune") for name, case in test_batch_norm.FIRES.items()},
    **{name: (case[0], case[2]) for name, case in test_fuse.FIRES.items()},
    **{name: (build, "remove_training_nodes,prune") for name, build in TRAINING.items()},
}
"""Graphs on which the rules fire."""
RULES = [rule for kind in all_passes() for rules in kind.rule_sets for rule in rules.rules if kind.name != "pipelines"]
"""All rules except rules of datasets, which touch no numbers."""


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", EXAMPLES)
def test_rules_keep_what_their_classes_promise(name):
    build, passes = EXAMPLES[name]
    graph, fetches = built(build)
    for dtype in DTYPES:
        try:
            items = list(differences(retyped(graph, dtype), fetches, passes, _DRAWS))
        except TfgError:  # there is no kernel for the dtype
            assert dtype is not dtypes.float32
            continue
        accuracy, _, _ = items[0]
        assert accuracy is not Accuracy.RELAXED
        assert not [problem for _, _, problem in items if problem], dtype.name


@pytest.mark.slow
def test_every_rule_has_an_example():
    fired = set()
    for build, passes in EXAMPLES.values():
        graph, fetches = built(build)
        fired |= next(differences(graph, fetches, passes, 0, fast_math=True))[1]
    assert {rule.name for rule in RULES} <= fired


# Expressions of x, y and two constants.
EXPRESSIONS = {
    "x + c + d": lambda b, c, d: b.AddV2(b.AddV2(x(b), c), d),
    "c - (x - d)": lambda b, c, d: b.Sub(c, b.Sub(x(b), d)),
    "-(x + c) + d": lambda b, c, d: b.AddV2(b.Neg(b.AddV2(x(b), c)), d),
    "(x + c) + (y + d)": lambda b, c, d: b.AddV2(b.AddV2(x(b), c), b.AddV2(y(b), d)),
    "x * c * d": lambda b, c, d: b.Mul(b.Mul(x(b), c), d),
    "x * c / d": lambda b, c, d: b.RealDiv(b.Mul(x(b), c), d),
    "c / (x * d)": lambda b, c, d: b.RealDiv(c, b.Mul(x(b), d)),
    "c / x * d": lambda b, c, d: b.Mul(b.RealDiv(c, x(b)), d),
    "(x * c) * (y * d)": lambda b, c, d: b.Mul(b.Mul(x(b), c), b.Mul(y(b), d)),
    "(x * c + d) * c": lambda b, c, d: b.Mul(b.AddV2(b.Mul(x(b), c), d), c),
    "x / c": lambda b, c, d: b.RealDiv(x(b), c),
    "x ^ c": lambda b, c, d: b.Pow(x(b), c),
    "(x^2 + c) ^ -0.5": lambda b, c, d: b.Pow(b.AddV2(b.Square(x(b)), c), -0.5),
    "AddN(x, c, d)": lambda b, c, d: b.AddN([x(b), b.Fill([6], c), b.Fill([6], d)]),
    "x + b + d": lambda b, c, d: b.AddV2(b.BiasAdd(x(b, 6, 1), b.Reshape(c, [1])), d),
    "MatMul(x, c) * d": lambda b, c, d: b.Mul(b.MatMul(x(b, 3, 2), b.Fill([2, 1], c)), d),
    "MatMul(relu6(x), c) * d": lambda b, c, d: b.Mul(b.MatMul(b.Relu6(x(b, 3, 2)), b.Fill([2, 1], c)), d),
    "MatMul(x * c, d)": lambda b, c, d: b.MatMul(b.Mul(x(b, 3, 2), c), b.Fill([2, 1], d)),
    "MatMul(tanh(x) * c, d)": lambda b, c, d: b.MatMul(b.Mul(b.Tanh(x(b, 3, 2)), c), b.Fill([2, 1], d)),
}  # fmt: skip
PASSES = "fold,arithmetic,structure,batchnorm,prune,fold"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_constants_of_any_size(name):
    """The largest numbers, infinities and NaN in place of each constant. Products of the smallest normal numbers flush to
    zero, in another place after a rewrite.
    """
    smallest = np.finfo(np.float32).smallest_normal
    numbers = [float(n) for n in specials(np.dtype(np.float32), False) if abs(n) != smallest]
    numbers += [0.5, 0.25, 2.0, 5.0, -4.0, 0.1, 1e8, -1e8, 100.0]
    for c, d in random.Random(name).sample(list(itertools.product(numbers, repeat=2)), 12):
        graph, fetches = built(lambda b, c=c, d=d: EXPRESSIONS[name](b, b.constant(np.float32(c)), b.constant(np.float32(d))))
        for result in differences(graph, fetches, PASSES, 4, seed=1):
            assert not result[2], (c, d)


# Expressions that stay as they are unless fast math is asked for, and the rule that would take them.
RELAXED = {
    "sum that cancels": (lambda b: b.Sub(b.AddV2(x(b), 1e8), 1e8), "merge-offsets"),
    "product that overflows": (lambda b: b.Mul(b.Mul(x(b), 3e38), 3e-38), "merge-factors"),
    "regrouped sum": (lambda b: b.AddV2(b.AddV2(x(b), 3.0), b.AddV2(y(b), 2.0)), "merge-offsets"),
    "common factor": (lambda b: b.AddV2(b.Mul(v := x(b), y(b)), b.Mul(v, z(b))), "hoist-common-factor"),
    "common denominator": (lambda b: b.AddV2(b.RealDiv(x(b), v := z(b)), b.RealDiv(y(b), v)), "hoist-common-denominator"),
    "root of -0": (lambda b: b.Pow(x(b), -0.5), "power"),
    "root of -infinity": (lambda b: b.Pow(x(b), 0.5), "power"),
    "reciprocal": (lambda b: b.Reciprocal(b.Reciprocal(x(b))), "involution"),
    "largest root": (lambda b: b.Max(b.Sqrt(x(b)), [0]), "reduce-before-monotone"),
    "weights": (lambda b: b.Mul(b.MatMul(x(b, 3, 2), b.constant([[2.0], [3.0]])), 0.5), "factor-of-product-into-weights"),
}  # fmt: skip


@pytest.mark.parametrize("name", RELAXED)
def test_relaxed_rewrites_take_fast_math(name):
    build, rule = RELAXED[name]
    graph, fetches = built(build)
    fed = [f"{node.name}:0" for node in graph if node.op == "Placeholder"]
    _, strict = tfg.optimize(graph, fetches, fed, "arithmetic")
    assert not {one for record in strict.passes for one in record.fired}
    assert any(r.rule == rule and "fast math" in r.reason for record in strict.passes for r in record.refused)
    _, fast = tfg.optimize(graph, fetches, fed, "arithmetic", fast_math=True)
    assert fast.passes[0].accuracy[rule] is Accuracy.RELAXED
    assert fast.accuracy is Accuracy.RELAXED


@pytest.mark.parametrize("bias, mean, why", [(1e4, 1.1e4, "cancel"), (1e38, -3e38, "overflow")])
def test_a_bias_moves_into_the_mean_of_a_norm_where_digits_stay(bias, mean, why):
    def build(b, bias, mean):
        w = b.constant(np.ones((1, 1, 2, 2), "f"))
        biased = b.BiasAdd(b.Conv2D(x(b, 1, 3, 3, 2), w, strides=[1] * 4, padding="SAME"), np.float32([bias, 0]))
        vectors = [np.float32([1, 2]), np.float32([0, 1]), np.float32([mean, 0]), np.float32([4, 1])]
        return b.FusedBatchNormV3(biased, *map(b.constant, vectors), is_training=False)[0]

    for given, is_kept in ((bias, False), (1.0, True)):
        graph, fetches = built(lambda b, given=given: build(b, given, mean if given != 1.0 else 1.1))
        _, strict = tfg.optimize(graph, fetches, ["x:0"], "fuse")
        assert ("fused-with-norm" in strict.passes[0].fired) == is_kept
        assert is_kept or any(why in refused.reason for refused in strict.passes[0].refused)


def test_regrouped_integers_are_exact():
    """Integers add and multiply modulo a power of two, in whatever order."""
    b = GraphBuilder()
    whole = placeholder(b, "x", (6,), dtypes.int32)
    total = b.Sub(b.AddV2(whole, 2**30), 2**30)
    _, report = tfg.optimize(b.graph, total.name, ["x:0"], "arithmetic")
    assert report.passes[0].accuracy["merge-offsets"] is Accuracy.EXACT


def test_bounded_data_let_factors_into_weights():
    """Relu6 leaves numbers up to 6: no product with ordinary weights overflows, before or after they are scaled."""

    def build(b, activation):
        product = b.MatMul(b.apply(activation, x(b, 3, 2)), b.constant([[2.0], [3.0]]))
        return b.Mul(product, 0.5)

    for activation, accuracy in (("Relu6", Accuracy.ROUNDING), ("Tanh", Accuracy.ROUNDING), ("Relu", Accuracy.EXACT)):
        graph, fetches = built(lambda b, activation=activation: build(b, activation))
        assert tfg.optimize(graph, fetches, ["x:0"], "arithmetic")[1].accuracy is accuracy


def test_passes_and_rules_state_their_classes():
    assert find_pass("cse").accuracies() == (Accuracy.EXACT,)
    assert find_pass("layout").accuracies() == (Accuracy.ROUNDING,)
    assert find_pass("arithmetic").accuracies() == tuple(Accuracy)
    assert all(rule.accuracy is Accuracy.EXACT for rules in find_pass("pipelines").rule_sets for rule in rules.rules)


@pytest.fixture
def cancelling(tmp_path):
    graph, fetches = built(RELAXED["sum that cancels"][0])
    path = str(tmp_path / "g.pb")
    tfg.save(graph, path)
    return path, fetches[0]


def test_report_shows_the_class(cancelling):
    path, fetch = cancelling
    strict = running.tfg("optimize", path, "--fetch", fetch)
    assert "needs fast math" in strict.out
    fast = running.tfg("optimize", path, "--fetch", fetch, "--fast-math")
    assert "merge-offsets x1 (relaxed)" in fast.out


def test_verification_is_strict_where_all_is_exact(tmp_path):
    graph, fetches = built(lambda b: b.Mul(b.Exp(x(b)), 1.0))
    path = str(tmp_path / "g.pb")
    tfg.save(graph, path)
    assert running.tfg("optimize", path, "--fetch", fetches[0], "--verify").code == 0
