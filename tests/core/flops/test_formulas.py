"""FLOPs formulas against the arithmetic that naive definitions of the ops really do, on random small shapes."""

from __future__ import annotations

import inspect
import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.flops import definitions
from tests.core.flops.counting import Tally, normal, positive
from tests.core.flops.held import SMALL, agree, cost
from tfg import GraphBuilder
from tfg.core.flops import count_flops
from tfg.core.gradients import add_gradients
from tfg.core.inference.binding import bundled, input_bundles
from tfg.core.numerics import update_rules
from tfg.core.ops.nn import rnn
from tfg.core.registry.catalog import CATALOG

EXAMPLES = settings(max_examples=25, deadline=None, derandomize=True)

_ARRAYS = {
    "var", "accum", "m", "v", "vhat", "accum_update", "gradient_accumulator", "gradient_squared_accumulator", "linear", "ms",
    "mom", "mg", "grad", "delta",
}  # fmt: skip


RULES = (
    "GradientDescent", "Momentum", "KerasMomentum", "Adam", "AdamWithAmsgrad", "AdaMax", "Adadelta", "Adagrad", "AdagradV2",
    "AdagradDA", "ProximalAdagrad", "ProximalGradientDescent", "Ftrl", "FtrlV2", "RMSProp", "CenteredRMSProp", "AddSign",
    "PowerSign",
)  # fmt: skip
FORMS = ("ResourceApply", "Apply", "ResourceSparseApply", "SparseApply")
OPTIMIZERS = [f"{form}{rule}" for rule in RULES for form in FORMS if f"{form}{rule}" in CATALOG]
_SNAKE = {"AdaMax": "ada_max", "RMSProp": "rms_prop", "CenteredRMSProp": "centered_rms_prop", "AdagradDA": "adagrad_da"}

HELD = (
    "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv3D", "Conv3DBackpropInputV2",
    "Conv3DBackpropFilterV2", "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter", "MaxPool", "MaxPoolGrad", "MaxPool3D", "MaxPool3DGrad", "AvgPool", "AvgPoolGrad",
    "AvgPool3D", "AvgPool3DGrad", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "FusedBatchNormV3",
    "FusedBatchNormGradV3", "EuclideanNorm", "Einsum", "BlockLSTM", "BlockLSTMGrad", *OPTIMIZERS,
)  # fmt: skip
"""What the tests below hold; OPTIMIZERS is the table of one of them."""


@pytest.mark.slow
@EXAMPLES
@given(SMALL, SMALL, SMALL, SMALL, st.booleans(), st.booleans())
def test_batch_matmul_and_its_gradients(b, m, k, n, adj_x, adj_y):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=(b, k, m) if adj_x else (b, m, k))
    y = g.Placeholder(dtype="float", shape=(b, n, k) if adj_y else (b, k, n))
    product = g.BatchMatMulV2(x, y, adj_x=adj_x, adj_y=adj_y)
    gradients = add_gradients(g.graph, [product], [x, y])
    tally = Tally()
    _ = normal(tally, b, m, k) @ normal(tally, b, k, n)
    report = count_flops(g.graph, [product.name, *[value.name for value in gradients]])
    costs = [node.cost for node in report.nodes if node.op == "BatchMatMulV2"]
    assert len(costs) == 3
    for one in costs:
        agree(one, tally, tally.macs)


def windows_of(draw, rank, dilated=True):
    """(input sizes, window, strides, dilations, padding); TensorFlow strides or dilates, not both."""
    window = [draw(st.integers(1, 3)) for _ in range(rank)]
    strides = [draw(st.integers(1, 3))] * rank
    dilations = [draw(st.integers(1, 2)) if dilated and strides[0] == 1 else 1] * rank
    sizes = [(k - 1) * d + draw(st.integers(1, 4)) for k, d in zip(window, dilations)]
    return sizes, window, strides, dilations, draw(st.sampled_from(["VALID", "SAME"]))


