"""Inference from dimensions that are forgotten at random, held against a run: whatever is said must hold."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfg.core.graph.frames import ENTER, find_frames
from tfg.core.graph.graph import Graph, Output
from tfg.core.inference.inference import Answers, infer
from tfg.core.runtime.session.session import Session
from tfg.core.types.dims import Dim, DimLike, substitute
from tfg.core.types.dtypes import DType, from_numpy
from tfg.core.types.shapes import Shape, TensorSpec


def forget(values: Mapping[Output, Any], draws: random.Random) -> dict[Output, TensorSpec]:
    """Return specs of arrays that lack some dimensions, some ranks and some values; equal sizes may share a symbol."""
    symbols = {size: Dim.unknown() for value in values.values() for size in np.shape(value)}
    specs = {}
    for output, value in values.items():
        kept = [draws.choice((size, size, None, symbols[size])) for size in value.shape]
        shape = Shape() if draws.random() < 0.1 else Shape(kept)
        known = value.dtype != object and shape.is_known and draws.random() < 0.8
        specs[output] = TensorSpec(from_numpy(value.dtype), shape, value if known else None)
    return specs


def constants(graph: Graph) -> dict[Output, Any]:
    """The values of the constants of a graph."""
    return {node.output(): node.attr("value").numpy() for node in graph if node.op == "Const"}


def claimed(graph: Graph, feeds: Mapping[str, Any]) -> dict[Output, TensorSpec]:
    """Return specs of constants and fed arrays with 2 ** 60 elements each, of unknown values."""
    values = constants(graph) | {graph.output(name): value for name, value in feeds.items()}
    return {
        output: TensorSpec(from_numpy(value.dtype), Shape([2 ** (60 // value.ndim)] * value.ndim))
        for output, value in values.items()
        if value.ndim
    }


class Facts:
    """What inference says of a graph from some specs, held against the values of runs, inside of functions and loops, too."""

    def __init__(self, graph: Graph, specs: Mapping[Output, TensorSpec]) -> None:
        answers = Answers()
        self.faults: list[str] = []
        self._given = specs
        self._specs = dict(infer(graph, specs, answers=answers).specs)
        self._once = _nodes_that_run_once(graph)
        self._sizes: dict[str, int] = {}
        for function in graph.functions.values():
            if not function.signature.attrs:
                known = dict(zip((arg.output() for arg in function.args), answers.arguments.get(function, ())))
                self._specs |= infer(function.body, known, graph.functions).specs

    def begin(self, fed: Mapping[Output, Any]) -> None:
        """Begin another run: a symbol stands for one number all through a run."""
        self._sizes = {}
        for output in self._given:
            self.hold(output, fed[output])

    def hold(self, output: Output, result: Any) -> None:
        """Note a dtype, dimension or value that is another than the inferred one."""
        spec = self._specs.get(output)
        if spec is None or not isinstance(result, (np.ndarray, np.generic)) or spec.handle:
            return
        problem = self._misfit(spec, np.asarray(result), output.node in self._once)
        if problem:
            self.faults.append(
                f"{output.name} ({output.node.op}): inferred {spec.dtype} {spec.shape} {spec.value}, the run gives "
                f"{result.dtype} {result.shape} {result if spec.value is not None else ''}: {problem}"
            )

    def _misfit(self, spec: TensorSpec, result: Any, once: bool) -> str:
        if not _fits(spec.dtype, result):
            return "dtype"
        pairs: list[tuple[Any, Any]] = []
        if spec.shape.dims is not None:
            if len(spec.shape.dims) != result.ndim:
                return "rank"
            pairs += zip(spec.shape.dims, result.shape)
        if spec.value is not None:
            if spec.value.shape != result.shape:
                return "shape of the value"
            pairs += zip(spec.value.ravel().tolist(), result.ravel().tolist())
        wrong = [f"{said} is {number}" for said, number in pairs if not self._is(said, number, once)]
        return ", ".join(wrong)

    def _is(self, said: DimLike, number: Any, once: bool) -> bool:
        """A number is the inferred one; the number of a symbol that stands alone is kept for the symbol's other places."""
        if isinstance(said, Dim):
            if once and said.is_unknown:
                self._sizes.setdefault(said.unnamed[0], number)
            if not said.symbols <= self._sizes.keys():
                return True
            said = substitute(said, self._sizes)
        return bool(said == number or (said != said and number != number))


def forgotten(graph: Graph, feeds: Mapping[str, Any], draws: random.Random, count: int = 4) -> list[Facts]:
    """What several inferences say that do not know all of the feeds and of the constants; most constants stay known."""
    fed = {graph.output(name): np.asarray(value) for name, value in feeds.items()}
    facts = []
    for _ in range(count):
        unsure = {output: value for output, value in constants(graph).items() if draws.random() < 0.3}
        facts.append(Facts(graph, forget(fed | unsure, draws)))
    return facts


def _fits(dtype: DType, result: Any) -> bool:
    return result.dtype in (dtype.base.numpy, object)


def _nodes_that_run_once(graph: Graph) -> set[Any]:
    """The nodes outside of loops: a size of its own may differ from iteration to iteration."""
    frames = find_frames(graph) if any(node.op in ENTER for node in graph) else {}
    return {node for node in graph if node not in frames}


def hold(facts: Sequence[Facts], session: Session, fetches: Sequence[str], feeds: Mapping[str, Any]) -> list[Any]:
    """Run the graph and hold facts against every value that a node produces; return the fetched values."""

    def hook(node: Any, call: Any, inputs: Any) -> Any:
        results = call(*inputs)
        for index, result in enumerate(results if isinstance(results, tuple) else [results]):
            for said in facts:
                said.hold(Output(node, index), result)
        return results

    fed = constants(session.graph) | {session.graph.output(name): value for name, value in feeds.items()}
    for said in facts:
        said.begin(fed)
    values = session.run(list(fetches), feeds, hook=hook)
    faults = [fault for said in facts for fault in said.faults]
    assert not faults, "\n".join(faults[:5])
    return values
