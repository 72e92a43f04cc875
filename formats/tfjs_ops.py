"""TensorFlow.js' own ops in TensorFlow's words: tensorflowjs_converter fuses nodes into ops that TensorFlow lacks.

tfjs-converter/python/tensorflowjs/converters has the rewrites (fuse_prelu.py, fuse_depthwise_conv2d.py), and
tfjs-converter/src/operations/executors/convolution_executor.ts runs their results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from ..core.registry.catalog import CATALOG
from .protos.graph_pb2 import AttrValue, GraphDef, NodeDef

_RENAMED: Final = {"FusedDepthwiseConv2dNative": "_FusedDepthwiseConv2dNative", "DepthwiseConv2d": "DepthwiseConv2dNative"}
_PRODUCTS: Final = {
    "_FusedConv2D": "Conv2D", "_FusedDepthwiseConv2dNative": "DepthwiseConv2dNative", "_FusedMatMul": "MatMul",
}  # fmt: skip
"""The op whose product a fused op computes first."""
_ACTIVATIONS: Final = ("Relu", "Relu6", "Elu", "LeakyRelu", "Sigmoid", "Tanh")
_NOTHING: Final = ("", "NoOp")
"""What the converter writes where a product has an activation and no bias."""
_FLOAT: Final = AttrValue(type="DT_FLOAT")


def translate(graph: GraphDef) -> None:
    """Put TensorFlow's ops in the place of TensorFlow.js' own; the last of several nodes for a node keeps the name."""
    names = {node.name for node in graph.node}
    nodes = [made for node in graph.node for made in _translated(node, names)]
    del graph.node[:]
    graph.node.extend(nodes)


def _translated(node: NodeDef, names: set[str]) -> list[NodeDef]:
    """Return the nodes that compute what a node computes in TensorFlow.js: usually the node alone."""
    node.op = _RENAMED.get(node.op, node.op)
    values = [name for name in node.input if not name.startswith("^")]
    if node.op == "Prelu" and len(values) == 2:
        chain = _Chain(node, names, values[0])
        chain.prelu(values[1])
        return chain.named()
    if node.op not in _PRODUCTS or _is_tensorflows(node):
        _drop_padding(node)
        return [node]
    chain = _Chain(node, names, values[0])
    chain.product(_PRODUCTS[node.op], values[:2])
    arguments = iter(values[2:])
    for part in _parts(node):
        if not chain.fused(part, arguments):
            return [node]
    return chain.named()


def _parts(node: NodeDef) -> list[str]:
    """Return the ops that follow the product of a fused node."""
    return [part.decode("utf-8", "replace") for part in node.attr.get("fused_ops", AttrValue()).list.s]


def _is_tensorflows(node: NodeDef) -> bool:
    """Return True for a fused node that TensorFlow's op of the name computes: a bias or a normalization, an activation."""
    first, *others = _parts(node) or [""]
    allowed = CATALOG[node.op].attrs["padding"].allowed if "padding" in CATALOG[node.op].attrs else None
    has_padding = allowed is None or node.attr.get("padding", AttrValue()).s in allowed
    return has_padding and first in ("BiasAdd", "FusedBatchNorm") and len(others) < 2 and set(others) <= set(_ACTIVATIONS)


def _drop_padding(node: NodeDef) -> None:
    """Drop the list of explicit paddings, empty here, from an op that has no such attribute in TensorFlow."""
    definition = CATALOG.get(node.op)
    if definition is not None and "explicit_paddings" not in definition.attrs and "explicit_paddings" in node.attr:
        del node.attr["explicit_paddings"]


class _Chain:
    """Nodes in a row that replace a fused node, each with the value of the one before as its first input."""

    def __init__(self, node: NodeDef, names: set[str], value: str) -> None:
        self.node = node
        self.names = names
        self.value = value
        """The name of the last value."""
        self.made: list[NodeDef] = []
        self.dtype = node.attr.get("T", _FLOAT)

    def add(self, op: str, *inputs: str) -> str:
        """Add a node, and return its name, which is new."""
        plain = f"{self.node.name}/{op}"
        names = itertools.chain([plain], (f"{plain}_{number}" for number in itertools.count(1)))
        name = next(itertools.filterfalse(self.names.__contains__, names))
        self.names.add(name)
        added = NodeDef(name=name, op=op, input=inputs, device=self.node.device)
        added.attr["T"].CopyFrom(self.dtype)
        self.made.append(added)
        return name

    def product(self, op: str, values: Sequence[str]) -> None:
        """Begin with the product of a fused node."""
        self.value = self.add(op, *values)
        for name in CATALOG[op].attrs:
            if name in self.node.attr:
                self.made[-1].attr[name].CopyFrom(self.node.attr[name])

    def fused(self, part: str, arguments: Iterator[str]) -> bool:
        """Add a part of a fused node, which takes its arguments; False for an unknown part or without an argument."""
        if part in _ACTIVATIONS:
            self.value = self.add(part, self.value)
            if part == "LeakyRelu" and "leakyrelu_alpha" in self.node.attr:
                self.made[-1].attr["alpha"].CopyFrom(self.node.attr["leakyrelu_alpha"])
        elif part in ("BiasAdd", "Prelu"):
            argument = next(arguments, None)
            if argument is None:
                return False
            (self.bias if part == "BiasAdd" else self.prelu)(argument)
        else:
            return part in _NOTHING
        return True

    def bias(self, bias: str) -> None:
        """Add a bias for each channel."""
        self.value = self.add("BiasAdd", self.value, bias)
        if "data_format" in self.node.attr:
            self.made[-1].attr["data_format"].CopyFrom(self.node.attr["data_format"])

    def prelu(self, slope: str) -> None:
        """Add max(x, 0) - slope * max(-x, 0): x, and its product with the slope below 0."""
        above = self.add("Relu", self.value)
        below = self.add("Relu", self.add("Neg", self.value))
        self.value = self.add("Sub", above, self.add("Mul", slope, below))

    def named(self) -> list[NodeDef]:
        """Return the nodes; the last has the name of the fused node, the first waits for what the fused node waits for."""
        self.made[-1].name = self.node.name
        self.made[0].input.extend(name for name in self.node.input if name.startswith("^"))
        return self.made
