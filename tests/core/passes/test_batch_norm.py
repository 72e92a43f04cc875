"""Batch normalizations and channel factors fold into the weights beside them, or say why they do not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfg
from tests.core.passes.rewriting import feeds_for, placeholder, rewritten
from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.rules import fold_batch_norm
from tfg.core.runtime.session.session import Session
from tfg.core.types import dtypes

RNG = np.random.default_rng(0)


def values(*shape, dtype=np.float32):
    return RNG.uniform(0.5, 1.5, shape).astype(dtype)


def image(b, *shape, dtype=dtypes.float32):
    return placeholder(b, "x", shape or (2, 6, 6, 7), dtype)


def conv(b, x, *filter_shape, dtype=np.float32, **attrs):
    weights = b.constant(values(*(filter_shape or (3, 3, 7, 8)), dtype=dtype))
    return b.Conv2D(x, weights, **{"strides": [1] * 4, "padding": "SAME", **attrs})


def depthwise(b, x, **attrs):
    return b.DepthwiseConv2dNative(x, b.constant(values(3, 3, 7, 2)), **{"strides": [1] * 4, "padding": "SAME", **attrs})


def conv3d(b, x, **attrs):
    return b.Conv3D(x, b.constant(values(2, 2, 2, 7, 8)), **{"strides": [1] * 5, "padding": "SAME", **attrs})


def matmul(b, x, **attrs):
    return b.MatMul(x, b.constant(values(*((8, 7) if attrs.get("transpose_b") else (7, 8)))), **attrs)


def rows(b):
    return placeholder(b, "x", (None, 7))


def biased(b, x, n=8, **attrs):
    return b.BiasAdd(x, b.constant(values(n)), **attrs)


def norm(b, x, n=8, op="FusedBatchNormV3", **attrs):
    parameters = [b.constant(values(n)) for _ in range(4)]
    return b.apply(op, x, *parameters, **{"is_training": False, **attrs})[0]


def old_norm(b, x, n=8, scaled=True):
    parameters = [b.constant(values(n)) for _ in range(4)]
    return b.BatchNormWithGlobalNormalization(x, *parameters, variance_epsilon=0.01, scale_after_normalization=scaled)


def decomposed(b, x, n=8):
    """Return tf.nn.batch_normalization with averages behind Identity, as in a frozen graph."""
    mean, variance, beta, gamma = (b.Identity(b.constant(values(n))) for _ in range(4))
    inverse = b.Mul(b.Rsqrt(b.AddV2(variance, 1e-3)), gamma)
    return b.AddV2(b.Mul(x, inverse), b.Sub(beta, b.Mul(mean, inverse)))


def written_out(b, x, n=8):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta."""
    mean, variance, beta, gamma = (b.constant(values(n)) for _ in range(4))
    return b.AddV2(b.Mul(b.RealDiv(b.Sub(x, mean), b.Sqrt(b.AddV2(variance, 1e-3))), gamma), beta)


NCHW = {"data_format": "NCHW"}
CONV, DEPTHWISE = "BiasAdd(Conv2D(x, c[3,3,7,8]), c[8])", "BiasAdd(DepthwiseConv2dNative(x, c[3,3,7,2]), c[14])"

