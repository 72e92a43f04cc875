"""Folding of constants: kernels of several outputs, and damaged constants."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor


def test_a_kernel_that_returns_a_list_is_folded():
    """ParseSequenceExampleV2 gives the indices, the values and the shape of each sparse list: (2), (1) and (2) here."""
    g = GraphBuilder()
    none = g.constant(np.array([], object))
    given = [np.array(b"", object), none, none, none, none, np.array([b"steps"], object), none, none, np.zeros(0, bool)]
    kinds = {"Nfeature_list_sparse": 1, "feature_list_sparse_types": ["int64"]}
    g.ParseSequenceExampleV2(*given, [], **kinds, name="op")
    graph, _ = optimize(g.graph, ["op:1"], passes="fold")
    np.testing.assert_array_equal(Session(graph).run("op:1"), Session(g.graph).run("op:1"))


def test_a_constant_that_cannot_be_read_is_named():
    def decode():
        raise InvalidArgumentError("damaged")

    g = GraphBuilder()
    g.Square(g.apply("Const", name="c", dtype="float32", value=Tensor(dtypes.float32, (2,), decode)), name="y")
    with pytest.raises(InvalidArgumentError, match="damaged") as error:
        optimize(g.graph, ["y:0"], passes="fold")
    assert error.value.node == "c"