@pytest.mark.slow
@EXAMPLES
@given(st.data(), st.sampled_from([2, 3]), st.integers(1, 2), SMALL, SMALL, st.integers(1, 2))
def test_convolution_and_backprops(data, rank, groups, depth, filters, batch):
    sizes, window, strides, dilations, padding = windows_of(data.draw, rank)
    windows = definitions.Windows(sizes, window, strides, dilations, padding)
    image, kernel = (batch, *sizes, depth * groups), (*window, depth, filters * groups)
    result = (batch, *windows.outputs, filters * groups)
    attrs = {"strides": [1, *strides, 1], "dilations": [1, *dilations, 1], "padding": padding}
    forward, by_input, by_filter = Tally(), Tally(), Tally()
    definitions.convolve(normal(forward, *image), normal(forward, *kernel), windows, groups)
    definitions.convolve_input_gradient(normal(by_input, *kernel), normal(by_input, *result), windows, groups)
    definitions.convolve_filter_gradient(normal(by_filter, *image), normal(by_filter, *result), kernel, windows, groups)
    names = {2: ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")}.get(
        rank, ("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2")
    )
    agree(cost(names[0], [image, kernel], **attrs), forward, forward.products)
    agree(cost(names[1], [np.int32(image), kernel, result], **attrs), by_input, by_input.products)
    agree(cost(names[2], [image, np.int32(kernel), result], **attrs), by_filter, by_filter.products)


@pytest.mark.slow
@EXAMPLES
@given(st.data(), SMALL, st.integers(1, 3), st.integers(1, 2))
def test_depthwise_convolution_and_backprops(data, channels, multiplier, batch):
    sizes, window, strides, dilations, padding = windows_of(data.draw, 2)
    windows = definitions.Windows(sizes, window, strides, dilations, padding)
    image, kernel = (batch, *sizes, channels), (*window, channels, multiplier)
    result = (batch, *windows.outputs, channels * multiplier)
    grouped = (*window, 1, channels * multiplier)
    attrs = {"strides": [1, *strides, 1], "dilations": [1, *dilations, 1], "padding": padding}
    forward, by_input, by_filter = Tally(), Tally(), Tally()
    definitions.convolve(normal(forward, *image), normal(forward, *grouped), windows, channels)
    definitions.convolve_input_gradient(normal(by_input, *grouped), normal(by_input, *result), windows, channels)
    definitions.convolve_filter_gradient(normal(by_filter, *image), normal(by_filter, *result), grouped, windows, channels)
    op = "DepthwiseConv2dNative"
    agree(cost(op, [image, kernel], **attrs), forward, forward.products)
    agree(cost(f"{op}BackpropInput", [np.int32(image), kernel, result], **attrs), by_input, by_input.products)
    agree(cost(f"{op}BackpropFilter", [image, np.int32(kernel), result], **attrs), by_filter, by_filter.products)


@pytest.mark.slow
@EXAMPLES
@given(st.data(), SMALL, st.integers(1, 2), st.sampled_from(["NHWC", "NCHW", "NDHWC", "NCDHW"]))
def test_pooling_and_gradients(data, channels, batch, data_format):
    rank, suffix = len(data_format) - 2, "3D" if len(data_format) == 5 else ""
    sizes, window, strides, dilations, padding = windows_of(data.draw, rank, dilated=False)
    windows = definitions.Windows(sizes, window, strides, dilations, padding)
    image, result = (batch, *sizes, channels), (batch, *windows.outputs, channels)
    tallies = [Tally() for _ in range(4)]
    definitions.max_pool(normal(tallies[0], *image), windows)
    definitions.avg_pool(normal(tallies[1], *image), windows)
    definitions.max_pool_gradient(normal(tallies[2], *image), normal(tallies[2], *result), windows)
    definitions.avg_pool_gradient(normal(tallies[3], *result), windows)

    def ordered(dims):
        return tuple(dims) if data_format[-1] == "C" else (dims[0], dims[-1], *dims[1:-1])

    attrs = {"padding": padding, "data_format": data_format}
    attrs |= {"ksize": list(ordered([1, *window, 1])), "strides": list(ordered([1, *strides, 1]))}
    x, y = ordered(image), ordered(result)
    agree(cost(f"MaxPool{suffix}", [x], **attrs), tallies[0])
    agree(cost(f"AvgPool{suffix}", [x], **attrs), tallies[1])
    agree(cost(f"MaxPool{suffix}Grad", [x, y, y], **attrs), tallies[2])
    agree(cost(f"AvgPool{suffix}Grad", [np.int32(x), y], **attrs), tallies[3])


