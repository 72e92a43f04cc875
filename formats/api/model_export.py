"""Models that `tfg convert` writes for other runtimes."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Self, TypeVar

import numpy as np

from ...core.comparing.verify_rewrite import GraphRuns, UndeclaredError, Verdict
from ...core.comparing.verify_rewrite import verify as verify_runs
from ...core.feeding.drawn_feeds import Feeds
from ...core.graph.graph import Graph, Output
from ...core.onnx.stateless import updates, without_updates
from ...core.passes.pipeline import inline_functions
from ...core.runtime.guards.stranger_limits import refuse_untrusted
from ...core.runtime.session.runner import Runner
from ...core.runtime.session.session import Session
from ...core.runtime.session.session_like import SessionLike
from ...core.runtime.state.run_context import Hook
from ...core.support.display import Displayed
from ...core.support.errors import UnimplementedError
from ...core.support.hints import Hint, step
from ...core.transforms.freezing import freeze
from ...core.transforms.subgraphs import cut_name
from ...core.types.arrays import Array
from ...core.types.shapes import Shape, as_shape, merge_shapes
from ...core.types.tensors import Tensor
from ..state import State
from .live_branches import with_live_branches
from .outputs import default_outputs
from .prepared_sessions import Opener, local_session, names_of, state_of
from .verification import Verification
from .written_copies import private_copy

DeclaredDims = Mapping[str, Sequence[int | str | None]]
"""The dimensions of a model's inputs by name: sizes, names, or None for any size."""

_TOLERANCE: Final = 1e-5
"""The largest difference of a result where roundings have little effect."""


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """The graph that a model was made of: values of variables, outputs by their names in the model, and tensors of the graph
    by the tensors that stand for them in the frozen graph, where the graph was cut.
    """

    graph: Graph
    values: Mapping[str, Tensor]
    outputs: Mapping[str, str]
    inputs: Mapping[str, str]


class ModelExport(Displayed):
    """A written model: `graph` is the frozen graph behind it, `inputs` and `outputs` are its tensors by their names in the
    model.
    """

    runtime: ClassVar[str]
    """The library that runs the model."""
    narrowed: tuple[str, ...] = ()
    """The nodes whose 64-bit arithmetic has 32 bits in the model."""

    def __init__(
        self,
        graph: Graph,
        path: str,
        inputs: Mapping[str, Output],
        outputs: Mapping[str, Output],
        states: Sequence[str],
        source: Source,
    ) -> None:
        self.graph = graph
        self.source = source
        self.path = path
        self.inputs = inputs
        self.outputs = outputs
        self.states = tuple(states)
        """The variables that change: `NAME_before` is an input, `NAME_after` an output."""
        self.write()

    def write(self) -> None:
        """Write the model to the path."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the contents of the file in words."""
        raise NotImplementedError

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        """Return the outputs of the model in order, computed by the runtime."""
        raise NotImplementedError

    def check_trust(self) -> None:
        """Raise InvalidArgumentError before a run of an untrusted graph's model: the runtime has no limits."""
        hint = Hint(step("verify_apart"), " limits the process")
        refuse_untrusted(self.graph, f"{self.runtime} does not run its model, which would run without limits", hint)

    def expected(self, value: Array) -> Array:
        """Return an output of the graph in the form of the model's outputs."""
        return value

    def declares(self, inputs: Mapping[str, Array], dims: DeclaredDims) -> bool:
        """Return whether the model, with the given `declared_dims`, declares to take inputs of these shapes."""
        bound: dict[str, int] = {}
        declared = [(dims[word], np.shape(value)) for word, value in inputs.items() if word in dims]
        return all(len(own) == len(sizes) and all(map(_fits, own, sizes, [bound] * len(own))) for own, sizes in declared)

    def declared_dims(self) -> DeclaredDims:
        """Return the dimensions of inputs as the written model declares them. The model is read from its file."""
        raise NotImplementedError

    def verify(self, *, tolerance: float | None = None, open_session: Opener | None = None) -> Verification:
        """Run the written model in its `runtime`, and the graph that it was made of here, on drawn feeds.

        The model is read from a copy in another folder. `tolerance` is relative to a tensor's largest magnitude; by default
        1e-5, and more where roundings on the way to a result have more effect. `open_session` opens a session of the graph,
        by default with the values that the model was made with.
        """
        self.check_trust()
        with private_copy(self.path) as path:
            model = copy.copy(self)
            model.path = path
            return Verification.of([self._verdict(model, tolerance, open_session)], 1)

    def _verdict(self, model: Self, tolerance: float | None, open_session: Opener | None) -> Verdict:
        source = self.source
        fetches = {word: name for word, name in source.outputs.items() if word in self.outputs}
        needed = [*(value.name for value in self.outputs.values()), *(value.name for value in self.inputs.values())]
        original = _Source(self, source.graph, fetches, lambda graph: local_session(graph, open_session, source.values))
        allowed = _TOLERANCE if tolerance is None else tolerance
        return verify_runs(original, _ModelRuns(model), Feeds(self.graph, {}, needed), allowed, grows=tolerance is None)


