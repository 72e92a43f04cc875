"""The function behind `tfg convert GRAPH FILE.onnx`."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...core.graph.graph import Graph
from ...core.model.model_view import layers_of_nodes, model_view
from ...core.onnx.exporting import LayerNames, export
from ...core.onnx.opsets import OPSET, check_opset
from ...core.support.words import counted
from ...core.types.arrays import Array
from ..onnx_model import as_pairs, onnx_input_dims, require, run_onnx, save_onnx
from .model_export import DeclaredDims, ModelExport


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