@EXAMPLES
@given(SMALL, SMALL)
def test_cross_entropy(rows, classes):
    shape, labels = (rows, classes), np.arange(rows, dtype=np.int32) % classes
    tallies = [Tally() for _ in range(2)]
    definitions.cross_entropy(normal(tallies[0], *shape), normal(tallies[0], *shape))
    definitions.sparse_cross_entropy(normal(tallies[1], *shape), labels)
    agree(cost("SoftmaxCrossEntropyWithLogits", [shape, shape]), tallies[0])
    agree(cost("SparseSoftmaxCrossEntropyWithLogits", [shape, labels]), tallies[1])


@pytest.mark.slow
@EXAMPLES
@given(SMALL, SMALL, st.integers(2, 4), SMALL, st.sampled_from(["NHWC", "NCHW"]))
def test_batch_norm_and_gradient(batch, height, width, channels, data_format):
    image, vector = (batch, height, width, channels), (channels,)
    shape = image if data_format == "NHWC" else (batch, channels, height, width)
    attrs = {"data_format": data_format}
    tally = Tally()
    definitions.batch_norm(normal(tally, *image), *[positive(tally, channels) for _ in range(4)])
    agree(cost("FusedBatchNormV3", [shape, vector, vector, vector, vector], is_training=False, **attrs), tally)
    tally = Tally()
    definitions.batch_norm_training(normal(tally, *image), *[positive(tally, channels) for _ in range(2)])
    empty = np.zeros(0, np.float32)
    agree(cost("FusedBatchNormV3", [shape, vector, vector, empty, empty], is_training=True, **attrs), tally)
    for is_training in (False, True):
        tally = Tally()
        arrays = [normal(tally, *image), normal(tally, *image), *[positive(tally, channels) for _ in range(3)]]
        definitions.batch_norm_gradient(*arrays, is_training)
        inputs = [shape, shape, vector, vector, vector, vector]
        agree(cost("FusedBatchNormGradV3", inputs, is_training=is_training, **attrs), tally)


@pytest.mark.slow
@EXAMPLES
@given(SMALL, SMALL, SMALL, st.sets(st.integers(0, 2)))
def test_euclidean_norm(a, b, c, axes):
    tally, result = Tally(), tuple(sorted(axes))
    x = normal(tally, a, b, c)
    np.sqrt(np.add.reduce(x * x, result))
    agree(cost("EuclideanNorm", [(a, b, c), np.int32(result)]), tally)


_EQUATIONS = "ij,jk->ik bij,bkj->bik ij,ij->ij ij,jk->k ij,k->jk ij->j ij-> ijk->kji bhqd,bhkd->bhqk i,i-> i,j->ij"


@EXAMPLES
@given(st.sampled_from(_EQUATIONS.split()), st.data())
def test_einsum(equation, data):
    left, out = equation.split("->")
    subscripts = left.split(",")
    sizes = {label: data.draw(st.integers(1, 3), label) for label in sorted(set(left) - {","})}
    shapes = [tuple(sizes[label] for label in labels) for labels in subscripts]
    tally = Tally()
    definitions.einsum([normal(tally, *shape) for shape in shapes], subscripts, out)
    agree(cost("Einsum", [shapes], equation=equation), tally)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("op", OPTIMIZERS)
