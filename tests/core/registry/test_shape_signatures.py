"""Shape functions by signatures: what each form of a term says, and which inputs are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfg.core.registry.shape_signatures import signature
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes
from tfg.core.types.dims import Dim
from tfg.core.types.shapes import UNKNOWN, Shape, TensorSpec


def spec(*dims: int | None, value: Any = None) -> TensorSpec:
    """Return the spec of a tensor with these dimensions."""
    return TensorSpec(dtypes.int32, Shape(dims), None if value is None else np.array(value, object))


def listed(shape: Shape) -> list[int | None]:
    """Return the dimensions, None for an unknown one."""
    assert shape.dims is not None
    return [dim if isinstance(dim, int) else None for dim in shape.dims]


NO_RANK = TensorSpec(dtypes.int32, UNKNOWN)


@pytest.mark.parametrize(
    ("line", "specs", "expected"),
    [
        # Sizes that are equal wherever their name stands, fixed ones, and any.
        ("rows classes, rows -> rows classes", [spec(2, None), spec(None)], [2, None]),
        ("rows classes, rows -> rows classes", [spec(None, 3), spec(2)], [2, 3]),
        ("_ n, 3 -> n 3", [spec(5, 4), NO_RANK], [4, 3]),
        ("n -> 4n", [spec(2)], [8]),
        ("n -> 4n", [spec(None)], [None]),
        ("n, n+1 -> n-1 n+1", [spec(2), spec(3)], [1, 3]),
        ("n, n+1 -> n", [spec(2), spec(None)], [2]),
        ("m n -> m&n", [spec(2, 3)], [2]),
        ("m n, m&n -> m n", [spec(2, 3), spec(2)], [2, 3]),
        # Scalars, any shape, and inputs without a term.
        ("() -> n", [spec()], [None]),
        ("*, n -> n", [spec(7, 7), spec(2)], [2]),
        ("n -> n ()", [spec(2), spec(9)], [2]),
        # The dimensions in front, between and behind.
        ("... n n -> ... n", [spec(5, None, 3)], [5, 3]),
        ("n ... c -> c ... n", [spec(1, 2, 3, 4)], [4, 2, 3, 1]),
        ("..., ... -> ...", [spec(2, None), spec(None, 3)], [2, 3]),
        ("x..., y... -> y... x...", [spec(1), spec(2, 3)], [2, 3, 1]),
        ("~... n, ~... n -> ~... n", [spec(4, 1, 2), spec(5, 2)], [4, 5, 2]),
        # Values of inputs.
        ("<n> -> n 2", [spec(value=6)], [6, 2]),
        ("<n> -> n 2", [spec()], [None, 2]),
        ("<...>, 2 -> ...", [spec(2, value=[3, -1]), spec(2)], [3, None]),
        ("<...> -> ...", [spec(3)], [None, None, None]),
        # All inputs that are left, and lists.
        ("_, n + -> n", [spec(1), spec(None), spec(4), spec(None)], [4]),
        ("n, () -> n", [[spec(None), spec(3)], spec()], [3]),
    ],
)
def test_a_shape_follows_from_the_line(line: str, specs: list[Any], expected: list[int | None]) -> None:
    assert listed(signature(line)(*specs)) == expected


def test_inputs_of_unknown_rank_give_what_the_line_alone_says() -> None:
    made = signature("... n n, ... n k -> ... n k")(NO_RANK, NO_RANK)
    assert made.rank is None
    assert listed(signature("n k, k -> k n")(NO_RANK, spec(3))) == [3, None]


def test_attributes_are_sizes_and_shapes() -> None:
    assert listed(signature("n -> n {num}")(spec(2), num=5)) == [2, 5]
    assert listed(signature("n -> n {num}")(spec(2), num=-1)) == [2, None]
    assert listed(signature("n -> n {Tout}")(spec(2), Tout=[dtypes.float32, dtypes.int32])) == [2, 2]
    assert listed(signature("n -> n {shape}...")(spec(2), shape=Shape([3, 4]))) == [2, 3, 4]
    shapes = signature("-> {shapes}...")(shapes=[Shape([3]), Shape([])])
    assert list(map(listed, shapes)) == [[3], []]


def test_outputs_may_be_several_and_as_many_as_an_attribute_says() -> None:
    first, second = signature("n k -> k, n n")(spec(2, 3))
    assert (listed(first), listed(second)) == ([3], [2, 2])
    assert list(map(listed, signature("n -> n [num]")(spec(2), num=3))) == [[2], [2], [2]]


def test_one_unknown_size_stands_for_a_name_in_all_outputs() -> None:
    """The indices and the values of a sparse tensor are equally many, and later inference knows it."""
    indices, values = signature("_ -> n 2, n")(spec(3))
    assert indices.dims[0] == values.dims[0]
    assert signature("_ -> n, m")(spec(3))[0].dims != values.dims


@pytest.mark.parametrize(
    ("line", "specs", "message"),
    [
        ("n n -> n", [spec(2)], "input 0 must be of rank 2, not of shape"),
        ("_, () -> ()", [spec(1), spec(1)], "input 1 must be of rank 0"),
        ("... n n -> ...", [spec(2)], "input 0 must be of at least rank 2"),
        ("n, n -> n", [spec(2), spec(3)], "dimensions 2 and 3 must be equal"),
        ("3 -> 3", [spec(2)], "dimensions 3 and 2 must be equal"),
        ("..., ... -> ...", [spec(2), spec(2, 1)], "must have the same rank"),
        ("~... n, ~... n -> n", [spec(2, 1), spec(3, 1)], "dimensions 2 and 3 must be equal"),
        ("<...> -> ...", [spec(2, value=[3, -2])], "must not be negative"),
        ("<...> -> ...", [spec(1, value=[b"x"])], "b'x' is not a size"),
        ("<n> -> n", [spec(value=b"x")], "b'x' is not a size"),
        ("<...> -> ...", [spec(255)], "at most 254 dimensions"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(line: str, specs: list[TensorSpec], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        signature(line)(*specs)


def test_an_unknown_size_is_the_same_size_in_the_results():
    size = Dim.unknown()
    shape = signature("n 3, n -> 2 n")(TensorSpec(dtypes.int32, Shape([size, 3])), spec(None))
    assert shape[1] == size
