"""Graphs for JAX: the function `tfg.to_jax`, and the programs of `tfg convert GRAPH FILE.stablehlo`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from ...core.engines.engine_registry import jax_functions
from ...core.graph.graph import Graph, GraphLike, Node, Output, as_graph
from ...core.graph.metagraph import Signature
from ...core.graph.variable_nodes import VARIABLES, is_frozen_weight
from ...core.passes.pipeline import inline_functions
from ...core.planning.reachability import needed_nodes
from ...core.runtime.guards.stranger_limits import refuse_untrusted
from ...core.runtime.session.fetches import arranged, fetched_names
from ...core.runtime.session.function_signatures import as_called
from ...core.runtime.session.runner import Runner
from ...core.runtime.session.session import Session
from ...core.support.arguments import takes
from ...core.support.errors import FailedPreconditionError, InvalidArgumentError
from ...core.types.arrays import Array
from ..codecs.source import read_source, write_file
from ..state import State, as_tensors
from .model_export import DeclaredDims, ModelExport
from .outputs import default_outputs
from .prepared_sessions import names_of, opened

Parameters: TypeAlias = dict[str, Array]


@takes(graph=GraphLike, state=Mapping | Session | None, constants=str, updates=bool)
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
    signature = None if fetches is not None or feeds is not None else _signature(graph)
    structure = fetches if fetches is not None or signature is None else signature.fetched
    structure = list(default_outputs(graph)) if structure is None else structure
    outputs = [inlined.result(name) for name in fetched_names(structure, graph)]
    inputs = {name: inlined.output(tensor) for name, tensor in _fed(inlined, outputs, feeds, signature).items()}
    lifted = [node for node in inlined if constants == "parameters" and is_frozen_weight(node)]

    def arrange(values: Iterator[Any]) -> Any:
        return arranged(structure, values)

    function = module.JaxFunction(inlined, inputs, outputs, arrange, lifted, updates)
    return function, _parameters(graph, function.parameters, state)


def _signature(graph: Graph) -> Signature | None:
    """Return the signature that was chosen when the graph was read, or the default."""
    meta = graph.meta
    return None if meta is None else meta.signatures.get(meta.chosen or "", meta.usual_signature)


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
    if any(node.op in VARIABLES and name not in values for name, node in nodes.items()):
        session = state if isinstance(state, Session) else opened(graph, state)
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