def test_optimizers(op, flag):
    """The update itself runs on counted arrays; what it does to scalars once a step is not counted."""
    rule = op.split("Apply")[1]
    name = _SNAKE.get(rule) or "".join(f"_{c.lower()}" if c.isupper() else c for c in rule)[1:]
    update = getattr(update_rules, f"{name}_rows" if "Sparse" in op and hasattr(update_rules, f"{name}_rows") else name)
    tally, shape = Tally(), (3, 4)
    _, *parameters = inspect.signature(update).parameters.values()
    flags = {p.name: flag for p in parameters if p.kind is p.KEYWORD_ONLY}
    bundles = input_bundles(update, has_context=True)
    result = itertools.zip_longest((p.name for p in parameters if p.kind is not p.KEYWORD_ONLY), bundles)
    positional = [field for name, bundle in result for field in (bundle._fields if bundle else (name,))]
    arguments = [
        positive(tally, *shape, seed=i) if p in _ARRAYS else np.float64(-0.5 if p == "lr_power" else 0.01)
        for i, p in enumerate(positional)
    ]
    with np.errstate(invalid="ignore"):
        update(update_rules.IN_PLACE, *bundled(arguments, bundles), **flags)
    variable = "VarHandleOp" if op.startswith("Resource") else "VariableV2"
    inputs = [partial(_training_input, arg.name, variable, shape) for arg in CATALOG[op].inputs]
    agree(cost(op, inputs, **flags), tally)


def _training_input(name, variable, shape, g):
    if name in _ARRAYS - {"grad", "delta"}:
        return g.add(variable, [], {"dtype": "float", "shape": shape}, name)
    if name == "indices":
        return g.constant(np.arange(shape[0], dtype=np.int32))
    return g.Placeholder(dtype="int64" if name == "global_step" else "float", shape=shape if name in _ARRAYS else ())


@pytest.mark.parametrize("op, inputs, attrs, flops", [
    ("Conv2DBackpropFilter", [(1, 5, 5, 1), np.int32([3, 3, 1, 1]), (1, 3, 3, 1)], {"padding": "VALID"}, 162),
    ("Conv2DBackpropInput", [np.int32([1, 5, 5, 1]), (3, 3, 1, 1), (1, 3, 3, 1)], {"padding": "VALID"}, 162),
    ("Conv2DBackpropFilter", [(1, 28, 28, 1), np.int32([5, 5, 1, 6]), (1, 24, 24, 6)], {"padding": "VALID"}, 172_800),
    ("Conv2DBackpropFilter", [(1, 7, 7, 1), np.int32([3, 3, 1, 1]), (1, 4, 4, 1)],
     {"padding": "SAME", "strides": [1, 2, 2, 1]}, 288),
    ("Conv2DBackpropFilter", [(1, 224, 224, 3), np.int32([7, 7, 3, 64]), (1, 112, 112, 64)],
     {"padding": "SAME", "strides": [1, 2, 2, 1]}, 236_027_904),
    ("Conv2D", [(1, 224, 224, 3), (7, 7, 3, 64)], {"padding": "SAME", "strides": [1, 2, 2, 1]}, 236_027_904),
    ("BatchMatMulV2", [(1, 128, 64), (1, 128, 128)], {"adj_x": True}, 2_097_152),
    ("MatMul", [(25, 16), (16, 9)], {}, 7_200),
    ("Mean", [(3, 4), np.int32([0])], {}, 12),
    ("Sum", [(3, 4), np.int32([0])], {}, 8),
])  # fmt: skip
def test_known_vectors(op, inputs, attrs, flops):
    """What tf.profiler is known to get wrong, and right."""
    if op.startswith("Conv"):
        attrs = {"strides": [1, 1, 1, 1], **attrs}
    assert cost(op, inputs, **attrs).flops == flops


