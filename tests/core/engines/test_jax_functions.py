"""`tfg.to_jax`: graphs as pure functions of JAX. Skipped where JAX is not installed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import jax  # noqa: E402
from jax.experimental import checkify  # noqa: E402

import tfg  # noqa: E402
from tests import opcases  # noqa: E402
from tests.comparison import assert_same  # noqa: E402
from tests.functions import define  # noqa: E402
from tests.recorded_answers import answers  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.support.errors import FailedPreconditionError, InvalidArgumentError, TfgError, UnimplementedError  # noqa: E402
from tfg.core.types.shapes import Shape  # noqa: E402


def line():
    """y = w x + b of a vector, by variables of both kinds, and the mean of y squared."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None], name="x")
    w = b.variable(np.float32(2), "w", resource=True)
    y = b.AddV2(b.Mul(x, w), b.variable(np.float32(1), "b", resource=False), name="y")
    b.Mean(b.Square(y), b.constant(np.int32([0])), name="loss")
    b.global_variables_initializer()
    return b


X = np.float32([1, 2])
RECORDED_DRAWS = [
    [0.8440604209899902, 0.19204533100128174, 0.9962232112884521],
    [0.04674673080444336, 0.2690720558166504, 0.6340388059616089],
]
"""TensorFlow's uniform samples of the seeds [1, 2] and [-5, 7]."""


def test_a_graph_is_a_function_of_its_variables():
    function, parameters = tfg.to_jax(line().graph, "loss:0", "x:0")
    assert parameters == {"w": 2, "b": 1}
    assert jax.jit(function)(parameters, X) == 17  # (9 + 25) / 2
    assert function({"w": np.float32(0), "b": np.float32(3)}, x=X) == 9
    assert repr(function) == "<JaxFunction of 2 parameters: x -> loss:0>"


def test_gradients_and_batches():
    function, parameters = tfg.to_jax(line().graph, "loss:0", "x:0")
    by_parameters, by_input = jax.jit(jax.grad(function, argnums=(0, 1)))(parameters, X)
    assert by_parameters == {"w": 13, "b": 8}  # the means of 2 y x and of 2 y
    np.testing.assert_array_equal(by_input, [6, 10])  # 2 y w / 2
    rows = jax.vmap(function, in_axes=(None, 0))(parameters, np.stack([X, X + 1]))
    np.testing.assert_array_equal(rows, [17, 37])  # (25 + 49) / 2
    hessian = jax.hessian(function)(parameters, X)
    assert hessian["w"]["w"] == 5  # the mean of 2 x x


def test_outputs_have_the_structure_of_the_fetches():
    b = line()
    b.NoOp(name="nothing")
    function, parameters = tfg.to_jax(b.graph, {"y": "y:0", "all": ["loss", "nothing"]})
    outputs = function(parameters, X)
    np.testing.assert_array_equal(outputs["y"], [3, 5])
    assert outputs["all"] == [17, None]


def test_names_of_arguments():
    function, parameters = tfg.to_jax(line().graph, "y:0", {"rows": "x:0"})
    np.testing.assert_array_equal(function(parameters, rows=X), [3, 5])
    for wrong in (lambda: function(parameters), lambda: function(parameters, X, X), lambda: function(parameters, x=X)):
        with pytest.raises(InvalidArgumentError, match="rows"):
            wrong()


def test_inputs_are_checked():
    function, parameters = tfg.to_jax(line().graph, "y:0")
    with pytest.raises(InvalidArgumentError, match=r"'x' has shape \(\?\), not \(1, 2\)"):
        function(parameters, X[None])
    with pytest.raises(InvalidArgumentError, match="'x' is float32, not complex64"):
        function(parameters, X.astype("complex64"))
    with pytest.raises(InvalidArgumentError, match="'w' has no value"):
        function({"b": X}, X)


def test_the_state_may_be_given():
    _, parameters = tfg.to_jax(line().graph, "y:0", state={"w": np.float32(10)})
    assert parameters == {"w": 10, "b": 1}
    session = tfg.Session(line().graph)
    session.run("init")
    assert tfg.to_jax(line().graph, "y:0", state=session)[1] == {"w": 2, "b": 1}


