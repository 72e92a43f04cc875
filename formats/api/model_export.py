"""Models that `tfg convert` writes for other runtimes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from ...core.comparing.drawn_feeds import Feeds
from ...core.comparing.element_differences import Comparison, compare, worse
from ...core.functions.table_fills import table_fills
from ...core.graph.graph import Graph, Output
from ...core.onnx.stateless import updates, without_updates
from ...core.passes.pipeline import inline_functions
from ...core.runtime.session.session import Session
from ...core.runtime.session.session_like import SessionLike
from ...core.support.display import Displayed
from ...core.transforms.freezing import freeze
from ...core.types.arrays import Array
from ...core.types.shapes import Shape, as_shape, merge_shapes
from ..state import State
from .outputs import default_outputs
from .prepared_sessions import Opener, names_of, state_of


class ModelExport(Displayed):
    """A written model: `graph` is the frozen graph behind it, `inputs` and `outputs` are its tensors by their names in the
    model.
    """

    runtime: ClassVar[str]
    """The library that runs the model."""

    def __init__(
        self,
        graph: Graph,
        path: str,
        inputs: Mapping[str, Output],
        outputs: Mapping[str, Output],
        states: Sequence[str],
    ) -> None:
        self.graph = graph
        self.path = path
        self.inputs = inputs
        self.outputs = outputs
        self.states = tuple(states)
        """The variables that change: `NAME_before` is an input, `NAME_after` an output."""
        self.write()

    def write(self) -> None:
        """Write the model to the path."""
        raise NotImplementedError

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        """Return the outputs of the model in order, computed by the runtime."""
        raise NotImplementedError

    def expected(self, value: Array) -> Array:
        """Return an output of the graph in the form of the model's outputs."""
        return value

    def verify(self, *, tolerance: float = 1e-5, open_session: Opener = Session) -> tuple[Comparison, ...]:
        """Run the model in its `runtime` and the graph here on drawn feeds; return the worst comparison of each output.

        `tolerance` is relative to a tensor's largest magnitude. `open_session` opens a session of the frozen graph.
        """
        fetches = [value.name for value in self.outputs.values()]
        worst: dict[str, Comparison] = {}
        drawn = Feeds(self.graph, {}, [*fetches, *(value.name for value in self.inputs.values())])
        for feeds, expected in drawn.each_that_runs(lambda feeds: self._initialized(open_session).run(fetches, feeds)):
            values = self.run({word: feeds[value.name] for word, value in self.inputs.items()})
            for word, a, b in zip(self.outputs, expected, values):
                comparison = compare(word, 1, self.expected(a), b, tolerance)
                worst[word] = worse(worst.get(word), comparison)
        return tuple(worst[word] for word in self.outputs)

    def _initialized(self, open_session: Opener) -> SessionLike:
        """Return a session of the graph with the contents of tables."""
        session = open_session(self.graph)
        for node in table_fills(self.graph):
            session.run(node.name)
        return session


Model = TypeVar("Model", bound=ModelExport)


def export_model(
    kind: type[Model],
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
    values = state_of(graph, state)
    plain, states = _stateless(graph, [graph.output(name).name for name in fetches.values()])
    fetches |= {f"{name}_after": tensor for name, tensor in states.items()}
    frozen = freeze(plain, values, list(fetches.values()), names_of(inputs))
    for name, sizes in (shapes or {}).items():
        if name.partition(":")[0] in frozen and (node := frozen.output(name).node).is_placeholder:
            node.set_attr("shape", merge_shapes(as_shape(node.attr("shape")), Shape(sizes)))
    by_tensor = {tensor: word for word, tensor in words.items()}
    placeholders = [node.output() for node in frozen if node.is_placeholder]
    inputs_by_name = {by_tensor.get(value.name, value.node.name): value for value in placeholders}
    return kind(
        frozen, os.fspath(path),
        {word: inputs_by_name[word] for word in (*words, *inputs_by_name) if word in inputs_by_name},
        {word.removesuffix(":0"): frozen.output(name) for word, name in fetches.items()}, tuple(states),
    )  # fmt: skip


def _stateless(graph: Graph, outputs: Sequence[str]) -> tuple[Graph, dict[str, str]]:
    """Return the graph without updates of variables, those in functions that it calls put where they are called.

    Also the tensors of what the variables are after a run whose changed values the outputs take.
    """
    accesses = updates(graph, outputs)
    if any(access.through is not None for access in accesses):
        graph = inline_functions(graph)[0]
    return without_updates(graph, outputs) if accesses else (graph, {})
