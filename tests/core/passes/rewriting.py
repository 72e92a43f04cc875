"""Building a small graph, optimizing the graph, printing an expression and comparing values before and after."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.graph.graph import Graph, Node, Output
from tfg.core.passes.pass_listing import find_pass
from tfg.core.passes.pipeline import OptimizeReport, optimize
from tfg.core.registry.catalog import CATALOG
from tfg.core.runtime.session.session import Session
from tfg.core.types import dtypes

Build = Callable[[GraphBuilder], Any]


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """The results of a rewrite of a graph."""

    before: Graph
    after: Graph
    fetches: tuple[str, ...]
    report: OptimizeReport

    @property
    def text(self) -> str:
        """The fetches of the graph after as expressions."""
        return "; ".join(expression(self.after.output(name)) for name in self.fetches)

    @property
    def fired(self) -> set[str]:
        return {rule for record in self.report.passes for rule in record.fired}

    @property
    def reasons(self) -> str:
        return "; ".join(refusal.reason for record in self.report.passes for refusal in record.refused)

    def ops(self) -> list[str]:
        return sorted(node.op for node in self.after)


def placeholder(b: GraphBuilder, name: str, shape: Sequence[int] | None = (2, 3), dtype: Any = dtypes.float32) -> Output:
    node: Output = b.Placeholder(dtype=dtype, shape=shape, name=name)
    return node


def built(build: Build) -> tuple[Graph, tuple[str, ...]]:
    """Return the graph of `build`, and the names of the returned tensors."""
    b = GraphBuilder()
    made = build(b)
    outputs = made if isinstance(made, (tuple, list)) else (made,)
    return b.graph, tuple(output.name for output in outputs)


def rewritten(build: Build, passes: str | None = None, *, check: bool = True, **options: Any) -> Rewritten:
    """Build, optimize for the tensors that `build` returns with fast math, and check that the values stay."""
    graph, fetches = built(build)
    feeds = [node.name + ":0" for node in graph if node.op == "Placeholder"]
    after, report = optimize(graph, fetches, feeds, passes, **{"fast_math": True, **options})
    assert_portable_but_for_passes_that_say_so(graph, report)
    if check:
        assert_same(graph, after, fetches, feeds_for(graph))
        if any(node.op.startswith(("_", "Fused")) for node in after):
            assert_same_gradients(graph, after, fetches, feeds_for(graph))
    return Rewritten(graph, after, fetches, report)


def assert_portable_but_for_passes_that_say_so(before: Graph, report: OptimizeReport) -> None:
    """Check that only passes which say so make other ops than TensorFlow's public ones: `portable` leaves these out."""
    made = report.ops_after.keys() - report.ops_before.keys() - before.functions.keys() - {"_Arg"}
    if any(op not in CATALOG or op.startswith(("_", "FusedPad", "FusedResize")) for op in made):
        assert any(record.fired and not find_pass(record.name).is_portable for record in report.passes)


def feeds_for(graph: Graph) -> dict[str, Any]:
    """Positive random values for all placeholders; sizes that are unknown are 2."""
    rng = np.random.default_rng(1)
    feeds = {}
    for node in graph:
        if node.op == "Placeholder":
            dims = node.attrs["shape"].dims
            sizes = (2, 3) if dims is None else [d if isinstance(d, int) else 2 for d in dims]
            dtype = node.attrs["dtype"].numpy
            values = rng.uniform(0.5, 2, sizes) if dtype.kind in "fc" else rng.integers(0, 2, sizes)
            feeds[f"{node.name}:0"] = values.astype(dtype)
    return feeds


def assert_same(before: Graph, after: Graph, fetches: Sequence[str], feeds: dict[str, Any], steps: int = 1) -> None:
    """All fetches of both graphs agree up to rounding, in every step."""
    sessions = [Session(graph, seed=7) for graph in (before, after)]
    for _ in range(steps):
        results = [session.run(list(fetches), feeds) for session in sessions]
        for name, want, got in zip(fetches, *results):
            if want is not None:
                assert_close(name, np.asarray(want), np.asarray(got))


def assert_same_gradients(before: Graph, after: Graph, fetches: Sequence[str], feeds: dict[str, Any]) -> None:
    """Check the gradients of float fetches by fed floats: fused ops have the gradients of their parts."""
    ys = [name for name in fetches if before.output(name).base_dtype.is_floating]
    xs = [name for name, value in feeds.items() if value.dtype.kind == "f"]
    (plain, wanted), (fused, names) = (gradients(graph, ys, xs) for graph in (before, after))
    assert [name is None for name in names] == [name is None for name in wanted]
    for x, want, got in zip(xs, wanted, names):
        if want is not None:
            expected, result = (np.float64(Session(g).run(name, feeds)) for g, name in ((plain, want), (fused, got)))
            np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4, err_msg=x)


def assert_close(name: str, want: Any, got: Any) -> None:
    assert got.dtype == want.dtype and got.shape == want.shape, name
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=name)
    else:
        np.testing.assert_array_equal(got, want, err_msg=name)


def expression(value: Output) -> str:
    """`Mul(x, 2)`: constants by their value where they are scalars, placeholders by name; identities are not shown."""
    node = value.node
    if node.op == "Identity":
        return expression(node.inputs[0])
    if node.op == "Placeholder":
        return node.name
    if node.op == "Const":
        array = node.attrs["value"].numpy()
        return f"{array.item():g}" if array.size == 1 and array.dtype.kind in "fiu" else _listed(array)
    suffix = f":{value.index}" if value.index else ""
    return f"{node.op}({', '.join(map(expression, node.inputs))}){suffix}"


def _listed(array: Any) -> str:
    return str(array.tolist()).replace(" ", "") if array.size < 7 else f"c{list(array.shape)}".replace(" ", "")


def nodes(graph: Graph, op: str) -> list[Node]:
    return [node for node in graph if node.op == op]