def test_a_variable_without_a_value():
    b = GraphBuilder()
    handle = b.VarHandleOp(dtype="float32", shape=[], name="w")
    b.ReadVariableOp(handle, dtype="float32", name="y")
    with pytest.raises(FailedPreconditionError, match="'w' has no value"):
        tfg.to_jax(b.graph, "y:0")
    function, parameters = tfg.to_jax(b.graph, "y:0", state={"w": np.float32(5)})
    assert function(parameters) == 5


def test_constants_become_parameters():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    b.Mul(b.Mul(x, b.constant(np.float32([3, 4]), name="w")), b.constant(np.float32(2), name="factor"), name="y")
    assert tfg.to_jax(b.graph, "y:0")[1] == {}
    function, parameters = tfg.to_jax(b.graph, "y:0", constants="parameters")
    assert list(parameters) == ["w"]
    gradients = jax.grad(lambda held: function(held, X).sum())(parameters)
    np.testing.assert_array_equal(gradients["w"], [2, 4])
    with pytest.raises(InvalidArgumentError, match="'all'"):
        tfg.to_jax(b.graph, "y:0", constants="all")


@pytest.mark.parametrize("resource", [False, True])
def test_updates_are_results(resource):
    b = GraphBuilder()
    counter = b.variable(np.float32(3), "counter", resource=resource)
    amount = b.constant(np.float32(2))
    added = (
        b.AssignAddVariableOp(counter.handle, amount, name="add")
        if resource
        else b.AssignAdd(counter.handle, amount, name="add")
    )
    with b.control_dependencies([added.node if hasattr(added, "node") else added]):
        b.Mul(b.ReadVariableOp(counter.handle, dtype="float32") if resource else added, b.constant(np.float32(10)), name="y")
    b.global_variables_initializer()
    with pytest.raises(UnimplementedError) as caught:
        tfg.to_jax(b.graph, "y:0")
    assert "updates=True" in caught.value.hint
    assert "(add)" in caught.value.details[0]
    function, parameters = tfg.to_jax(b.graph, "y:0", updates=True)
    for count in (5, 7):
        value, parameters = jax.jit(function)(parameters)
        assert (value, parameters["counter"]) == (count * 10, count)


def test_a_training_step_is_a_function():
    b = line()
    training = tfg.train(b.graph, "loss:0", {"x:0": X}, steps=1, optimizer="sgd", lr=0.1)
    function, parameters = tfg.to_jax(training.session.graph, ["loss:0", training.train_op], "x:0", updates=True)
    with jax.enable_x64(True):
        (loss, nothing), after = jax.jit(function)({**parameters, "w": np.float32(2), "b": np.float32(1)}, X)
    assert (loss, nothing) == (17, None)
    np.testing.assert_allclose([after["w"], after["b"]], [0.7, 0.2], rtol=1e-6)


def test_refused_nodes_are_named_together():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    noise = b.RandomUniform(b.Shape(x, out_type="int32"), dtype="float32", name="noise")
    words = b.AsString(x, name="words")
    b.Add(b.AddV2(x, noise), b.StringToNumber(words, name="numbers"), name="y")
    with pytest.raises(UnimplementedError) as caught:
        tfg.to_jax(b.graph, "y:0")
    assert caught.value.message == "JAX does not support 3 nodes:"
    assert {line.partition(":")[0] for line in caught.value.details} == {
        "RandomUniform (noise)", "AsString (words)", "StringToNumber (numbers)",
    }  # fmt: skip
    assert "'noise' in `feeds`" in caught.value.hint
    function, _ = tfg.to_jax(b.graph, "y:0", ["x:0", "noise:0", "numbers:0"])
    np.testing.assert_array_equal(function({}, X, X, X), X * 3)


def test_draws_by_seed_are_tensorflows():
    """TensorFlow's samples of two seeds (recorded of `tf.random.stateless_uniform` with tensorflow-cpu 2.21), by vmap."""
    b = GraphBuilder()
    seed = b.Placeholder(dtype="int32", shape=[2], name="seed")
    b.StatelessRandomUniform(b.constant(np.int32([3])), seed, dtype="float32", name="noise")
    function, parameters = tfg.to_jax(b.graph, "noise:0")
    draws = jax.vmap(function, in_axes=(None, 0))(parameters, np.int32([[1, 2], [-5, 7]]))
    np.testing.assert_array_equal(draws, np.float32(RECORDED_DRAWS))


