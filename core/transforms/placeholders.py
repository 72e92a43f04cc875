"""Values and shapes for placeholders: a constant in the place of a placeholder, another static shape.

A graph states sizes beside the shapes of its inputs, too: they are dropped or stated anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import Final

from ..explaining.node_listing import RECORDED_SHAPES
from ..graph.call_kinds import CALL_KINDS
from ..graph.callers import reached_functions
from ..graph.graph import Function, Graph, Node
from ..graph.instantiation import copied
from ..graph.metagraph import Signature, SignatureTensor
from ..graph.node_making import become_constant
from ..graph.traversal import descendants
from ..inference.inference import Answers, Inference, InputRevision, infer
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..support.hints import Blank, Hint, option, step
from ..support.words import counted
from ..types.arrays import Array
from ..types.shapes import Shape, as_shape, merge_shapes
from ..types.tensors import Tensor

# Sizes that a graph states beside the shapes of its inputs, and what contradicts them.

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
        # A polymorphic body has no dtypes apart from a call.
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
        # A sparse argument has no tensor of its own, and a broken graph may lack one.
        if info.tensor.partition(":")[0] not in graph:
            return info
        return dataclasses.replace(info, shape=_sizes(inference.shape(graph.output(info.tensor))))

    inputs, outputs = (
        {word: stated(info) for word, info in tensors.items()} for tensors in (signature.inputs, signature.outputs)
    )
    return dataclasses.replace(signature, inputs=inputs, outputs=outputs)


# The placeholders themselves.

_MOST_NAMED: Final = 8
"""The number of nodes that an error names."""


def set_placeholders(graph: Graph, values: Mapping[str, Array]) -> None:
    """Put constants in the place of placeholders, by the names of their tensors; a constant has the placeholder's name.

    InvalidArgumentError for a tensor of another op, and for a value of another shape than the placeholder declares.
    """
    for name, value in values.items():
        node = _placeholder(graph, name)
        tensor = Tensor.from_numpy(value, node.output().dtype)
        try:
            merge_shapes(node.declared_shape, Shape(tensor.shape))
        except InvalidArgumentError as error:
            hint = Hint(step("shape", name=name.removesuffix(":0"), sizes=Blank("SIZES")), " sets another shape")
            raise InvalidArgumentError(error.message, node=node.name, op=node.op, hint=hint) from None
        # Before the change, which drops the inputs.
        defaults = [source.node for source in node.inputs]
        become_constant(graph, node, tensor)
        graph.remove_nodes([default for default in defaults if default.is_constant and not default.uses])


def set_shapes(graph: Graph, shapes: Mapping[str, Shape], known: Collection[str] | None = None) -> None:
    """Give placeholders other static shapes, by the names of their tensors, and drop the shapes recorded behind them.

    InvalidArgumentError for a tensor of another op, and for a shape that the graph contradicts: it names each node that fixes
    another size, apart from those `known` to contradict the old shapes. A size that becomes unknown must be free: a graph that
    runs with the old size alone contradicts it.
    """
    nodes = {_placeholder(graph, name): shape for name, shape in shapes.items()}
    if not nodes:
        return
    before = {node: node.declared_shape for node in nodes}
    # What did not fit before is not counted against the new shapes.
    known = reasons_of(places(graph)) if known is None else known
    # Copies of a graph share their functions, whose recorded shapes are dropped below.
    own_functions(graph, descendants(nodes))
    drop_recorded_shapes(graph, nodes)
    trials = [{node: _tried(shape, before[node], size) for node, shape in nodes.items()} for size in _OTHER_SIZES]
    free = {node.name for node, shape in nodes.items() if trials[0][node] != shape}  # a default has one of the possible sizes
    contradictions = _contradictions(graph, trials[0], {*known, *free})
    # Two trials, since one other size may fail for a reason of its own: a window needs an even size, a stride divides one of
    # them.
    if contradictions and (trials[0] == trials[1] or _contradictions(graph, trials[1], {*known, *free})):
        raise _contradicted(before, nodes, trials[0], contradictions)
    _write(nodes)
    state_shapes(graph, nodes)


def other_shapes(graph: Graph, shapes: Mapping[str, Sequence[int | None] | Shape]) -> dict[str, Shape]:
    """Return the shapes for placeholders that do not only complete the shapes which the placeholders declare."""
    given = {graph.output(name): as_shape(shape) for name, shape in shapes.items()}
    return {value.name: shape for value, shape in given.items() if value.node.is_placeholder and _is_other(value.node, shape)}


def _is_other(node: Node, shape: Shape) -> bool:
    old = node.declared_shape.dims
    return old is not None and (
        shape.dims is None
        or len(shape) != len(old)
        or any(isinstance(size, int) and size != new for size, new in zip(old, shape.dims))
    )


_OTHER_SIZES: Final[Sequence[Callable[[int], int]]] = (lambda size: 2 * size, lambda size: size + 1)
"""Functions from an old size to others, of which one must fit where the size becomes unknown."""


def _tried(shape: Shape, before: Shape, other: Callable[[int], int]) -> Shape:
    """Return a shape with another number for each unknown size that was a number before."""
    if shape.dims is None or before.dims is None or len(shape) != len(before):
        return shape
    pairs = zip(shape.dims, before.dims)
    return Shape(other(old) if isinstance(old, int) and not isinstance(dim, int) else dim for dim, old in pairs)


def _write(shapes: Mapping[Node, Shape]) -> None:
    for node, shape in shapes.items():
        node.set_attr("shape", shape)


def _contradictions(graph: Graph, shapes: Mapping[Node, Shape], known: Container[str]) -> dict[str, str]:
    """Return why inference ends with these shapes at nodes that are not `known`, by path."""
    _write(shapes)
    return {path: why for path, why in reasons_of(places(graph)).items() if path not in known}


def _contradicted(
    before: Mapping[Node, Shape], shapes: Mapping[Node, Shape], tried: Mapping[Node, Shape], reasons: Mapping[str, str]
) -> InvalidArgumentError:
    """Return the error that names the nodes that fix other sizes, with the reasons for the shapes that were tried."""
    lines = [f"'{path}': {why}" for path, why in reasons.items()]
    given = ", ".join(f"{node.name} {shape}" for node, shape in shapes.items())
    as_tried = ", ".join(f"{node.name} {shape}" for node, shape in tried.items())
    example = f", for instance as {as_tried}" if as_tried != given else ""
    has_batch = any(_rows(shape) != _rows(before[node]) for node, shape in shapes.items())
    return InvalidArgumentError(
        f"{given} does not fit {counted(len(lines), 'node')}{example}:",
        details=[*lines[:_MOST_NAMED], *([f"and {len(lines) - _MOST_NAMED} more"] if len(lines) > _MOST_NAMED else [])],
        hint=Hint(option("batch"), " changes the first size, also in the nodes that state it") if has_batch else None,
    )


def _rows(shape: Shape) -> int | None:
    """Return the first size of a shape, None for an unknown size."""
    first = shape[0] if shape.rank else None
    return first if isinstance(first, int) else None


def _placeholder(graph: Graph, name: str) -> Node:
    node = graph.output(name).node
    if not node.is_placeholder:
        raise InvalidArgumentError(
            "it is not a placeholder", node=node.name, op=node.op,
            hint=Hint(step("make_placeholder", tensor=name.removesuffix(":0")), " puts a placeholder in its place"),
        )  # fmt: skip
    return node
