"""The function behind `tfg convert GRAPH FILE.onnx`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...core.onnx.exporting import export
from ...core.onnx.opsets import OPSET, check_opset
from ...core.support.words import counted
from ...core.types.arrays import Array
from ..onnx_model import as_pairs, onnx_input_dims, require, run_onnx, save_onnx
from .model_export import DeclaredDims, ModelExport


class OnnxExport(ModelExport):
    """A written ONNX model."""

    runtime: ClassVar[str] = "onnxruntime"

    def __init__(self, *args: Any, opset: int = OPSET) -> None:
        self.opset = opset
        super().__init__(*args)

    def write(self) -> None:
        """Write the model, and count the parts."""
        check_opset(require("onnx"), self.opset)
        model = export(self.graph, self.inputs, self.outputs)
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
