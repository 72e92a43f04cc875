"""TensorFlow.js graph models: model.json with a GraphDef in protobuf's JSON, and the weights in binary files beside it.

https://github.com/tensorflow/tfjs/blob/master/tfjs-core/src/io/types.ts describes the manifest of the weights,
tfjs-core/src/io/io_utils.ts their encodings.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import os
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from google.protobuf import json_format

from ..core.graph.graph import Graph
from ..core.graph.metagraph import INIT_SIGNATURE, USUAL_SIGNATURE
from ..core.ops.shared.tensorflow_js import translate
from ..core.runtime.state.file_access import NO_FILES, FileGate
from ..core.support.atomic import file_errors
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, TfgError
from ..core.support.regular_files import WITHOUT_WEIGHTS, require_no_pointer
from ..core.types import dtypes
from ..core.types.arrays import Array
from ..core.types.tensors import Tensor
from .meta_graph import graph_from_meta_graph
from .protos.graph_pb2 import GraphDef, NodeDef, TensorShapeProto
from .protos.meta_graph_pb2 import MetaGraphDef, SignatureDef

_STORED: Final = {"float32": "<f4", "int32": "<i4", "bool": "u1", "complex64": "<c8", "float16": "<f2"}
"""The NumPy dtypes of weights that are not quantized."""
_QUANTIZED: Final = {"uint8": "u1", "uint16": "<u2", "float16": "<f2"}
_LENGTH: Final = struct.Struct("<I")
_FEW_BYTES: Final = 64 << 20
"""The bytes of constants that a graph may always have."""
_MOST_COPIES: Final = 16
"""The bytes of constants for each byte of the weights, beyond _FEW_BYTES: functions may share a weight."""
_DAMAGED: Final = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, struct.error, json_format.Error,
    SystemError,
)  # fmt: skip
"""The errors for a damaged file; protobuf raises SystemError for a field name with half of a surrogate pair."""


def graph_from_tfjs(data: memoryview, folder: str | None, faults: list[TfgError] | None = None) -> Graph:
    """Return the graph of a model.json; errors as `meta_graph_of_tfjs`, and those of nodes as `load`.

    Weights in files that are not there have a dtype and a shape; a reader of their elements gets the error.
    """
    lacks: dict[str, TfgError] = {}
    about = meta_graph_of_tfjs(data, folder, lacks)
    graph = graph_from_meta_graph(memoryview(about.SerializeToString()), folder, faults)
    translate(graph)
    for name, error in lacks.items():
        node = graph.get(name)
        if node is not None and isinstance(value := node.attrs.get("value"), Tensor):
            node.set_attr("value", Tensor.lacking(value.dtype, value.shape, error))
    return graph


def meta_graph_of_tfjs(data: memoryview, folder: str | None, lacks: dict[str, TfgError] | None = None) -> MetaGraphDef:
    """Return the graph and the signature of a model.json, weights included; `folder` has the files of the weights.

    InvalidArgumentError for a layers model, NotFoundError where the files are not there, DataLossError for weights that do
    not fit the manifest. `lacks` gets the NotFoundError of each weight, by name, instead.
    """
    try:
        model = json.loads(bytes(data).decode())
        if "layers-model" in str(model.get("format", "")) or "node" not in model["modelTopology"]:
            hint = "convert the Keras model with tensorflowjs_converter --output_format=tfjs_graph_model"
            raise InvalidArgumentError("the file is a layers model of TensorFlow.js, without a graph", hint=hint)
        about = MetaGraphDef(graph_def=_graph_def(model["modelTopology"]))
        about.meta_info_def.tensorflow_version = str(model.get("generatedBy") or "")
        _add_signature(about, model)
        weights = dict(_weights(model.get("weightsManifest") or [], folder, lacks))
        _fill(about.graph_def, weights)
        if model.get("modelInitializer"):
            _add_initializer(about, model, weights)
    except _DAMAGED as error:
        raise DataLossError(f"the file is not a valid model.json of TensorFlow.js: {str(error)[:200]}") from None
    return about


def _graph_def(topology: Mapping[str, Any]) -> GraphDef:
    """Return the message of a topology; older converters wrote a string as the list of its characters' codes."""
    functions = (topology.get("library") or {}).get("function") or []
    nodes = [*(topology.get("node") or ()), *(node for function in functions for node in function.get("nodeDef") or ())]
    for node in nodes:
        for value in (node.get("attr") or {}).values():
            if isinstance(value.get("s"), list):
                value["s"] = _base64(value["s"])
            if "list" in value and "s" in value["list"]:
                value["list"]["s"] = [_base64(text) if isinstance(text, list) else text for text in value["list"]["s"]]
    return json_format.ParseDict(dict(topology), GraphDef(), ignore_unknown_fields=True)


