"""Kernels for constant inputs beside the kernels for any: the same values, the same errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.example_messages import example
from tfg import GraphBuilder, Session
from tfg.core.ops.array.slicing import Masks
from tfg.core.registry import registry
from tfg.core.registry.constant_inputs import _PREPARED, prepared_kernel
from tfg.core.runtime.execute.tiers import SETTLING_RUN
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor

REDUCTIONS = ("All", "Any", "Max", "Mean", "Min", "Prod", "Sum")
OF_SHAPES = ("Reshape", "StridedSlice", "StridedSliceGrad", "Transpose")
ALONG_AXES = ("ConcatV2", "GatherV2", "Split", "SplitV")
OPS = (*REDUCTIONS, *OF_SHAPES, *ALONG_AXES, "EmptyTensorList", "Roll")
PARSING = ("ParseExampleV2",)
"""The op of the tests of parsing below."""
SIZES = st.lists(st.integers(0, 3), max_size=3)
INTS = st.integers(-3, 3)


def vector(values):
    return np.array(values, np.int32)


def tensor(dims, dtype):
    return (np.arange(np.prod(dims, dtype=int)) % 7 - 3).reshape(dims).astype(dtype)


@st.composite
def calls(draw):
    """(op, inputs, attributes) of an op that is prepared, right or wrong."""
    op = draw(st.sampled_from(OPS))
    x = tensor(draw(SIZES), draw(st.sampled_from(["float32", "int64", "float16"])))
    if op in REDUCTIONS:
        x = x.astype(bool) if op in ("All", "Any") else x
        return op, [x, vector(draw(st.lists(INTS, max_size=3)))], {"keep_dims": draw(st.booleans())}
    if op in ("Reshape", "Transpose"):
        values = st.permutations(range(x.ndim)) | st.lists(INTS, max_size=4) | st.just([x.size, 1, 1])
        return op, [x, vector(draw(values))], {}
    if op in ALONG_AXES:
        return op, *draw(calls_along_axes(op, x))
    if op == "Roll":
        shift, axis = (draw(INTS.map(np.int32) | st.lists(INTS, max_size=2).map(vector)) for _ in range(2))
        return op, [x, shift, axis], {}
    if op == "EmptyTensorList":
        dims = np.int32(-1) if draw(st.booleans()) else vector(draw(st.lists(INTS, max_size=3)))
        return op, [dims, np.int32(draw(INTS))], {"element_dtype": dtypes.float32}
    count = draw(st.integers(0, 3))
    numbers = [vector(draw(st.lists(INTS, min_size=count, max_size=count))) for _ in range(2)]
    steps = vector(draw(st.lists(st.sampled_from([1, 1, 2, -1, 0]), min_size=count, max_size=count)))
    masks = {"masks": Masks(*[draw(st.integers(0, 7)) if draw(st.booleans()) else 0 for _ in Masks._fields])}
    if op == "StridedSlice":
        return op, [x, *numbers, steps], masks
    dims = vector(draw(SIZES) if draw(st.booleans()) else [draw(INTS)])
    slices = outcome(plain("StridedSlice"), [np.zeros(np.abs(dims)), *numbers, steps], masks)
    dy = tensor(slices[0][0] if isinstance(slices, list) else draw(SIZES), x.dtype)
    return op, [dims, *numbers, steps, dy], masks


@st.composite
def calls_along_axes(draw, op, x):
    """(inputs, attributes) of an op that goes along an axis."""
    axis = np.int32(draw(INTS))
    if op == "ConcatV2":
        parts = [tensor(draw(st.just(x.shape) | st.permutations(x.shape)), x.dtype) for _ in range(draw(st.integers(1, 3)))]
        return [x, *parts, axis], {}
    if op == "GatherV2":
        indices = vector(draw(st.lists(st.integers(-1, 3), max_size=3)))
        indices = draw(st.sampled_from([indices, indices[None], indices[:1].reshape(np.minimum(indices.shape, 1))]))
        return [x, indices, axis], {"batch_dims": draw(st.sampled_from([0, 0, 0, 1, -1]))}
    if op == "Split":
        return [axis, x], {"num_split": draw(st.integers(2, 3))}
    sizes = draw(st.lists(st.integers(-1, 2), min_size=2, max_size=3))
    return [x, vector(sizes), axis], {"num_split": draw(st.sampled_from([2, 3, len(sizes)]))}


def outcome(function, inputs, attrs):
    """Return the result of a call, or the error."""
    try:
        value = function(*inputs, **attrs)
    except InvalidArgumentError as error:
        return "error", error.message
    return [described(np.asarray(part)) for part in (value if isinstance(value, list) else [value])]


def described(value):
    """Return a description that distinguishes arrays and lists of tensors."""
    if value.dtype == object:
        return repr(value.item()).replace("?", ""), value.item().max_num_elements
    return value.shape, value.dtype, value.tobytes()


def plain(op):
    """Return the op's kernel with single inputs."""
    function = registry.kernels(op)[0].function
    return (lambda *inputs: function(list(inputs[:-1]), inputs[-1])) if op == "ConcatV2" else function


