"""Op types that TensorFlow lacks, and sources for a missing op."""

from __future__ import annotations

import functools
import os
from collections.abc import Container
from typing import TYPE_CHECKING, Final

from ..registry.catalog import CATALOG
from ..support.hints import Blank, Hint, step
from ..types.tensors import FuncRef

if TYPE_CHECKING:
    from .node import Node

_BRIDGE = "left by the nGraph bridge, which rewrote"
FOREIGN: dict[str, tuple[str, str | None]] = {
    "NGraphVariable": (f"{_BRIDGE} VariableV2 so that the variable lives on its backend", "VariableV2"),
    "NGraphEncapsulate": (f"{_BRIDGE} a cluster of nodes into one call of its backend; the nodes are not in the graph", None),
    "NGraphVariableUpdateNGTensor": ("left by the nGraph bridge: copies a variable to its backend", "Identity"),
    "TRTEngineOp": ("left by TensorFlow-TensorRT, which compiled a cluster of nodes for NVIDIA's engine", "PartitionedCall"),
    "XlaLaunch": ("left by XLA, which compiled a cluster of nodes; its function holds them", None),
    "_XlaCompile": ("left by XLA, which compiled a cluster of nodes", None),
    "_XlaRun": ("left by XLA: runs what _XlaCompile compiled", None),
    "NeuronOp": ("left by AWS Neuron, which compiled a cluster of nodes for its chip", None),
    "IPUApplicationRuntime": ("left by Graphcore's bridge: a compiled program", None),
    "TfLite_Detection_PostProcess": ("a custom op of TFLite for detection boxes", None),
}


def foreign(op: str) -> tuple[str, str | None]:
    """Describe an op type that no TensorFlow has, and name a substitute type."""
    known_origin = origin(op)
    if known_origin is not None:
        return known_origin
    import difflib

    # So near a name can only be a slip, or an op of a later release.
    close = difflib.get_close_matches(op, list(CATALOG), 1, 0.8)
    return "neither TensorFlow nor a loaded op library declares it", close[0] if close else None


def origin(op: str) -> tuple[str, str | None] | None:
    """Return the origin of an op type and a substitute type; None if the origin is unknown.

    Known origins are bridges to other runtimes, and earlier releases of TensorFlow.
    """
    if op in FOREIGN:
        return FOREIGN[op]
    for prefix, bridge in (("NGraph", "the nGraph bridge"), ("_Mkl", "oneDNN's graph rewriting"), ("Neuron", "AWS Neuron")):
        if op.startswith(prefix):
            stem = op.removeprefix(prefix)
            return f"left by {bridge}", stem if stem in CATALOG else None
    package = removed_ops().get(op)
    if package is not None:
        return f"an op of {package}, last available in TensorFlow 1.15", None
    if op.startswith("Addons>"):
        return "an op of the package tensorflow-addons", None
    return None


def original_function(node: Node, functions: Container[str]) -> str | None:
    """Return the function that holds the original nodes of a bridge's node; None if the library has no function for the
    node.

    The node refers to the function in an attribute, which TensorFlow-TensorRT once wrote as text, or by the node's own
    name.
    """
    names = []
    for value in node.attrs.values():
        if isinstance(value, FuncRef):
            names.append(value.name)
        elif isinstance(value, bytes) and len(value) <= _LONGEST_NAME:
            names.append(value.decode("utf-8", "replace"))
    return next((name for name in [*names, f"{node.name}_native_segment"] if name in functions), None)


_LONGEST_NAME: Final = 1 << 12


@functools.cache
def removed_ops() -> dict[str, str]:
    """Return the packages of the ops that TensorFlow no longer has."""
    with open(os.path.join(os.path.dirname(__file__), "removed_ops.txt"), encoding="utf-8") as file:
        rows = [line.partition(": ") for line in file if not line.startswith("#")]
    return {op: package for package, _, ops in rows for op in ops.split()}


def supply_hint(op: str) -> str:
    """Return a hint on sources for an interface or a kernel of an op type."""
    reason, other = origin(op) or ("", None)
    words = f"it is {reason}; " if reason else ""
    return Hint(
        words, step("map_ops", ops={op: other or Blank("OTHER")}), " reads it as an op that tfg knows, ",
        step("load_op_library"), " can supply it, ", step("extract"), " keeps the part of the graph without it; ",
        step("missing_ops"), " lists all missing ops",
    )  # fmt: skip
