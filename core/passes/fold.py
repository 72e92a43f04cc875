"""Constant folding: computation of nodes that depend on constants only; and merging of nodes that compute the same."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..graph.call_kinds import CALL_KINDS
from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_constant
from ..runtime.execute.constant_steps import FOLD_BYTES, FOLD_FLOPS, FOLD_SECONDS, folded_values
from ..runtime.execute.limits import flops_of
from ..support.engine_names import NUMPY
from ..support.errors import TfgError
from ..types import dtypes
from ..types.dims import Dim
from ..types.shapes import Shape, TensorSpec
from ..types.tensors import Tensor, attribute_key
from .base.graph_pass import Pass, PassContext, become


class FoldConstants(Pass):
    """Replace nodes with constant inputs by their values, computed by the ordinary kernels.

    A result of more than `limit` bytes is left to run time, unless the result is no larger than the constants that become
    unnecessary. Shapes, sizes and values computed from shapes count as constant if inference knows them.
    """

    name: ClassVar[str] = "fold"
    summary: ClassVar[str] = "compute nodes that depend only on constants or known shapes"
    follows: ClassVar[str] = "remove_training_nodes"
    limit: int = 10 * 2**20

    def run(self, graph: Graph, ctx: PassContext) -> None:
        inference = ctx.inference
        for node in self._nodes(graph, ctx):
            if node.is_constant or not node.output_dtypes:
                continue
            # Last whether the node is barred, which takes longest to find out, and most nodes are not constant at all.
            if node.inputs and all(value.node.is_constant and not ctx.is_fed(value) for value in node.inputs):
                if not self._is_barred(node, ctx):
                    self._fold(graph, ctx, node, [inference.specs[o].shape for o in node.outputs()])
                continue
            values = [inference.specs[output].value for output in node.outputs()]
            if all(v is not None and v.dtype != object for v in values) and not self._is_barred(node, ctx):
                self._replace(graph, ctx, node, values, "shape")

    def _nodes(self, graph: Graph, ctx: PassContext) -> Sequence[Node]:
        """Return the nodes to fold if they can be, sources first."""
        return ctx.order()

    def _is_barred(self, node: Node, ctx: PassContext) -> bool:
        # A Const can hold neither: handles and lists live in a session.
        if any(dtype.base in (dtypes.variant, dtypes.resource) for dtype in node.output_dtypes):
            return True
        return ctx.impurity(node) is not None or ctx.has_fed_output(node)

    def _fold(self, graph: Graph, ctx: PassContext, node: Node, shapes: list[Shape]) -> None:
        sizes = [_bytes(shape, dtype.size) for shape, dtype in zip(shapes, node.output_dtypes)]
        inputs = sum(value.node.attrs["value"].size * value.node.attrs["dtype"].size for value in node.inputs)
        # A file must not grow by folding: a large result is fine if constants of that size become unnecessary.
        limit = max(self.limit, sum(value.node.stored_bytes() for value in node.inputs))
        # Before the kernel runs, so that a Fill of gigabytes allocates nothing.
        if any(size is not None and size > limit for size in sizes):
            ctx.refuse("constant", node, f"its value takes more than the limit of {self.limit} bytes")
            return
        # A constant of a single stored element may stand for gigabytes: reading it would spread it in memory.
        if inputs > limit:
            ctx.refuse("constant", node, f"it reads {inputs:,} bytes, far more than the graph holds")
            return
        values = self._evaluated(graph, ctx, node, inputs, _ROOM * limit)
        if values is None:
            return
        # A second test, for results whose shapes were unknown before, such as those of Unique or of strings.
        if sum(map(_written, values)) > limit:
            ctx.refuse("constant", node, f"its value takes more than the limit of {self.limit} bytes")
            return
        self._replace(graph, ctx, node, values, "constant")

    def _evaluated(self, graph: Graph, ctx: PassContext, node: Node, inputs: int, most: int) -> list[Any] | None:
        """Return the values of a node that reads `inputs` bytes of constants, with `most` bytes for the results.

        None if the node is left to the run.
        """
        if node.is_identity:
            return [node.inputs[0].node.constant_value()]
        # Nodes folded by this pass are not in the inference yet.
        specs = [ctx.inference.specs.get(v) or _spec(v.node.attrs["value"]) for v in node.inputs]
        flops = flops_of(node, specs)
        # By count, not by time: the same graph is folded the same way on every machine.
        if flops > FOLD_FLOPS or inputs > FOLD_BYTES:
            ctx.refuse("constant", node, f"it takes {flops:,} FLOPs on {inputs:,} bytes, too many for an optimization")
            return None
        if ctx.shared.folding > _ALL_SECONDS:
            ctx.refuse("constant", node, f"folding reached its limit of {_ALL_SECONDS} seconds")
            return None
        # The limit for all folding guards against many nodes that are each below their limit.
        start = time.process_time()
        try:
            return evaluate(graph, node, most)
        except TfgError as error:
            ctx.refuse("constant", node, f"it fails: {error.message}")
            return None
        finally:
            ctx.shared.folding += time.process_time() - start

    def _replace(self, graph: Graph, ctx: PassContext, node: Node, values: list[Any], rule: str) -> None:
        """Turn the node into a Const, with another Const for every further output that is used."""
        controls = ctx.anchors(node)
        if len(values) > 1 and node.name in ctx.fetches:
            ctx.refuse(rule, node, "it is fetched and has several outputs")
            return
        for i, value in enumerate(values[1:], start=1):
            output = node.output(i)
            if graph.consumers(output):
                tensor = Tensor.from_numpy(value, node.output_dtypes[i].base)
                constant = add_constant(graph, f"{node.name}/output_{i}", tensor, controls, node.device)
                graph.replace_all_uses(output, constant.output())
        tensor = Tensor.from_numpy(values[0], node.output_dtypes[0].base)
        become(graph, node, "Const", (), {"value": tensor, "dtype": tensor.dtype}, controls)
        ctx.fire(rule, node, "folded into a constant")


def evaluate(graph: Graph, node: Node, most: int = FOLD_BYTES) -> list[Any]:
    """Return the values of a pure node whose inputs are all Const nodes, computed in `most` bytes.

    UnimplementedError if the kernel needs a session, ResourceExhaustedError for a kernel that needs more bytes.
    """
    if node.op in CALL_KINDS:
        return _evaluate_call(graph, node, most)
    return folded_values(node, [value.node.constant_value() for value in node.inputs], most)


def _evaluate_call(graph: Graph, node: Node, most: int) -> list[Any]:
    """Return the results of a call or functional loop, run in a separate session with a time limit."""
    from ..runtime.session.session import Session  # lazy: most graphs have no constant calls

    alone = graph.emptied()
    for source in {value.node for value in node.inputs}:
        alone.add_node(source.name, source.op, (), (), source.attrs)
    inputs = [alone.node(value.node.name).output() for value in node.inputs]
    alone.add_node(node.name, node.op, inputs, (), node.attrs)
    # A function may loop forever, and counts of FLOPs say nothing of the number of iterations.
    session = Session(alone, timeout=FOLD_SECONDS, max_memory=most, engine=NUMPY)
    results = session.run([output.name for output in node.outputs()])
    return [np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value) for value in results]


_ROOM = 8
"""The memory of a node during folding, in result limits: larger results are dropped, and kernels make copies."""
_ALL_SECONDS = 3
"""The time, in seconds, for all folding of a graph and the functions."""


def _written(value: np.ndarray[Any, Any]) -> int:
    """Return the bytes of a value in a file; a file repeats a string for each occurrence in the array."""
    if value.dtype != object:
        return value.nbytes
    return value.nbytes + sum(len(item) for item in value.ravel().tolist() if isinstance(item, bytes))


def _spec(constant: Tensor) -> TensorSpec:
    return TensorSpec(constant.dtype, Shape(constant.shape))


def _bytes(shape: Shape, size: int) -> int | None:
    return math.prod(shape.known()) * size if shape.is_known else None


class CommonSubexpressions(Pass):
    """Replace all nodes with equal op, inputs, control inputs and attributes by a single node.

    Stateful and random ops, ops on references, fed values and nodes of unknown ops are left alone; equal constants are
    merged too, unless `constants` is false.
    """

    name: ClassVar[str] = "cse"
    summary: ClassVar[str] = "merge nodes that compute the same value, including equal constants"
    follows: ClassVar[str] = "loops"
    constants: bool = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        first: dict[Hashable, Node] = {}
        keys = _Keys()
        for node in ctx.order():
            if ctx.impurity(node) is not None or (node.is_constant and not self.constants):
                continue
            if ctx.has_fed_output(node):
                continue
            key = keys.of(node)
            original = first.setdefault(key, node)
            if original is node:
                continue
            if ctx.is_preserved(node):
                # The names of both are asked for, and one node has one name.
                if ctx.is_preserved(original):
                    ctx.refuse("merge", node, f"it equals {original.name}, but both names must stay")
                    continue
                original, node = node, original
                first[key] = original
            self._merge(graph, ctx, node, original)

    def _merge(self, graph: Graph, ctx: PassContext, node: Node, original: Node) -> None:
        for i in range(len(node.output_dtypes)):
            graph.replace_all_uses(node.output(i), original.output(i))
        graph.replace_control_uses(node, original)
        graph.remove_node(node)
        ctx.fire("merge", node, f"merged with {original.name}")


class _Keys:
    """Keys that are equal for nodes that compute the same."""

    def __init__(self) -> None:
        self._attrs: dict[int, tuple[Mapping[str, Any], int]] = {}
        self._numbers: dict[Hashable, int] = {}

    def of(self, node: Node) -> Hashable:
        """Return a key that is equal for nodes of the same op, inputs, control inputs, attributes and device."""
        inputs: Sequence[Output] = node.inputs
        if len(inputs) > 1 and (definition := node.op_def) is not None and definition.is_commutative:
            # By identity: any order serves, if it is the same for both nodes.
            inputs = sorted(inputs, key=id)
        controls = frozenset(node.control_inputs) if node.control_inputs else None
        return (node.op, self._number(node.attrs), node.device, controls, *inputs)

    def _number(self, attrs: Mapping[str, Any]) -> int:
        """Return a number that is equal for equal attributes; many nodes share their attributes."""
        entry = self._attrs.get(id(attrs))
        if entry is None:
            # `_output_shapes` is an annotation, and of two equal nodes often only one has it.
            key = tuple(sorted((name, attribute_key(v)) for name, v in attrs.items() if name != "_output_shapes"))
            # The entry keeps the attributes alive, since another object could otherwise get the same id.
            entry = self._attrs[id(attrs)] = attrs, self._numbers.setdefault(key, len(self._numbers))
        return entry[1]


class Shapes(Pass):
    """Replace all nodes whose values are the same dimensions by a single node, whatever tensors the dimensions come from.

    Shape(x) and Shape(x + 1) are equal for every shape of x, and so are slices and packs of the two. Nodes in loops and on
    branches stay, and so do nodes with inputs that have effects.
    """

    name: ClassVar[str] = "shapes"
    summary: ClassVar[str] = "merge equal shapes, and equal slices and packs of shapes"
    follows: ClassVar[str] = "cse"

    def run(self, graph: Graph, ctx: PassContext) -> None:
        first: dict[Hashable, Node] = {}
        inference = ctx.inference
        for node in ctx.order():
            if len(node.output_dtypes) != 1 or node.is_constant:
                continue
            value = inference.specs[node.output()].value
            # A value without symbols is a constant, which `fold` makes of it.
            if value is None or value.dtype != object or ctx.is_inside(node) or ctx.is_preserved(node):
                continue
            if ctx.impurity(node) is not None or ctx.has_effects(node):
                continue
            if not all(isinstance(size, (int, Dim)) for size in value.ravel().tolist()):
                continue
            key = (node.output_dtypes[0].name, value.shape, tuple(value.ravel().tolist()), node.device)
            original = first.setdefault(key, node)
            if original is not node:
                self._merge(ctx, node, original.output())

    def _merge(self, ctx: PassContext, node: Node, value: Output) -> None:
        ctx.replace(node, value, "same-dimensions", f"merged with {value.node.name}: it holds the same dimensions")
