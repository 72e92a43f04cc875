"""Gradients of functions of JAX, op by op: TensorFlow's, by `tfg.gradients` in NumPy. Skipped where JAX is not installed."""

from __future__ import annotations

import functools

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import jax  # noqa: E402

import tfg  # noqa: E402
from tests import opcases  # noqa: E402
from tests.recorded_answers import answers  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.registry import registry  # noqa: E402
from tfg.core.registry.catalog import CATALOG  # noqa: E402
from tfg.core.registry.op_facts import has_fact, ops_with  # noqa: E402
from tfg.core.runtime.session.session import Session  # noqa: E402
from tfg.core.support.errors import UnimplementedError  # noqa: E402
from tfg.core.types.tensors import Tensor  # noqa: E402

ARRIVING = np.array([-1.25, 0, 0.5, 2.5])
WITHOUT_TIES = (
    "BandedTriangularSolve", "BatchMatrixSolve", "CropAndResize", "MatrixSolve", "MaxPoolGrad", "QuantizeAndDequantizeV3",
    "TridiagonalSolve",
)  # fmt: skip
"""Ops whose inputs must be regular, or depend on each other, or whose samples jump where they lie on pixels."""
LARGE = 1e30
"""Comparisons take larger numbers for infinite: JAX has the largest number for an infinite derivative of a square root."""
TIED = np.array([-1, 0, 1, 2])
"""Numbers with many equal pairs, zeros and signs: points without a derivative."""


def is_differentiable(op):
    """Return True for an op whose lowering takes and returns numbers, with a gradient or the statement that there is none."""
    gradient = registry.gradient_function(op)
    is_step = registry.lowering(op) is not None and not registry.lowering(op).updates and not has_fact(op, "transparent")
    return is_step and (callable(gradient) or gradient is registry.NOT_DIFFERENTIABLE)


class Differentiated:
    """A case of an op with the floats as inputs, and all other inputs and those that shapes depend on as constants."""

    def __init__(self, case):
        self.key = case.key
        builder = GraphBuilder()
        ((*fetches,),) = case.build(builder)
        self.graph = builder.graph
        self.ys = [name for name in fetches if ":" in name and self.is_real(name)]
        static = [f"x{place}:0" for place in registry.lowering(case.op).static]
        self.xs = [name for name in case.feeds if self.is_real(name) and name not in static]
        self.feeds = {name: case.feeds[name] for name in self.xs}
        for name, value in case.feeds.items():
            if name not in self.feeds:
                node = self.graph.output(name).node
                node.change_op("Const")
                node.attrs = {"dtype": Tensor.from_numpy(value).dtype, "value": Tensor.from_numpy(value)}

    def is_real(self, name):
        return self.graph.output(name).dtype.name in ("float32", "float64", "float", "double")

    def arriving(self, feeds):
        """Return gradients for the outputs: draws of a few numbers, 0 among them."""
        draws = np.random.default_rng(0)
        outputs = Session(self.graph).run(self.ys, feeds)
        return [draws.choice(ARRIVING, value.shape).astype(value.dtype) for value in outputs]

    def in_numpy(self, feeds, arriving):
        """Return the gradients of the floats by `tfg.gradients`, zeros where TensorFlow has None."""
        builder = GraphBuilder(self.graph.copy())
        seeds = [builder.constant(value).name for value in arriving]
        graph, names = tfg.gradients(builder.graph, self.ys, self.xs, seeds)
        present = [name for name in names if name is not None]
        values = iter(Session(graph).run(present, feeds) if present else [])
        return [np.zeros_like(feeds[x]) if name is None else next(values) for x, name in zip(self.xs, names)]

    def in_jax(self):
        """Return a function (feeds, gradients of the outputs) -> gradients of the floats."""
        function, parameters = tfg.to_jax(self.graph, self.ys, self.xs)

        @jax.jit
        def gradients(feeds, arriving):
            return jax.vjp(lambda *inputs: function(parameters, *inputs), *feeds)[1](arriving)

        return lambda feeds, arriving: gradients(list(feeds.values()), arriving)


def differentiated_cases(op):
    """Yield the cases of an op with floats among inputs and outputs, each with its family."""
    for family, case in opcases.by_op().get(op, []):
        if case.is_single_op and not any(value.dtype == object for value in case.feeds.values()):
            made = Differentiated(case)
            if made.xs and made.ys and all(value.size for value in made.feeds.values()):
                yield family, made


def accepted_case(op):
    """Return the first of these cases that TensorFlow takes."""
    return next(made for family, made in differentiated_cases(op) if not answers(family).steps(made.key)[0]["error"])


REFUSED = {"TopK"}
"""Ops of which TensorFlow takes no case: answers are read by the test, as each process of the tests makes this list."""
OPS = [op for op in sorted(CATALOG) if is_differentiable(op) and op not in REFUSED and any(differentiated_cases(op))]


