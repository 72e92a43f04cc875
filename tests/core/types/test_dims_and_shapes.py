"""Dimensions that stay symbols, shapes made of them, and devices."""

from __future__ import annotations

import itertools
import random

import pytest

from tfg.core.building.placement import DeviceSpec, Placement, canonical_device
from tfg.core.support.errors import InvalidArgumentError, UnimplementedError
from tfg.core.types.dims import Dim, broadcast_dims, dim_max, dim_min, floor_div, substitute
from tfg.core.types.shapes import UNKNOWN, Shape, as_shape, broadcast_shapes, merge_shapes, relax_shapes


def test_arithmetic_on_symbols():
    n = Dim.symbol("N")
    assert str(2 * n + n) == "3*N"
    assert (n + 1) - n == 1
    assert (6 * n) // 3 == 2 * n
    assert n == Dim.symbol("N")
    assert n != Dim.symbol("M")


def test_the_text_of_a_dimension_is_a_formula():
    """The text is Python syntax, except for the power, for every construction of the dimension."""
    draws = random.Random(0)
    values = {"N": 7, "H": 23}
    for _ in range(200):
        results = [Dim.symbol("N"), Dim.symbol("H"), draws.randint(1, 9)]
        for _ in range(6):
            a, b = draws.choices(results, k=2)
            divisor = draws.randint(2, 5)
            results.append(draws.choice([a + b, a - b, a * b, floor_div(a, divisor), dim_max(a, b), dim_min(a + 1, b)]))
        for made in results:
            assert eval(str(made).replace("^", "**"), {"max": max, "min": min}, values) == substitute(made, values)


@pytest.mark.parametrize("k", range(-4, 5))
def test_quotients_of_quotients_are_one(k):
    n = Dim.symbol("n")
    for b, c in itertools.product(range(1, 5), range(1, 5)):
        result = floor_div(floor_div(n + 1, c) + k, b)
        assert [substitute(result, {"n": v}) for v in range(30)] == [((v + 1) // c + k) // b for v in range(30)]
        assert str(result).count("//") == (b * c > 1)


def test_nothing_is_divided_by_zero():
    with pytest.raises(InvalidArgumentError, match="and n is 0"):
        substitute(floor_div(Dim.symbol("m"), Dim.symbol("n")), {"n": 0})


@pytest.mark.parametrize(
    "ask", [lambda n: n < 3, lambda n: n >= -3, lambda n: max(n, 2), int, float, range, [0, 1].__getitem__]
)
def test_a_symbol_is_no_number(ask):
    """Code that needs a number, such as an axis, raises an error for a symbol."""
    with pytest.raises(UnimplementedError, match="the symbolic dimension N"):
        ask(Dim.symbol("N"))


def test_unknown_dimensions_are_never_equal_to_others():
    assert Dim.unknown() != Dim.unknown()
    assert Dim.unknown().is_anonymous


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((2, 3), (3,), "(2,3)"),
        ((2, 1), (1, 5), "(2,5)"),
        ((None, 3), (1, 3), "(?,3)"),
        ((), (4,), "(4)"),
        (None, (2,), "<unknown>"),
    ],
)
def test_broadcasting(a, b, expected):
    assert str(broadcast_shapes(as_shape(a), as_shape(b))) == expected


def test_a_broadcast_of_two_unknowns_is_decided_by_their_numbers():
    n, m = Dim.symbol("N"), Dim.symbol("M")
    both = broadcast_dims(n, m)
    assert both == broadcast_dims(m, n) == broadcast_dims(both, n)
    assert both not in (n, m)
    for a, b, expected in ((1, 4, 4), (4, 1, 4), (4, 4, 4), (1, 1, 1), (0, 1, 0)):
        assert substitute(both, {"N": a, "M": b}) == expected
    with pytest.raises(InvalidArgumentError, match="must be equal"):
        substitute(both, {"N": 2, "M": 3})


@pytest.mark.parametrize("sure", [2 * Dim.symbol("N"), Dim.symbol("N") + 2, 3 * Dim.symbol("N") - 1, 5, 0])
def test_what_is_never_one_decides_a_broadcast(sure):
    other = Dim.symbol("M")
    assert broadcast_dims(sure, other) == broadcast_dims(other, sure) == sure


@pytest.mark.parametrize("unsure", [Dim.symbol("N") + 1, 2 * Dim.symbol("N") + 1, floor_div(Dim.symbol("N") + 1, 2)])
def test_what_may_be_one_decides_no_broadcast(unsure):
    assert broadcast_dims(unsure, Dim.symbol("M")) not in (unsure, Dim.symbol("M"))


def test_merging_takes_the_more_definite():
    assert str(merge_shapes(as_shape((None, 3)), as_shape((2, None)))) == "(2,3)"
    assert merge_shapes(UNKNOWN, Shape((1,))) == Shape((1,))
    assert str(relax_shapes(Shape((2, 3)), Shape((4, 3)))) == "(?,3)"
    with pytest.raises(InvalidArgumentError, match="same rank"):
        merge_shapes(Shape((1,)), Shape((1, 2)))
    with pytest.raises(InvalidArgumentError, match="must be equal"):
        broadcast_shapes(Shape((2,)), Shape((3,)))


def test_elements_and_slices():
    shape = as_shape((2, -1, 4))
    assert not shape.is_known
    assert Shape((2, 3)).num_elements == 6
    assert str(shape[1:]) == "(?,4)"
    with pytest.raises(InvalidArgumentError):
        shape.known()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("/gpu", "/device:GPU:*"),
        ("/job:worker/replica:0/task:3/device:GPU:1", "/job:worker/replica:0/task:3/device:GPU:1"),
        ("", ""),
    ],
)
def test_device_names(text, expected):
    assert canonical_device(text) == expected


def test_devices_merge_and_conflict():
    outer = DeviceSpec.parse("/job:a/device:CPU:1")
    assert str(outer.merged(DeviceSpec.parse("/gpu:0"))) == "/job:a/device:GPU:0"
    assert outer.conflict(DeviceSpec.parse("/job:b")) == "job a and b"
    assert outer.conflict(DeviceSpec.parse("/task:1")) is None
    with pytest.raises(InvalidArgumentError, match="'/what ever' is not a device"):
        DeviceSpec.parse("/what ever")


def test_colocation_joins_chains():
    from tfg import GraphBuilder

    g = GraphBuilder()
    a = g.constant(1.0, name="a")
    with g.colocate_with(a):
        b = g.Neg(a, name="b")
    b.node.device = "/gpu:1"
    placement = Placement(g.graph)
    (group,) = placement.groups()
    assert group.members == ("a", "b")
    assert group.device == "/device:GPU:1"
    assert placement.chain(b.node) == ("a",)
    assert placement.group(g.constant(2.0).node) is None


@pytest.mark.parametrize(
    "grow",
    [
        pytest.param(lambda x, i: x * (Dim.symbol(f"a{i}") + Dim.symbol(f"b{i}")), id="products of sums"),
        pytest.param(lambda x, i: floor_div(x, 2) + floor_div(x, 3), id="quotients of sums of quotients"),
        pytest.param(lambda x, i: x * x + i, id="squares of sums"),
    ],
)
def test_what_takes_too_long_to_write_is_unknown(grow):
    """Each step doubles the text of a dimension; sixty steps would not end."""
    dim = Dim.symbol("N") + 1
    for step in range(60):
        dim = grow(dim, step)
        assert len(str(dim)) < 100_000
    assert dim.is_anonymous
