"""Notes of `tfg convert` on exported models."""

from __future__ import annotations

from ...core.support.words import counted
from ...formats.api.onnx_export import OnnxExport
from ...formats.api.stablehlo_export import StableHloExport
from ...formats.onnx_model import OPSET
from .. import render


def note_export(written: OnnxExport | StableHloExport, quiet: bool) -> None:
    """Print notes on the exported model."""
    if isinstance(written, StableHloExport):
        inputs = ", ".join(written.inputs) or "none"
        render.note(f"wrote {written.size:,} bytes of StableHLO to {written.path}; inputs: {inputs}", quiet)
    else:
        operations = counted(written.operations, "operation")
        render.note(f"wrote {operations} of opset {OPSET} and {written.weights:,} bytes of weights to {written.path}", quiet)
    for name in written.states:
        render.note(
            f"variable '{name}' changes: its old value is input {name}_before, its new value is output {name}_after", quiet
        )
    if isinstance(written, OnnxExport) and written.narrowed:
        some = ", ".join(written.narrowed[:3]) + (" ..." if len(written.narrowed) > 3 else "")
        count_of = counted(len(written.narrowed), "node")
        render.note(f"{count_of} computed in 32 bits, as onnxruntime lacks 64-bit kernels: {some}", quiet)