def _base64(codes: list[int]) -> str:
    return base64.b64encode(bytes(codes)).decode()


def _add_signature(about: MetaGraphDef, model: Mapping[str, Any]) -> None:
    """Add the signature of a model, which older converters wrote into the metadata; it is the usual signature."""
    signature = model.get("signature") or (model.get("userDefinedMetadata") or {}).get("signature")
    if signature:
        json_format.ParseDict(signature, about.signature_def[USUAL_SIGNATURE], ignore_unknown_fields=True)
        _complete(about.signature_def[USUAL_SIGNATURE])


def _complete(signature: SignatureDef) -> None:
    signature.method_name = signature.method_name or "tensorflow/serving/predict"


def _add_initializer(about: MetaGraphDef, model: Mapping[str, Any], weights: Mapping[str, Array]) -> None:
    """Add the graph that fills the tables, in a scope of its own, as the op that runs before all others.

    The graph of the model takes a table as an input, which has the `resourceId` of an output of the initializer.
    """
    graph = _graph_def(model["modelInitializer"])
    _fill(graph, weights)
    scope = _free_scope(about.graph_def)
    read = {name.lstrip("^").partition(":")[0] for node in graph.node for name in node.input}
    last = {node.name for node in graph.node} - read
    for node in graph.node:
        node.name = f"{scope}/{node.name}"
        node.input[:] = [f"^{scope}/{name[1:]}" if name.startswith("^") else f"{scope}/{name}" for name in node.input]
        node.attr.pop("_class", None)
    first, *others = (node for node in graph.node if node.name.partition("/")[2] in last)
    first.input.extend(f"^{other.name}" for other in others)
    about.signature_def[INIT_SIGNATURE].outputs[INIT_SIGNATURE].name = first.name
    about.graph_def.MergeFrom(graph)
    made = (model.get("initializerSignature") or {}).get("outputs") or {}
    tables = {output["resourceId"]: f"{scope}/{output['name']}" for output in made.values() if "resourceId" in output}
    _use_tables(about, model, tables)


def _free_scope(graph: GraphDef) -> str:
    taken = {node.name.partition("/")[0] for node in graph.node}
    names = itertools.chain(["initializer"], map("initializer_{}".format, itertools.count(1)))
    return next(itertools.filterfalse(taken.__contains__, names))


def _use_tables(about: MetaGraphDef, model: Mapping[str, Any], tables: Mapping[Any, str]) -> None:
    """Read the tables of the initializer in the place of the model's inputs for tables."""
    inputs = (model.get("signature") or {}).get("inputs") or {}
    made = {argument: tables[value["resourceId"]] for argument, value in inputs.items() if value.get("resourceId") in tables}
    places = {inputs[argument]["name"].partition(":")[0]: table for argument, table in made.items()}
    for node in about.graph_def.node:
        node.input[:] = [places.get(name.removesuffix(":0"), name) for name in node.input]
    for node in [node for node in about.graph_def.node if node.name in places]:
        about.graph_def.node.remove(node)
    for argument in made:
        del about.signature_def[USUAL_SIGNATURE].inputs[argument]


def _weights(manifest: list[Any], folder: str | None, lacks: dict[str, TfgError] | None) -> Iterator[tuple[str, Array]]:
    """Yield the names and values of the weights of all groups; the files of a group are one sequence of bytes."""
    read: set[str] = set()
    for group in manifest:
        try:
            data = b"".join(_contents(path, folder, read) for path in group["paths"])
        except NotFoundError as error:
            error.details = WITHOUT_WEIGHTS
            if lacks is None or folder is None or not group["weights"]:
                raise
            lacks |= dict.fromkeys([entry["name"] for entry in group["weights"]], error)
            continue
        position = 0
        for entry in group["weights"]:
            value, position = _weight(entry, data, position)
            yield entry["name"], value
        if position != len(data):
            raise ValueError(f"{len(data):,} bytes in {', '.join(group['paths'])}, but the manifest says {position:,}")