@pytest.mark.parametrize("op", ["StatelessRandomNormal", "StatelessTruncatedNormal"])
def test_normal_draws_are_tensorflows(op):
    """Exact where JAX computes in 64 bits, else to a few last digits; as TensorFlow's recorded results of the seed [5, -6]."""
    cases = [case for case in opcases.load_cases("random_stateless") if case.op == op]
    recorded = [answers("random_stateless").steps(case.key)[0]["results"][0] for case in cases]
    (expected,) = (value for value in recorded if value.shape == (5,) and value.dtype == np.float32)
    b = GraphBuilder()
    seed = b.Placeholder(dtype="int32", shape=[2], name="seed")
    getattr(b, op)(b.constant(np.int32([5])), seed, dtype="float32", name="noise")
    function, parameters = tfg.to_jax(b.graph, "noise:0")
    with jax.enable_x64(True):
        both = jax.vmap(function, in_axes=(None, 0))(parameters, np.int32([[1, 2], [5, -6]]))
    np.testing.assert_array_equal(both[1], expected)
    np.testing.assert_allclose(function(parameters, np.int32([5, -6])), expected, rtol=1e-5)


def test_draws_by_key_and_counter():
    """As `tf.random.stateless_uniform` builds them: the key and the counter of a seed, then the samples."""
    b = GraphBuilder()
    seed = b.Placeholder(dtype="int32", shape=[2], name="seed")
    key, counter = b.StatelessRandomGetKeyCounter(seed)
    alg = b.constant(np.int32(1))
    b.StatelessRandomUniformV2(b.constant(np.int32([3])), key, counter, alg, dtype="float32", name="noise")
    function, parameters = tfg.to_jax(b.graph, "noise:0")
    with jax.enable_x64(True):
        np.testing.assert_array_equal(function(parameters, np.int32([1, 2])), np.float32(RECORDED_DRAWS[0]))
    with pytest.raises(UnimplementedError, match="64"):
        function(parameters, np.int32([1, 2]))


def test_strings_and_ops_without_a_lowering_may_depend_on_constants():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    numbers = b.StringToNumber(b.constant([b"3", b"4"]))
    b.Mul(x, numbers, name="y")
    function, _ = tfg.to_jax(b.graph, "y:0")
    np.testing.assert_array_equal(function({}, X), [3, 8])


def test_defaults_and_placeholders_inside():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    rate = b.PlaceholderWithDefault(b.constant(np.float32(0.5)), shape=[], name="rate")
    b.Mul(b.Neg(x, name="middle"), rate, name="y")
    np.testing.assert_array_equal(tfg.to_jax(b.graph, "y:0")[0]({}, X), X * -0.5)
    np.testing.assert_array_equal(tfg.to_jax(b.graph, "y:0", ["middle:0", "rate:0"])[0]({}, X, 2.0), X * 2)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_64_bits_are_never_cut_in_silence(dtype):
    b = GraphBuilder()
    x = b.Placeholder(dtype=dtype, shape=[], name="x")
    b.Mul(b.AddV2(x, b.constant(np.array(1, dtype)), name="sum"), b.constant(np.array(1, dtype)), name="y")
    b.Cast(b.Cast(b.Placeholder(dtype="int32", shape=[], name="small"), DstT=dtype, name="wide"), DstT="float32", name="cast")
    function, _ = tfg.to_jax(b.graph, "y:0")
    with pytest.raises(UnimplementedError, match=r"'x': .*64-bit") as caught:
        function({}, 2**40)
    assert "jax_enable_x64" in caught.value.hint
    with pytest.raises(UnimplementedError, match=r"'wide'.*64-bit"):
        tfg.to_jax(b.graph, "cast:0")[0]({}, np.int32(1))
    with jax.enable_x64(True):
        value = jax.jit(function)({}, np.array(2**40, dtype))
    assert (value.dtype, float(value)) == (dtype, 2**40 + 1)


def test_constants_of_64_bits_that_fit_are_taken():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3], name="x")
    for name, value in (("near", 2), ("far", 2**33)):
        b.GatherV2(x, b.constant(np.int64(value)), b.constant(np.int32(0)), name=name)
    assert tfg.to_jax(b.graph, "near:0")[0]({}, np.float32([1, 2, 3])) == 3
    with pytest.raises(TfgError, match="'far'"):
        tfg.to_jax(b.graph, "far:0")[0]({}, np.float32([1, 2, 3]))


