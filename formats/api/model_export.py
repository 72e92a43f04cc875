"""Models for other runtimes: `tfg convert` to ONNX, StableHLO and TensorFlow.js, and `tfg.to_jax`."""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, TypeVar

import numpy as np

from ...core.comparing.verify_rewrite import GraphRuns, UndeclaredError, Verdict
from ...core.comparing.verify_rewrite import verify as verify_runs
from ...core.engines.engine_registry import jax_functions
from ...core.explaining.default_fetches import default_outputs
from ...core.explaining.model_view import layers_of_nodes, model_view
from ...core.graph.graph import Graph, GraphLike, Node, Output, as_graph
from ...core.graph.metagraph import Signature, called_signature
from ...core.graph.table_fills import table_fills
from ...core.graph.variable_nodes import VARIABLES, is_frozen_weight
from ...core.onnx.exporting import LayerNames, export
from ...core.onnx.opsets import OPSET, check_opset
from ...core.onnx.stateless import updates, without_updates
from ...core.passes.pipeline import inline_functions, optimize
from ...core.planning.reachability import needed_nodes
from ...core.runtime.execute.limits import refuse_untrusted
from ...core.runtime.session.drawn_feeds import Feeds
from ...core.runtime.session.fetches import arranged, fetched_names
from ...core.runtime.session.function_signatures import as_called
from ...core.runtime.session.runner import Runner
from ...core.runtime.session.session import Session
from ...core.runtime.session.session_like import SessionLike
from ...core.runtime.state.run_context import Hook
from ...core.support import dataclasses
from ...core.support.arguments import checked, names_of
from ...core.support.display import Displayed
from ...core.support.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from ...core.support.hints import Hint, step
from ...core.support.words import counted
from ...core.transforms.freezing import freeze
from ...core.transforms.returned_elements import fit_results
from ...core.transforms.subgraphs import cut_name, state_default_attrs
from ...core.types.arrays import Array
from ...core.types.shapes import Shape, as_shape, merge_shapes
from ...core.types.tensors import Tensor
from ..codecs.source import read_source, write_file
from ..loading import load
from ..onnx_model import as_pairs, onnx_input_dims, require, run_onnx, save_onnx
from ..state import State, as_tensors
from ..tfjs import QUANTIZED, unknown_ops, write_tfjs
from .live_branches import with_live_branches
from .prepared_sessions import Opener, local_session, opened, state_of
from .verification import Verification, private_copy

DeclaredDims = Mapping[str, Sequence[int | str | None]]
"""The dimensions of a model's inputs by name: sizes, names, or None for any size."""

_TOLERANCE: Final = 1e-5
"""The largest difference of a result if roundings have little effect."""


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """The graph that a model was made of: values of variables, outputs by their names in the model, and tensors of the graph
    by the tensors that stand for them in the frozen graph, if the graph was cut.
    """

    graph: Graph
    values: Mapping[str, Tensor]
    outputs: Mapping[str, str]
    inputs: Mapping[str, str]


