"""Changes of a whole graph that `tfg convert` offers: default attributes, devices, cutting a part out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..explaining.node_listing import declared_shapes
from ..graph.graph import Graph, GraphLike, Node, Output
from ..graph.instantiation import nodes_to_change
from ..graph.metagraph import Signature, SignatureTensor, called_signature
from ..graph.model_objects import asset_assignments
from ..graph.node_making import add_placeholder
from ..graph.table_fills import filled_tables, iterator_starts, table_fills
from ..graph.traversal import reachable
from ..inference.inference import infer
from ..planning.reachability import needed_nodes
from ..runtime.session.function_signatures import as_run
from ..support import dataclasses
from ..support.arguments import checked, names_of
from ..support.errors import InvalidArgumentError
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape


@checked
def strip_default_attrs(graph: Graph) -> int:
    """Drop attributes that equal their op's default, for older readers; return the number of attributes dropped."""
    count = 0
    for node in nodes_to_change(graph, lambda node: bool(_default_attrs(node))):
        for name in _default_attrs(node):
            node.remove_attr(name)
            count += 1
    return count


def state_default_attrs(graph: Graph) -> None:
    """State the defaults of all attributes that nodes leave out, for readers that know no defaults."""
    for node in nodes_to_change(graph, lambda node: bool(_unstated(node))):
        for name, value in _unstated(node).items():
            node.set_attr(name, value)


def _unstated(node: Node) -> dict[str, Any]:
    declared = node.op_def.attrs if node.op_def is not None else {}
    return {name: attr.default for name, attr in declared.items() if attr.has_default and name not in node.attrs}


def _default_attrs(node: Node) -> list[str]:
    declared = node.op_def.attrs if node.op_def is not None else {}
    return [name for name, value in node.attrs.items() if name in declared and declared[name].is_default(value)]


@checked
def clear_devices(graph: Graph) -> int:
    """Drop the devices of all nodes, also in functions; return the number of nodes that had a device."""
    placed = list(nodes_to_change(graph, lambda node: bool(node.device)))
    for node in placed:
        node.device = ""
    return len(placed)


def subgraph(graph: Graph, fetches: Sequence[str], inputs: Sequence[str] = ()) -> Graph:
    """Return a copy with only the nodes that `fetches` need.

    Tensors among `inputs` become placeholders of the inferred shapes. Fetches are names of tensors and operations.
    """
    result = graph.copy()
    # The signatures and savers of the whole name nodes that the part lacks.
    result.meta = None
    cut_at(result, inputs)
    needed = reachable(result.node_of(name) for name in fetches)
    result.remove_nodes([node for node in result if node not in needed])
    forget_locations(result)
    return result


def drop_ends(graph: Graph, ends: Iterable[Node]) -> None:
    """Remove nodes that nothing uses, and all that only they need."""
    ends = set(ends)
    needed = needed_nodes([node for node in graph if not node.uses and node not in ends])
    doomed = reachable(ends) - needed
    graph.remove_nodes([node for node in graph if node in doomed])


def needed_fills(graph: Graph, fetches: Sequence[str], inputs: Sequence[str] = ()) -> list[Node]:
    """Return the nodes that begin the iterators, fill the tables, and set the paths of a model's files, that `fetches` take.

    No edge leads from `fetches` to these nodes.
    """
    needed = needed_nodes([graph.fetch(name) for name in fetches], [graph.output(name) for name in inputs])
    starts = [node for iterator, node in iterator_starts(graph).items() if iterator in needed]
    # What begins an iterator reads its dataset, which may take tables of its own.
    needed |= reachable(starts)
    fills = [node for node in table_fills(graph) if not needed.isdisjoint(filled_tables(node))]
    return [*starts, *fills, *(node for node in asset_assignments(graph) if node.inputs[0].node in needed)]


def cut_at(graph: Graph, names: Sequence[str]) -> dict[str, Node]:
    """Put placeholders of the inferred shapes in the place of tensors; return the placeholders by the tensors' names."""
    shapes = shapes_at_cuts(graph, names)
    return {name: _cut(graph, graph.output(name), shape) for name, shape in shapes.items()}