def repeated(limit):
    """Return y = x w**n in a While that reads the variable w in the body; n is 3, or an input."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    w = b.variable(np.float32(2), "w", resource=True)
    many = b.constant(np.int32(3)) if limit else b.Placeholder(dtype="int32", shape=[], name="n")
    types = ["int32", "int32", "float", "resource"]
    define(b, "less", types, lambda f, i, n, y, h: [f.Less(i, n)])
    define(
        b, "body", types,
        lambda f, i, n, y, h: [f.AddV2(i, f.constant(np.int32(1))), n, f.Mul(y, f.ReadVariableOp(h, dtype="float32")), h],
    )  # fmt: skip
    b.Identity(b.While([b.constant(np.int32(0)), many, x, w.handle], cond="less", body="body")[2], name="y")
    b.global_variables_initializer()
    return b.graph


def test_a_loop_of_known_length_has_gradients():
    function, parameters = tfg.to_jax(repeated(3), "y:0")
    assert function(parameters, 5.0) == 40
    gradients = jax.grad(function, argnums=(0, 1))(parameters, 5.0)
    assert (gradients[0]["w"], gradients[1]) == (60, 8)  # 3 x w**2, w**3


def test_a_loop_of_unknown_length_has_values_and_tangents():
    function, parameters = tfg.to_jax(repeated(None), "y:0", ["x:0", "n:0"])
    assert jax.jit(function)(parameters, 5.0, np.int32(4)) == 80
    value, tangent = jax.jvp(lambda x: function(parameters, x, np.int32(4)), (5.0,), (1.0,))
    assert (value, tangent) == (80, 16)


def test_branches_of_both_kinds():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    positive = b.Greater(x, b.constant(np.float32(0)))
    no, yes = b.Switch(x, positive)
    b.Merge([b.Neg(no), b.Mul(yes, b.constant(np.float32(3)))], name="v1")
    define(b, "triple", ["float"], lambda f, a: [f.Mul(a, f.constant(np.float32(3)))])
    define(b, "minus", ["float"], lambda f, a: [f.Neg(a)])
    b.StatelessIf(positive, [x], Tout=["float32"], then_branch="triple", else_branch="minus", name="v2")
    for name in ("v1:0", "v2:0"):
        function, _ = tfg.to_jax(b.graph, name)
        assert [float(jax.jit(function)({}, value)) for value in (2.0, -2.0)] == [6, 2]
        assert [float(jax.grad(function, argnums=1)({}, value)) for value in (2.0, -2.0)] == [3, -1]
        assert jax.vmap(function, (None, 0))({}, np.float32([2, -2])).tolist() == [6, 2]


def test_gradients_end_at_barriers():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    stopped = b.Identity(b.StopGradient(b.Identity(x)), name="stopped")
    b.Mul(x, stopped, name="y")
    b.Neg(b.PreventGradient(x, message=b"no way"), name="prevented")
    define(b, "f", ["float"], lambda f, a: [f.StopGradient(f.Mul(a, a)), f.Mul(a, f.StopGradient(a))])
    define(b, "g", ["float"], lambda f, a: [a, a])
    chosen = b.StatelessIf(
        b.Greater(x, b.constant(np.float32(0))), [x], Tout=["float32"] * 2, then_branch="f", else_branch="g"
    )
    b.AddV2(*chosen, name="called")
    gradients = {}
    for name in ("y", "stopped", "called"):
        function, _ = tfg.to_jax(b.graph, f"{name}:0")
        gradients[name] = (float(function({}, 3.0)), float(jax.grad(function, argnums=1)({}, 3.0)))
    assert gradients == {"y": (9, 3), "stopped": (3, 0), "called": (18, 3)}
    function, _ = tfg.to_jax(b.graph, "prevented:0")
    assert function({}, 3.0) == -3
    with pytest.raises(UnimplementedError, match="no way"):
        jax.grad(function, argnums=1)({}, 3.0)
    function, _ = tfg.to_jax(b.graph, "y:0", ["x:0", "stopped:0"])
    assert jax.grad(function, argnums=(1, 2))({}, 3.0, 5.0) == (5, 3)


def test_gradients_of_simulated_quantization_pass_straight_through():
    """As TensorFlow's: to the numbers within the range, and to the end that a number is beyond."""
    b = GraphBuilder()
    x, low, high = (
        b.Placeholder(dtype="float32", shape=shape, name=n) for n, shape in (("x", [3]), ("low", []), ("high", []))
    )
    b.FakeQuantWithMinMaxVars(x, low, high, name="y")
    b.QuantizeAndDequantizeV2(x, low, high, range_given=True, name="z")
    values = np.float32([-2, 0.5, 3]), np.float32(-1), np.float32(1)
    for name, expected in (("y:0", ([0, 1, 0], 1, 1)), ("z:0", ([1, 1, 1], 0, 0))):
        function, _ = tfg.to_jax(b.graph, name)
        gradients = jax.grad(lambda *inputs, call=function: call({}, *inputs).sum(), argnums=(0, 1, 2))(*values)
        for result, number in zip(gradients, expected):
            np.testing.assert_array_equal(result, number)


