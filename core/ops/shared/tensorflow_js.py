"""TensorFlow.js' own ops in TensorFlow's words: tensorflowjs_converter fuses nodes into ops that TensorFlow lacks.

tfjs-converter/python/tensorflowjs/converters has the rewrites (fuse_prelu.py, fuse_depthwise_conv2d.py), and
tfjs-converter/src/operations/executors/convolution_executor.ts runs their results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ...graph.graph import Graph, Node, Output
from ...registry.catalog import CATALOG
from ...types.dtypes import float32

_RENAMED: Final = {"FusedDepthwiseConv2dNative": "_FusedDepthwiseConv2dNative", "DepthwiseConv2d": "DepthwiseConv2dNative"}
_PRODUCTS: Final = {
    "_FusedConv2D": "Conv2D", "_FusedDepthwiseConv2dNative": "DepthwiseConv2dNative", "_FusedMatMul": "MatMul",
}  # fmt: skip
"""The op whose product a fused op computes first."""
_ACTIVATIONS: Final = ("Relu", "Relu6", "Elu", "LeakyRelu", "Sigmoid", "Tanh")
_SLOPE: Final = "leakyrelu_alpha"
_NOTHING: Final = ("", "NoOp")
"""What the converter writes where a product has an activation and no bias."""
_ARGUMENTS: Final = {"BiasAdd": 1, "Prelu": 1, **dict.fromkeys((*_ACTIVATIONS, *_NOTHING), 0)}
"""The parts of a fused op, and how many arguments each takes."""


_SPELLED: Final = {op: name for name, op in _RENAMED.items() if name.startswith("Fused")}


def spelled(op: str) -> str:
    """Return the name that TensorFlow.js has for an op of TensorFlow."""
    return _SPELLED.get(op, op)


def translate(graph: Graph) -> None:
    """Put TensorFlow's ops in the place of TensorFlow.js' own: the node computes the last of several parts."""
    for node in list(graph):
        if node.op in _RENAMED:
            node.change_op(_RENAMED[node.op])
        if node.op == "Prelu" and len(node.inputs) == 2:
            chain = _Chain(graph, node)
            chain.end(chain.sloped(*node.inputs).node)
        elif node.op in _PRODUCTS:
            _translate_fused(graph, node)


def _translate_fused(graph: Graph, node: Node) -> None:
    """Divide a fused node into its product and its parts where TensorFlow's op of the name lacks a part."""
    parts = [part.decode("utf-8", "replace") for part in node.attrs.get("fused_ops", ())]
    product, arguments = node.inputs[:2], node.inputs[2:]
    is_known = len(product) == 2 and all(part in _ARGUMENTS for part in parts)
    # A node that fits no rule stays, and its own check names what is wrong with it.
    if is_known and not _is_tensorflows(node, parts) and sum(_ARGUMENTS[part] for part in parts) == len(arguments):
        _Chain(graph, node).fused(product, [part for part in parts if part not in _NOTHING], iter(arguments))
    elif "explicit_paddings" not in CATALOG[node.op].attrs:
        node.remove_attr("explicit_paddings")  # TensorFlow's op has no such attribute, and the list is empty


def _is_tensorflows(node: Node, parts: Sequence[str]) -> bool:
    """Return True for a fused node that TensorFlow's op of the name computes: a bias, and maybe an activation."""
    padding = CATALOG[node.op].attrs.get("padding")
    # TensorFlow's fused ops may lack EXPLICIT padding, which TensorFlow.js has for all of them.
    has_padding = padding is None or padding.allowed is None or node.attrs.get("padding") in padding.allowed
    return has_padding and parts[:1] == ["BiasAdd"] and len(parts) < 3 and set(parts[1:]) <= set(_ACTIVATIONS)


class _Chain:
    """The nodes that take the place of a node: the last is the node itself."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph = graph
        self.node = node
        self.types = {"T": node.attrs.get("T", float32)}
        self.controls = node.control_inputs

    def add(self, op: str, *inputs: Output, **attrs: Any) -> Output:
        """Add a node, which waits for what the replaced node waits for."""
        name = self.graph.unique_name(f"{self.node.name}/{op}")
        return self.graph.add_node(name, op, inputs, self.controls, self.types | attrs, self.node.device).output()

    def fused(self, product: Sequence[Output], parts: Sequence[str], arguments: Iterator[Output]) -> None:
        """Compute the product and its parts."""
        op = _PRODUCTS[self.node.op]
        value = self.add(op, *product, **self.attrs_of(op))
        for part in parts:
            if part == "Prelu":
                value = self.sloped(value, next(arguments))
            elif part == "BiasAdd":
                value = self.add(part, value, next(arguments), **self.attrs_of(part))
            else:
                value = self.add(part, value, **({"alpha": self.node.attr(_SLOPE)} if part == "LeakyRelu" else {}))
        self.end(value.node)

    def attrs_of(self, op: str) -> Mapping[str, Any]:
        """Return the attributes of the fused node that an op has as well."""
        return {name: value for name, value in self.node.attrs.items() if name in CATALOG[op].attrs}

    def sloped(self, value: Output, slope: Output) -> Output:
        """Return max(x, 0) - slope * max(-x, 0): x, and its product with the slope below 0."""
        # As Keras computes it.
        above, below = self.add("Relu", value), self.add("Relu", self.add("Neg", value))
        return self.add("Sub", above, self.add("Mul", slope, below))

    def end(self, last: Node) -> None:
        """Let the replaced node compute what the last node computes."""
        self.node.change_op(last.op, dict(last.attrs))
        # The node keeps its name, so that readers and signatures find the result.
        self.graph.set_inputs(self.node, last.inputs, self.controls)
        self.graph.remove_node(last)