class ModelExport(Displayed):
    """A written model: `graph` is the frozen graph behind it, `inputs` and `outputs` its tensors by the model's names."""

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
        self.graph, self.source, self.path, self.inputs, self.outputs = graph, source, path, inputs, outputs
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
        # One for all inputs: a name that stands in several shapes is one size.
        bound: dict[str, int] = {}
        declared = [(dims[word], np.shape(value)) for word, value in inputs.items() if word in dims]
        return all(len(own) == len(sizes) and all(map(_fits, own, sizes, [bound] * len(own))) for own, sizes in declared)

    def declared_dims(self) -> DeclaredDims:
        """Return the dimensions of inputs as the written model declares them. The model is read from its file."""
        raise NotImplementedError

    def verify(self, *, tolerance: float | None = None, open_session: Opener | None = None) -> Verification:
        """Run the written model in its `runtime`, and the graph that it was made of here, on drawn feeds.

        The model is read from a copy in another folder. `tolerance` is relative to a tensor's largest magnitude; by default
        1e-5, and more if roundings on the way to a result have more effect. `open_session` opens a session of the graph,
        by default with the values that the model was made with.
        """
        self.check_trust()
        # The copy is in a folder of its own, as on another machine: a file beside the original cannot stand in for one that
        # the model lacks.
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

        # Runs of their own: a session gets its states when it is opened, and each call brings other values for them.
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
        # A refusal of sizes that the file does not declare is no difference between the graph and its model.
        if not self.model.declares(inputs, self.dims):
            raise UndeclaredError(f"the model declares other sizes: {dict(self.dims)}")
        try:
            return [dict(zip(self.model.outputs, self.model.run(inputs)))]
        except UnimplementedError as error:
            # A runtime may lack kernels for empty inputs only; for others the refusal is an error of the export.
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
    # The branches come first: a variable that changes on a branch that never runs is no state of the model.
    plain, states = _stateless(with_live_branches(graph, tensors, names_of(inputs)), tensors)
    fetches |= {f"{name}_after": tensor for name, tensor in states.items()}
    frozen = freeze(plain, values, list(fetches.values()), names_of(inputs))
    for name, sizes in (shapes or {}).items():
        # `shapes` may name an input that the outputs do not need, and that the frozen graph therefore lacks.
        if name.partition(":")[0] in frozen and (node := frozen.output(name).node).is_placeholder:
            node.set_attr("shape", merge_shapes(as_shape(node.attr("shape")), Shape(sizes)))
    by_tensor = {tensor: word for word, tensor in words.items()}
    placeholders = [node.output() for node in frozen if node.is_placeholder]
    inputs_by_name = {by_tensor.get(value.name, value.node.name): value for value in placeholders}
    # The placeholders of cuts have these names in the frozen graph.
    originals = {f"{cut_name(graph.output(name))}:0": name for name in names_of(inputs)}
    sourced = Source(graph, values, fetched, {name: graph.output(tensor).name for name, tensor in originals.items()})
    return kind(
        frozen, os.fspath(path),
        # The order of the signature comes first: runtimes take inputs by position, too.
        {word: inputs_by_name[word] for word in (*words, *inputs_by_name) if word in inputs_by_name},
        {word.removesuffix(":0"): frozen.output(name) for word, name in fetches.items()}, tuple(states), sourced,
    )  # fmt: skip


def _stateless(graph: Graph, outputs: Sequence[str]) -> tuple[Graph, dict[str, str]]:
    """Return the graph without updates of variables, those in functions that it calls put where they are called.

    Also the tensors of what the variables are after a run whose changed values the outputs take.
    """
    accesses = updates(graph, outputs)
    # An update is taken out of the graph around it, so one in a function first comes where the function is called.
    if any(access.through is not None for access in accesses):
        graph = inline_functions(graph)[0]
    return without_updates(graph, outputs) if accesses else (graph, {})


def _layer_names(graph: Graph) -> LayerNames:
    """Return the function from the path of a node to the names that the author gave to the node and its layer."""
    view = model_view(graph)
    layers = layers_of_nodes(view)
    names = {origin.path: (name, layers.get(name, name)) for name, origin in view.origins.items()}

    def named(path: str) -> tuple[str, str]:
        """The path begins with all functions that are called; a node is known by the last."""
        parts = path.split("/")
        tails = ("/".join(parts[first:]) for first in range(len(parts)))
        return next((names[tail] for tail in tails if tail in names), (path, path))

    return named


class OnnxExport(ModelExport):
    """A written ONNX model."""

    runtime: ClassVar[str] = "onnxruntime"

    def __init__(self, *args: Any, opset: int = OPSET) -> None:
        self.opset = opset
        super().__init__(*args)

    def write(self) -> None:
        """Write the model, and count the parts."""
        # Before the export, which takes long for a large model.
        check_opset(require("onnx"), self.opset)
        model = export(self.graph, self.inputs, self.outputs, functools.partial(_layer_names, self.graph))
        self.weights = save_onnx(model, self.path, self.opset)
        """The bytes of the weights."""
        self.operations = sum(1 for _ in model.block.everything())
        self.narrowed = tuple(model.narrowed)
        """The nodes whose 64-bit arithmetic has 32 bits in the model, as onnxruntime has no 64-bit kernels for them."""

    def __repr__(self) -> str:
        return f"<OnnxExport {os.path.basename(self.path)}: {counted(self.operations, 'operation')} of opset {self.opset}>"

    def summary(self) -> str:
        """Return the contents of the file in words."""
        operations = counted(self.operations, "operation")
        return f"{operations} of opset {self.opset} and {self.weights:,} bytes of weights to {self.path}"

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        """Return the outputs that onnxruntime computes."""
        self.check_trust()
        return run_onnx(self.path, inputs)

    def declared_dims(self) -> DeclaredDims:
        """Return the dimensions of the inputs in the file."""
        return onnx_input_dims(self.path)

    def expected(self, value: Array) -> Array:
        """Return a value with complex numbers as pairs."""
        return as_pairs(value)