def as_served(graph: GraphLike, outputs: Sequence[str], signature: str | None = None) -> Graph:
    """Return a graph whose `outputs` run; without them that of a model as it runs from the inputs of `signature`, by default
    of the chosen or else the usual one.

    A signature of TensorFlow 1 may feed a tensor that the graph computes, such as a feature that ParseExample returns. In the
    result, a copy, such a tensor is a placeholder.
    """
    graph = as_run(graph, outputs)
    meta = graph.meta
    if names_of(outputs) or meta is None:
        return graph
    called = called_signature(meta, signature)
    computed = [] if called is None else computed_inputs(graph, called)
    if called is None or not computed:
        return graph
    served = graph.copy()
    served.file = graph.file
    made = {name: node.output().name for name, node in cut_at(served, computed).items()}
    inputs = {argument: _with_tensors(info, made) for argument, info in called.inputs.items()}
    changed = {called.name: dataclasses.replace(called, inputs=inputs)}
    served.meta = dataclasses.replace(meta, signatures={**meta.signatures, **changed})
    return served


def computed_inputs(graph: Graph, signature: Signature) -> list[str]:
    """Return the tensors that a signature feeds although the graph computes them."""
    # A file may be a part of a model, and lack a tensor that its signature names.
    return [
        name for name in signature.fed.values() if name.partition(":")[0] in graph and not graph.node_of(name).is_placeholder
    ]


def _with_tensors(argument: SignatureTensor, names: Mapping[str, str]) -> SignatureTensor:
    tensor, *components = (names.get(name, name) for name in (argument.tensor, *argument.components))
    return dataclasses.replace(argument, tensor=tensor, components=tuple(components))


def forget_locations(graph: Graph) -> None:
    """Drop `loc:@` names of nodes that are gone: TensorFlow refuses a graph that has them."""
    for node in graph:
        if any(name not in graph for name in node.colocation):
            # Behind `loc:@`, as bytes that need be no UTF-8.
            locations = [entry for entry in node.attrs["_class"] if entry[5:].decode("utf-8", "surrogateescape") in graph]
            if locations:
                node.set_attr("_class", locations)
            else:
                node.remove_attr("_class")


def shapes_at_cuts(graph: Graph, names: Sequence[str]) -> dict[str, Shape]:
    """Return the shapes of tensors as inference finds them, or as their nodes record them."""
    try:
        specs = infer(graph).specs if names else {}
    except InvalidArgumentError:  # contradicting shapes: `tfg check` reports them
        specs = {}
    shapes_by_name = {}
    for name in names:
        value = graph.output(name)
        # Of an op that nobody declares inference knows nothing, but the file may record a shape.
        shape = specs[value].shape if value in specs else UNKNOWN
        count = max(len(value.node.output_dtypes), value.index + 1)
        shapes_by_name[name] = declared_shapes(value.node, count)[value.index] if shape.rank is None else shape
    return shapes_by_name


def cut_name(value: Output) -> str:
    """Return the name of the placeholder that stands for a tensor where a graph is cut."""
    return value.node.name if _is_only_output(value) else f"{value.node.name}/output_{value.index}"


def _is_only_output(value: Output) -> bool:
    """Return True for the output of a node with one output; of an unknown op only outputs that are read are known."""
    node = value.node
    read = (i.index for reader in node.uses for i in reader.inputs if i.node is node)
    return (len(node.output_dtypes) or 1 + max(read, default=0)) == 1


def _dtype_of_readers(graph: Graph, value: Output) -> DType:
    """Return the dtype that a reader of a tensor expects; InvalidArgumentError where no reader has a known op."""
    for reader in graph.consumers(value):
        expected = reader.check({}).inputs
        if expected is not None:
            return expected[reader.inputs.index(value)]
    message = "it cannot be cut here: neither its op nor a reader tells the dtype"
    raise InvalidArgumentError(message, node=value.node.name, op=value.node.op)


def _cut(graph: Graph, value: Output, shape: Shape) -> Node:
    """Put a placeholder in the place of a tensor, and return the placeholder."""
    node = value.node
    dtype = value.dtype or _dtype_of_readers(graph, value)
    whole = _is_only_output(value)
    name = cut_name(value) if whole else graph.unique_name(cut_name(value))
    if whole:
        # The placeholder takes the name, so that feeds and the other graph's readers find it under the name that was cut.
        graph.rename_node(node, graph.unique_name(f"{node.name}/cut"))
    placeholder = add_placeholder(graph, name, dtype.base, shape)
    graph.replace_all_uses(value, placeholder.output())
    if whole:
        graph.replace_control_uses(node, placeholder)
    return placeholder
