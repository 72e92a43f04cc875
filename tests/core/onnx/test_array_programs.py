"""Array programs on ONNX's operators: what they may do with sizes that only the run knows."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.onnx.blocks import Value
from tfg.core.onnx.emitter import Emitter
from tfg.core.support.errors import UnimplementedError
from tfg.core.types import dtypes
from tfg.core.types.shapes import UNKNOWN, Shape


def emitted(program, *specs):
    """Return the operators and the result of a program on inputs (dtype, shape)."""
    g = Emitter()
    result = g.evaluate(program, (), (), [Value(dtype, Shape(dims)) for dtype, dims in specs], {})
    return [operation.op for operation in g.block.operations], result


def test_known_sizes_are_numbers():
    operators, result = emitted(lambda xp, x: x.reshape(x.shape[1], x.shape[0] // 2, -1), (dtypes.float32, [4, 3]))
    assert operators == ["Reshape"]
    assert result.shape.dims[:2] == (3, 2)


def test_loops_keep_arrays_and_tuples():
    operators, result = emitted(lambda xp, x: xp.fori_loop(0, 3, lambda i, y: y + x, x), (dtypes.float32, [4]))
    assert (operators, result.shape.dims) == (["Loop"], (4,))

    def halved(xp, x):
        return xp.while_loop(lambda state: xp.sum(state[0]) > 1, lambda state: (state[0] / 2, state[1] + 1), (x, x))

    operators, results = emitted(halved, (dtypes.float32, [4]))
    assert operators == ["ReduceSum", "Greater", "Loop"] and len(results) == 2


def test_shapes_that_only_the_run_knows():
    g = Emitter()
    x, dims = Value(dtypes.float32, Shape([None])), Value(dtypes.int32, Shape([None]))
    result = g.evaluate(lambda xp, x, dims: xp.reshape(x[: dims.prod()], dims), (1,), (1,), [x, dims], {})
    assert result.dtype is dtypes.float32
    assert [operation.op for operation in g.block.operations] == ["Cast", "ReduceProd", "Slice", "Reshape"]
    with pytest.raises(UnimplementedError, match="its input 1 is not constant"):
        g.evaluate(lambda xp, x, dims: x, (1,), (), [x, dims], {})


def test_the_dimensions_of_a_shape_that_only_the_run_knows():
    g = Emitter()
    x, dims = Value(dtypes.float32, Shape([None])), Value(dtypes.int64, Shape([2]))
    result = g.evaluate(lambda xp, x, dims: xp.full((dims.tolist()[1], dims.shape[0]), x[0]), (1,), (1,), [x, dims], {})
    assert result.rank == 2 and [operation.op for operation in g.block.operations][-1] == "Expand"
    with pytest.raises(UnimplementedError, match="the rank of a shape that its lowering takes is unknown"):
        g.evaluate(lambda xp, dims: dims.tolist(), (0,), (0,), [Value(dtypes.int64, Shape([None]))], {})


def test_programs_compute_with_sizes_of_the_run():
    operators, _ = emitted(lambda xp, x: xp.reshape(x, (x.shape[0] * 2, -1)), (dtypes.float32, [None, 4]))
    assert operators == ["Shape", "Mul", "Concat", "Reshape"]


@pytest.mark.parametrize("question", [
    lambda size: size == 3, lambda size: size < 3, bool, int, range,
    lambda size: size / 2, lambda size: -size, lambda size: np.broadcast_shapes((size,), (3,)),
])  # fmt: skip
def test_programs_do_not_decide_by_sizes_of_the_run(question):
    def program(xp, x):
        question(x.shape[0])
        return x

    with pytest.raises(UnimplementedError, match="a size on which its lowering depends is unknown"):
        emitted(program, (dtypes.float32, [None]))


def test_a_program_on_an_unknown_rank():
    g = Emitter()
    x = Value(dtypes.float32, UNKNOWN)
    g.evaluate(lambda xp, x: xp.where((x > 0).all(), x, -x), (), (), [x], {})
    assert "ReduceMin" in [operation.op for operation in g.block.operations]


@pytest.mark.parametrize(("dims", "others", "fits"), [
    ([2, 3], [2, 3], True), ([2, 3], [3, 2], False), ([2], [2, 1], False),
    ([None, 3], [4, 3], True), ([None, 3], [4, 5], False),
])  # fmt: skip
def test_shapes_that_may_be_the_same(dims, others, fits):
    seen = []

    def program(xp, x, y):
        seen.append(xp.same_shape(x, y))
        return x

    emitted(program, (dtypes.float32, dims), (dtypes.float32, others))
    assert seen == [fits]


def test_a_fraction_of_integers_is_refused():
    with pytest.raises(UnimplementedError, match=r"0\.5 and integers"):
        emitted(lambda xp, x: x * 0.5, (dtypes.int32, [3]))


def test_floats_keep_their_width_beside_integers():
    _, result = emitted(lambda xp, x, y: x + y, (dtypes.float32, [3]), (dtypes.int64, [3]))
    assert result.dtype is dtypes.float32


def test_an_unknown_function_is_named():
    with pytest.raises(UnimplementedError, match="its lowering needs betainc, which ONNX lacks"):
        emitted(lambda xp, x: xp.betainc(x, x, x), (dtypes.float32, [3]))


@pytest.mark.parametrize(("index", "operators", "dims"), [
    (np.s_[..., None, :], ["Unsqueeze"], (2, 1, 4)), (np.s_[1], ["Slice", "Squeeze"], (4,)),
    (np.s_[:, -1], ["Slice", "Squeeze"], (2,)), (np.s_[:, ::-2], ["Slice"], (2, 2)), (np.s_[:, 1:3], ["Slice"], (2, 2)),
])  # fmt: skip
def test_parts_of_arrays(index, operators, dims):
    emitted_operators, result = emitted(lambda xp, x: x[index], (dtypes.float32, [2, 4]))
    assert (emitted_operators, result.shape.dims) == (operators, dims)
