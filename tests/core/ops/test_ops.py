"""Every op case against TensorFlow's recorded answer: values and dtypes, shape function, FLOPs decision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests import opcases
from tests.comparison import assert_same
from tests.core.ops.test_equivalent_ops import EQUIVALENT
from tests.recorded_answers import answers, expected_error
from tfg.core.building.builder import GraphBuilder
from tfg.core.inference import inference, node_calls
from tfg.core.registry import registry
from tfg.core.registry.catalog import CATALOG
from tfg.core.runtime.execute.tiers import Tier, forcing
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import TfgError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape, TensorSpec

Cases = Sequence[tuple[str, opcases.Case]]
"""All cases of an op, each with the family."""


def is_refused(family: str, case: opcases.Case) -> bool:
    """Return True if TensorFlow refuses the case in the first step."""
    return bool(answers(family).steps(case.key)[0]["error"])


def build(case: opcases.Case):
    builder = GraphBuilder()
    return builder.graph, case.build(builder)


@pytest.mark.ops(first=4)
def test_values(cases: Cases) -> None:
    opcases.for_each(cases, check_values)


@pytest.mark.slow
@pytest.mark.ops(after=4)
def test_values_of_further_cases(cases: Cases) -> None:
    opcases.for_each(cases, check_values)


def check_values(family: str, case: opcases.Case) -> None:
    recorded = answers(family).steps(case.key)
    try:
        graph, steps = build(case)
        session = Session(graph, seed=0, files=FileAccess.everything())
    except TfgError as error:
        assert expected_error(recorded[0]["error"]) == type(error).__name__
        return
    for fetches, step in zip(steps, recorded):
        check_step(session, fetches, case, step)


def check_step(session, fetches, case, step) -> None:
    """A run gives the recorded values, or ends with the recorded error."""
    if step["error"]:
        with pytest.raises(TfgError) as raised:
            session.run(list(fetches), case.feeds)
        assert type(raised.value).__name__ == expected_error(step["error"])
    else:
        for got, want in zip(session.run(list(fetches), case.feeds), step["results"], strict=True):
            assert_same(got, want, case.tolerance)


@pytest.mark.sampled(48)
@pytest.mark.ops(half=0)
def test_values_in_every_tier(cases: Cases) -> None:
    """The results are TensorFlow's in each tier, from the first run on. `test_values` runs interpreted; the others fuse
    steps.

    A group learns the possible layouts in the first run, so cases without state run twice.
    """
    opcases.for_each(cases, check_tiers)


def check_tiers(family: str, case: opcases.Case) -> None:
    if is_refused(family, case):
        return
    for tier in (Tier.FUSED, Tier.SPECIALIZED):
        graph, steps = build(case)
        with forcing(tier):
            session = Session(graph, seed=0, files=FileAccess.everything())
        runs = 1 if graph.functions or any(node.op_def is None or node.op_def.is_stateful for node in graph) else 2
        for fetches, step in zip(steps, answers(family).steps(case.key)):
            for _ in range(runs):
                check_step(session, fetches, case, step)


@pytest.mark.sampled(6)
@pytest.mark.ops(single=True)
def test_shapes(cases: Cases) -> None:
    """The shape function agrees with the recorded shapes, from full knowledge, from unknown dimensions and from no rank."""
    opcases.for_each(cases, check_shapes)


def check_shapes(family: str, case: opcases.Case) -> None:
    assert registry.shape_function(case.op) is not None, f"{case.op} has no shape function"
    if is_refused(family, case):
        return
    graph, steps = build(case)
    for known in (fed_specs(graph, case, full=True), fed_specs(graph, case, full=False), unknown_ranks(graph, case)):
        result = inference.infer(graph, known)
        assert "op" not in result.reasons, result.reasons["op"]
        for name, want in zip(steps[0], answers(family).steps(case.key)[0]["results"]):
            if want is not None:
                assert_compatible(result.shape(graph.output(name)), np.asarray(want).shape)


def fed_specs(graph, case, full):
    """Specs of the placeholders: with their values, or with every dimension unknown."""
    return {
        graph.output(name): TensorSpec(
            dtypes.from_numpy(value.dtype),
            Shape(value.shape) if full else Shape([None] * value.ndim),
            value if full and value.dtype != object else None,
        )
        for name, value in case.feeds.items()
    }


def unknown_ranks(graph, case):
    return {graph.output(name): TensorSpec(dtypes.from_numpy(value.dtype)) for name, value in case.feeds.items()}


def assert_compatible(shape: Shape, want: tuple[int, ...]) -> None:
    if shape.dims is None:
        return
    assert len(shape.dims) == len(want), f"inferred {shape}, TensorFlow gives {want}"
    for dim, size in zip(shape.dims, want):
        assert not isinstance(dim, int) or dim == size, f"inferred {shape}, TensorFlow gives {want}"


@pytest.mark.sampled(6)
@pytest.mark.ops(single=True)
def test_flops_are_decided(cases: Cases) -> None:
    """The op has a FLOPs function with numbers for known shapes, equal to the expected count of the case, if there is any.

    No count is negative, and empty results cost nothing; also for the shapes of TensorFlow's results, where inference does not
    know them.
    """
    opcases.for_each(cases, check_flops)


def check_flops(family: str, case: opcases.Case) -> None:
    function = registry.flops_function(case.op)
    assert function is not None, f"{case.op} has no FLOPs decision"
    if is_refused(family, case):
        return
    graph, _ = build(case)
    node = graph["op"]
    specs = inference.infer(graph, fed_specs(graph, case, full=True)).specs
    inputs, inferred = [specs[v] for v in node.inputs], [specs[o] for o in outputs(node)]
    cost = node_calls.call_flops_function(node, function, inputs, inferred)
    assert isinstance(cost, registry.Cost)
    assert case.flops in (None, cost)
    recorded = answers(family).steps(case.key)[0]["results"]
    shapes = [spec if r is None else TensorSpec(spec.dtype, Shape(np.shape(r))) for spec, r in zip(inferred, recorded)]
    check_bounds(node_calls.call_flops_function(node, function, inputs, shapes), shapes)


@pytest.mark.sampled(40)
@pytest.mark.ops(single=True)
def test_flops_of_empty_tensors(cases: Cases) -> None:
    opcases.for_each(cases, check_flops_of_empty)


def check_flops_of_empty(family: str, case: opcases.Case) -> None:
    """No count is below zero, whichever size of the inputs is zero, and results without elements cost nothing."""
    if is_refused(family, case):
        return
    graph, _ = build(case)
    node = graph["op"]
    fed = fed_specs(graph, case, full=True)
    specs = inference.infer(graph, fed).specs
    given = [specs[value] for value in node.inputs]
    for size in sorted({dim for spec in given for dim in spec.shape.dims or () if isinstance(dim, int) and dim > 0}):
        inputs = [emptied(spec, size) for spec in given]
        try:
            inferred = inference.infer(graph, {**fed, **dict(zip(node.inputs, inputs))}).specs
            results = [inferred[output] for output in outputs(node)]
            cost = node_calls.call_flops_function(node, registry.flops_function(case.op), inputs, results)
        except TfgError:  # the op does not take these sizes
            continue
        check_bounds(cost, results)


def emptied(spec: TensorSpec, size: int) -> TensorSpec:
    """Return a spec with zeros for dimensions of a size."""
    dims = spec.shape.dims or ()
    return TensorSpec(spec.dtype, Shape(0 if dim == size else dim for dim in dims)) if size in dims else spec


def check_bounds(cost: registry.Cost, results: Sequence[TensorSpec]) -> None:
    counts = (cost.flops, cost.macs, cost.transcendentals)
    assert all(not isinstance(count, int) or count >= 0 for count in counts)
    if results and all(spec.shape.num_elements == 0 for spec in results):
        assert counts == (0, 0, 0)


def outputs(node):
    return [node.output(i) for i in range(len(node.output_dtypes))]


def ops_of(case):
    """Return the ops of a case: all ops of a graph with more than a single op on placeholders."""
    return {case.op} if case.is_single_op else {case.op, *(node.op for node in build(case)[0])}


# TensorFlow ends its own process in Abort: tests/core/runtime/execute/test_executor.py says what a session does instead.
# It refuses PlaceholderV2 in graphs made since 2017.
# It has no CPU kernel for the ops of tests/core/ops/test_equivalent_ops.py.
# Its graphs can give no handle that the Delete ops take, and no input that AnonymousRandomSeedGenerator asks for:
# tests/core/datasets/test_lifetimes.py runs them.
UNDELETABLE = {"DeleteSeedGenerator", "DeleteRandomSeedGenerator", "DeleteMemoryCache", "DeleteIterator"}
# It takes no graph with ops between devices: tests/core/explaining/test_device_partition.py runs its own partitions.
BETWEEN_DEVICES = {"_Send", "_HostSend", "_Recv", "_HostRecv"}
# Its programs are JAX's, and only engines run them: tests/core/engines/test_xla_modules.py.
COMPILED = {"XlaCallModule"}
# Its build has no LMDB, reads states of iterators from checkpoints only, has other fingerprints, and calls shards by chance:
# tests/core/datasets.
SHARDS = {"SnapshotChunkDataset", "SnapshotDatasetReader", "SnapshotNestedDatasetReader"}
OF_DATASETS = {"LMDBDataset", "ExperimentalLMDBDataset", "DeserializeIterator", "DatasetFingerprint", *SHARDS}
# It has no kernels: tests/core/ops/test_boosted_trees.py.
OF_TREES = {op for op in CATALOG if "BoostedTrees" in op}
OTHERS = {"Abort", "PlaceholderV2", "AnonymousRandomSeedGenerator"}
UNRECORDED = {*OTHERS, *COMPILED, *BETWEEN_DEVICES, *OF_DATASETS, *OF_TREES, *UNDELETABLE, *EQUIVALENT}


def test_every_kernel_has_a_case_and_decisions() -> None:
    registry.load_all_families()
    recorded = {op for family in opcases.families() for case in opcases.load_cases(family) for op in ops_of(case)}
    for op in filter(registry.family, registry.registered_ops()):
        assert op in recorded | UNRECORDED, f"{op} has no case"
        assert registry.shape_function(op) is not None, f"{op} has no shape function"
        assert registry.gradient_function(op) is not None, f"{op} has no gradient decision"
        assert registry.flops_function(op) is not None, f"{op} has no FLOPs decision"