Parameters: TypeAlias = dict[str, Array]


@checked
def to_jax(
    graph: GraphLike,
    fetches: Any = None,
    feeds: Sequence[str] | str | Mapping[str, str] | None = None,
    *,
    state: State | Session | None = None,
    constants: Literal["fixed", "parameters"] = "fixed",
    updates: bool = False,
) -> tuple[Callable[..., Any], Parameters]:
    """Return a pure function of JAX, and the parameters for its first argument.

    The function takes the parameters, then an array for each tensor in `feeds`, in order or by name, and returns the values
    of `fetches` in their structure. By default both are those of the signature of a SavedModel, or the placeholders, and the
    outputs that `explain` finds. `feeds` may map names of arguments to tensors.

    The parameters are the values of the variables that `fetches` need, by name, as NumPy arrays: the values in `state`, in a
    session, in a SavedModel, or of the initializers. With `constants="parameters"`, constants of floats with a dimension or
    more are parameters too, for frozen graphs. With `updates` the function returns (outputs, new parameters).

    NotFoundError without JAX; UnimplementedError names the nodes that JAX cannot run.
    """
    graph = as_graph(graph) if fetches is not None or feeds is not None else as_called(as_graph(graph))
    if constants not in ("fixed", "parameters"):
        raise InvalidArgumentError(f"constants must be 'fixed' or 'parameters', not '{constants}'")
    refuse_untrusted(graph, "a function of JAX would run without limits")
    module = jax_functions()
    inlined = inline_functions(graph)[0] if graph.functions else graph
    signature = None if fetches is not None or feeds is not None else called_signature(graph.meta)
    structure = fetches if fetches is not None or signature is None else signature.fetched
    structure = list(default_outputs(graph)) if structure is None else structure
    outputs = [inlined.result(name) for name in fetched_names(structure, graph)]
    inputs = {name: inlined.output(tensor) for name, tensor in _fed(inlined, outputs, feeds, signature).items()}
    lifted = [node for node in inlined if constants == "parameters" and is_frozen_weight(node)]

    def arrange(values: Iterator[Any]) -> Any:
        return arranged(structure, values)

    function = module.JaxFunction(inlined, inputs, outputs, arrange, lifted, updates)
    return function, _parameters(graph, function.parameters, state)


def _fed(
    graph: Graph,
    outputs: Iterable[Output | Node],
    feeds: Sequence[str] | str | Mapping[str, str] | None,
    signature: Signature | None,
) -> dict[str, str]:
    """Return the tensors that are fed, by the names of the arguments."""
    if isinstance(feeds, Mapping):
        return dict(feeds)
    if feeds is not None:
        return {name.removesuffix(":0"): name for name in names_of(feeds)}
    if signature is not None:
        return signature.fed
    needed = needed_nodes(list(outputs))
    return {node.name: node.name for node in graph if node.must_be_fed and node in needed}


def _parameters(graph: Graph, nodes: Mapping[str, Node], state: State | Session | None) -> Parameters:
    """Return the values of parameters; FailedPreconditionError for a variable without a value."""
    values = {} if state is None or isinstance(state, Session) else as_tensors(state)
    # A session is opened only for values that the caller did not give.
    if any(node.op in VARIABLES and name not in values for name, node in nodes.items()):
        session = state if isinstance(state, Session) else opened(graph, state)
        # Stated values win over those of initializers and files.
        values = Runner(session).state() | values
    parameters = {}
    for name, node in nodes.items():
        if node.is_constant:
            parameters[name] = node.constant_value()
        elif name in values:
            parameters[name] = values[name].numpy()
        else:
            problem = f"variable '{name}' has no value"
            raise FailedPreconditionError(problem, node=node.name, op=node.op, hint="pass the value in `state`")
    return parameters


