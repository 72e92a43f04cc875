"""A model to call in Python: inputs by name, outputs by name."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...core.explaining.default_fetches import no_obvious_output
from ...core.explaining.footprint import inferred
from ...core.explaining.graph_facts import implied_signature
from ...core.explaining.model_view import ModelView, model_view
from ...core.explaining.node_activations import Activations, activations
from ...core.flops.model_layers import LayersReport
from ...core.flops.views import layer_table, layer_totals
from ...core.graph.graph import Graph, GraphLike, Output, as_graph
from ...core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from ...core.planning.reachability import needed_nodes
from ...core.runtime.session.function_signatures import CALL, entry, entry_points
from ...core.runtime.session.named_components import composite_of
from ...core.runtime.session.readable_texts import serialized_examples
from ...core.runtime.session.session import Session
from ...core.runtime.session.session_like import SessionLike
from ...core.runtime.session.variable_values import VariableValues
from ...core.support.arguments import checked, names_of
from ...core.support.display import Displayed
from ...core.support.errors import InvalidArgumentError, NotFoundError
from ...core.support.hints import Hint, option
from ...core.support.not_copied import NotCopied
from ...core.support.words import aligned
from ...core.types.arrays import Array
from ...core.types.example_values import example_in_python
from ...core.types.shapes import UNKNOWN
from ..state import State
from .changes import fill_placeholders
from .counting import layers
from .prepared_sessions import Opener, prepare, session_on


class Model(Displayed, NotCopied):
    """A model to call: values by the names of its inputs give arrays by the names of its outputs.

    `source` is a path or a graph. A SavedModel is called by its `signature`, by default the usual signature; without any, by
    `__call__` or another function of its objects. Other graphs have no signature: the placeholders are the inputs, and the
    outputs that `tfg.explain` finds are the outputs. `outputs` names the outputs or tensors to return, by default all
    outputs. An input needs a value if the returned tensors depend on it and it has no default.

    A model has a single session, which opens at the first call: variables, tables and random numbers keep their state from
    call to call. A SavedModel restores its variables; other graphs run their initializers, and then take the values of
    `state`, such as `tfg.read_checkpoint(path)`. `engine` is that of `tfg.Session`; `open_session` opens a session with
    other settings. Many threads may call a model.

    >>> model = tfg.Model("sample_graphs/keras_classifier")
    >>> model
    <Model keras_classifier: measurements (?,4) -> output_0 (?,3)>
    >>> model(measurements=np.zeros((2, 4), np.float32))["output_0"].shape
    (2, 3)
    >>> str(model.signatures["serving_default"].inputs["measurements"].shape)
    '(?,4)'
    >>> len(model.variables), [layer.name for layer in model.layers.layers]
    (8, ['sequential/hidden', 'sequential/normalized', 'sequential/classes'])
    """

    instead = "pickle `model.graph` and `dict(model.variables)`, and make a model there"

    @checked
    def __init__(
        self,
        source: GraphLike,
        signature: str | None = None,
        *,
        outputs: Sequence[str] | str = (),
        engine: str | None = None,
        state: State | None = None,
        open_session: Opener | None = None,
    ) -> None:
        if engine is not None and open_session is not None:
            raise InvalidArgumentError("a session of `open_session` has its own engine", hint="leave `engine` out")
        self.graph, self.signature = _entry(as_graph(source), signature)
        """The graph, and the signature that is called."""
        self._fetches = _returned(self.graph, self.signature, names_of(outputs))
        self._engine, self._state, self._opener = engine, state, open_session
        self._session: SessionLike | None = None
        self._opening = threading.Lock()
        # A model in a loop is fed the same inputs each time, and the walk through its graph takes longer than a small run. The
        # cache is the object's own: one of the class would keep all models alive.
        self._missing = functools.lru_cache(self._missing_inputs)

    def __call__(self, inputs: Any = None, /, **named: Any) -> dict[str, Array]:
        """Return the outputs by name for the values of inputs by name.

        A mapping holds inputs whose names are no words of Python; another value is that of the only input. A list of mappings,
        features by name, becomes the tf.Examples that an input parses. NotFoundError for an unknown input,
        InvalidArgumentError for an input without a value.
        """
        values = self.session.run(list(self._fetches.values()), self._fed(inputs, named))
        return dict(zip(self._fetches, values, strict=True))

    def activations(self, inputs: Any = None, /, **named: Any) -> Activations:
        """Return the values of all tensors for the values of inputs by name: a mapping from names to arrays, and a table in
        a notebook.

        Names are those that the author gave, as `tfg.view` shows them; a layer stands for its output. Weights are left out.
        The values of a loop's body are of the last trip. Variables keep what a call changes, as in a call of the model. The
        errors of a call; UnimplementedError for a session on a cluster.

        >>> values = tfg.Model("sample_graphs/keras_classifier").activations(measurements=np.zeros((2, 4), np.float32))
        >>> values["hidden"].shape, list(values)[-1]
        ((2, 8), 'sequential/classes/Softmax')
        """
        return activations(self._view, self.session, list(self._fetches.values()), self._fed(inputs, named))[1]

    @functools.cached_property
    def _view(self) -> ModelView:
        return model_view(self.graph, self.signature.name if self.signature.name in self.graph.signatures else None)

    def _fed(self, inputs: Any, named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values to feed by tensor."""
        given = dict(inputs) if isinstance(inputs, Mapping) else {} if inputs is None else {self._only_input(): inputs}
        values = {**given, **named}
        pairs = [pair for name, value in values.items() for pair in self._pairs(name, value, values)]
        fed = dict(pairs)
        # One value may come by the name of an argument and one by its tensor; a silent choice would hide the mistake.
        if len(fed) < len(pairs) or len(values) < len(given) + len(named):
            raise InvalidArgumentError("an input has two values", hint=self._example())
        if missing := self._missing(frozenset(fed)):
            raise InvalidArgumentError(f"an input has no value: {', '.join(missing)}", hint=self._example())
        defaults = {self.signature.fed[name]: value.numpy() for name, value in self.signature.defaults.items()}
        return {**defaults, **fed}

    def __repr__(self) -> str:
        name = f"{self.graph.file}: " if self.graph.file else ""
        return f"<Model {name}{_described(self.inputs)} -> {_described(self.outputs)}>"

    @property
    def inputs(self) -> Mapping[str, SignatureTensor]:
        """The inputs by name, with dtype and shape."""
        return self.signature.inputs

    @functools.cached_property
    def outputs(self) -> Mapping[str, SignatureTensor]:
        """The returned tensors by name, with dtype and shape as far as it follows from the inputs' shapes."""
        declared = {name: self.signature.outputs.get(name, SignatureTensor("")) for name in self._fetches}
        # Most signatures declare all ranks, and the inference of a large graph takes a while.
        if all(tensor.shape.dims is not None for tensor in declared.values()):
            return declared
        inference = inferred(self.graph)
        values = {name: self.graph.output(tensor) for name, tensor in self._fetches.items()}
        shapes = {name: UNKNOWN if inference is None else inference.shape(value) for name, value in values.items()}
        return {name: SignatureTensor(value.name, value.base_dtype, shapes[name]) for name, value in values.items()}

    @property
    def signatures(self) -> Mapping[str, Signature]:
        """The signatures of the file by name, with the dtype and shape of each input and output; none for a GraphDef."""
        return self.graph.signatures

    @property
    def session(self) -> SessionLike:
        """The session of all calls, for other fetches."""
        # Two threads that call a new model at once must get one session: its variables are the model's.
        with self._opening:
            if self._session is None:
                self._session = session_on(self.graph, self._opener or self._opened)
            return self._session

    @property
    def variables(self) -> VariableValues:
        """The values of the variables by name, to read and to assign: `model.variables["w"] = array`."""
        return VariableValues(self.session)

    @functools.cached_property
    def layers(self) -> LayersReport:
        """The layers behind the outputs: the table of `tfg.layers`."""
        return layers(self.graph, tuple(self._fetches.values()))

    def batch(self, rows: int | None) -> Model:
        """Return the model for another number of rows of its inputs, or with None for any number; its session begins anew.

        InvalidArgumentError names the nodes that fix another number, as of `tfg.fill_placeholders`.
        """
        fetches = tuple(self._fetches.values())
        graph = fill_placeholders(self.graph, batch="?" if rows is None else rows, outputs=fetches)
        graph.file = self.graph.file
        signature = self.signature.name if self.signature.name in graph.signatures else None
        return Model(
            graph, signature, outputs=tuple(self._fetches),
            engine=self._engine, state=self._state, open_session=self._opener,
        )  # fmt: skip

    def summary(self) -> None:
        """Print the layers with output shapes, parameters and FLOPs, and totals below."""
        columns, rows = layer_table(self.layers.layers)
        print("\n".join([*aligned([columns, *rows]), "", *layer_totals(self.layers, len(self.layers.layers))]))

    def _opened(self, graph: Graph) -> Session:
        session = Session(graph, engine=self._engine)
        prepare(session, self._state)
        return session

    def _pairs(self, name: str, value: Any, given: Iterable[str]) -> list[tuple[str, Any]]:
        """Return an input's tensors with values: the components of a composite, unless one is `given` by its own name."""
        composite = composite_of(self.graph, self.signature, name)
        tensors = (self.signature.fed.get(word, word) for word in given)
        if composite is None or composite.is_fed_in_parts(tensors) or not composite.takes(value):
            return [self._pair(name, value)]
        return list(composite.arrays(value).items())

    def _pair(self, name: str, value: Any) -> tuple[str, Any]:
        """Return the tensor of an input, and its value, or serialized Examples for rows of features by name."""
        tensor = self._tensor(name)
        # Only rows of features are mappings: a tf.Example itself is fed as a serialized string.
        are_rows = isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)
        if not are_rows:
            return tensor, value
        return tensor, serialized_examples(self.graph, self.graph.output(tensor), value, are_for_any=True)

    def _tensor(self, name: str) -> str:
        """Return the tensor of an input by the name of the input or of the tensor."""
        if name in self.signature.fed:
            return self.signature.fed[name]
        if name in self.signature.fed.values():
            return name
        raise NotFoundError(f"the model has no input '{name}'", hint=self._example())

    def _only_input(self) -> str:
        # An input with a default may be left out, so the value is for the only input without one.
        names = self._missing(frozenset()) or tuple(self.signature.fed)
        if len(names) != 1:
            raise InvalidArgumentError(f"the model takes inputs by name: {', '.join(names) or 'none'}", hint=self._example())
        return names[0]

    def _missing_inputs(self, fed: frozenset[str]) -> tuple[str, ...]:
        """Return the inputs that the outputs need, that have no default and no value in `fed`."""
        fetched = [self.graph.output(name) for name in self._fetches.values()]
        # A fed tensor cuts the graph: an input that only this tensor needs may go without a value.
        needed = needed_nodes(fetched, [self.graph.output(name) for name in fed])
        unfed = self.signature.fed.keys() - self.signature.defaults.keys()
        nodes = {name: self.graph.node_of(tensor) for name, tensor in self.signature.fed.items() if tensor not in fed}
        return tuple(name for name, node in nodes.items() if name in unfed and node.must_be_fed and node in needed)

    def _example(self) -> str:
        """Return a call with values that fit."""
        known = {name: self.inputs.get(name, SignatureTensor("")) for name in self._missing(frozenset())}
        values = {name: example_in_python(tensor.dtype, tensor.shape) for name, tensor in known.items()}
        if all(name.isidentifier() for name in values):
            return f"model({', '.join(f'{name}={value}' for name, value in values.items())})"
        return f"model({{{', '.join(f'{name!r}: {value}' for name, value in values.items())}}})"