@pytest.mark.parametrize("op", OPS)
def test_gradients_are_tensorflows(op):
    """At the inputs of a recorded case, and at numbers with ties, zeros and signs.

    An op whose derivative in JAX is another gets the fact `own_gradient`.
    """
    case = accepted_case(op)
    draws = np.random.default_rng(3)
    tied = {name: draws.choice(TIED, value.shape).astype(value.dtype) for name, value in case.feeds.items()}
    in_jax = case.in_jax()
    with np.errstate(all="ignore"), jax.enable_x64(True):
        for feeds in (case.feeds, *([] if op in WITHOUT_TIES else [tied])):
            arriving = case.arriving(feeds)
            for name, got, want in zip(case.xs, in_jax(feeds, arriving), case.in_numpy(feeds, arriving), strict=True):
                bound = 1e-4 if want.dtype == np.float32 else 1e-9
                scale = max(np.abs(want[np.abs(want) < LARGE]).max(initial=0), 1)
                got, want = (np.where(np.abs(value) < LARGE, value, LARGE).astype(value.dtype) for value in (got, want))
                np.testing.assert_allclose(got, want, rtol=bound, atol=bound * scale, err_msg=f"{name} at {feeds}")


@pytest.mark.parametrize("op", OPS[::8])
def test_batches_are_a_loop(op):
    """Values and gradients by vmap of a compiled function equal the results for each example."""
    case = accepted_case(op)
    function, parameters = tfg.to_jax(case.graph, case.ys, case.xs)

    def total(inputs):
        values = function(parameters, *inputs)
        return sum(value.sum() for value in values), values

    both = jax.jit(jax.value_and_grad(total, has_aux=True))
    examples = [list(case.feeds.values()), [value * 0.5 for value in case.feeds.values()]]
    with np.errstate(all="ignore"), jax.enable_x64(True):
        together = jax.vmap(both)([np.stack(pair) for pair in zip(*examples)])
        apart = jax.tree.map(lambda *pair: np.stack(pair), *map(both, examples))
    for got, want in zip(jax.tree.leaves(together), jax.tree.leaves(apart), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_batches_of_a_network_are_a_loop():
    loss, parameters = tfg.to_jax(tfg.load("sample_graphs/xor.pbtxt"), "loss:0", ["x:0", "y:0"])
    draws = np.random.default_rng(0)
    x, y = draws.standard_normal((3, 4, 2), "float32"), draws.integers(0, 2, (3, 4, 1)).astype("float32")
    gradients = jax.jit(jax.grad(loss))
    together = jax.vmap(gradients, in_axes=(None, 0, 0))(parameters, x, y)
    for i in range(3):
        for name, value in gradients(parameters, x[i], y[i]).items():
            np.testing.assert_allclose(together[name][i], value, rtol=1e-4, atol=1e-6, err_msg=name)


def scalar(op, *values, output=0, **attrs):
    """Return a function of JAX of an op's float inputs, and the inputs."""
    b = GraphBuilder()
    inputs = [
        b.Placeholder(dtype="float32", shape=value.shape) if value.dtype == np.float32 else b.constant(value)
        for value in map(np.asarray, values)
    ]
    node = b.add(op, inputs, attrs, "y")
    function, parameters = tfg.to_jax(b.graph, node.output(output).name, [x.name for x in inputs if x.node.is_placeholder])
    return lambda *inputs: function(parameters, *inputs).sum(), [v for v in values if np.asarray(v).dtype == np.float32]


def f(*values):
    return np.array(values, np.float32)


POINTS = {
    "Maximum": (scalar("Maximum", f(2), f(2)), [[1], [0]]),
    "Minimum": (scalar("Minimum", f(2), f(2)), [[1], [0]]),
    "ClipByValue": (scalar("ClipByValue", f(1, 3, 2), np.float32(1), np.float32(3)), [[1, 1, 1], 0, 0]),
    "Abs": (scalar("Abs", f(0)), [[0]]),
    "Pow": (scalar("Pow", f(-2, 0), f(3, 2)), [[12, 0], [0, 0]]),
    "Relu": (scalar("Relu", f(0)), [[0]]),
    "Relu6": (scalar("Relu6", f(0, 6)), [[0, 0]]),
    "Selu": (scalar("Selu", f(0)), [[1.0507010221481323]]),
    "Softsign": (scalar("Softsign", f(np.inf, 0)), [[0, 1]]),
    "Max": (scalar("Max", f(2, 2, 1), np.int32([0])), [[0.5, 0.5, 0]]),
    "MaxPool": (
        scalar("MaxPool", f(2, 2).reshape(1, 1, 2, 1), ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID"),
        [np.reshape([1, 0], (1, 1, 2, 1))],
    ),
    "Prod": (scalar("Prod", f(0, 2, 0), np.int32([0])), [[0, 0, 0]]),
    "SoftmaxCrossEntropyWithLogits": (
        scalar("SoftmaxCrossEntropyWithLogits", f(0, 0)[None], f(1, 1)[None]),
        [[[-0.5, -0.5]], [[0.6931471824645996, 0.6931471824645996]]],
    ),
    "Sign": (scalar("Sign", f(0.5)), [[0]]),
    "Floor": (scalar("Floor", f(0.5)), [[0]]),
    "PadV2": (scalar("PadV2", f(1), np.int32([[1, 1]]), np.float32(5)), [[1], 0]),
    "OneHot": (scalar("OneHot", np.int32([1]), np.int32(3), np.float32(1), np.float32(0)), [0, 0]),
}
"""TensorFlow's gradients at points without a derivative, recorded with tensorflow-cpu 2.21; 0 where TensorFlow has None."""


@pytest.mark.parametrize("op", POINTS)
def test_points_without_a_derivative(op):
    """In reverse mode, in forward mode and by vmap."""
    (function, inputs), expected = POINTS[op]
    places = tuple(range(len(inputs)))
    for got, want in zip(jax.grad(function, places)(*inputs), expected, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-6)
    tangent = jax.jvp(function, inputs, [np.ones_like(x) for x in inputs])[1]
    np.testing.assert_allclose(tangent, sum(np.sum(want) for want in expected), atol=1e-6)
    many = jax.vmap(jax.grad(function, places))(*(np.stack([x, x]) for x in inputs))
    for got, want in zip(many, expected):
        np.testing.assert_allclose(got, [want, want], atol=1e-6)


def test_every_op_with_its_own_gradient_is_tested_here():
    assert set(ops_with("own_gradient")) <= {*OPS, "FusedBatchNormGradV3"}


@pytest.mark.parametrize("op", ["Sqrt", "Rsqrt", "Reciprocal"])
def test_a_masked_infinite_derivative_adds_nothing(op):
    """TensorFlow's gradients of where(x > 0, f(x), 0) at 0 and 4, recorded with tensorflow-cpu 2.21."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    b.SelectV2(b.Greater(x, b.constant(np.float32(0))), b.apply(op, x), b.constant(np.float32(0)), name="y")
    function, parameters = tfg.to_jax(b.graph, "y:0", "x:0")
    expected = {"Sqrt": 0.25, "Rsqrt": -0.0625, "Reciprocal": -0.0625}
    gradient = jax.grad(lambda x: function(parameters, x).sum())(f(0, 4))
    np.testing.assert_allclose(gradient, [0, expected[op]], rtol=1e-6)


def test_second_derivatives():
    """Of |x|^3, whose first derivative is 3 x |x| and whose second is 6 |x|."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    b.Pow(b.Abs(x), b.constant(np.float32(3)), name="y")
    function, parameters = tfg.to_jax(b.graph, "y:0", "x:0")
    for second in (jax.hessian(function, 1), jax.grad(jax.grad(function, 1), 1), jax.jacfwd(jax.jacfwd(function, 1), 1)):
        assert [float(second(parameters, np.float32(value))) for value in (-2, 0, 3)] == [12, 0, 18]


def test_ops_without_a_gradient_are_refused_by_name():
    b = GraphBuilder()
    boxes = b.Placeholder(dtype="float32", shape=[1, 2, 1, 4], name="boxes")
    numbers = [b.constant(value) for value in (np.int32(1), np.int32(2), np.float32(0.5), np.float32(0))]
    b.CombinedNonMaxSuppression(boxes, b.constant(np.ones((1, 2, 1), "f")), *numbers, name="y")
    function, parameters = tfg.to_jax(b.graph, "y:0", "boxes:0")
    x = np.ones((1, 2, 1, 4), np.float32)
    assert function(parameters, x).shape == (1, 2, 4)
    with pytest.raises(UnimplementedError, match=r"'y' \(CombinedNonMaxSuppression\): the op has no gradient") as caught:
        jax.grad(lambda x: function(parameters, x).sum())(x)
    assert "stop_gradient" in caught.value.hint


def named(op, name):
    """Return the function z = 3 op(x), where the node of the op names its gradient."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    b.apply(op, x, name="y").node.attrs["_gradient_op_type"] = name
    b.Mul(b.graph.output("y:0"), b.constant(np.float32(3)), name="z")
    return functools.partial(tfg.to_jax(b.graph, "z:0", "x:0")[0], {})


@pytest.mark.parametrize(("op", "name", "slope"), [("Identity", b"Neg", -3), ("Neg", b"Identity", 3), ("Neg", b"Floor", 0)])
def test_a_named_gradient_is_the_registered_one(op, name, slope):
    """As with `tf.Graph.gradient_override_map`, e.g. for a layer that reverses gradients."""
    function = named(op, name)
    assert abs(function(np.float32(2))) == 6
    assert jax.grad(function)(np.float32(2)) == slope
    assert jax.jvp(function, (np.float32(2),), (np.float32(1),))[1] == slope


@pytest.mark.parametrize("op", ["Identity", "Neg"])
def test_a_missing_named_gradient_is_an_error(op):
    function = named(op, b"CustomGradient-7")
    assert abs(function(np.float32(2))) == 6
    with pytest.raises(UnimplementedError, match="its gradient 'CustomGradient-7' is not registered") as caught:
        jax.grad(function)(np.float32(2))
    assert caught.value.node == "y" and "tfg.gradients" in caught.value.hint