# What there is, and what is left.
BEHIND = {
    "V1": (lambda b: norm(b, conv(b, image(b)), op="FusedBatchNorm"), CONV),
    "V2": (lambda b: norm(b, conv(b, image(b)), op="FusedBatchNormV2"), CONV),
    "V3": (lambda b: norm(b, conv(b, image(b))), CONV),
    "V0": (lambda b: old_norm(b, conv(b, image(b))), CONV),
    "V0 without scale": (lambda b: old_norm(b, conv(b, image(b)), scaled=False), CONV),
    "decomposed": (lambda b: decomposed(b, conv(b, image(b))), CONV),
    "written out": (lambda b: written_out(b, conv(b, image(b))), CONV),
    "behind a bias": (lambda b: norm(b, biased(b, conv(b, image(b)))), CONV),
    "decomposed behind a bias": (lambda b: decomposed(b, biased(b, conv(b, image(b)))), CONV),
    "NCHW": (lambda b: norm(b, conv(b, image(b, 2, 7, 6, 6), **NCHW), **NCHW), CONV),
    "depthwise": (lambda b: norm(b, depthwise(b, image(b)), 14), DEPTHWISE),
    "decomposed depthwise": (lambda b: decomposed(b, depthwise(b, image(b)), 14), DEPTHWISE),
    "grouped": (lambda b: norm(b, conv(b, image(b, 2, 6, 6, 14))), CONV),
    "3-D": (
        lambda b: norm(b, conv3d(b, image(b, 1, 4, 4, 4, 7), data_format="NDHWC"), data_format="NDHWC"),
        "BiasAdd(Conv3D(x, c[2,2,2,7,8]), c[8])",
    ),
    "decomposed 3-D": (
        lambda b: decomposed(b, conv3d(b, image(b, 1, 4, 4, 4, 7))),
        "BiasAdd(Conv3D(x, c[2,2,2,7,8]), c[8])",
    ),
    "3-D NCDHW": (
        lambda b: norm(b, conv3d(b, image(b, 1, 7, 4, 4, 4), data_format="NCDHW"), data_format="NCDHW"),
        "BiasAdd(Conv3D(x, c[2,2,2,7,8]), c[8])",
    ),
    "matmul": (lambda b: decomposed(b, matmul(b, rows(b))), "BiasAdd(MatMul(x, c[7,8]), c[8])"),
    "transposed matmul": (
        lambda b: written_out(b, biased(b, matmul(b, rows(b), transpose_b=True))),
        "BiasAdd(MatMul(x, c[8,7]), c[8])",
    ),
    "transposed convolution": (
        lambda b: norm(
            b, b.Conv2DBackpropInput([2, 6, 6, 8], b.constant(values(3, 3, 8, 7)), image(b), strides=[1] * 4, padding="SAME")
        ),
        "BiasAdd(Conv2DBackpropInput([2,6,6,8], c[3,3,8,7], x), c[8])",
    ),
    "factor for each channel": (lambda b: b.Mul(conv(b, image(b)), b.constant(values(8))), "Conv2D(x, c[3,3,7,8])"),
    "factor for all": (lambda b: b.Mul(0.5, conv(b, image(b))), "Conv2D(x, c[3,3,7,8])"),
    "bias of one channel": (
        lambda b: b.AddV2(b.MatMul(rows(b), b.constant(values(7, 1))), b.constant([2.0])),
        "BiasAdd(MatMul(x, c[7,1]), 2)",
    ),
}
BEFORE = {
    "VALID": (lambda b: conv(b, norm(b, image(b), 7), padding="VALID"), CONV),
    "1x1": (lambda b: conv(b, norm(b, image(b), 7), 1, 1, 7, 8), "BiasAdd(Conv2D(x, c[1,1,7,8]), c[8])"),
    "V0": (lambda b: conv(b, old_norm(b, image(b), 7), padding="VALID"), CONV),
    "decomposed": (lambda b: conv(b, decomposed(b, image(b), 7), padding="VALID"), CONV),
    "written out": (lambda b: conv(b, written_out(b, image(b), 7), padding="VALID"), CONV),
    "NCHW": (lambda b: conv(b, norm(b, image(b, 2, 7, 6, 6), 7, **NCHW), padding="VALID", **NCHW), CONV),
    "before a bias": (lambda b: biased(b, conv(b, norm(b, image(b), 7), padding="VALID")), CONV),
    "depthwise": (lambda b: depthwise(b, norm(b, image(b), 7), padding="VALID"), DEPTHWISE),
    "3-D": (
        lambda b: conv3d(b, norm(b, image(b, 1, 4, 4, 4, 7), 7, data_format="NDHWC"), padding="VALID"),
        "BiasAdd(Conv3D(x, c[2,2,2,7,8]), c[8])",
    ),
    "matmul": (lambda b: matmul(b, decomposed(b, rows(b), 7)), "BiasAdd(MatMul(x, c[7,8]), c[8])"),
    "transposed matmul": (
        lambda b: matmul(b, decomposed(b, rows(b), 7), transpose_b=True),
        "BiasAdd(MatMul(x, c[8,7]), c[8])",
    ),
    "factor and padding": (lambda b: conv(b, b.Mul(image(b), b.constant(values(7)))), "Conv2D(x, c[3,3,7,8])"),
    "pixels": (lambda b: conv(b, b.Sub(b.Mul(image(b), 0.5), 1.0), padding="VALID"), CONV),
}
ALONE = {
    "NHWC": (lambda b: b.Relu(norm(b, image(b), 7)), "Relu(AddV2(Mul(x, c[7]), c[7]))"),
    "NCHW": (lambda b: norm(b, image(b, 2, 7, 6, 6), 7, **NCHW), "AddV2(Mul(x, c[7,1,1]), c[7,1,1])"),
    "NCDHW": (
        lambda b: norm(b, image(b, 1, 7, 2, 2, 2), 7, data_format="NCDHW"),
        "AddV2(Mul(x, c[7,1,1,1]), c[7,1,1,1])",
    ),
    "V0 of double": (
        lambda b: b.BatchNormWithGlobalNormalization(
            image(b, dtype=dtypes.float64), *[b.constant(values(7, dtype=float), "double") for _ in range(4)],
            variance_epsilon=0.01, scale_after_normalization=True,
        ),
        "AddV2(Mul(x, c[7]), c[7])",
    ),
    "no offset": (
        lambda b: b.FusedBatchNormV3(
            image(b), b.constant(values(7)), *[b.constant(np.zeros(7, "f"))] * 2, b.constant(values(7)), is_training=False
        )[0],
        "Mul(x, c[7])",
    ),
}  # fmt: skip
FIRES = {f"{place}-{name}": case for place, cases in (("behind", BEHIND), ("before", BEFORE), ("alone", ALONE))
         for name, case in cases.items()}  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FIRES)