def casts():
    """The cases of floats that become integers, NaNs and numbers out of range among them."""
    for case in opcases.load_cases("identity"):
        ((value, *_),) = [list(case.feeds.values())] if case.op == "Cast" and len(case.feeds) == 1 else [[None]]
        if value is not None and value.dtype.name in ("float16", "float32", "float64", "bfloat16"):
            yield case


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16"])
def test_floats_become_integers_as_in_tensorflow(dtype):
    tried = 0
    for case in casts():
        builder = GraphBuilder()
        ((fetch,),) = case.build(builder)
        if builder.graph.output(fetch).dtype.name == dtype:
            with jax.enable_x64(True):
                result = tfg.to_jax(builder.graph, fetch, list(case.feeds))[0]({}, *case.feeds.values())
            assert_same(np.asarray(result), answers("identity").steps(case.key)[0]["results"][0])
            tried += 1
    assert tried >= 2


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_truncating_casts_round_towards_zero(name):
    """Cut the bits of 1.999 that the narrow float cannot hold: 1.9921875 in bfloat16, 1.9990234375 - 2**-10 in float16."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3], name="x")
    b.Cast(b.Cast(x, DstT=name, Truncate=True), DstT="float32", name="y")
    result = tfg.to_jax(b.graph, "y:0")[0]({}, np.float32([1.999, -1.999, np.nan]))
    expected = {"bfloat16": 1.9921875, "float16": 1.998046875}[name]
    np.testing.assert_array_equal(result, np.float32([expected, -expected, np.nan]))


def test_checks_of_values_are_checkifys():
    b = GraphBuilder()
    x = b.Placeholder(dtype="int32", shape=[], name="x")
    b.GatherV2(b.constant(np.float32([1, 2, 3])), x, b.constant(np.int32(0)), name="y")
    function, _ = tfg.to_jax(b.graph, "y:0")
    error, value = checkify.checkify(jax.jit(function))({}, np.int32(2))
    assert (error.get(), value) == (None, 3)
    error, _ = checkify.checkify(jax.jit(function))({}, np.int32(7))
    assert "node 'y' (GatherV2)" in error.get()
    jax.jit(function)({}, np.int32(7))


def test_the_signature_is_the_default():
    """The model multiplies by a scale and counts the calls."""
    function, parameters = tfg.to_jax(tfg.load("sample_graphs/scaler_saved_model"), updates=True)
    assert list(function.inputs) == ["x"]
    with jax.enable_x64(True):
        outputs, after = function(parameters, np.float32([[1, 2]]))
    np.testing.assert_array_equal(outputs["scaled"], parameters["scale"] * [[1, 2]])
    assert (outputs["calls"], after["calls"], parameters["calls"]) == (1, 1, 0)


def test_without_jax(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tfg.core.engines.xla.jax_functions", None)
    with pytest.raises(TfgError, match="a function of JAX needs module") as caught:
        tfg.to_jax(line().graph, "y:0")
    assert "tfg[xla]" in caught.value.hint


def test_an_exported_program_takes_batches_of_any_size():
    b = line()
    x = b.graph["x"].output()
    shape = b.Shape(x, out_type="int32")
    rows = b.Reshape(
        x,
        b.Pack(
            [b.StridedSlice(shape, *map(b.constant, np.int32([[0], [1], [1]])), shrink_axis_mask=1), b.constant(np.int32(1))]
        ),
    )
    zeros = b.Fill(b.Shape(rows, out_type="int32"), b.constant(np.float32(1)))
    b.Mul(b.AddV2(rows, zeros), b.Cast(b.Size(x, out_type="int32"), DstT="float32"), name="z")
    function, parameters = tfg.to_jax(b.graph, {"z": "z:0", "loss": "loss:0"}, "x:0")
    program = jax.export.deserialize(bytearray(function.exported(parameters, {})))
    assert set(program.platforms) == {"cpu", "cuda", "rocm", "tpu"}
    for count in (1, 3):
        outputs = program.call(np.ones(count, np.float32))
        np.testing.assert_array_equal(outputs["z"], np.full((count, 1), 2 * count))
        assert outputs["loss"] == 9


def test_a_symbolic_dimension_without_a_lowering():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None], name="x")
    start, step = b.constant(np.int32(0)), b.constant(np.int32(1))
    b.Mul(x, b.Cast(b.Range(start, b.Size(x, out_type="int32"), step, name="numbers"), DstT="float32"), name="y")
    function, parameters = tfg.to_jax(b.graph, "y:0")
    np.testing.assert_array_equal(function(parameters, X), [0, 2])
    with pytest.raises(UnimplementedError, match=r"'numbers'.*symbolic dimension"):
        function.exported(parameters, {})
    program = jax.export.deserialize(bytearray(function.exported(parameters, {"x": Shape([2])})))
    np.testing.assert_array_equal(program.call(X), [0, 2])


def test_a_stateful_function_stays_refused():
    """A function may read variables, and does nothing else but compute."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    define(
        b,
        "noisy",
        ["float"],
        lambda f, a: [f.Mul(a, f.RandomUniform(f.constant(np.int32([])), dtype="float32", name="noise"))],
        True,
    )
    define(b, "quiet", ["float"], lambda f, a: [a])
    b.If(b.Greater(x, b.constant(np.float32(0))), [x], Tout=["float32"], then_branch="noisy", else_branch="quiet", name="y")
    with pytest.raises(UnimplementedError) as caught:
        tfg.to_jax(b.graph, "y:0")
    assert "in function 'noisy', RandomUniform 'noise'" in caught.value.details[0]


