"""Files other than graphs, with about a given number of entries: recordings, TensorFlow.js models and variables."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Mapping

import numpy as np
from google.protobuf import json_format

from tfg.core.codecs.tfrecord import encode_record
from tfg.core.types.tensors import Tensor
from tfg.formats.codecs.safetensors import write_safetensors
from tfg.formats.protos.event_pb2 import Event, Summary
from tfg.formats.protos.graph_pb2 import GraphDef
from tfg.formats.protos.run_metadata_pb2 import DeviceStepStats, NodeExecStats, RunMetadata, StepStats


def write_events(path: pathlib.Path, graph: GraphDef) -> None:
    """Write an event file with the graph, and for each node a summary in each of two steps."""
    events = [Event(file_version="brain.Event:2"), Event(graph_def=graph.SerializeToString())]
    for step in range(2):
        events += [
            Event(step=step, summary=Summary(value=[Summary.Value(tag=node.name, simple_value=step)])) for node in graph.node
        ]
    path.write_bytes(b"".join(encode_record(event.SerializeToString()) for event in events))


def write_trace(path: pathlib.Path, graph: GraphDef) -> None:
    """Write the RunMetadata of a run that executed each node once, with the graph as a partition graph."""
    times = [
        NodeExecStats(node_name=node.name, all_start_micros=1 + i, op_end_rel_micros=1) for i, node in enumerate(graph.node)
    ]
    stats = StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0", node_stats=times)])
    path.write_bytes(RunMetadata(step_stats=stats, partition_graphs=[graph]).SerializeToString())


def write_tfjs(path: pathlib.Path, graph: GraphDef) -> None:
    """Write the graph as a TensorFlow.js model in the folder `path`, with a weight for each node."""
    weights = [{"name": f"{node.name}/weight", "shape": [2], "dtype": "float32"} for node in graph.node]
    model = {
        "modelTopology": json_format.MessageToDict(graph),
        "weightsManifest": [{"paths": ["weights.bin"], "weights": weights}],
    }
    path.mkdir(exist_ok=True)
    (path / "model.json").write_text(json.dumps(model))
    (path / "weights.bin").write_bytes(bytes(8 * len(weights)))


def write_tensors(path: pathlib.Path, graph: GraphDef) -> None:
    """Write a safetensors file with a tensor for each node; its name gets the extension."""
    write_safetensors(
        path.with_suffix(".safetensors"), {node.name: Tensor.from_numpy(np.zeros(2, np.float32)) for node in graph.node}
    )


WRITERS: Mapping[str, Callable[[pathlib.Path, GraphDef], None]] = {
    "events": write_events, "trace": write_trace, "tfjs": write_tfjs, "tensors": write_tensors,
}  # fmt: skip
"""The kinds of files by their names."""