def test_what_is_left(name):
    build, left = FIRES[name]
    assert rewritten(build, "fold,arithmetic,batchnorm,prune").text == left


def all_of(parameters):
    return lambda b: b.FusedBatchNormV3(conv(b, image(b)), *parameters(b), is_training=False)


def moments(b):
    return b.FusedBatchNormV3(conv(b, image(b)), *[b.constant(values(8)) for _ in range(4)], is_training=False)


REFUSED = {
    "training": (lambda b: norm(b, conv(b, image(b)), is_training=True), "batch moments"),
    "moments read": (lambda b: [moments(b)[0], b.Neg(b.graph.output("FusedBatchNormV3:1"))], "reads its moments"),
    "moments fetched": (lambda b: list(moments(b)[:2]), "reads its moments"),
    "parameters": (
        lambda b: all_of(lambda b: [placeholder(b, "gamma", (8,)), *[b.constant(values(8)) for _ in range(3)]])(b)[0],
        "not constant but come from Placeholder",
    ),
    "weights": (
        lambda b: b.Mul(
            b.Conv2D(image(b), placeholder(b, "w", (3, 3, 7, 8)), strides=[1] * 4, padding="SAME"), b.constant(values(8))
        ),
        "weights are not constant",
    ),
    "bias": (
        lambda b: norm(b, b.BiasAdd(conv(b, image(b)), placeholder(b, "bias", (8,)))),
        "bias before it is not constant",
    ),
    "product read by others": (lambda b: [c := conv(b, image(b)), b.Mul(c, 2.0)], "other nodes also read Conv2D"),
    "offset and padding": (
        lambda b: conv(b, norm(b, image(b), 7)),
        "adds to the data, but not to the zeros of the padding",
    ),
    "before, read by others": (
        lambda b: [n := norm(b, image(b), 7), conv(b, n, padding="VALID")],
        "other nodes also read FusedBatchNormV3",
    ),
    "half": (
        lambda b: norm(b, image(b, dtype=dtypes.float16), 7),
        "would round to fewer bits",
    ),
    "shared parameters": (
        lambda b: [
            b.FusedBatchNormV3(placeholder(b, name, (2, 6, 6, 7)), *p, is_training=False)[0]
            for p in [[b.constant(values(7)) for _ in range(4)]]
            for name in ("x", "y")
        ],
        "other nodes read its parameters",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    build, reason = REFUSED[name]
    result = rewritten(build, "batchnorm,prune", check=name != "half")
    assert reason in result.reasons


UNTOUCHED = {
    "another axis": lambda b: b.Mul(conv(b, image(b)), b.constant(values(6, 1))),
    "another layout": lambda b: norm(b, conv(b, image(b, 2, 7, 8, 6), **NCHW), 6),
    "bias along another axis": lambda b: norm(b, b.BiasAdd(conv(b, image(b)), b.constant(values(6)), **NCHW)),
    "rows of a transposed operand": lambda b: b.MatMul(
        b.Mul(placeholder(b, "x", (7, 8)), b.constant(values(8))), b.constant(values(7, 8)), transpose_a=True
    ),
    "groups": lambda b: conv(b, b.Mul(image(b, 2, 6, 6, 14), b.constant(values(14)))),
    "broadcast data": lambda b: matmul(b, b.Mul(placeholder(b, "x", (3, 1)), b.constant(values(7)))),
    "scalar offset": lambda b: b.AddV2(conv(b, image(b)), 2.0),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_does_not_fit(name):
    """The weights stay and the values too."""
    result = rewritten(UNTOUCHED[name], "batchnorm,prune")
    assert result.fired <= {"norm-as-product-and-sum", "unreachable"}


@pytest.mark.parametrize(("dtype", "tolerance"), [("half", 4e-3), ("bfloat16", 3e-2), ("double", 1e-12)])
@pytest.mark.parametrize("place", ["behind", "before"])
def test_other_dtypes(dtype, tolerance, place):
    """The parameters of half and bfloat16 normalizations are float32; folded weights are rounded once."""
    kind = dtypes.from_name(dtype)

    def build(b):
        x = image(b, dtype=kind)
        scale, offset = (b.constant(values(7 if place == "before" else 8, dtype=kind.numpy), dtype) for _ in range(2))
        if place == "before":
            return conv(b, b.AddV2(b.Mul(x, scale), offset), dtype=kind.numpy, padding="VALID")
        product = conv(b, x, dtype=kind.numpy)
        return b.AddV2(b.Mul(product, scale), offset) if dtype == "double" else norm(b, product)

    result = rewritten(build, "batchnorm,prune", check=False)
    assert result.text == CONV
    feeds = feeds_for(result.before)
    want, got = (Session(g).run(result.fetches[0], feeds).astype(float) for g in (result.before, result.after))
    assert np.abs(got - want).max() <= tolerance * np.abs(want).max()


@pytest.mark.parametrize("name", [name for name in FIRES if name.startswith(("before-V", "alone-N", "behind-V"))])
def test_fed_values_are_left_alone(name):
    """A fed tensor differs from the computed value: no rule looks behind a fed tensor."""
    build = FIRES[name][0]
    b = GraphBuilder()
    build(b)
    fed = [f"{node.name}:0" for node in b.graph if node.op != "Placeholder"]
    result = rewritten(build, "batchnorm,prune", check=False, overridable=fed)
    assert result.fired <= {"unreachable"}


def test_numbers():
    """gamma 2, beta 1, mean 3, variance 4: x -> x - 2; two channels of weights 5 and 7."""

    def build(b):
        product = b.Conv2D(image(b, 1, 1, 1, 1), b.constant([[[[5.0, 7.0]]]]), strides=[1] * 4, padding="VALID")
        gamma, beta, mean, variance = (b.constant([v, v]) for v in (2.0, 1.0, 3.0, 4.0))
        return b.FusedBatchNormV3(product, gamma, beta, mean, variance, epsilon=0.0, is_training=False)[0]

    assert rewritten(build, "batchnorm,prune").text == "BiasAdd(Conv2D(x, [[[[5.0,7.0]]]]), [-2.0,-2.0])"


def test_numbers_before_a_convolution():
    """2 x + 3 into weights 5, 7: 10 x0 + 14 x1, and the bias 3 * 5 + 3 * 7."""

    def build(b):
        x = b.AddV2(b.Mul(placeholder(b, "x", (1, 2)), b.constant([2.0, 2.0])), b.constant([3.0, 3.0]))
        return b.MatMul(x, b.constant([[5.0], [7.0]]))

    assert rewritten(build, "batchnorm,prune").text == "BiasAdd(MatMul(x, [[10.0],[14.0]]), 36)"


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FIRES)
def test_there_are_never_more_nodes(name):
    result = rewritten(lambda b: b.Identity(FIRES[name][0](b)), "batchnorm,prune", check=False)
    folded, _ = tfg.optimize(result.before, result.fetches, ("x:0",), "fold,prune")
    assert len(result.after) <= len(folded)


@pytest.mark.slow
def test_every_rule_fires_somewhere():
    fired = set(itertools.chain.from_iterable(rewritten(build, "batchnorm", check=False).fired for build, _ in FIRES.values()))
    assert {rule.name for rules in (fold_batch_norm.RULES, fold_batch_norm.LEFT) for rule in rules.rules} <= fired