def test_an_unknown_fused_op_has_no_count():
    g = GraphBuilder()
    inputs = [g.Placeholder(dtype="float32", shape=shape) for shape in ((2, 5, 5, 3), (3, 3, 3, 4), (4,))]
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    g._FusedConv2D(*inputs[:2], inputs[2:], [], fused_ops=["Erf"], num_args=1, name="node", **attrs)
    assert len(count_flops(g.graph, ["node"]).unknown()) == 1


@pytest.mark.slow
@EXAMPLES
@given(SMALL, SMALL, SMALL, SMALL, st.booleans(), st.sampled_from([-1.0, 0.5]))
def test_lstm_blocks(time, batch, inputs, cells, use_peephole, cell_clip):
    """The kernels themselves run on counted arrays."""
    weights = [(inputs + cells, 4 * cells), (cells,), (cells,), (cells,), (4 * cells,)]
    state, sequence = (batch, cells), (time, batch, cells)
    attrs = {"use_peephole": use_peephole, "cell_clip": cell_clip}
    layout = (0, 1, 2, 3)
    settings = rnn.LSTMAttributes(use_peephole, cell_clip, forget_bias=1.0)
    shapes = [(time, batch, inputs), state, state, *weights]
    each = Tally()
    rnn._block_lstm(np.int64(time), rnn.Cell(*[positive(each, *shape) for shape in shapes]), settings, layout)
    agree(cost("BlockLSTM", [np.int64(time), *shapes], **attrs), each)
    tally = Tally()
    cell = rnn.Cell(*[positive(tally, *shape) for shape in [(time, batch, inputs), state, state, *weights]])
    rnn._block_lstm_grad(
        np.int64(time), cell, rnn.LSTMSequence(*[positive(tally, *sequence) for _ in range(9)]), use_peephole, layout
    )
    shapes = [np.int64(time), (time, batch, inputs), state, state, *weights, *[sequence] * 9]
    agree(cost("BlockLSTMGrad", shapes, use_peephole=use_peephole), tally)


def test_bert_base():
    """22.5 GFLOPs for 128 tokens: Sun et al. 2020 (MobileBERT), Table 4. Weights are fed, so that they take no memory."""
    g = GraphBuilder()
    tokens, width, heads, layers = 128, 768, 12, 12

    def weight(*shape):
        return g.Placeholder(dtype="float32", shape=shape)

    def dense(x, inputs, outputs):
        return g.BiasAdd(g.MatMul(x, weight(inputs, outputs)), weight(outputs))

    def split(x):
        return g.Transpose(g.Reshape(x, [tokens, heads, width // heads]), [1, 0, 2])

    def normalized(x):
        centered = g.Sub(x, g.Mean(x, [1], keep_dims=True))
        variance = g.Mean(g.Square(centered), [1], keep_dims=True)
        scaled = g.Mul(centered, g.Rsqrt(g.AddV2(variance, 1e-12)))
        return g.AddV2(g.Mul(scaled, weight(width)), weight(width))

    x = weight(tokens, width)
    for _ in range(layers):
        q, k, v = (split(dense(x, width, width)) for _ in range(3))
        attention = g.Softmax(g.Mul(g.BatchMatMulV2(q, k, adj_y=True), 0.125))
        mixed = g.Reshape(g.Transpose(g.BatchMatMulV2(attention, v), [1, 0, 2]), [tokens, width])
        x = normalized(g.AddV2(x, dense(mixed, width, width)))
        hidden = dense(x, width, 4 * width)
        gelu = g.Mul(g.Mul(hidden, 0.5), g.AddV2(g.Erf(g.Mul(hidden, 0.7071)), 1.0))
        x = normalized(g.AddV2(x, dense(gelu, 4 * width, width)))
    total = count_flops(g.graph, [x.name]).total()
    assert total.flops == pytest.approx(22.5e9, rel=0.01)
    # Kaplan et al. 2020, Table 1: 2 N + 2 layers context d_attention a token, N the weights of the matrices.
    assert total.flops == pytest.approx(tokens * (2 * 12 * layers * width**2 + 4 * layers * tokens * width), rel=0.01)
