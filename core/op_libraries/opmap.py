"""Reading ops of one type as another, and what is known of op types that TensorFlow itself does not have."""

from __future__ import annotations

from collections.abc import Mapping

from ..catalog import CATALOG
from ..errors import InvalidArgumentError
from ..graph import Graph, Node

_BRIDGE = "left by the nGraph bridge, which rewrote"
FOREIGN: dict[str, tuple[str, str | None]] = {
    "NGraphVariable": (f"{_BRIDGE} VariableV2 so that the variable lives on its backend", "VariableV2"),
    "NGraphAssign": (f"{_BRIDGE} Assign to write to its own variables", "Assign"),
    "NGraphAssignAdd": (f"{_BRIDGE} AssignAdd", "AssignAdd"),
    "NGraphAssignSub": (f"{_BRIDGE} AssignSub", "AssignSub"),
    "NGraphApplyGradientDescent": (f"{_BRIDGE} ApplyGradientDescent", "ApplyGradientDescent"),
    "NGraphApplyMomentum": (f"{_BRIDGE} ApplyMomentum", "ApplyMomentum"),
    "NGraphEncapsulate": (f"{_BRIDGE} a cluster of nodes into one call of its backend; the nodes are not in the graph", None),
    "NGraphVariableUpdateNGTensor": ("left by the nGraph bridge: copies a variable to its backend", "Identity"),
    "NGraphPrefetchDataset": ("left by the nGraph bridge: its form of PrefetchDataset", "PrefetchDataset"),
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
    if op in FOREIGN:
        return FOREIGN[op]
    for prefix, origin in (("NGraph", "the nGraph bridge"), ("_Mkl", "oneDNN's graph rewriting"), ("Neuron", "AWS Neuron")):
        if op.startswith(prefix):
            stem = op.removeprefix(prefix)
            return f"left by {origin}", stem if stem in CATALOG else None
    from difflib import get_close_matches

    close = get_close_matches(op, list(CATALOG), 1, 0.8)
    return "neither TensorFlow nor an op library that was loaded declares it", close[0] if close else None


def map_ops(graph: Graph, mapping: Mapping[str, str]) -> int:
    """Change nodes of type OLD to type NEW, in the graph and its functions, and return how many there were.

    Attributes that NEW does not have are dropped. InvalidArgumentError where NEW is not declared.
    """
    for new in mapping.values():
        if new not in CATALOG:
            raise InvalidArgumentError(f"--map-op: '{new}' is no declared op", hint="`tfg ops` lists them")
    count = sum(_map_node(node, mapping) for node in graph)
    for function in graph.functions.values():
        count += sum(_map_node(node, mapping) for node in function.body)
    return count


def _map_node(node: Node, mapping: Mapping[str, str]) -> bool:
    new = mapping.get(node.op)
    if new is None:
        return False
    node.change_op(new)
    for name in list(node.attrs):
        if not name.startswith("_") and name not in CATALOG[new].attrs:
            node.remove_attr(name)
    return True
