"""Nodes written with the ops of older releases of TensorFlow, or of TensorFlow.js, where these compute the same."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...building.node_builder import NodeBuilder
from ...graph.graph import Function, Graph, Node, Output
from ...graph.node_making import add_constant_beside
from ...graph.reference_ops import read_as
from ...inference.inference import infer
from ...registry.catalog import CATALOG
from ...registry.op_history import value_name
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dtypes import DType, float32, int32, string
from ...types.shapes import UNKNOWN, Shape
from ...types.tensors import Tensor


class KeepsNewOpError(Exception):
    """The reason why a node needs its op."""


Rule = Callable[["OlderOps", Node], None]
_RULES: dict[str, Rule] = {}


def _rule(*ops: str) -> Callable[[Rule], Rule]:
    """Register a function that changes a node of these ops in place, or raises KeepsNewOpError."""

    def register(function: Rule) -> Rule:
        _RULES.update(dict.fromkeys(ops, function))
        return function

    return register


class OlderOps:
    """A graph, or the body of a function, whose nodes become nodes of older ops."""

    def __init__(self, graph: Graph, function: Function | None = None) -> None:
        self.graph = graph
        self._results = function.results if function is not None else ()
        self._builder = NodeBuilder(graph)

    def change(self, node: Node) -> None:
        """Give a node an older op of the same meaning; KeepsNewOpError tells why not."""
        rule = _RULES.get(node.op)
        if rule is None:
            raise KeepsNewOpError("")
        rule(self, node)

    @functools.cached_property
    def _specs(self) -> Mapping[Output, Any]:
        try:
            return infer(self.graph).specs
        except InvalidArgumentError:  # contradicting shapes: `tfg check` reports them
            return {}

    def shape(self, value: Output) -> Shape:
        """Return the inferred shape; unknown for a value that a rule made."""
        return self._specs[value].shape if value in self._specs else UNKNOWN

    def value(self, node: Node, index: int, word: str) -> Array:
        """Return the constant that is the input `index`; KeepsNewOpError for another input, called `word`."""
        source = node.inputs[index]
        # Constants first: inference of the whole graph is only needed for values that follow from others.
        known: Array | None = source.node.attrs["value"].numpy() if source.node.is_constant else None
        if known is None and source in self._specs:
            known = self._specs[source].value
        if known is None or (known.dtype == object and source.base_dtype is not string):
            raise KeepsNewOpError(f"{word} is not constant")
        return known

    def are_unread(self, node: Node, first: int) -> bool:
        """Return True if nothing reads the outputs from `first` on."""
        read = [value for user in node.uses for value in user.inputs]
        return not any(value.node is node and value.index >= first for value in (*read, *self._results))

    def rename(self, node: Node, op: str) -> None:
        """Change a node to `op` of the same inputs; attributes that `op` lacks go."""
        for name, attr in CATALOG[op].attrs.items():
            value = node.attr(name)
            fits = attr.allowed is None or value in attr.allowed
            _require(fits, f"{op} does not support {name} = {value_name(value)}")
        read_as(node, op)

    def become(self, node: Node, op: str, inputs: Sequence[Any], **attrs: Any) -> None:
        """Change a node to `op` of these inputs, one for each argument; name, device and control inputs stay."""
        made = self._add(node, op, inputs, attrs)
        # Attributes with an underscore describe the node, such as its class for colocation, and any op may have them.
        own = {name: value for name, value in node.attrs.items() if name.startswith("_")}
        self.graph.set_inputs(node, made.inputs)
        node.change_op(op, {**made.attrs, **own})
        self.graph.remove_node(made)

    def constant(self, node: Node, value: Any, dtype: DType) -> Output:
        """Add a constant for a node."""
        tensor = Tensor.from_numpy(np.asarray(value, dtype.numpy), dtype)
        return add_constant_beside(self.graph, f"{node.name}/constant", tensor, node, node.inputs[0].node).output()

    def before(self, node: Node, op: str, *inputs: Output, **attrs: Any) -> Output:
        """Add a node whose result a node is to take."""
        return self._add(node, op, inputs, attrs).output()

    def _add(self, node: Node, op: str, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Node:
        try:
            with self._builder.device(node.device):
                made = self._builder.add(op, inputs, attrs, f"{node.name}/{op}")
            made.check({})
            return made
        except InvalidArgumentError as error:
            raise KeepsNewOpError(f"{op} does not fit: {error.message}") from None


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise KeepsNewOpError(reason)


_SAME: Final = {
    # QuantizeAndDequantizeV4 differs from the second version by its gradient alone.
    "AddV2": "Add", "CheckNumericsV2": "CheckNumerics", "PlaceholderV2": "Placeholder", "StatelessCase": "Case",
    "StatelessIf": "If", "StatelessWhile": "While", "QuantizeAndDequantizeV4": "QuantizeAndDequantizeV2",
    "FusedBatchNormV2": "FusedBatchNorm", "FusedBatchNormGradV2": "FusedBatchNormGrad",
}  # fmt: skip
"""Ops with an older op of the same arguments."""


@_rule(*_SAME)
def _same(older: OlderOps, node: Node) -> None:
    older.rename(node, _SAME[node.op])


@_rule("DisableCopyOnRead")
def _copies_stay(older: OlderOps, node: Node) -> None:
    """Let a NoOp stand for a word to the executor about copies of a variable."""
    older.become(node, "NoOp", [])


@_rule("BatchMatMulV3")
def _batch_product(older: OlderOps, node: Node) -> None:
    _require(node.attr("Ta") is node.attr("Tb") is node.attr("Tout"), "the dtypes of the factors and of the product differ")
    # V3 has a dtype for each factor; `rename` leaves out what the older op does not know.
    node.set_attr("T", node.attr("Ta"))
    older.rename(node, "BatchMatMulV2")


@_rule("BatchMatMulV2")
def _plain_batch_product(older: OlderOps, node: Node) -> None:
    a, b = (older.shape(value).dims for value in node.inputs)
    _require(a is not None and b is not None and a[:-2] == b[:-2], "the batches of the factors are not known to be equal")
    older.rename(node, "BatchMatMul")


@_rule("FusedBatchNormV3")
def _batch_norm(older: OlderOps, node: Node) -> None:
    _require(older.are_unread(node, 5), "its last output is read")
    older.rename(node, "FusedBatchNormV2")


@_rule("FusedBatchNormGradV3")
def _batch_norm_gradient(older: OlderOps, node: Node) -> None:
    # The sixth input is an internal output of the forward op, which the older one lacks.
    older.graph.set_inputs(node, node.inputs[:5])
    older.rename(node, "FusedBatchNormGradV2")


@_rule("GatherV2")
def _gather(older: OlderOps, node: Node) -> None:
    _require(not node.attr("batch_dims"), "its batch_dims is not 0")
    _require(older.value(node, 2, "the axis").item() == 0, "its axis is not 0")
    older.become(node, "Gather", node.inputs[:2])


@_rule("SelectV2")
def _select(older: OlderOps, node: Node) -> None:
    condition, then, other = (older.shape(value).dims for value in node.inputs)
    _require(then is not None and then == other and condition in ((), then), "its inputs are not known to have equal shapes")
    older.rename(node, "Select")


@_rule("MatrixDiagV2", "MatrixDiagV3")
def _diagonal_matrix(older: OlderOps, node: Node) -> None:
    _require_main_diagonal(older, node, 1)
    sizes = [older.value(node, index, "the number of rows or columns").item() for index in (2, 3)]
    _require(sizes == [-1, -1], "it states the number of rows or columns")
    older.become(node, "MatrixDiag", node.inputs[:1])


@_rule("MatrixDiagPartV2", "MatrixDiagPartV3")
def _diagonal(older: OlderOps, node: Node) -> None:
    _require_main_diagonal(older, node, 1)
    older.become(node, "MatrixDiagPart", node.inputs[:1])


@_rule("MatrixSetDiagV2", "MatrixSetDiagV3")
def _set_diagonal(older: OlderOps, node: Node) -> None:
    _require_main_diagonal(older, node, 2)
    older.become(node, "MatrixSetDiag", node.inputs[:2])


def _require_main_diagonal(older: OlderOps, node: Node, index: int) -> None:
    _require(not older.value(node, index, "the number of the diagonal").any(), "it is not about the main diagonal alone")


@_rule("ClipByValue")
def _clip(older: OlderOps, node: Node) -> None:
    value, low, high = node.inputs
    # In the order of ClipByValue: if low > high, the result is low.
    bounded = older.before(node, "Minimum", value, high)
    older.become(node, "Maximum", [bounded, low])


@_rule("LeakyRelu")
def _leaky_relu(older: OlderOps, node: Node) -> None:
    slope = node.attr("alpha")
    # max(x, alpha x) is the function only for such slopes.
    _require(0 < slope <= 1, "its alpha is not between 0 and 1")
    value = node.inputs[0]
    older.become(node, "Maximum", [value, older.before(node, "Mul", value, older.constant(node, slope, value.base_dtype))])


@_rule("Erfc")
def _erfc(older: OlderOps, node: Node) -> None:
    # In the far tail, where both are nearly 1, the difference has few digits, but no absolute error beyond rounding.
    value = node.inputs[0]
    older.become(node, "Sub", [older.constant(node, 1, value.base_dtype), older.before(node, "Erf", value)])


@_rule("Softsign")
def _softsign(older: OlderOps, node: Node) -> None:
    value = node.inputs[0]
    size = older.before(node, "Abs", value)
    above = older.before(node, "AddV2", size, older.constant(node, 1, value.base_dtype))
    older.become(node, "RealDiv", [value, above])


@_rule("Xdivy")
def _divided_unless_zero(older: OlderOps, node: Node) -> None:
    x, y = node.inputs
    is_zero = older.before(node, "Equal", x, older.constant(node, 0, x.base_dtype))
    quotient = older.before(node, "RealDiv", x, y)
    older.become(node, "SelectV2", [is_zero, older.before(node, "ZerosLike", quotient), quotient])


@_rule("EnsureShape")
def _stated_shape(older: OlderOps, node: Node) -> None:
    known, stated = older.shape(node.inputs[0]), node.attr("shape")
    holds = known.dims is not None and known.rank == stated.rank
    holds = holds and all(size == dim for size, dim in zip(stated, known) if isinstance(size, int))
    _require(stated.rank is None or holds, "the shape is not known before a run")
    older.rename(node, "Identity")


@_rule("NonMaxSuppressionV5")
def _best_boxes_softly(older: OlderOps, node: Node) -> None:
    _require(older.are_unread(node, 1), "its scores or its number of boxes are read")
    _require(not node.attr("pad_to_max_output_size"), "it fills up its output")
    _require(not older.value(node, 5, "soft_nms_sigma").any(), "its soft_nms_sigma is not 0")
    older.become(node, "NonMaxSuppressionV3", node.inputs[:5])


@_rule("NonMaxSuppressionV4")
def _best_boxes_padded(older: OlderOps, node: Node) -> None:
    _require(older.are_unread(node, 1), "its number of boxes is read")
    _require(not node.attr("pad_to_max_output_size"), "it fills up its output")
    older.become(node, "NonMaxSuppressionV3", node.inputs)


@_rule("NonMaxSuppressionV3")
def _best_boxes_above(older: OlderOps, node: Node) -> None:
    _require(older.value(node, 4, "its score_threshold") == -np.inf, "its score_threshold is not minus infinity")
    older.become(node, "NonMaxSuppressionV2", node.inputs[:4])


@_rule("NonMaxSuppressionV2")
def _best_boxes(older: OlderOps, node: Node) -> None:
    _require(node.attr("T") is float32, "its boxes are not float")
    threshold = float(older.value(node, 3, "its iou_threshold"))
    older.become(node, "NonMaxSuppression", node.inputs[:3], iou_threshold=threshold)


@_rule("StaticRegexReplace")
def _replaced_text(older: OlderOps, node: Node) -> None:
    texts = [older.constant(node, node.attr(name), string) for name in ("pattern", "rewrite")]
    older.become(node, "RegexReplace", [*node.inputs, *texts], replace_global=node.attr("replace_global"))


@_rule("StaticRegexFullMatch")
def _matched_text(older: OlderOps, node: Node) -> None:
    older.become(node, "RegexFullMatch", [*node.inputs, older.constant(node, node.attr("pattern"), string)])


@_rule("UniqueV2")
def _unique(older: OlderOps, node: Node) -> None:
    _require(not older.value(node, 1, "the axis").size, "it has an axis")
    older.become(node, "Unique", node.inputs[:1], out_idx=node.attr("out_idx"))


@_rule("ParseExampleV2")
def _examples(older: OlderOps, node: Node) -> None:
    _require(not node.attr("ragged_value_types"), "it parses ragged features")
    _require(older.shape(node.inputs[0]).rank == 1, "its examples are not known to be a vector")
    sparse, dense = (list(older.value(node, index, "a list of keys").reshape(-1)) for index in (2, 3))
    keys = [[older.constant(node, key, string) for key in names] for names in (sparse, dense)]
    attrs = {name: node.attr(name) for name in ("sparse_types", "dense_shapes")}
    older.become(node, "ParseExample", [*node.inputs[:2], *keys, node.inputs[5:]], Tdense=node.attr("Tdense"), **attrs)


@_rule("Conv2D", "DepthwiseConv2dNative")
def _padded_convolution(older: OlderOps, node: Node) -> None:
    # The other paddings are as old as the ops, so that there is nothing to report of such a node.
    _require(node.attr("padding") == b"EXPLICIT", "")
    paddings = older.constant(node, np.reshape(node.attr("explicit_paddings"), (-1, 2)), int32)
    padded = older.before(node, "Pad", node.inputs[0], paddings)
    older.graph.set_input(node, 0, padded)
    node.set_attr("padding", b"VALID")
    node.remove_attr("explicit_paddings")