@pytest.mark.parametrize(
    ("op", "dtype", "bound"),
    [("Max", "float32", -np.inf), ("Min", "float32", np.inf), ("Max", "int32", -(2**31)), ("Min", "uint8", 255)],
)
def test_the_extreme_of_no_elements_is_the_bound_of_the_dtype(op, dtype, bound):
    b = GraphBuilder()
    b.apply(op, b.Placeholder(dtype=dtype, shape=[2, 0], name="x"), b.constant(np.int32([1])), name="y")
    function, parameters = tfg.to_jax(b.graph, "y:0", "x:0")
    np.testing.assert_array_equal(function(parameters, np.zeros((2, 0), dtype)), [bound, bound])


@pytest.mark.parametrize(
    ("op", "reverse", "expected"),
    [
        ("Cumsum", False, [0, 1, np.inf]),
        ("Cumsum", True, [np.inf, 2, 0]),
        ("Cumprod", False, [1, 1, np.inf]),
        ("Cumprod", True, [np.inf, 2, 1]),
    ],
)
def test_an_exclusive_scan_leaves_out_the_element_itself(op, reverse, expected):
    """A sum minus the element would be NaN behind an infinity."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3], name="x")
    b.apply(op, x, b.constant(np.int32(0)), exclusive=True, reverse=reverse, name="y")
    function, parameters = tfg.to_jax(b.graph, "y:0", "x:0")
    np.testing.assert_array_equal(function(parameters, np.float32([1, np.inf, 2])), expected)


@pytest.mark.parametrize("op", ["SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"])
def test_a_gradient_of_zero_stays_zero_where_the_derivative_is_infinite(op):
    """As in TensorFlow, whose kernels test for 0: a masked square root of 0 gives no NaN."""
    b = GraphBuilder()
    y, dy = (b.Placeholder(dtype="float32", shape=[3], name=name) for name in ("y", "dy"))
    b.apply(op, y, dy, name="dx")
    function, parameters = tfg.to_jax(b.graph, "dx:0", ["y:0", "dy:0"])
    np.testing.assert_array_equal(function(parameters, np.float32([0, np.inf, np.nan]), np.zeros(3, np.float32)), np.zeros(3))