def _fits(dim: int | str | None, size: int, bound: dict[str, int]) -> bool:
    """Return whether a size fits a declared dimension, and bind a name to the size."""
    return dim is None or (bound.setdefault(dim, size) if isinstance(dim, str) else dim) == size


class _Source(GraphRuns):
    """Runs of the graph that a model was made of, with the model's inputs and results."""

    def __init__(
        self, model: ModelExport, graph: Graph, fetches: Mapping[str, str], open_session: Callable[[Graph], Session]
    ) -> None:
        super().__init__(graph, fetches, open_session, 1, model.source.inputs)
        self.model = model
        self.states = {model.inputs[f"{name}_before"].name: name for name in model.states}

    def __call__(self, feeds: Mapping[str, Any], hook: Hook | None = None) -> list[dict[str, Any]]:
        values = {self.states[name]: Tensor.from_numpy(np.asarray(feeds[name])) for name in self.states}
        opened = self.open_session

        def with_values(graph: Graph) -> Session:
            session = opened(graph)
            Runner(session).restore(values)
            return session

        run = GraphRuns(self.graph, self.fetches, with_values if values else opened, 1, self.inputs)
        run.watched, run.seen, run.hook = self.watched, self.seen, self.hook
        (results,) = run({name: value for name, value in feeds.items() if name not in self.states}, hook)
        after = {f"{name}_after": results.get(f"variable {name}") for name in self.model.states}
        results = {word: results[word] for word in self.fetches if word in results} | after
        return [{word: self.model.expected(value) for word, value in results.items() if value is not None}]


class _ModelRuns:
    """Runs of a written model in its runtime."""

    raises_as_the_graph = False

    def __init__(self, model: ModelExport) -> None:
        self.model = model
        self.dims = model.declared_dims()

    def __call__(self, feeds: Mapping[str, Any]) -> list[dict[str, Any]]:
        inputs = {word: np.asarray(feeds[value.name]) for word, value in self.model.inputs.items()}
        if not self.model.declares(inputs, self.dims):
            raise UndeclaredError(f"the model declares other sizes: {dict(self.dims)}")
        try:
            return [dict(zip(self.model.outputs, self.model.run(inputs)))]
        except UnimplementedError as error:
            if all(value.size for value in inputs.values()):
                raise
            raise UndeclaredError(f"{self.model.runtime} does not support an empty input: {error.message}") from error


Model = TypeVar("Model", bound=ModelExport)


def export_model(
    kind: Callable[..., Model],
    graph: Graph,
    path: str | os.PathLike[str],
    outputs: Mapping[str, str] | Sequence[str] | str = (),
    inputs: Sequence[str] | str = (),
    *,
    state: State | SessionLike | None = None,
    shapes: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
) -> Model:
    """Write a model of a kind, as `tfg.convert` does.

    By default the outputs and the names of inputs are those of the usual signature.
    """
    usual = graph.meta.usual_signature if graph.meta is not None else None
    words = dict(names) if names is not None else dict(usual.fed) if usual is not None else {}
    fetches = dict(outputs) if isinstance(outputs, Mapping) else {name: name for name in names_of(outputs)}
    fetches = fetches or (dict(usual.fetched) if usual is not None else {name: name for name in default_outputs(graph)})
    fetched = {word.removesuffix(":0"): graph.output(name).name for word, name in fetches.items()}
    values = state_of(graph, state)
    tensors = [graph.output(name).name for name in fetches.values()]
    plain, states = _stateless(with_live_branches(graph, tensors, names_of(inputs)), tensors)
    fetches |= {f"{name}_after": tensor for name, tensor in states.items()}
    frozen = freeze(plain, values, list(fetches.values()), names_of(inputs))
    for name, sizes in (shapes or {}).items():
        if name.partition(":")[0] in frozen and (node := frozen.output(name).node).is_placeholder:
            node.set_attr("shape", merge_shapes(as_shape(node.attr("shape")), Shape(sizes)))
    by_tensor = {tensor: word for word, tensor in words.items()}
    placeholders = [node.output() for node in frozen if node.is_placeholder]
    inputs_by_name = {by_tensor.get(value.name, value.node.name): value for value in placeholders}
    originals = {f"{cut_name(graph.output(name))}:0": name for name in names_of(inputs)}
    sourced = Source(graph, values, fetched, {name: graph.output(tensor).name for name, tensor in originals.items()})
    return kind(
        frozen, os.fspath(path),
        {word: inputs_by_name[word] for word in (*words, *inputs_by_name) if word in inputs_by_name},
        {word.removesuffix(":0"): frozen.output(name) for word, name in fetches.items()}, tuple(states), sourced,
    )  # fmt: skip


def _stateless(graph: Graph, outputs: Sequence[str]) -> tuple[Graph, dict[str, str]]:
    """Return the graph without updates of variables, those in functions that it calls put where they are called.

    Also the tensors of what the variables are after a run whose changed values the outputs take.
    """
    accesses = updates(graph, outputs)
    if any(access.through is not None for access in accesses):
        graph = inline_functions(graph)[0]
    return without_updates(graph, outputs) if accesses else (graph, {})
