"""The catalog: specs in and OpDefs out, and declarations of new ops."""

from __future__ import annotations

import pytest

from tfg.core.registry.catalog import CATALOG, parse_op, split_top
from tfg.core.support.errors import AlreadyExistsError, InvalidArgumentError
from tfg.core.types import dtypes

SPEC = (
    "Blend(a: T, rest: N * T, key: string) -> (out: T) "
    '{N: int >= 1, T: {float, half} = float, mode: {"up", "down"} = "up"} stateful'
)


def test_all_of_tensorflow_is_there_and_parses():
    names = list(CATALOG)
    assert len(names) > 1400
    assert all(CATALOG[name].name == name for name in names)


def test_a_spec_says_everything():
    result = parse_op(SPEC)
    assert [arg.name for arg in result.inputs] == ["a", "rest", "key"]
    assert result.inputs[1].is_list
    assert result.inputs[1].number_attr == "N"
    assert result.inputs[2].dtype is dtypes.string
    assert result.attrs["N"].minimum == 1
    assert result.attrs["T"].allowed == (dtypes.float32, dtypes.float16)
    assert result.attrs["mode"].default == b"up"
    assert result.is_stateful
    assert result.input_dtypes({"N": 2}) == [dtypes.float32] * 3 + [dtypes.string]


def test_references_and_lists_of_types():
    assign = CATALOG["Assign"]
    assert assign.inputs[0].is_ref
    assert assign.output_dtypes({"T": dtypes.float32}) == [dtypes.float32.ref]
    assert CATALOG["IdentityN"].output_dtypes({"T": [dtypes.float32, dtypes.int32]}) == [dtypes.float32, dtypes.int32]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("Blend", "is not of the form"),
        ("Blend(a: T) -> () {T: type} quick", "unknown flag 'quick'"),
        ("B(a: thing) -> ()", "thing"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(InvalidArgumentError, match=message):
        parse_op(spec)


def test_registering():
    CATALOG.register(SPEC)
    try:
        assert "Blend" in CATALOG
        assert not CATALOG.is_builtin("Blend")
        with pytest.raises(AlreadyExistsError):
            CATALOG.register(SPEC)
    finally:
        CATALOG.unregister("Blend")
    with pytest.raises(AlreadyExistsError):
        CATALOG.register("MatMul(a: float) -> ()")
    with pytest.raises(InvalidArgumentError, match="'Blend' is not declared"):
        CATALOG["Blend"]


def test_splitting_minds_brackets_and_quotes():
    assert split_top('a: {x, y}, b = "1,2", c') == ["a: {x, y}", 'b = "1,2"', "c"]
