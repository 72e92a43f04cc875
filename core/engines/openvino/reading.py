"""How a graph of tfg's gets into OpenVINO's TensorFlow frontend: node by node, or through a file in memory.

The iterator over nodes is a private interface of the frontend; pyproject.toml names the versions that it was tried with.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.graph import Graph, Node
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.shapes import Shape
from ...types.tensors import Tensor as Constant
from .library import ov

try:
    _native = importlib.import_module("openvino.frontend.tensorflow.py_tensorflow_frontend")
    _Decoder, _Iterator = _native._FrontEndDecoderBase, _native._FrontEndPyGraphIterator
    HAS_ITERATOR = True
except (ImportError, AttributeError):  # another version, where there is only the file
    _Decoder = _Iterator = object
    HAS_ITERATOR = False


class _NodeDecoder(_Decoder):  # type: ignore[misc, valid-type]
    """What the frontend asks of one node. `kept` takes the arrays whose memory its tensors share."""

    def __init__(self, node: Node, kept: list[Any]) -> None:
        _Decoder.__init__(self)
        self.node = node
        self.kept = kept

    def get_op_name(self) -> str:
        return self.node.name

    def get_op_type(self) -> str:
        return self.node.op

    def get_attribute(self, name: str) -> Any:
        value = self.node.attr("shape" if name == "_output_shapes" else name)
        return ov.OVAny(self._tensor(value.numpy()) if isinstance(value, Constant) else plain(value))

    def get_input_size(self) -> int:
        return len(self.node.inputs)

    def get_input_node_name(self, index: int) -> str:
        return self.node.inputs[index].node.name

    def get_input_node_name_output_port_index(self, index: int) -> int:
        return self.node.inputs[index].index

    def get_input_node_name_output_port_name(self, index: int) -> str:
        return ""

    def _tensor(self, array: Array) -> Any:
        if array.size < 2 or not array.flags.c_contiguous:
            return ov.Tensor(np.array(array))
        self.kept.append(array)
        return ov.Tensor(_as_writable(array), shared_memory=True)


class _NodeIterator(_Iterator):  # type: ignore[misc, valid-type]
    """The nodes of a graph as the frontend goes through them."""

    def __init__(self, graph: Graph) -> None:
        _Iterator.__init__(self)
        self.kept: list[Any] = []
        self.decoders = [_NodeDecoder(node, self.kept) for node in graph]
        self.place = 0

    def get_input_names(self) -> Sequence[str]:
        return []

    def get_output_names(self) -> Sequence[str]:
        return []

    def get_input_names_map(self) -> Mapping[str, str]:
        return {}

    def get_output_names_map(self) -> Mapping[str, str]:
        return {}

    def is_end(self) -> bool:
        return self.place >= len(self.decoders)

    def reset(self) -> None:
        self.place = 0

    def size(self) -> int:
        return len(self.decoders)

    def next_impl(self) -> None:
        self.place += 1

    def get_decoder(self) -> _NodeDecoder:
        return self.decoders[self.place]

    def get_body_graph_iterator(self, name: str) -> None:
        return None


def input_model(frontend: Any, graph: Graph, through_file: bool = not HAS_ITERATOR) -> tuple[Any, Any]:
    """The frontend's model of a graph, and what must live as long as anything that is made of it."""
    if through_file:
        return _through_file(frontend, graph), None
    iterator = _NodeIterator(graph)
    return frontend.load(iterator), iterator


def _through_file(frontend: Any, graph: Graph) -> Any:
    """As above, by a file that is gone once it is read: in memory where the system has such files."""
    saving = importlib.import_module(".....formats", __name__)
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tfg-", dir=folder) as place:
        path = os.path.join(place, "graph.pb")
        saving.save(graph, path)
        return frontend.load(path)


def place_of(model: Any, node: str, index: int) -> Any:
    """Where a tensor is in the frontend's model."""
    found = model.get_place_by_tensor_name(f"{node}:{index}")
    return found if found is not None or index else model.get_place_by_tensor_name(node)


def plain(value: Any) -> Any:
    """An attribute as the frontend takes it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, DType):
        return ov.Type(value.base.numpy) if not value.is_object else ov.Type.dynamic
    if isinstance(value, Shape):
        dims = value.dims
        return ov.PartialShape.dynamic() if dims is None else ov.PartialShape([-1 if d is None else d for d in dims])
    if isinstance(value, float):
        return np.float32(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value] or None
    return value


def _as_writable(array: Array) -> Array:
    """The memory of a constant as an array that may be written to, as OpenVINO wants it, which writes to no constant."""
    if array.flags.writeable:
        return array
    memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    return np.frombuffer(memoryview(memory), array.dtype).reshape(array.shape)
