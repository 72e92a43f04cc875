"""Inputs of ranks that TensorFlow refuses while building a graph."""

from __future__ import annotations

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.graph.graph import Graph
from tfg.core.inference.node_calls import call_flops_function, call_shape_function
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.input_ranks import check_input_ranks
from tfg.core.support.errors import InternalError, InvalidArgumentError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape, TensorSpec


def spec(*dims):
    return TensorSpec(dtypes.float32, Shape(dims))


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        ("MatMul", [spec(2, 3), spec(3)], r"b must be of rank 2, not of shape \(3\)"),
        ("MatrixInverse", [spec(4)], "input must be of rank 2 or higher"),
        ("FusedBatchNormV3", [spec(2, 3, 4), spec(3)], "x must be of a rank from 4 to 5"),
        ("ConcatV2", [[spec(2), spec(3), spec()], spec()], "values must be of rank 1 or higher"),
    ],
)
def test_another_rank(op, inputs, message):
    with pytest.raises(InvalidArgumentError, match=message):
        check_input_ranks(CATALOG[op], inputs)


def test_what_is_not_known_is_taken():
    check_input_ranks(CATALOG["MatMul"], [TensorSpec(dtypes.float32), spec(None, None)])
    check_input_ranks(CATALOG["Identity"], [spec(*[1] * 30)])


def test_a_rank_is_refused_whatever_function_trips_over_it():
    """The shape function of a dataset op accepts any rank, but the kernel needs a scalar."""
    g = GraphBuilder()
    numbers = g.RangeDataset(*map(np.int64, (0, 3, 1)), output_types=["int64"], output_shapes=[[]])
    rate = g.Placeholder(dtype="float", name="rate")
    kept = {"output_types": ["int64"], "output_shapes": [[]]}
    g.SamplingDataset(numbers, rate, np.int64(1), np.int64(2), **kept, name="sampled")
    with pytest.raises(InvalidArgumentError, match="rate must be of rank 0") as raised:
        Session(g.graph).run("sampled:0", {"rate:0": np.ones(1, np.float32)})
    assert raised.value.node == "sampled"


@pytest.mark.parametrize("call", [call_shape_function, lambda *args: call_flops_function(*args, outputs=[])])
def test_what_trips_over_a_rank_has_no_fault(call):
    """Functions of an op need not repeat the check of ranks, but must refuse inputs that they cannot process."""
    node = Graph().add_node("n", "MatrixInverse", attrs={"T": dtypes.float32, "adjoint": False})

    def trips(input):
        raise TypeError("no matrix")

    with pytest.raises(InvalidArgumentError, match="input must be of rank 2 or higher, not of shape"):
        call(node, trips, [spec(3)])
    with pytest.raises(InternalError, match="TypeError"):
        call(node, trips, [spec(3, 3)])