def _entry(graph: Graph, name: str | None) -> tuple[Graph, Signature]:
    """Return a graph and the signature to call; for a function of the model's objects, a copy in which a node calls it."""
    meta = graph.meta or MetaGraph()
    names = entry_points(graph) if name is None else [name]
    if name is None and meta.signatures and meta.usual_signature is None:
        problem = f"the model has several signatures: {', '.join(graph.signatures)}"
        raise InvalidArgumentError(problem, hint=Hint("choose a signature with ", option("signature")))
    if not names and not meta.callables:
        return graph, implied_signature(graph)
    return entry(graph, names[0] if len(names) == 1 else CALL)


def _returned(graph: Graph, signature: Signature, words: Sequence[str]) -> dict[str, str]:
    """Return the names of the tensors of words: outputs, nodes or tensors; without words, those of all outputs."""
    returned = {}
    for word in words or signature.fetched:
        value = graph.result(signature.fetched.get(word, word))
        if not isinstance(value, Output):
            raise InvalidArgumentError(
                f"'{word}' is an operation without a value", hint=Hint("name a tensor with ", option("to"))
            )
        returned[word] = value.name
    if not returned:
        raise no_obvious_output(graph, Hint("name an output with ", option("to")))
    return returned


def _described(tensors: Mapping[str, SignatureTensor]) -> str:
    """Return `x (?,4), y ()`."""
    return ", ".join(f"{name} {tensor.shape}" for name, tensor in tensors.items()) or "nothing"