def _contents(path: str, folder: str | None, read: set[str]) -> bytes:
    """Return the bytes of a file of the manifest, and add the file to `read`; ValueError for a file that was read before."""
    if folder is None:
        raise NotFoundError(f"the weights are in '{path}', next to model.json", hint="give the path of model.json")
    place = os.path.join(folder, path)
    if os.path.realpath(place) in read:
        raise ValueError(f"the manifest names the file '{path}' twice")
    read.add(os.path.realpath(place))
    with file_errors(place), FileGate(NO_FILES.reading(folder)).open(place) as file:
        data = file.read()
    require_no_pointer(data, place, WITHOUT_WEIGHTS)
    return data


def _weight(entry: Mapping[str, Any], data: bytes, position: int) -> tuple[Array, int]:
    """Return the value of an entry of the manifest, which begins at a position of the data, and the position behind it."""
    shape = entry["shape"]
    if not all(type(size) is int and size >= 0 for size in shape) or len(shape) > 32:
        raise ValueError(f"the weight '{entry['name']}' has the shape {str(shape)[:80]}")
    count = math.prod(shape)
    if entry["dtype"] == "string":
        return _strings(data, position, count, shape)
    quantization = entry.get("quantization")
    stored = np.dtype(_STORED[entry["dtype"]] if quantization is None else _QUANTIZED[quantization["dtype"]])
    end = position + count * stored.itemsize
    if end > len(data):
        raise ValueError(f"the weight '{entry['name']}' ends at byte {end:,} of {len(data):,}")
    array = np.frombuffer(data, stored, count, position).reshape(shape)
    return (array if quantization is None else _dequantized(array, quantization, entry["dtype"])), end


def _strings(data: bytes, position: int, count: int, shape: list[int]) -> tuple[Array, int]:
    if count > len(data):
        raise ValueError(f"{count:,} strings in {len(data):,} bytes")
    strings = np.empty(count, object)
    for index in range(count):
        (length,) = _LENGTH.unpack_from(data, position)
        position += _LENGTH.size + length
        if position > len(data):
            raise ValueError("a string ends past the data")
        strings[index] = data[position - length : position]
    return strings.reshape(shape), position


def _dequantized(array: Array, quantization: Mapping[str, Any], dtype: str) -> Array:
    """Return the numbers that quantized weights stand for, in float32 arithmetic as in TensorFlow.js."""
    if quantization["dtype"] == "float16":
        return array.astype(np.float32)
    scale, least = (_float32(quantization, key) for key in ("scale", "min"))
    values: Array = array.astype(np.float32) * scale + least
    return np.rint(values) if dtype == "int32" else values


def _float32(quantization: Mapping[str, Any], key: str) -> np.float32:
    """Return a number of the quantization; ValueError for other values, which NumPy would broadcast."""
    number = quantization[key]
    if not isinstance(number, int | float) or not abs(number) <= float(np.finfo(np.float32).max):
        raise ValueError(f"the {key} of a quantization is not a float32: {str(number)[:80]}")
    return np.float32(number)


def _fill(graph: GraphDef, weights: Mapping[str, Array]) -> None:
    """Put the weights into the constants of their names; the dtype is the constant's, as a weight has one of few.

    ValueError for repeated names that would make constants of many times the size of the weights.
    """
    nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
    left = _FEW_BYTES + _MOST_COPIES * sum(array.nbytes for array in weights.values())
    for node in nodes:
        if node.name in weights and "dtype" in node.attr:
            left -= weights[node.name].nbytes
            if left < 0:
                raise ValueError(f"too many constants have the name of a weight, the last is '{node.name}'")
            _set_value(node, weights[node.name])


def _set_value(node: NodeDef, array: Array) -> None:
    dtype = dtypes.from_number(node.attr["dtype"].type)
    tensor = node.attr["value"].tensor
    tensor.Clear()
    tensor.dtype = node.attr["dtype"].type
    tensor.tensor_shape.CopyFrom(TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in array.shape]))
    if (dtype is dtypes.string) != (array.dtype == object):
        raise ValueError(f"the weight '{node.name}' has another type than the constant, {dtype}")
    if dtype is dtypes.string:
        tensor.string_val.extend(array.ravel().tolist())
    else:
        with np.errstate(all="ignore"):
            tensor.tensor_content = array.astype(dtype.numpy).tobytes()
