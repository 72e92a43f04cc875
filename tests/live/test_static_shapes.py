"""tfg infers the shapes that TensorFlow knows before a run, op by op, as more and more of the inputs is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests import opcases
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.graph import Graph
from tfg.core.inference.inference import infer
from tfg.core.types.shapes import UNKNOWN, Shape
from tfg.formats.saving import to_bytes

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live

TRIED = 2
"""How many cases of each op are tried: each is imported in up to ten forms."""
BEYOND = {
    # The declared shape is no fact: the kernel adds tensors of any shape.
    "AccumulateNV2",
    # A picture of another format has rank 3.
    "DecodeWebP",
    # An unknown `k` counts as the main diagonal, and an unknown number of diagonals as -1.
    "MatrixDiagV2", "MatrixDiagV3", "MatrixSetDiagV2", "MatrixSetDiagV3",
    # Weights that are left out have the rank 1.
    "DenseCountSparseOutput",
    # Inputs without rows have no batch of known shape.
    "Batch",
    # Values may be rows of any shape.
    "RaggedFillEmptyRows",
    # What only the last of many inputs tells is not worth a rule.
    "GRUBlockCellGrad", "RaggedCross",
}  # fmt: skip
"""Ops of which TensorFlow states more than holds in each run, or more than tfg wants to know."""
FALSE = {
    "Conv3D", "_FusedConv3D", "DebugNanCount", "ExtractVolumePatches", "FractionalAvgPool", "FractionalMaxPool",
    "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", "SleepIdentityOp",
}  # fmt: skip
"""Ops of which TensorFlow's own results have other shapes."""


@pytest.mark.sampled(4)
@pytest.mark.ops(single=True)
def test_shapes_are_as_definite_as_in_tensorflow(cases: Sequence[tuple[str, opcases.Case]]) -> None:
    if cases[0][1].op not in BEYOND | FALSE:
        opcases.for_each(cases[:: -(-len(cases) // TRIED)], check)


def check(family: str, case: opcases.Case) -> None:
    if answers(family).steps(case.key)[0]["error"]:
        return  # tfg says before the run what TensorFlow says in it
    for shapes in forms(case):
        builder = GraphBuilder()
        (fetches,) = case.build(builder)
        for name, shape in shapes.items():
            builder.graph.output(name).node.set_attr("shape", shape)
        known = of_tensorflow(builder.graph, fetches)
        inferred = infer(builder.graph) if known else None
        for name, dims in known.items():
            assert inferred is not None
            result = inferred.shape(builder.graph.output(name)).dims
            assert result is not None, f"{shapes}: {name} has the shape {dims}"
            assert len(result) == len(dims)
            for got, want in zip(result, dims):
                assert want is None or got == want, f"{shapes}: {name} has the shape {dims}, and tfg infers {Shape(result)}"


def forms(case: opcases.Case) -> Iterator[dict[str, Shape]]:
    """All dimensions of the inputs known, none, or no rank; all but the first or the last; all but one input, or one alone."""
    full = {name: value.shape for name, value in case.feeds.items()}
    yield {name: Shape(shape) for name, shape in full.items()}
    yield {name: Shape([None] * len(shape)) for name, shape in full.items()}
    yield dict.fromkeys(full, UNKNOWN)
    yield {name: Shape([None, *shape[1:]] if shape else []) for name, shape in full.items()}
    yield {name: Shape([*shape[:-1], None] if shape else []) for name, shape in full.items()}
    for name in list(full)[:4] if len(full) > 1 else ():
        yield {other: UNKNOWN if other == name else Shape(shape) for other, shape in full.items()}
        yield {other: Shape(shape) if other == name else UNKNOWN for other, shape in full.items()}


def of_tensorflow(graph: Graph, fetches: Sequence[str]) -> dict[str, list[int | None]]:
    """The shapes of known rank; none where TensorFlow does not import the graph."""
    with tf.Graph().as_default() as imported:
        try:
            tf.graph_util.import_graph_def(tf.compat.v1.GraphDef.FromString(to_bytes(graph)), name="")
        except (ValueError, TypeError):
            return {}
        shapes = {name: imported.get_tensor_by_name(name).shape for name in fetches if ":" in name}
    return {name: shape.as_list() for name, shape in shapes.items() if shape.rank is not None}
