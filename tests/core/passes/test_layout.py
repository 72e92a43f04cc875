"""Convolutions change their layout, nodes between convolutions follow, and transposes stay only at the borders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfg
from tests.cases import control_flow
from tests.core.passes.rewriting import assert_same, feeds_for, nodes, placeholder, rewritten
from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.pipeline import optimize
from tfg.core.passes.rules.layout_conversion import UNCUT, Network
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes

N, C, H, W, D = 2, 4, 6, 8, 5
SIZES = {"N": N, "C": C, "H": H, "W": W, "D": D}
OTHER = {"NHWC": "NCHW", "NCHW": "NHWC", "NDHWC": "NCDHW", "NCDHW": "NDHWC"}
PIPELINE = "fold,layout{to=%s},structure,prune"


def shaped(data_format, **sizes):
    """The dimensions of a tensor in a data format."""
    return tuple((SIZES | sizes)[letter] for letter in data_format)


def spatial(data_format, rows, columns):
    """A list attribute with something for the last two spatial dimensions, 1 elsewhere."""
    return [{"H": rows, "W": columns}.get(letter, 1) for letter in data_format]


def tensor(b, name, f, **sizes):
    return placeholder(b, name, shaped(f, **sizes))


def weights(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype="f").reshape(shape)


def channels(start):
    return np.linspace(start, start + 1, C, dtype="f")


def window(f, **more):
    return {"ksize": spatial(f, 2, 3), "strides": spatial(f, 2, 1), "padding": "VALID", "data_format": f, **more}


def strided(f, **more):
    return {"strides": spatial(f, 2, 1), "padding": "SAME", "data_format": f, **more}


def moments(b):
    """Scale, offset, mean and variance."""
    return [b.constant(channels(start)) for start in (1, 0, -0.5, 0.5)]


def gradient_of_norm(b, op, x, f, *more):
    scale, _, mean, variance = moments(b)
    return b.apply(op, tensor(b, "dy", f), x, scale, mean, variance, *more, data_format=f)[:3]


def pairs(f, rows, columns):
    """Explicit paddings in a data format."""
    return list(itertools.chain(*({"H": rows, "W": columns}.get(letter, (0, 0)) for letter in f)))


def padded_pool(b, x, f):
    attrs = {"padding": "EXPLICIT", "explicit_paddings": pairs(f, (1, 0), (0, 1)), "data_format": f}
    return b.MaxPool(x, ksize=spatial(f, 2, 3), strides=spatial(f, 1, 1), **attrs)


def padded_convolution(b, x, f):
    attrs = {"padding": "EXPLICIT", "explicit_paddings": pairs(f, (1, 0), (2, 1)), "data_format": f}
    return b.Conv2D(x, weights(3, 2, C, 3), strides=spatial(f, 1, 2), dilations=spatial(f, 2, 1), **attrs)


def convolution(b, x, f, out=C, **attrs):
    return b.Conv2D(x, weights(3, 3, C, out), **strided(f, **attrs))


# What each op does in a data format `f` to a tensor `x` of that format; 3 rows and 8 columns come out of `strided`.
SENSITIVE = {
    "AvgPool": lambda b, x, f: b.AvgPool(x, **window(f)),
    "AvgPoolGrad": lambda b, x, f: b.AvgPoolGrad(b.Shape(x), tensor(b, "dy", f, H=3, W=6), **window(f)),
    "BiasAdd": lambda b, x, f: b.BiasAdd(x, channels(1), data_format=f),
    "BiasAddGrad": lambda b, x, f: b.BiasAddGrad(x, data_format=f),
    "Conv2D": padded_convolution,
    "Conv2DBackpropFilter": lambda b, x, f: b.Conv2DBackpropFilter(
        x, [3, 3, C, 5], tensor(b, "dy", f, H=3, C=5), **strided(f)
    ),
    "Conv2DBackpropFilterV2": lambda b, x, f: b.Conv2DBackpropFilterV2(
        x, weights(3, 3, C, 5), tensor(b, "dy", f, H=3, C=5), **strided(f)
    ),
    "Conv2DBackpropInput": lambda b, x, f: b.Conv2DBackpropInput(
        b.Shape(x), weights(3, 3, C, 5), tensor(b, "dy", f, H=3, C=5), **strided(f)
    ),
    "Conv2DBackpropInputV2": lambda b, x, f: b.Conv2DBackpropInputV2(
        x, weights(3, 3, C, 5), tensor(b, "dy", f, H=3, C=5), **strided(f)
    ),
    "DepthToSpace": lambda b, x, f: b.DepthToSpace(x, block_size=2, data_format=f),
    "DepthwiseConv2dNative": lambda b, x, f: b.DepthwiseConv2dNative(
        x, weights(3, 3, C, 2), strides=spatial(f, 2, 2), padding="SAME", data_format=f
    ),
    "DepthwiseConv2dNativeBackpropFilter": lambda b, x, f: b.DepthwiseConv2dNativeBackpropFilter(
        x, [3, 3, C, 2], tensor(b, "dy", f, H=3, W=4, C=2 * C), strides=spatial(f, 2, 2), padding="SAME", data_format=f
    ),
    "DepthwiseConv2dNativeBackpropInput": lambda b, x, f: b.DepthwiseConv2dNativeBackpropInput(
        b.Shape(x), weights(3, 3, C, 2), tensor(b, "dy", f, H=3, W=4, C=2 * C), strides=spatial(f, 2, 2), padding="SAME",
        data_format=f,
    ),
    "FusedBatchNorm": lambda b, x, f: b.FusedBatchNorm(x, *moments(b), data_format=f, is_training=False)[0],
    "FusedBatchNormGrad": lambda b, x, f: gradient_of_norm(b, "FusedBatchNormGrad", x, f),
    "FusedBatchNormGradV2": lambda b, x, f: gradient_of_norm(b, "FusedBatchNormGradV2", x, f),
    "FusedBatchNormGradV3": lambda b, x, f: gradient_of_norm(b, "FusedBatchNormGradV3", x, f, channels(0)),
    "FusedBatchNormV2": lambda b, x, f: b.FusedBatchNormV2(x, *moments(b), data_format=f)[:3],
    "FusedBatchNormV3": lambda b, x, f: b.FusedBatchNormV3(x, *moments(b), data_format=f)[:3],
    "MaxPool": padded_pool,
    "MaxPoolGrad": lambda b, x, f: b.MaxPoolGrad(x, b.MaxPool(x, **window(f)), tensor(b, "dy", f, H=3, W=6), **window(f)),
    "MaxPoolGradGrad": lambda b, x, f: b.MaxPoolGradGrad(
        x, b.MaxPool(x, **window(f)), tensor(b, "ddy", f), **window(f)
    ),
    "MaxPoolGradGradV2": lambda b, x, f: b.MaxPoolGradGradV2(
        x, b.MaxPool(x, **window(f)), tensor(b, "ddy", f), spatial(f, 2, 3), spatial(f, 2, 1), padding="VALID", data_format=f
    ),
    "MaxPoolGradV2": lambda b, x, f: b.MaxPoolGradV2(
        x, b.MaxPool(x, **window(f)), tensor(b, "dy", f, H=3, W=6), spatial(f, 2, 3), spatial(f, 2, 1), padding="VALID",
        data_format=f,
    ),
    "MaxPoolV2": lambda b, x, f: b.MaxPoolV2(x, spatial(f, 2, 3), spatial(f, 2, 1), padding="VALID", data_format=f),
    "SpaceToDepth": lambda b, x, f: b.SpaceToDepth(x, block_size=2, data_format=f),
    "_FusedBatchNormEx": lambda b, x, f: b._FusedBatchNormEx(
        x, *moments(b), [tensor(b, "side", f)], data_format=f, num_side_inputs=1, activation_mode="Relu", is_training=False,
        name="norm",
    )[0],
}  # fmt: skip
SOLID = {
    "AvgPool3D": lambda b, x, f: b.AvgPool3D(x, **window(f)),
    "AvgPool3DGrad": lambda b, x, f: b.AvgPool3DGrad(b.Shape(x), tensor(b, "dy", f, H=3, W=6), **window(f)),
    "Conv3D": lambda b, x, f: b.Conv3D(x, weights(2, 2, 3, C, 5), **strided(f)),
    "Conv3DBackpropFilterV2": lambda b, x, f: b.Conv3DBackpropFilterV2(
        x, [2, 2, 3, C, 3], tensor(b, "dy", f, H=3, C=3), **strided(f)
    ),
    "Conv3DBackpropInputV2": lambda b, x, f: b.Conv3DBackpropInputV2(
        b.Shape(x), weights(2, 2, 3, C, 3), tensor(b, "dy", f, H=3, C=3), **strided(f)
    ),
    "MaxPool3D": lambda b, x, f: b.MaxPool3D(x, **window(f)),
    "MaxPool3DGrad": lambda b, x, f: b.MaxPool3DGrad(
        x, b.MaxPool3D(x, **window(f)), tensor(b, "dy", f, H=3, W=6), **window(f)
    ),
    "MaxPool3DGradGrad": lambda b, x, f: b.MaxPool3DGradGrad(
        x, b.MaxPool3D(x, **window(f)), tensor(b, "ddy", f), **window(f)
    ),
}  # fmt: skip
FORMATS = [(op, f) for op in SENSITIVE for f in ("NCHW", "NHWC")] + [(op, f) for op in SOLID for f in ("NCDHW", "NDHWC")]


def changed(build, to="NHWC", **options):
    return rewritten(build, PIPELINE % to, **options)


def target(f):
    return "NCHW" if OTHER[f].startswith("NC") else "NHWC"


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("op", "f"), FORMATS)
def test_every_op_with_a_data_format_changes_it(op, f):
    build = {**SENSITIVE, **SOLID}[op]
    result = changed(lambda b: build(b, tensor(b, "x", f), f), target(f))
    formats = {node.op: node.attr("data_format") for node in result.after if node.attr("data_format")}
    assert formats[op] == OTHER[f].encode()
    assert set(formats.values()) == {OTHER[f].encode()}


def test_only_to_nhwc_where_the_kernel_takes_nothing_else():
    def build(b):
        product = {"fused_ops": ["BiasAdd"], "num_args": 1, "strides": [1, 1, 1, 1], "padding": "SAME"}
        x = tensor(b, "x", "NHWC")
        x = b._FusedConv2D(x, weights(3, 3, C, C), [channels(0)], [], TArgs=["float32"], name="first", **product)
        return b._FusedDepthwiseConv2dNative(x, weights(3, 3, C, 2), [np.ones(2 * C, "f")], name="second", **product)

    result = changed(build, "NCHW")
    assert "supports only NHWC" in result.reasons
    assert not nodes(result.after, "Transpose")


# What lies between two convolutions of NCHW and need not be transposed.
FOLLOWS = {
    "unary": lambda b, x: b.Relu(x),
    "scalar": lambda b, x: b.Mul(x, 2.0),
    "a factor for each channel": lambda b, x: b.Mul(x, channels(1).reshape(C, 1, 1)),
    "a computed factor": lambda b, x: b.Mul(x, placeholder(b, "s", ())),
    "binary": lambda b, x: b.AddV2(x, b.Square(x)),
    "AddN": lambda b, x: b.AddN([x, b.Neg(x), b.Exp(x)]),
    "Concat": lambda b, x: b.Slice(b.Concat(1, [x, b.Neg(x)]), [0, 1, 0, 0], [-1, C, -1, -1]),
    "ConcatV2 and Split": lambda b, x: b.AddN(list(b.Split(1, b.ConcatV2([x, b.Neg(x)], -3), num_split=2))),
    "SplitV": lambda b, x: b.ConcatV2(list(b.SplitV(x, [1, 3], 1, num_split=2))[::-1], 1),
    "Pad": lambda b, x: b.Pad(x, [[0, 0], [0, 0], [1, 2], [0, 3]]),
    "PadV2": lambda b, x: b.PadV2(x, [[0, 0], [0, 0], [1, 2], [0, 3]], 1.0),
    "MirrorPad": lambda b, x: b.MirrorPad(x, [[0, 0], [0, 0], [1, 2], [0, 1]], mode="REFLECT"),
    "Mean": lambda b, x: b.Sub(x, b.Mean(x, [2, -1], keep_dims=True)),
    "Sum": lambda b, x: b.Sub(x, b.Sum(x, [1], keep_dims=True)),
    "SelectV2": lambda b, x: b.SelectV2(b.Greater(x, 0.0), x, 0.5),
    "Select": lambda b, x: b.Select(b.Greater(x, 0.0), x, b.ZerosLike(x)),
    "gradient of Relu": lambda b, x: b.ReluGrad(x, b.Relu(x)),
    "Tile": lambda b, x: b.Tile(x, [1, 1, 2, 1]),
    "StridedSlice": lambda b, x: b.StridedSlice(x, [0, 0, 1, 0], [0, 0, 0, -1], [1, 1, 1, 2], begin_mask=11, end_mask=7),
    "ReverseV2": lambda b, x: b.ReverseV2(x, [1, 3]),
    "Roll": lambda b, x: b.Roll(x, [1, 2], [1, 3]),
    "Cumsum": lambda b, x: b.Cumsum(x, 2),
    "Cast": lambda b, x: b.Cast(b.Cast(x, DstT=dtypes.float64), DstT=dtypes.float32),
    "BroadcastTo": lambda b, x: b.Mul(b.BroadcastTo(b.Max(x, [2, 3], keep_dims=True), b.Shape(x)), x),
    "Fill": lambda b, x: b.AddV2(b.Fill(b.Shape(x), 1.0), x),
    "pool": lambda b, x: b.MaxPool(x, **window("NCHW")),
}  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FOLLOWS)
def test_what_lies_between_follows(name):
    def build(b):
        x = convolution(b, tensor(b, "x", "NCHW"), "NCHW")
        return convolution(b, FOLLOWS[name](b, x), "NCHW", out=3)

    result = changed(build)
    assert {node.attr("data_format") for node in nodes(result.after, "Conv2D")} == {b"NHWC"}
    assert len(nodes(result.after, "Transpose")) == 2
    assert not nodes(result.after, "GatherV2")


# What ends a region in NCHW without a transpose, and what is left at its end.
ENDS = {
    "Mean over rows and columns": (lambda b, x: b.Mean(x, [2, 3]), 0),
    "Sum of all": (lambda b, x: b.Sum(x, [0, 1, 2, 3]), 0),
    "ArgMax over channels": (lambda b, x: b.ArgMax(x, 1), 0),
    "Squeeze": (lambda b, x: b.Squeeze(b.Mean(x, [2, 3], keep_dims=True), squeeze_dims=[2, 3]), 0),
    "Squeeze of what is 1": (lambda b, x: b.Squeeze(b.Mean(x, [2, 3], keep_dims=True)), 0),
    "L2Loss": (lambda b, x: b.L2Loss(x), 0),
    "Sum over the batch": (lambda b, x: b.Sum(x, [0]), 1),
    "Softmax": (lambda b, x: b.Reshape(b.Softmax(x), [-1]), 1),
    "MatMul": (lambda b, x: b.MatMul(b.Reshape(x, [N, -1]), np.ones((C * 3 * W, 2), "f")), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_a_region(name):
    end, left = ENDS[name]
    result = changed(lambda b: end(b, convolution(b, tensor(b, "x", "NCHW"), "NCHW")))
    assert len(nodes(result.after, "Transpose")) == 1 + left


def test_sizes_of_a_batch_that_is_not_known_are_reordered():
    """The original shape of a converted tensor is a Gather of four numbers, not a transpose."""

    def build(b):
        x = convolution(b, placeholder(b, "x", (None, C, H, W)), "NCHW")
        return b.Shape(x)

    result = rewritten(build, "layout,prune")
    assert [node.op for node in result.after if node.op in ("Transpose", "GatherV2")] == ["Transpose", "GatherV2"]


REFUSED = {
    "unknown rank": (
        lambda b: b.BiasAdd(placeholder(b, "x", None), np.ones(3, "f"), data_format="NCHW"),
        "the rank of x:0 is unknown",
        {"check": False},
    ),
    "another layout": (
        lambda b: b.MaxPool(
            placeholder(b, "x", (2, 1, 4, 4, 4), dtypes.qint8), ksize=[1, 1, 2, 2], strides=[1, 1, 2, 2], padding="VALID",
            data_format="NCHW_VECT_C",
        ),
        "its data format is NCHW_VECT_C",
        {"check": False},
    ),
    "fed": (
        lambda b: b.Neg(b.MaxPool(tensor(b, "x", "NCHW"), name="pool", **window("NCHW"))),
        "a feed may replace it",
        {"overridable": ["pool:0"]},
    ),
    "order of what is left": (
        lambda b: b.Sum(convolution(b, tensor(b, "x", "NCHW"), "NCHW"), [0]),
        "the remaining dimensions would change their order",
        {},
    ),
    "computed axis": (
        lambda b: b.Sum(convolution(b, tensor(b, "x", "NCHW"), "NCHW"), placeholder(b, "axis", (1,), dtypes.int32)),
        "the dropped dimensions are unknown",
        {},
    ),
    "computed number of a dimension": (
        lambda b: b.Neg(
            b.Cumsum(convolution(b, tensor(b, "x", "NCHW"), "NCHW"), placeholder(b, "axis", (), dtypes.int32))
        ),
        "axis:0, the list of its dimensions, is not constant",
        {},
    ),
    "dropped dimension": (
        lambda b: b.StridedSlice(
            convolution(b, tensor(b, "x", "NCHW"), "NCHW"), [0, 0, 0, 1], [0, 0, 0, 2], [1, 1, 1, 1], begin_mask=7, end_mask=7,
            shrink_axis_mask=8,
        ),
        "it adds or drops dimensions",
        {},
    ),
    "operand of lower rank": (
        lambda b: b.Mul(convolution(b, tensor(b, "x", "NCHW"), "NCHW"), placeholder(b, "v", (C, 1, 1))),
        "v:0 has rank 3, not 4",
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_have_reasons(name):
    build, reason, options = REFUSED[name]
    assert reason in rewritten(build, "layout", **options).reasons


def network(b):
    """conv, normalization, relu, pooling, a residual sum, a concat of branches, a dense layer, all in NCHW."""
    f = "NCHW"
    x = tensor(b, "x", f)
    y = b.Relu(b.FusedBatchNormV3(convolution(b, x, f), *moments(b), data_format=f, is_training=False)[0])
    y = b.AddV2(y, b.Relu(b.BiasAdd(convolution(b, y, f, strides=[1, 1, 1, 1]), channels(0), data_format=f)))
    branches = [b.MaxPool(y, **window(f)), b.AvgPool(y, **window(f))]
    y = b.Mean(b.ConcatV2(branches, 1), [2, 3])
    return b.BiasAdd(b.MatMul(y, weights(2 * C, 3)), np.ones(3, "f"))


def test_a_network_is_transposed_at_its_borders_only_and_back_again():
    b = GraphBuilder()
    fetch = network(b).name
    names = ([fetch], ["x:0"], "fold,layout{to=NHWC},structure,dependency,prune,fuse,prune")
    last, _ = optimize(b.graph, *names)
    (border,) = nodes(last, "Transpose")
    assert border.inputs[0].name == "x:0"
    assert len(nodes(last, "_FusedConv2D")) == 2
    first, _ = optimize(b.graph, [fetch], ["x:0"], "layout{to=NHWC},prune")
    again, _ = optimize(first, [fetch], ["x:0"], "layout{to=NCHW},structure,prune")
    assert not nodes(again, "Transpose")
    formats = {node.op: node.attr("data_format") for node in again if node.attr("data_format")}
    assert {formats.pop("Conv2D"), formats.pop("FusedBatchNormV3"), formats.pop("MaxPool")} == {b"NCHW"}
    for graph in (last, first, again):
        assert_same(b.graph, graph, [fetch], feeds_for(b.graph))


def test_what_is_fetched_keeps_its_name_and_its_order():
    def build(b):
        x = tensor(b, "x", "NCHW")
        conv = b.Conv2D(x, weights(3, 3, C, C), name="conv", **strided("NCHW"))
        norm = b.FusedBatchNormV3(conv, *moments(b), data_format="NCHW", name="norm")
        return conv, norm[0], norm[1], b.Relu(norm[0], name="relu")

    result = changed(build)
    assert result.after.node("norm").op == "IdentityN"
    assert len(nodes(result.after, "Transpose")) == 3


def test_training_changes_its_layout_as_a_whole():
    b, f = GraphBuilder(), "NCHW"
    x = tensor(b, "x", f)
    y = b.Conv2D(x, b.constant(weights(3, 3, C, C), name="w"), **strided(f))
    y = b.FusedBatchNormV3(y, *moments(b), data_format=f)[0]
    y = b.MaxPool(b.Relu(y), **window(f, ksize=[1, 1, 2, 2], strides=[1, 1, 1, 1]))
    loss = b.Sum(b.Square(y), [0, 1, 2, 3], name="loss")
    graph, (dx, dw) = tfg.gradients(b.graph, [loss.name], ["x:0", "w:0"])
    fetches = [loss.name, dx, dw]
    after, _ = optimize(graph, fetches, ["x:0"], PIPELINE % "NHWC")
    assert len(nodes(after, "Transpose")) == 2
    assert_same(graph, after, fetches, feeds_for(graph))


def test_transposes_in_a_branch_stay_there():
    def build(b):
        x = tensor(b, "x", "NCHW")
        no, yes = b.Switch(x, placeholder(b, "ok", (), dtypes.bool_))
        return b.Merge([convolution(b, yes, "NCHW", strides=[1, 1, 1, 1]), no])[0]

    result = changed(build)
    assert len(nodes(result.after, "Transpose")) == 2
    feeds = feeds_for(result.before)
    for ok in (True, False):
        assert_same(result.before, result.after, result.fetches, {**feeds, "ok:0": np.bool_(ok)})


def test_transposes_in_a_loop_stay_there():
    def build(b):
        weight = b.constant(weights(3, 3, C, C))
        step = {"strides": [1, 1, 1, 1], "padding": "SAME", "data_format": "NCHW"}
        initial = [tensor(b, "x", "NCHW")]
        return control_flow.counted(b, "f", 3, initial, [weight], lambda v, c: [b.Conv2D(v[0], c[0], **step)])[1]

    assert len(nodes(changed(build).after, "Transpose")) == 2


def test_another_layout_is_an_error():
    with pytest.raises(InvalidArgumentError, match="unknown layout 'NCWH'"):
        rewritten(network, "layout{to=NCWH}")


def test_minimum_cut():
    """The cheaper of two cuts between s and t; of two equal cuts, the cut with more nodes on the side of s."""
    net = Network()
    for tail, head, capacity in (("s", "a", 3), ("a", "b", 2), ("b", "t", 2), ("s", "c", 1), ("c", "t", 4), ("a", "c", 1)):
        net.add(tail, head, capacity)
    assert net.source_side("s", "t") == {"s", "a", "b"}
    bound = Network()
    for tail, head, capacity in (("s", "a", UNCUT), ("a", "b", 5), ("b", "a", UNCUT), ("b", "t", 4)):
        bound.add(tail, head, capacity)
    assert bound.source_side("s", "t") == {"s", "a", "b"}