def by_constants(op):
    """Return the op's kernel made for the constant inputs, called twice."""
    result = prepared_kernel(op)

    def function(*inputs, **attrs):
        try:
            kernel = result.function(*(inputs[place] for place in result.constants), **attrs)
        except InvalidArgumentError:  # refused: the kernel says why
            return plain(op)(*inputs, **attrs)
        kernel(*inputs)
        return kernel(*inputs)

    return function


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=600, deadline=None)
@given(calls())
def test_the_same_values_and_errors(call):
    op, inputs, attrs = call
    want = outcome(plain(op), inputs, attrs)
    assert outcome(by_constants(op), inputs, attrs) == want


def test_runs_take_them_and_name_the_node_that_fails():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Transpose(x, b.constant([1, 0]), name="y")
    b.StridedSlice(x, b.constant([1]), b.constant([3]), b.constant([1]), shrink_axis_mask=1, name="row")
    session = Session(b.graph)
    for rows in range(2, SETTLING_RUN + 4):
        given = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
        y, row = session.run(["y:0", "row:0"], {"x:0": given})
        np.testing.assert_array_equal(y, given.T)
        np.testing.assert_array_equal(row, given[1])
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(["y:0", "row:0"], {"x:0": given[0]})
        assert caught.value.node == "y"
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(["row:0"], {"x:0": given[:1]})
        assert caught.value.node == "row"


def parser(sparse, dense, default):
    """A session that parses a fed Example: the sparse feature c, and the dense number b with a default."""
    b = GraphBuilder()
    text = b.Placeholder(dtype="string", shape=[], name="text")
    keys = [Tensor.from_numpy(np.array(names, object), dtypes.string) for names in ([], sparse, dense, [])]
    inputs = [text, *(b.Const(value=names, dtype="string") for names in keys)]
    number = b.Placeholder(dtype="float32", shape=[], name="default") if default is None else b.constant(default)
    defaults = [number] * len(dense)
    b.ParseExampleV2(
        *inputs, defaults, num_sparse=len(sparse), sparse_types=["string"] * len(sparse), ragged_value_types=[],
        ragged_split_types=[], dense_shapes=[[]] * len(dense), Tdense=["float32"] * len(dense), name="parsed",
    )  # fmt: skip
    return Session(b.graph)


def test_examples_are_parsed_by_constant_keys():
    session = parser([b"c"], [b"b"], np.float32(7))
    for _ in range(SETTLING_RUN + 1):
        fetches = [f"parsed:{i}" for i in range(4)]
        indices, values, shape, number = session.run(fetches, {"text:0": example(b=[1.5], c=[b"x", b"y"])})
        assert (indices.tolist(), values.tolist(), shape.tolist(), number) == ([[0], [1]], [b"x", b"y"], [2], 1.5)
        assert session.run("parsed:3", {"text:0": example()}) == 7
        with pytest.raises(InvalidArgumentError, match=r"Number of float values != expected\.  Values size: 2") as caught:
            session.run(fetches, {"text:0": example(b=[1.5, 2.5])})
        assert caught.value.node == "parsed"


def test_a_default_of_a_parsed_feature_may_change():
    session = parser([], [b"b"], None)
    for default in range(SETTLING_RUN + 2):
        assert session.run("parsed:0", {"text:0": example(), "default:0": np.float32(default)}) == default


def test_all_are_drawn():
    assert all(prepared_kernel(op) for op in (*OPS, *PARSING))
    assert set(_PREPARED) == {*OPS, *PARSING}
