"""Fusion of products with biases, activations and padding, and the reasons of refusals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.passes.rewriting import feeds_for, nodes, placeholder, rewritten
from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.pipeline import optimize
from tfg.core.passes.rules import epilogues
from tfg.core.registry.catalog import CATALOG
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes

RNG = np.random.default_rng(0)
PADS = [[0, 0], [1, 2], [2, 0], [0, 0]]
SAME = {"strides": [1] * 4, "padding": "SAME"}
VALID = {"strides": [1] * 4, "padding": "VALID"}


def values(*shape, dtype="float"):
    return RNG.normal(size=shape).astype(dtypes.from_name(dtype).numpy)


def image(b, *shape, dtype="float"):
    return placeholder(b, "x", shape or (2, 7, 6, 7), dtypes.from_name(dtype))


def conv(b, x, dtype="float", **attrs):
    return b.Conv2D(x, b.constant(values(3, 3, 7, 8, dtype=dtype)), **{**SAME, **attrs})


def depthwise(b, x, dtype="float", **attrs):
    return b.DepthwiseConv2dNative(x, b.constant(values(3, 3, 7, 2, dtype=dtype)), **{**SAME, **attrs})


def conv3d(b, dtype="float", **attrs):
    x, w = image(b, 1, 4, 4, 4, 7, dtype=dtype), b.constant(values(2, 2, 2, 7, 8, dtype=dtype))
    return b.Conv3D(x, w, **{"strides": [1] * 5, "padding": "SAME", **attrs})


def matmul(b, dtype="float", **attrs):
    shape = (8, 7) if attrs.get("transpose_b") else (7, 8)
    x = placeholder(b, "x", (7, 6) if attrs.get("transpose_a") else (6, 7), dtypes.from_name(dtype))
    return b.MatMul(x, b.constant(values(*shape, dtype=dtype)), **attrs)


def biased(b, x, n=8, dtype="float", **attrs):
    return b.BiasAdd(x, b.constant(values(n, dtype=dtype)), **attrs)


def normed(b, x, n=8, mean=None, **attrs):
    scale, offset, spread = values(n) / 8, values(n), 1 + np.abs(values(n))
    vectors = [scale, offset, values(n) if mean is None else mean, spread]
    return b.FusedBatchNormV3(x, *map(b.constant, vectors), **{"is_training": False, "epsilon": 0.01, **attrs})[0]


CONV, MATMUL = "_FusedConv2D(x, c[3,3,7,8], c[8])", "_FusedMatMul(x, c[7,8], c[8])"
DEPTHWISE, CONV3D = "_FusedDepthwiseConv2dNative(x, c[3,3,7,2], c[14])", "_FusedConv3D(x, c[2,2,2,7,8], c[8])"

NORMED = "_FusedConv2D(x, c[3,3,7,8], c[8], c[8], c[8], c[8])"

PRODUCTS = {
    "conv": (lambda b: biased(b, conv(b, image(b))), CONV),
    "conv, bias not constant": (
        lambda b: b.BiasAdd(conv(b, image(b)), placeholder(b, "bias", (8,))),
        "_FusedConv2D(x, c[3,3,7,8], bias)",
    ),
    "conv, dilated and strided": (lambda b: biased(b, conv(b, image(b), dilations=[1, 2, 2, 1], padding="VALID")), CONV),
    "double conv": (lambda b: biased(b, conv(b, image(b, dtype="double"), "double"), dtype="double"), CONV),
    "matmul": (lambda b: biased(b, matmul(b)), MATMUL),
    "matmul, a transposed": (lambda b: biased(b, matmul(b, transpose_a=True)), MATMUL),
    "matmul, b transposed": (lambda b: biased(b, matmul(b, transpose_b=True)), "_FusedMatMul(x, c[8,7], c[8])"),
    "matmul, channels first": (lambda b: biased(b, matmul(b), data_format="NCHW"), MATMUL),
    "bias behind a reshape": (
        lambda b: b.Relu(biased(b, b.Reshape(matmul(b), [2, 3, 8]))),
        f"Reshape({MATMUL}, [2,3,8])",
    ),
    "bias behind a squeeze": (
        lambda b: b.Tanh(b.Abs(biased(b, b.Squeeze(conv(b, image(b, 2, 1, 6, 7)), squeeze_dims=[1])))),
        f"Tanh(Abs(Squeeze({CONV})))",
    ),
    "relu behind a reshape": (lambda b: b.Relu(b.Reshape(biased(b, matmul(b)), [48])), f"Reshape({MATMUL}, 48)"),
    **{
        f"conv, {op}": (lambda b, op=op: b.apply(op, biased(b, conv(b, image(b)))), CONV)
        for op in ("Relu", "Relu6", "Elu", "LeakyRelu")
    },
    **{
        f"matmul, {op}": (lambda b, op=op: b.apply(op, biased(b, matmul(b))), MATMUL)
        for op in ("Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid")
    },
    "alpha": (lambda b: b.LeakyRelu(biased(b, matmul(b)), alpha=0.4), MATMUL),
    "conv, norm": (lambda b: normed(b, conv(b, image(b))), NORMED),
    "conv, norm, strided": (lambda b: normed(b, conv(b, image(b), strides=[1, 2, 2, 1], padding="VALID")), NORMED),
    "conv, norm of a given scale": (
        lambda b: b.FusedBatchNorm(
            conv(b, image(b)), *(placeholder(b, n, (8,)) for n in "so"), *[b.constant(np.ones(8, "f"))] * 2, is_training=False
        )[0],
        "_FusedConv2D(x, c[3,3,7,8], s, o, c[8], c[8])",
    ),
    "conv, bias, norm": (lambda b: normed(b, biased(b, conv(b, image(b)))), NORMED),
    **{
        f"conv, norm, {op}": (lambda b, op=op: b.apply(op, normed(b, conv(b, image(b)))), NORMED)
        for op in ("Relu", "Relu6", "Elu", "LeakyRelu")
    },
}
WITH_ONEDNN = {
    "depthwise": (lambda b: biased(b, depthwise(b, image(b)), 14), DEPTHWISE),
    **{
        f"depthwise, {op}": (lambda b, op=op: b.apply(op, biased(b, depthwise(b, image(b)), 14)), DEPTHWISE)
        for op in ("Relu", "Relu6", "Elu")
    },
    "3-D": (lambda b: b.Elu(biased(b, conv3d(b))), CONV3D),
    "padded depthwise": (
        lambda b: biased(b, depthwise(b, b.Pad(image(b), PADS), **VALID), 14),
        "_FusedDepthwiseConv2dNative(Pad(x, c[4,2]), c[3,3,7,2], c[14])",
    ),
}
REFUSED_PRODUCTS = {
    "read by others": (lambda b: [c := conv(b, image(b)), biased(b, c)], "other nodes also read Conv2D"),
    "half conv": (
        lambda b: biased(b, conv(b, image(b, dtype="half"), "half"), dtype="half"),
        "_FusedConv2D has no kernel for half",
    ),
    "double matmul": (lambda b: biased(b, matmul(b, "double"), dtype="double"), "_FusedMatMul has no kernel for double"),
    "channels first": (
        lambda b: biased(b, conv(b, image(b), data_format="NCHW"), data_format="NCHW"),
        "needs channels last",
    ),
    "bias of rows": (lambda b: biased(b, conv(b, image(b)), 7, data_format="NCHW"), "along another axis"),
    "bias of rows behind a reshape": (
        lambda b: biased(b, b.Reshape(matmul(b), [1, 6, 1, 8]), 6, data_format="NCHW"),
        "along another axis",
    ),
    "reshape across channels": (lambda b: biased(b, b.Reshape(matmul(b), [12, 4]), 4), "may not keep the channels"),
    "activation": (lambda b: b.Tanh(biased(b, conv(b, image(b)))), "_FusedConv2D does not support Tanh"),
    "depthwise": (
        lambda b: biased(b, depthwise(b, image(b)), 14),
        "TensorFlow runs _FusedDepthwiseConv2dNative only with oneDNN; fuse{onednn=true}",
    ),
    "norm of a batch": (lambda b: normed(b, conv(b, image(b)), is_training=True), "it computes moments"),
    "moments read": (
        lambda b: [
            (n := b.FusedBatchNormV3(conv(b, image(b)), *[b.constant(np.ones(8, "f"))] * 4, is_training=False))[0],
            n[1],
        ],
        "it computes moments",
    ),
    "norm of channels first": (
        lambda b: normed(b, conv(b, image(b)), 7, data_format="NCHW"),
        "the bias runs along another axis",
    ),
    "norm of a product that others read": (
        lambda b: [c := conv(b, image(b)), normed(b, c)],
        "other nodes also read Conv2D",
    ),
    "norm, bias not constant": (
        lambda b: normed(b, b.BiasAdd(conv(b, image(b)), placeholder(b, "bias", (8,)))),
        "the bias before it or its mean is not constant",
    ),
    "groups": (lambda b: biased(b, conv(b, image(b, 2, 7, 6, 14))), "does not support channel groups"),
    "3-D": (lambda b: biased(b, conv3d(b)), "TensorFlow runs _FusedConv3D only with oneDNN"),
}
REFUSED_WITH_ONEDNN = {
    "depthwise LeakyRelu": (
        lambda b: b.LeakyRelu(biased(b, depthwise(b, image(b)), 14)),
        "_FusedDepthwiseConv2dNative does not support LeakyRelu",
    ),
    "double depthwise": (
        lambda b: biased(b, depthwise(b, image(b, dtype="double"), "double"), 14, "double"),
        "_FusedDepthwiseConv2dNative has no kernel for double",
    ),
    "explicit padding": (
        lambda b: biased(b, depthwise(b, image(b), padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0]), 14),
        "does not support explicit padding",
    ),
    "half 3-D": (lambda b: biased(b, conv3d(b, "half"), dtype="half"), "_FusedConv3D has no kernel for half"),
}


def mirrored(b, x, **attrs):
    return b.MirrorPad(x, PADS, **{"mode": "REFLECT", **attrs})


def resized(b, **attrs):
    return b.ResizeBilinear(image(b, 1, 5, 5, 7), [9, 4], **attrs)


PADDING = {
    "zeros": (lambda b: conv(b, b.Pad(image(b), PADS), **VALID), "Conv2D(x, c[3,3,7,8])"),
    "zeros, stride and dilation": (
        lambda b: conv(b, b.Pad(image(b), PADS), **{**VALID, "dilations": [1, 2, 2, 1]}),
        "Conv2D(x, c[3,3,7,8])",
    ),
    "zeros besides": (
        lambda b: conv(b, b.Pad(image(b), PADS), padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 0, 2, 0, 0]),
        "Conv2D(x, c[3,3,7,8])",
    ),
    "zeros, V2": (lambda b: conv(b, b.PadV2(image(b), PADS, 0.0), **VALID), "Conv2D(x, c[3,3,7,8])"),
    "zeros, NCHW": (
        lambda b: conv(
            b, b.Pad(image(b), [[0, 0], [0, 0], [1, 2], [2, 0]]), data_format="NCHW", **{**VALID, "strides": [1, 1, 2, 1]}
        ),
        "Conv2D(x, c[3,3,7,8])",
    ),
    "zeros, half": (
        lambda b: conv(b, b.Pad(image(b, dtype="half"), PADS), "half", **VALID),
        "Conv2D(x, c[3,3,7,8])",
    ),
    "zeros, depthwise": (lambda b: depthwise(b, b.Pad(image(b), PADS), **VALID), "DepthwiseConv2dNative(x, c[3,3,7,2])"),
    "zeros, fused": (lambda b: b.Relu(biased(b, conv(b, b.Pad(image(b), PADS), **VALID))), CONV),
    "mirror": (
        lambda b: conv(b, mirrored(b, image(b, 1, 7, 6, 7)), **VALID),
        "FusedPadConv2D(x, c[4,2], c[3,3,7,8])",
    ),
    "mirror, SAME": (
        lambda b: conv(b, mirrored(b, image(b, 1, 7, 6, 7), mode="SYMMETRIC"), strides=[1, 2, 2, 1]),
        "FusedPadConv2D(x, c[4,2], c[3,3,7,8])",
    ),
    "mirror, long paddings": (
        lambda b: conv(b, b.MirrorPad(image(b, 1, 7, 6, 7), np.array(PADS, np.int64), mode="REFLECT"), **VALID),
        "FusedPadConv2D(x, c[4,2], c[3,3,7,8])",
    ),
    "mirror, bias": (
        lambda b: biased(b, conv(b, mirrored(b, image(b)), **VALID)),
        "_FusedConv2D(MirrorPad(x, c[4,2]), c[3,3,7,8], c[8])",
    ),
    "resize": (lambda b: conv(b, resized(b), **VALID), "FusedResizeAndPadConv2D(x, [9,4], c[4,2], c[3,3,7,8])"),
    "resize and mirror": (
        lambda b: conv(b, mirrored(b, resized(b, align_corners=True)), **VALID),
        "FusedResizeAndPadConv2D(x, [9,4], c[4,2], c[3,3,7,8])",
    ),
}
REFUSED_PADDING = {
    "SAME": (lambda b: conv(b, b.Pad(image(b), PADS)), "SAME depends on the padded size"),
    "depthwise with a bias": (
        lambda b: biased(b, depthwise(b, b.Pad(image(b), PADS), **VALID), 14),
        "cannot fuse a depthwise convolution with explicit padding",
    ),
    "ones": (lambda b: conv(b, b.PadV2(image(b), PADS, 1.0), **VALID), "does not pad with zeros"),
    "paddings": (
        lambda b: conv(b, b.Pad(image(b), placeholder(b, "pads", (4, 2), dtypes.int32)), **VALID),
        "the paddings are not constant",
    ),
    "batch": (
        lambda b: conv(b, b.Pad(image(b), [[1, 0], [1, 1], [1, 1], [0, 0]]), **VALID),
        "it also pads the batch or the channels",
    ),
    "channels": (
        lambda b: conv(b, b.Pad(image(b, 2, 6, 6, 5), [[0, 0], [1, 1], [1, 1], [1, 1]]), **VALID),
        "it also pads the batch or the channels",
    ),
    "read by others": (lambda b: [p := b.Pad(image(b), PADS), conv(b, p, **VALID)], "other nodes also read Pad"),
    "mirror, a batch": (lambda b: conv(b, mirrored(b, image(b)), **VALID), "mixes up the images of a batch"),
    "mirror, batch unknown": (lambda b: conv(b, mirrored(b, image(b, None, 7, 6, 7)), **VALID), "mixes up the images"),
    "mirror, NCHW": (
        lambda b: conv(
            b, b.MirrorPad(image(b, 1, 7, 6, 6), [[0, 0], [0, 0], [1, 1], [1, 1]], mode="REFLECT"), data_format="NCHW", **VALID
        ),
        "supports only NHWC",
    ),
    "mirror, dilated": (
        lambda b: conv(b, mirrored(b, image(b, 1, 7, 6, 7)), **VALID, dilations=[1, 2, 2, 1]),
        "does not support dilations",
    ),
    "mirror, channels": (
        lambda b: conv(b, b.MirrorPad(image(b, 1, 7, 6, 6), [[0, 0], [1, 1], [1, 1], [1, 0]], mode="REFLECT"), **VALID),
        "it also pads the batch or the channels",
    ),
    "mirror, read by others": (
        lambda b: [p := mirrored(b, image(b, 1, 7, 6, 7)), conv(b, p, **VALID)],
        "other nodes also read MirrorPad",
    ),
    "resize, read by others": (lambda b: [r := resized(b), conv(b, r, **VALID)], "other nodes also read ResizeBilinear"),
    "resize, half pixels": (lambda b: conv(b, resized(b, half_pixel_centers=True), **VALID), "not support half_pixel_centers"),
    "resize, bytes": (
        lambda b: conv(b, b.ResizeBilinear(image(b, 1, 5, 5, 7, dtype="uint8"), [9, 4]), **VALID),
        "does not support uint8 images",
    ),
}


def gelu_tanh(b, x):
    inner = b.Mul(0.7978845608028654, b.AddV2(x, b.Mul(0.044715, b.Pow(x, 3.0))))
    return b.Mul(b.Mul(0.5, x), b.AddV2(1.0, b.Tanh(inner)))


def gelu_tanh_products(b, x):
    inner = b.Mul(b.Mul(x, 0.7978845608028654), b.AddV2(b.Mul(b.Square(x), 0.044715), 1.0))
    return b.Mul(b.AddV2(b.Tanh(inner), 1.0), b.Mul(x, 0.5))


def gelu_erf(b, x):
    return b.Mul(b.Mul(0.5, x), b.AddV2(1.0, b.Erf(b.RealDiv(x, 1.4142135381698608))))


def gelu_erfc(b, x):
    return b.Mul(x, b.Mul(0.5, b.Erfc(b.Neg(b.Mul(x, 0.7071067690849304)))))


FORMS = {
    gelu_tanh: b"GeluApproximate",
    gelu_tanh_products: b"GeluApproximate",
    gelu_erf: b"GeluExact",
    gelu_erfc: b"GeluExact",
}
GELU = {
    **{form.__name__: (lambda b, form=form: form(b, biased(b, matmul(b))), MATMUL) for form in FORMS},
    "behind a reshape": (lambda b: gelu_erf(b, biased(b, b.Reshape(matmul(b), [2, 3, 8]))), f"Reshape({MATMUL}, [2,3,8])"),
}
NO_GELU = {
    "another constant": lambda b: b.Mul(x := biased(b, matmul(b)), b.AddV2(0.5, b.Mul(0.5, b.Erf(b.Mul(x, 0.7))))),
    "another function": lambda b: b.Mul(x := biased(b, matmul(b)), b.Tanh(x)),
    "two values": lambda b: b.Mul(biased(b, matmul(b)), b.AddV2(0.5, b.Mul(0.5, b.Erf(placeholder(b, "y", (6, 8)))))),
    "read by others": lambda b: [x := biased(b, matmul(b)), gelu_erf(b, x)],
    "behind a convolution": lambda b: gelu_erf(b, biased(b, conv(b, image(b)))),
    "double": lambda b: b.Mul(x := biased(b, matmul(b, "double"), dtype="double"), b.Tanh(x)),
}


def sequence(b, *shape, dtype="float"):
    return placeholder(b, "x", shape or (2, 3, 8), dtypes.from_name(dtype))


def moments(b, x, axis=-1):
    mean = b.Mean(x, [axis], keep_dims=True)
    return mean, b.Mean(b.SquaredDifference(x, b.StopGradient(mean)), [axis], keep_dims=True)


def layer_norm(b, x, axis=-1):
    mean, variance = moments(b, x, axis)
    y = b.Mul(b.Sub(x, mean), b.Rsqrt(b.AddV2(variance, 1e-3)))
    return b.AddV2(b.Mul(y, b.constant(values(8))), b.constant(values(8)))


def layer_norm_by_root(b, x):
    mean = b.Mean(x, [-1], keep_dims=True)
    centered = b.Sub(x, mean)
    variance = b.Mean(b.Square(centered), [2], keep_dims=True)
    return b.AddV2(b.Mul(b.RealDiv(centered, b.Sqrt(b.AddV2(variance, 1e-3))), b.constant(values(8))), b.constant(values(8)))


def layer_norm_by_factor(b, x):
    """Return tf.nn.batch_normalization over the last dimension, as Keras writes the op."""
    mean, variance = moments(b, x)
    factor = b.Mul(b.Rsqrt(b.AddV2(variance, 1e-3)), b.constant(values(8)))
    return b.AddV2(b.Mul(x, factor), b.Sub(b.constant(values(8)), b.Mul(mean, factor)))


def layer_norm_by_batch_norm(b, x):
    """Return the normalization of tf.keras: each row is a channel of an image."""
    empty = b.constant(np.zeros(0, "f"))
    rows = b.Reshape(x, [1, 6, 8, 1])
    y = b.FusedBatchNormV3(rows, b.Fill([6], 1.0), b.Fill([6], 0.0), empty, empty, epsilon=1e-3, data_format="NCHW")[0]
    return b.AddV2(b.Mul(b.Reshape(y, [2, 3, 8]), b.constant(values(8))), b.constant(values(8)))


def norm_and_relu(b, x, **attrs):
    parameters = [placeholder(b, name, (8,)) for name in ("scale", "offset", "mean", "variance")]
    return b.Relu(b.FusedBatchNormV3(x, *parameters, **attrs)[0])


LAYER_NORM = "_MklLayerNorm(x, c[8], c[8])"
NORMALIZATION = {
    "layer norm": (lambda b: layer_norm(b, sequence(b)), LAYER_NORM),
    "layer norm of rows": (lambda b: layer_norm(b, sequence(b, 3, 8)), LAYER_NORM),
    "layer norm by root": (lambda b: layer_norm_by_root(b, sequence(b)), LAYER_NORM),
    "layer norm by factor": (lambda b: layer_norm_by_factor(b, sequence(b)), LAYER_NORM),
    "layer norm by batch norm": (lambda b: layer_norm_by_batch_norm(b, sequence(b)), LAYER_NORM),
    "batch norm and relu": (
        lambda b: norm_and_relu(b, sequence(b, 2, 3, 3, 8), is_training=False),
        "_FusedBatchNormEx(x, scale, offset, mean, variance)",
    ),
    "batch norm and relu, NCHW": (
        lambda b: norm_and_relu(b, sequence(b, 2, 8, 3, 3), is_training=False, data_format="NCHW"),
        "_FusedBatchNormEx(x, scale, offset, mean, variance)",
    ),
}
REFUSED_NORMALIZATION = {
    "four dimensions": (lambda b: layer_norm(b, sequence(b, 1, 2, 3, 8)), "_MklLayerNorm supports two or three dimensions"),
    "size unknown": (
        lambda b: b.Mul(b.Sub(x := sequence(b, 2, None), (m := moments(b, x))[0]), b.Rsqrt(b.AddV2(m[1], 1e-3))),
        "the normalized size is unknown",
    ),
    "moments read": (
        lambda b: [b.Relu((n := b.FusedBatchNormV3(sequence(b, 2, 3, 3, 8), *[b.constant(np.ones(8, "f"))] * 4))[0]), n[1]],
        "other nodes also read",
    ),
    "seven channels": (
        lambda b: b.Relu(
            b.FusedBatchNormV3(
                sequence(b, 2, 3, 3, 7), *[placeholder(b, n, (7,)) for n in ("s", "o", "m", "v")], is_training=False
            )[0]
        ),
        "a multiple of 4 channels",
    ),
}
NO_NORMALIZATION = {
    "another axis": lambda b: layer_norm(b, sequence(b, 2, 8, 8), 1),
    "another mean": lambda b: b.Mul(
        b.Sub(x := sequence(b), b.Mean(placeholder(b, "y", (2, 3, 8)), [-1], keep_dims=True)),
        b.Rsqrt(b.AddV2(moments(b, x)[1], 1e-3)),
    ),
    "epsilon for each row": lambda b: b.Mul(
        b.Sub(x := sequence(b), (m := moments(b, x))[0]), b.Rsqrt(b.AddV2(m[1], b.constant(values(3, 1) ** 2)))
    ),
}

ONEDNN = "arithmetic,fuse{onednn=true},fold,prune"
FIRES = {
    f"{kind}: {name}": (*case, passes)
    for kind, passes, cases in (
        ("product", "fuse,fold,prune", PRODUCTS),
        ("product", ONEDNN, WITH_ONEDNN),
        ("padding", "fuse,fold,prune", PADDING),
        ("gelu", "fuse{onednn=true},prune", GELU),
        ("normalization", ONEDNN, NORMALIZATION),
    )
    for name, case in cases.items()
}
REFUSED = {
    f"{kind}: {name}": (*case, passes)
    for kind, passes, cases in (
        ("product", "fuse,prune", REFUSED_PRODUCTS),
        ("product", ONEDNN, REFUSED_WITH_ONEDNN),
        ("padding", "fuse,prune", REFUSED_PADDING),
        ("normalization", ONEDNN, REFUSED_NORMALIZATION),
    )
    for name, case in cases.items()
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", FIRES)
def test_what_is_left(name):
    build, left, passes = FIRES[name]
    assert rewritten(build, passes, check="half" not in name).text == left


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    build, reason, passes = REFUSED[name]
    assert reason in rewritten(build, passes, check="half" not in name).reasons


@pytest.mark.parametrize("name", NO_GELU)
def test_what_is_no_gelu(name):
    assert "gelu-of-fused" not in rewritten(NO_GELU[name], "fuse{onednn=true},prune").fired


@pytest.mark.parametrize("name", NO_NORMALIZATION)
def test_what_is_no_layer_norm(name):
    assert "layer-norm" not in rewritten(NO_NORMALIZATION[name], ONEDNN).fired


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_form_of_gelu(form):
    result = rewritten(lambda b: form(b, biased(b, matmul(b))), "fuse{onednn=true},prune")
    (product,) = nodes(result.after, "_FusedMatMul")
    assert product.attr("fused_ops") == [b"BiasAdd", FORMS[form]]


def test_gelu_needs_onednn():
    assert "gelu-of-fused" not in rewritten(GELU["gelu_erf"][0], "fuse,prune").fired


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", FIRES)
def test_portable_graphs_have_public_ops_only(name):
    build = FIRES[name][0]
    fused, portable = (rewritten(build, check="half" not in name, portable=one) for one in (False, True))
    assert not portable.report.unportable
    of_cpus = ("_Fused", "_Mkl", "FusedPad", "FusedResize")
    assert all(op in CATALOG and not op.startswith(of_cpus) for op in portable.ops())
    assert set(fused.report.unportable) == {op for op in fused.ops() if op.startswith(of_cpus)}


def test_a_pass_of_other_ops_is_not_portable():
    with pytest.raises(InvalidArgumentError, match="pass fuse makes ops that are not portable"):
        rewritten(PRODUCTS["matmul"][0], "default,fuse{onednn=true}", portable=True)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FIRES)
def test_fed_values_are_left_alone(name):
    """A fed tensor differs from the computed value: no rule looks behind a fed tensor."""
    build, _, passes = FIRES[name]
    b = GraphBuilder()
    build(b)
    fed = [f"{node.name}:0" for node in b.graph if node.op not in ("Placeholder", "Const")]
    rules = (epilogues.PRODUCTS_IN_ONEDNN, epilogues.ZERO_PADDING, epilogues.MIRROR_PADDING, epilogues.GELU,
             epilogues.NORMALIZATION)  # fmt: skip
    names = {rule.name for one in rules for rule in one.rules}
    assert not names & rewritten(build, passes, check=False, overridable=fed).fired


@pytest.mark.parametrize(("dtype", "tolerance"), [("half", 4e-3), ("bfloat16", 3e-2)])
@pytest.mark.parametrize("activation", ["Relu", "Tanh", "Sigmoid"])
def test_short_floats(dtype, tolerance, activation):
    result = rewritten(lambda b: b.apply(activation, biased(b, matmul(b, dtype), dtype=dtype)), "fuse,prune", check=False)
    assert result.text == MATMUL
    feeds = feeds_for(result.before)
    want, got = (Session(g).run(result.fetches[0], feeds).astype(float) for g in (result.before, result.after))
    np.testing.assert_allclose(got, want, atol=tolerance)


@pytest.mark.parametrize("passes", ["fuse,prune", "fuse{trainable=true},prune"])
def test_graphs_with_variables(passes):
    """With trainable variables, only ops with gradients are inserted; explicit padding has a gradient."""

    def build(b):
        weights = b.variable(values(3, 3, 7, 8)).value
        return biased(b, b.Conv2D(b.Pad(image(b), PADS), weights, **VALID))

    result = rewritten(build, passes, check=False)
    is_fused = bool(nodes(result.after, "_FusedConv2D"))
    assert is_fused == ("trainable" in passes)
    assert is_fused or "gradients may still be added" in result.reasons
    assert not nodes(result.after, "Pad")


@pytest.mark.slow
def test_every_rule_fires_somewhere():
    fired = {rule for build, _, passes in FIRES.values() for rule in rewritten(build, passes, check=False).fired}
    rules = (epilogues.PRODUCTS, epilogues.ZERO_PADDING, epilogues.MIRROR_PADDING,
             epilogues.GELU, epilogues.NORMALIZATION)  # fmt: skip
    assert {rule.name for one in rules for rule in one.rules} <= fired


@pytest.mark.parametrize(("size", "width", "depth", "filters"), [(3, 40, 64, 64), (1, 60, 32, 96), (3, 50, 5, 70)])
def test_a_fused_convolution_computes_what_its_parts_compute(size, width, depth, filters):
    """Blocks of a large result, Winograd's tiles, and windows of one element."""
    b = GraphBuilder()
    x = placeholder(b, "x", (2, width, width, depth))
    y = normed(b, b.Conv2D(x, b.constant(values(size, size, depth, filters)), **SAME), filters)
    b.Relu6(y, name="y")
    after = optimize(b.graph, "y:0", ["x:0"], "fuse,prune")[0]
    assert [node.op for node in after if "Conv2D" in node.op] == ["_FusedConv2D"]
    feeds = {"x:0": values(2, width, width, depth)}
    want, got = (Session(graph, optimize="none").run("y:0", feeds) for graph in (b.graph, after))
    np.testing.assert_array_equal(got, want)
