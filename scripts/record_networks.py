"""Record the structure of published networks as tests/core/flops/graphs/NAME.pb.xz: frozen graphs with zeros as weights.

usage (with TensorFlow and tf_keras): record_networks.py [NAME ...]
"""

from __future__ import annotations

import lzma
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
import tf_keras
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

FOLDER = pathlib.Path(__file__).parents[1] / "tests" / "core" / "flops" / "graphs"


def lstm() -> Any:
    """Four LSTM layers of 512 cells over 100 steps, the example of NVIDIA's LSTM.cu."""
    layers = [tf_keras.layers.LSTM(512, return_sequences=True) for _ in range(4)]
    return tf_keras.Sequential([tf_keras.Input((100, 512)), *layers])


NETWORKS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "resnet50": (lambda: keras.applications.ResNet50(weights=None), (224, 224, 3)),
    "mobilenetv2": (lambda: tf_keras.applications.MobileNetV2(weights=None), (224, 224, 3)),
    "inceptionv3": (lambda: tf_keras.applications.InceptionV3(weights=None), (299, 299, 3)),
    "efficientnetb0": (lambda: tf_keras.applications.EfficientNetB0(weights=None), (224, 224, 3)),
    "lstm": (lstm, (100, 512)),
}


def frozen(build: Callable[[], Any], shape: tuple[int, ...]) -> Any:
    """Return the GraphDef of a network for examples of `shape`, with an unknown batch and frozen variables."""
    model = build()
    called = tf.function(lambda x: model(x, training=False))
    concrete = called.get_concrete_function(tf.TensorSpec((None, *shape), tf.float32))
    return convert_variables_to_constants_v2(concrete, lower_control_flow=False).graph.as_graph_def()


def without_weights(graph: Any) -> Any:
    """Return the graph with a single zero for all elements of each weight, as a TensorProto stores a uniform tensor."""
    for node in graph.node:
        tensor = node.attr["value"].tensor
        if node.op == "Const" and tensor.dtype == tf.float32.as_datatype_enum and len(tensor.tensor_content) > 256:
            tensor.ClearField("tensor_content")
            tensor.float_val[:] = [0.0]
    return graph


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or NETWORKS:
        graph = without_weights(frozen(*NETWORKS[name]))
        data = lzma.compress(graph.SerializeToString(deterministic=True), preset=9 | lzma.PRESET_EXTREME)
        (FOLDER / f"{name}.pb.xz").write_bytes(data)
        print(f"{name}: {len(graph.node)} nodes, {len(data)} bytes")


if __name__ == "__main__":
    main()