class StableHloExport(ModelExport):
    """A written program of StableHLO, which `jax.export.deserialize` reads; `size` is its number of bytes.

    The program takes the inputs in order, in batches of any size, and returns a dictionary of the outputs. Two inputs have
    two batches, unless the program needs equal ones.
    """

    runtime: ClassVar[str] = "JAX"

    def write(self) -> None:
        """Export and write the program; UnimplementedError names the nodes that JAX cannot run."""
        outputs = {word: value.name for word, value in self.outputs.items()}
        function: Any = to_jax(self.graph, outputs, {word: value.name for word, value in self.inputs.items()})[0]
        program = function.exported({}, {})
        write_file(self.path, [program])
        self.size = len(program)

    def __repr__(self) -> str:
        return f"<StableHloExport {os.path.basename(self.path)}: {self.size:,} bytes>"

    def summary(self) -> str:
        """Return the contents of the file in words: the size, and the dimensions of the inputs."""
        declared = self.declared_dims().items()
        inputs = ", ".join(f"{name} ({','.join(map(str, dims))})" for name, dims in declared) or "none"
        return f"{self.size:,} bytes of StableHLO to {self.path}; inputs: {inputs}"

    def declared_dims(self) -> DeclaredDims:
        """Return the dimensions of the inputs in the file; sizes that must be equal have one name."""
        return dict(zip(self.inputs, jax_functions().exported_dims(bytes(read_source(self.path)))))

    def declares(self, inputs: Mapping[str, Array], dims: DeclaredDims) -> bool:
        """Return whether the program takes inputs of these shapes: JAX's symbolic sizes are 1 or more."""
        return all(value.size for value in inputs.values()) and super().declares(inputs, dims)

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        """Return the outputs that JAX computes."""
        self.check_trust()
        program = bytes(read_source(self.path))
        results = jax_functions().run_exported(program, [inputs[word] for word in self.inputs])
        return [results[word] for word in self.outputs]


class TfjsExport(ModelExport):
    """A written graph model of TensorFlow.js; `weights` is the number of bytes of its weights, `nodes` that of its nodes."""

    runtime: ClassVar[str] = "the file read again"

    def __init__(self, *args: Any, weight_type: str | None = None) -> None:
        if weight_type not in (None, *QUANTIZED):
            problem = f"weights cannot be stored as {weight_type!r}"
            raise InvalidArgumentError(problem, hint=f"the types are {', '.join(QUANTIZED)}")
        self.weight_type = weight_type
        super().__init__(*args)

    def write(self) -> None:
        """Write the model, in ops that TensorFlow.js knows, and count the parts."""
        graph = self._optimized("default,strip_debug")
        # A pass may make what TensorFlow.js lacks, and then only the passes that make nothing are left.
        if set(unknown_ops(graph)) - set(unknown_ops(self.graph)):
            graph = self._optimized("prune,strip_debug")
        fit_results(graph)
        # TensorFlow.js knows ops without the defaults of their attributes.
        state_default_attrs(graph)
        inputs = {word: graph.output(value.name) for word, value in self.inputs.items() if value.node.name in graph}
        outputs = {word: graph.output(value.name) for word, value in self.outputs.items()}
        self.weights = write_tfjs(self.path, graph, inputs, outputs, self.weight_type)
        self.nodes = len(graph)

    def _optimized(self, passes: str) -> Graph:
        """Return the graph after passes, without checks, which TensorFlow.js lacks."""
        fetches = [value.name for value in self.outputs.values()]
        # No output needs the nodes that fill tables, but look-ups do.
        fills = [node.name for node in table_fills(self.graph)]
        fed = [value.node.name for value in self.inputs.values()]
        # Portable passes make no op of tfg's own or of TensorFlow's runtime, which the other runtime lacks.
        return optimize(self.graph, [*fetches, *fills], passes=passes, portable=True, keep=fed).graph

    def __repr__(self) -> str:
        return f"<TfjsExport {os.path.basename(self.path)}: {counted(self.nodes, 'node')}>"

    def summary(self) -> str:
        """Return the contents in words."""
        return f"{counted(self.nodes, 'node')} for TensorFlow.js and {self.weights:,} bytes of weights to {self.path}"

    def check_trust(self) -> None:
        """Do nothing: tfg runs the model, within the limits of its own."""

    def declared_dims(self) -> DeclaredDims:
        """Return the dimensions of the inputs in the file."""
        graph = load(self.path)
        nodes = {word: graph.get(value.node.name) for word, value in self.inputs.items()}
        shapes = {word: node.attr_of(Shape, "shape") for word, node in nodes.items() if node is not None}
        return {
            word: [dim if isinstance(dim, int) else None for dim in shape]
            for word, shape in shapes.items()
            if shape is not None and shape.rank is not None
        }

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        """Return the outputs that tfg computes of the written model."""
        # From the file, as a verification is about what the reader of the file gets.
        graph = load(self.path)
        session = opened(graph)
        feeds = {self.inputs[word].name: value for word, value in inputs.items() if self.inputs[word].node.name in graph}
        return session.run([value.name for value in self.outputs.values()], feeds)
