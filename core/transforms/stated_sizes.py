"""Sizes that a graph states beside the shapes of its inputs: what is dropped, stated anew, and what contradicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..explaining.node_listing import RECORDED_SHAPES
from ..functions.call_kinds import CALL_KINDS
from ..functions.callers import reached_functions
from ..functions.instantiation import copied
from ..graph.graph import Function, Graph, Node
from ..graph.metagraph import Signature, SignatureTensor
from ..graph.traversal import descendants
from ..inference.inference import Answers, Inference, InputRevision, infer
from ..support import dataclasses
from ..types.shapes import Shape

_INPUT_SHAPES = "_input_shapes"
"""The attribute in which an export notes the shapes of a function's arguments."""
_RESULT_SHAPES = "output_shapes"
"""The attribute in which a branch or a loop states the shapes of its results."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """The graph itself, or the body of a function that it calls, and the specs there over all calls."""

    graph: Graph
    inference: Inference
    function: Function | None = None

    def path(self, node: Node) -> str:
        """Return the name of a node here, behind the name of its function."""
        return node.name if self.function is None else f"{self.function.name}/{node.name}"

    @property
    def reasons(self) -> Mapping[str, str]:
        """Return why inference ended at some nodes, by path."""
        return {self.path(self.graph[name]): why for name, why in self.inference.reasons.items()}


def places(graph: Graph, revision: InputRevision | None = None) -> list[Place]:
    """Return the graph and the body of each function that it calls, directly or through others.

    The specs are those of the `revision`, if there is one.
    """
    answers = Answers()
    result = [Place(graph, infer(graph, answers=answers, revision=revision))]
    for function, specs in answers.arguments.items():
        if not function.signature.attrs:
            arguments = dict(zip((arg.output() for arg in function.args), specs))
            result.append(Place(function.body, infer(function.body, arguments, graph.functions, revision=revision), function))
    return result


def reasons_of(everywhere: Sequence[Place]) -> dict[str, str]:
    """Return why inference ended at some nodes, by path."""
    return {path: why for place in everywhere for path, why in place.reasons.items()}


def own_functions(graph: Graph, nodes: Collection[Node]) -> None:
    """Give a graph functions of its own that `nodes` call: graphs that were copied from each other share theirs."""
    for name in reached_functions(graph.functions, nodes):
        own = graph.functions[name] = copied(graph.functions[name])
        own.body.functions = graph.functions


def drop_recorded_shapes(graph: Graph, inputs: Collection[Node]) -> None:
    """Drop the shapes that an export recorded for what depends on the inputs."""
    for node in dependents(graph, inputs):
        node.remove_attr(RECORDED_SHAPES)
    for name in reached_functions(graph.functions, descendants(inputs)):
        function = graph.functions[name]
        function.attrs = {key: value for key, value in function.attrs.items() if key != _INPUT_SHAPES}
        function.arg_attrs = {
            index: {key: value for key, value in attrs.items() if key != RECORDED_SHAPES}
            for index, attrs in function.arg_attrs.items()
        }


def state_shapes(graph: Graph, inputs: Collection[Node]) -> None:
    """State the inferred shapes where branches, loops and signatures that depend on the inputs state shapes of their own."""
    after = dependents(graph, inputs)
    everywhere = places(graph)
    for place in everywhere:
        for node in place.graph:
            states = node in after and node.op in CALL_KINDS and node.attrs.get(_RESULT_SHAPES)
            if states:
                node.set_attr(_RESULT_SHAPES, [_sizes(place.inference.shape(value)) for value in node.outputs()])
    if graph.meta is not None:
        inferred = everywhere[0].inference
        signatures = {name: _stated(graph, signature, inferred) for name, signature in graph.meta.signatures.items()}
        graph.meta = dataclasses.replace(graph.meta, signatures=signatures)


def dependents(graph: Graph, inputs: Collection[Node]) -> set[Node]:
    """Return the nodes that depend on the inputs, and all nodes of the functions that these call."""
    after = descendants(inputs)
    return after.union(*(graph.functions[name].body for name in reached_functions(graph.functions, after)))


def _sizes(shape: Shape) -> Shape:
    """Return a shape of numbers and unknown sizes alone, as a file can state it."""
    return Shape(None if shape.dims is None else [dim if isinstance(dim, int) else None for dim in shape.dims])


def _stated(graph: Graph, signature: Signature, inference: Inference) -> Signature:
    """Return a signature with the inferred shapes."""

    def stated(info: SignatureTensor) -> SignatureTensor:
        if info.tensor.partition(":")[0] not in graph:
            return info
        return dataclasses.replace(info, shape=_sizes(inference.shape(graph.output(info.tensor))))

    inputs, outputs = (
        {word: stated(info) for word, info in tensors.items()} for tensors in (signature.inputs, signature.outputs)
    )
    return dataclasses.replace(signature, inputs=inputs, outputs=outputs)
