"""What is known of op types that TensorFlow itself does not have, and where what is missing for an op can come from."""

from __future__ import annotations

from .catalog import CATALOG

_BRIDGE = "left by the nGraph bridge, which rewrote"
FOREIGN: dict[str, tuple[str, str | None]] = {
    "NGraphVariable": (f"{_BRIDGE} VariableV2 so that the variable lives on its backend", "VariableV2"),
    "NGraphAssign": (f"{_BRIDGE} Assign to write to its own variables", "Assign"),
    "NGraphEncapsulate": (f"{_BRIDGE} a cluster of nodes into one call of its backend; the nodes are not in the graph", None),
    "NGraphVariableUpdateNGTensor": ("left by the nGraph bridge: copies a variable to its backend", "Identity"),
    "TRTEngineOp": ("left by TensorFlow-TensorRT, which compiled a cluster of nodes for NVIDIA's engine", None),
    "XlaLaunch": ("left by XLA, which compiled a cluster of nodes; its function holds them", None),
    "_XlaCompile": ("left by XLA, which compiled a cluster of nodes", None),
    "_XlaRun": ("left by XLA: runs what _XlaCompile compiled", None),
    "NeuronOp": ("left by AWS Neuron, which compiled a cluster of nodes for its chip", None),
    "IPUApplicationRuntime": ("left by Graphcore's bridge: a compiled program", None),
    "TfLite_Detection_PostProcess": ("a custom op of TFLite for detection boxes", None),
}


def foreign(op: str) -> tuple[str, str | None]:
    """What an op type is that no TensorFlow has, and the type that it can be read as."""
    known = bridged(op)
    if known is not None:
        return known
    import difflib

    close = difflib.get_close_matches(op, list(CATALOG), 1, 0.8)
    return "neither TensorFlow nor an op library that was loaded declares it", close[0] if close else None


def bridged(op: str) -> tuple[str, str | None] | None:
    """What an op type is that a bridge to another runtime left, and the type that it can be read as; None for any other."""
    if op in FOREIGN:
        return FOREIGN[op]
    for prefix, origin in (("NGraph", "the nGraph bridge"), ("_Mkl", "oneDNN's graph rewriting"), ("Neuron", "AWS Neuron")):
        if op.startswith(prefix):
            stem = op.removeprefix(prefix)
            return f"left by {origin}", stem if stem in CATALOG else None
    return None


def supply_hint(op: str) -> str:
    """Where an interface or a kernel for an op type can come from."""
    reason, other = bridged(op) or ("", None)
    origin = f"it was {reason}; " if reason else ""
    return (
        f"{origin}`--map-op {op}={other or 'OTHER'}` reads it as one that tfg knows, `--op-library FILE` can supply it; "
        "`tfg explain GRAPH --missing` lists all such ops"
    )
