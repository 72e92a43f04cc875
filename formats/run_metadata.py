"""RunMetadata and StepStats protos: the executions that TensorFlow recorded while running a graph."""

from __future__ import annotations

import re
from typing import Final

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from ..core.flops.timings import NodeTime
from ..core.support.errors import DataLossError
from .codecs.source import read_source
from .protos.run_metadata_pb2 import NodeExecStats, RunMetadata, StepStats


def read_run_metadata(path: str) -> list[NodeTime]:
    """Return the executions recorded in a RunMetadata or StepStats file, binary or text; DataLossError for any other file."""
    data = bytes(read_source(path))
    # A StepStats has no tag of its own; the bytes of one may pass for the other, so executions are looked for.
    for kind in (RunMetadata, StepStats):
        for parse in (_binary, _text):
            message = parse(kind, data)
            stats = message.step_stats if isinstance(message, RunMetadata) else message
            if stats is not None and any(device.node_stats for device in stats.dev_stats):
                return node_times(stats)
    raise DataLossError(f"'{path}' has no RunMetadata or StepStats with executions of nodes")


def _binary(kind: type[RunMetadata] | type[StepStats], data: bytes) -> RunMetadata | StepStats | None:
    try:
        return kind.FromString(data)
    except DecodeError:
        return None


def _text(kind: type[RunMetadata] | type[StepStats], data: bytes) -> RunMetadata | StepStats | None:
    try:
        return text_format.Parse(data.decode(), kind(), allow_unknown_field=True)
    except (text_format.ParseError, ValueError, RecursionError):
        return None


def node_times(stats: StepStats) -> list[NodeTime]:
    """Return every execution; kernels in a GPU's streams, recorded beside the device's own entries, are left out."""
    return [
        NodeTime(*_name_and_op(node), device.device, _start(node), _seconds(node), _shapes(node))
        for device in stats.dev_stats
        if "/stream:" not in device.device
        for node in device.node_stats
    ]


_RECEIVED: Final = re.compile(r".*\] (?:edge_\d+_)?(\S+) from (\S+) to \S+")


def _name_and_op(node: NodeExecStats) -> tuple[str, str]:
    """Return name and op of a label as `y = MatMul(a, b)`; a tensor received from a device is named `a from DEVICE`."""
    # Some recorders put the op behind the name: `dense/MatMul:MatMul`.
    name = node.node_name.split(":")[0]
    received = _RECEIVED.fullmatch(node.timeline_label) if name == "RecvTensor" else None
    if received is not None:
        return f"{received[1]} from {received[2]}", name
    match = re.search(r"= ([A-Za-z_]\w*)\(", node.timeline_label)
    return name, match[1] if match else node.timeline_label


def _start(node: NodeExecStats) -> float:
    return node.all_start_nanos / 1e9 if node.all_start_nanos else node.all_start_micros / 1e6


def _seconds(node: NodeExecStats) -> float:
    """Return the time of the kernel, in seconds, or of the whole execution if the kernel's time is not recorded."""
    # Older recordings have microseconds alone.
    if node.op_end_rel_nanos:
        return (node.op_end_rel_nanos - node.op_start_rel_nanos) / 1e9
    if node.op_end_rel_micros:
        return (node.op_end_rel_micros - node.op_start_rel_micros) / 1e6
    return node.all_end_rel_nanos / 1e9 or node.all_end_rel_micros / 1e6


def _shapes(node: NodeExecStats) -> dict[int, tuple[int, ...]]:
    return {output.slot: tuple(dim.size for dim in output.tensor_description.shape.dim) for output in node.output}
