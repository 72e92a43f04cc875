"""Widths of printed elements beyond C's int."""

import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError


@pytest.mark.parametrize("value", [b"a", 1, 1.5, 1j])
@pytest.mark.parametrize("size", [2**31, 2**63 - 1])
@pytest.mark.parametrize("name", ["width", "precision"])
def test_a_width_beyond_an_int_is_refused(name, size, value):
    b = GraphBuilder()
    b.AsString(b.constant(value), **{name: size}, name="text")
    with pytest.raises(InvalidArgumentError) as error:
        Session(b.graph).run("text:0")
    assert error.value.node == "text"
