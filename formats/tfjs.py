"""TensorFlow.js graph models: model.json with a GraphDef in protobuf's JSON, and the weights in binary files beside it.

https://github.com/tensorflow/tfjs/blob/master/tfjs-core/src/io/types.ts describes the manifest of the weights,
tfjs-core/src/io/io_utils.ts their encodings, and tfjs-converter/python/tensorflowjs/quantization.py how they are quantized.
`tfjs_ops.txt` has the ops that tfjs-converter 4.22 runs.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import math
import os
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from google.protobuf import json_format

from ..core.graph.graph import Function, Graph, Node, Output
from ..core.graph.instantiation import copied
from ..core.graph.metagraph import INIT_SIGNATURE, USUAL_SIGNATURE
from ..core.graph.table_fills import table_fills
from ..core.graph.traversal import reachable
from ..core.ops.shared.older_ops import KeepsNewOpError, OlderOps
from ..core.ops.shared.tensorflow_js import spelled, translate
from ..core.planning.reachability import needed_nodes
from ..core.registry.op_facts import has_fact
from ..core.runtime.state.file_access import NO_FILES, FileGate
from ..core.support.atomic import file_errors
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, TfgError, UnimplementedError
from ..core.support.hints import Hint, option
from ..core.support.places import is_file, make_folders, remove, resolved
from ..core.support.regular_files import WITHOUT_WEIGHTS, open_regular, require_no_pointer
from ..core.support.tensor_names import free_name
from ..core.support.words import counted
from ..core.types import dtypes
from ..core.types.arrays import Array
from ..core.types.tensors import Tensor
from .codecs.source import write_file
from .codecs.tensor_proto import decode_tensor
from .meta_graph import graph_from_meta_graph
from .protos.graph_pb2 import FunctionDef, GraphDef, NodeDef, TensorProto, TensorShapeProto
from .protos.meta_graph_pb2 import MetaGraphDef, SignatureDef
from .saving import to_bytes

_STORED: Final = {"float32": "<f4", "int32": "<i4", "bool": "u1", "complex64": "<c8", "float16": "<f2"}
"""The NumPy dtypes of weights that are not quantized."""
_QUANTIZED: Final = {"uint8": "u1", "uint16": "<u2", "float16": "<f2"}
QUANTIZED: Final = tuple(_QUANTIZED)
"""The types in which weights of floats may be stored."""
SHARD_BYTES: Final = 4 << 20
"""The bytes of a file of weights: browsers keep files of 4 MB in their caches."""
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
    # A model without its weights can still be explained and drawn.
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

    InvalidArgumentError for a layers model, NotFoundError if the files are not there, DataLossError for weights that do
    not fit the manifest. `lacks` gets the NotFoundError of each weight, by name, instead.
    """
    try:
        model = json.loads(bytes(data).decode())
        # Older converters wrote no format; a layers model has layers in its topology, and no nodes.
        if "layers-model" in str(model.get("format", "")) or "node" not in model["modelTopology"]:
            hint = "convert the Keras model to a tfjs_graph_model with tensorflowjs_converter"
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
        parsed = about.signature_def[USUAL_SIGNATURE]
        parsed.method_name = parsed.method_name or "tensorflow/serving/predict"


def _add_initializer(about: MetaGraphDef, model: Mapping[str, Any], weights: Mapping[str, Array]) -> None:
    """Add the graph that fills the tables, in a scope of its own, as the op that runs before all others.

    The graph of the model takes a table as an input, which has the `resourceId` of an output of the initializer.
    """
    graph = _graph_def(model["modelInitializer"])
    _fill(graph, weights)
    scope = free_name("initializer", {node.name.partition("/")[0] for node in about.graph_def.node})
    read = {name.lstrip("^").partition(":")[0] for node in graph.node for name in node.input}
    # `last` has the nodes that no other reads. One of them waits for the others, and is the operation that starts the model.
    last = {node.name for node in graph.node} - read
    for node in graph.node:
        node.name = f"{scope}/{node.name}"
        node.input[:] = [f"^{scope}/{name[1:]}" if name.startswith("^") else f"{scope}/{name}" for name in node.input]
        node.attr.pop("_class", None)
    first, *others = (node for node in graph.node if node.name.partition("/")[2] in last)
    first.input.extend(f"^{other.name}" for other in others)
    about.signature_def[INIT_SIGNATURE].outputs[INIT_SIGNATURE].name = first.name
    about.graph_def.MergeFrom(graph)
    initialized = (model.get("initializerSignature") or {}).get("outputs") or {}
    tables = {output["resourceId"]: f"{scope}/{output['name']}" for output in initialized.values() if "resourceId" in output}
    _use_tables(about, model, tables)


def _use_tables(about: MetaGraphDef, model: Mapping[str, Any], tables: Mapping[Any, str]) -> None:
    """Read the tables of the initializer in the place of the model's inputs for tables."""
    inputs = (model.get("signature") or {}).get("inputs") or {}
    handles = {word: tables[value["resourceId"]] for word, value in inputs.items() if value.get("resourceId") in tables}
    places = {inputs[argument]["name"].partition(":")[0]: table for argument, table in handles.items()}
    for node in about.graph_def.node:
        node.input[:] = [places.get(name.removesuffix(":0"), name) for name in node.input]
    for node in [node for node in about.graph_def.node if node.name in places]:
        about.graph_def.node.remove(node)
    for argument in handles:
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
    # A manifest may name a file any number of times, and so make memory of many times the file's size.
    if resolved(place) in read:
        raise ValueError(f"the manifest names the file '{path}' twice")
    read.add(resolved(place))
    # The name comes from the model: the gate opens no file outside of its folder.
    with file_errors(place), FileGate(NO_FILES.reading(folder)).open(place) as file:
        data = file.read()
    require_no_pointer(data, place, WITHOUT_WEIGHTS)
    return data


def _weight(entry: Mapping[str, Any], data: bytes, position: int) -> tuple[Array, int]:
    """Return the value of an entry of the manifest, which begins at a position of the data, and the position behind it."""
    shape = entry["shape"]
    # By the exact type, since JSON's true and false are ints to `isinstance`.
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
    # Constants of several functions may have the name of one weight, and each gets a copy; a hostile file would name one
    # weight thousands of times.
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
            # TensorFlow.js has four dtypes of numbers: an int64 or a half of the graph is stored as int32 or float32.
            tensor.tensor_content = array.astype(dtype.numpy).tobytes()


@functools.cache
def known_ops() -> frozenset[str]:
    """Return the ops that TensorFlow.js runs."""
    with open(os.path.join(os.path.dirname(__file__), "tfjs_ops.txt"), encoding="utf-8") as file:
        return frozenset(file.read().split())


def write_tfjs(
    path: str, graph: Graph, inputs: Mapping[str, Output], outputs: Mapping[str, Output], weight_type: str | None = None
) -> int:
    """Write a frozen graph as a model.json with files of weights beside it, and return the number of bytes of the weights.

    The names of inputs and outputs are those of the signature. `weight_type` stores weights of floats as float16, or as
    uint8 or uint16 with a scale; a weight that the type cannot hold, with infinities for example, stays float32. Nodes that
    fill tables become the model's initializer. Files of weights that an earlier model.json of the path names, and the new one
    does not, are removed.

    UnimplementedError lists the ops that TensorFlow.js lacks, and names a constant that it cannot hold.
    """
    from .saved_model_writing import describe  # lazy: a model is read without it

    _refuse_unknown(graph)
    signature = SignatureDef()
    describe(graph, signature, inputs, outputs)
    main = needed_nodes([value.node for value in outputs.values()])
    filling = reachable(table_fills(graph))
    whole = GraphDef.FromString(to_bytes(graph, "graph"))
    _spell(whole)
    constants = {name: _constants(function.body) for name, function in graph.functions.items()}
    own = _constants(graph)
    parts = tuple(_part(whole, {node.name for node in nodes}) for nodes in (main, filling))
    weights = {name: value for part in parts for name, value in _taken_weights(part, own, constants)}
    stored = [_stored_weight(name, value, weight_type) for name, value in weights.items()]
    model = _model(graph, parts, signature)
    with file_errors(path):
        make_folders(os.path.dirname(path) or ".")
    # The old names are read before the new files are written. The old files are removed after model.json names the new ones,
    # so it never names a file that is gone.
    earlier = _named_files(path)
    # The weights are written first: a model.json that names new files is written only when they are there.
    model["weightsManifest"] = _write_shards(path, stored)
    write_file(path, [json.dumps(model, separators=(",", ":")).encode()])
    _remove(path, earlier - {name for group in model["weightsManifest"] for name in group["paths"]})
    return sum(len(data) for _, data in stored)


def _constants(nodes: Iterable[Node]) -> set[str]:
    return {node.name for node in nodes if node.is_constant}


def _spell(graph: GraphDef) -> None:
    """Call ops as TensorFlow.js does, and give each table a name, by which the model and the initializer share the table."""
    for node in (*graph.node, *(node for function in graph.library.function for node in function.node_def)):
        node.op = spelled(node.op)
        node.attr.pop("_class", None)  # names of nodes beside which it lies, and constants get other names
        if has_fact(node.op, "table") and not node.attr["shared_name"].s:
            node.attr["shared_name"].s = node.name.encode()


def _part(graph: GraphDef, names: Collection[str]) -> GraphDef:
    """Return a part of a graph, without control inputs from nodes that the part lacks."""
    part = GraphDef(versions=graph.versions, library=graph.library)
    for node in graph.node:
        if node.name in names:
            kept = part.node.add()
            kept.CopyFrom(node)
            # The filling of tables and the model are two graphs here; a control edge from one to the other has no form.
            kept.input[:] = [name for name in node.input if name[:1] != "^" or name[1:] in names]
    return part


def unknown_ops(graph: Graph) -> dict[str, list[str]]:
    """Return the ops of a graph and its functions that TensorFlow.js lacks, with the names of their nodes."""
    unknown: dict[str, list[str]] = {}
    for body in (graph, *(function.body for function in graph.functions.values())):
        for node in body:
            belongs = body is not graph and (node.is_argument or node.is_result)
            if spelled(node.op) not in known_ops() and not belongs:
                unknown.setdefault(node.op, []).append(node.name)
    return unknown


def use_known_ops(graph: Graph) -> None:
    """Write the nodes of ops that TensorFlow.js lacks with others of the same meaning, where there are such."""
    _rewrite_unknown(graph, None)
    for name in list(graph.functions):
        own = graph.functions[name] = copied(graph.functions[name])
        own.body.functions = graph.functions
        _rewrite_unknown(own.body, own)


def _rewrite_unknown(graph: Graph, function: Function | None) -> None:
    others = OlderOps(graph, function)
    for node in list(graph):
        with contextlib.suppress(KeepsNewOpError):
            while spelled(node.op) not in known_ops():
                others.change(node)


def _refuse_unknown(graph: Graph) -> None:
    unknown = unknown_ops(graph)
    if unknown:
        more = {op: f" and {len(names) - 1:,} more" if names[1:] else "" for op, names in unknown.items()}
        ops = "; ".join(f"{op} ('{names[0]}'{more[op]})" for op, names in unknown.items())
        hint = Hint(
            "leave the nodes out with ", option("to"), " and ", option("from"), ", or put ops that it has in their place"
        )
        raise UnimplementedError(f"TensorFlow.js has no {counted(len(unknown), 'op')} of this graph: {ops}", hint=hint)


def _taken_weights(
    graph: GraphDef, constants: Collection[str], of_functions: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, Array]]:
    """Take the values of the constants out of a graph; constants of functions get names of their own."""
    nodes = [node for node in graph.node if node.name in constants]
    for function in graph.library.function:
        nodes += _renamed_constants(function, of_functions[function.signature.name])
    for node in nodes:
        proto = node.attr["value"].tensor
        yield node.name, decode_tensor(proto).numpy()
        proto.CopyFrom(TensorProto(dtype=proto.dtype, tensor_shape=proto.tensor_shape))


def _renamed_constants(function: FunctionDef, constants: Collection[str]) -> list[NodeDef]:
    """Put the name of a function before the names of its constants, and return them: a weight has one name in a model."""
    names = {name: f"{function.signature.name}/{name}" for name in constants}

    def renamed(reference: str) -> str:
        mark = "^" if reference.startswith("^") else ""
        name, colon, place = reference.removeprefix("^").partition(":")
        return f"{mark}{names.get(name, name)}{colon}{place}"

    for node in function.node_def:
        node.name = names.get(node.name, node.name)
        node.input[:] = map(renamed, node.input)
    for results in (function.ret, function.control_ret):
        for result, value in list(results.items()):  # the map may lose its order with a change
            results[result] = renamed(value)
    return [node for node in function.node_def if node.name in names.values()]


_Stored: TypeAlias = tuple[dict[str, Any], bytes]
"""An entry of the manifest, and the bytes of the weight."""


def _stored_weight(name: str, value: Array, weight_type: str | None) -> _Stored:
    """Return a weight in one of the dtypes of TensorFlow.js."""
    entry: dict[str, Any] = {"name": name, "shape": list(value.shape)}
    if value.dtype == object:
        strings = value.ravel().tolist()
        return entry | {"dtype": "string"}, b"".join(_LENGTH.pack(len(text)) + text for text in strings)
    dtype = _WRITTEN[value.dtype.kind if value.dtype.kind in _WRITTEN else "f"]
    if dtype == "int32" and value.size and not (_INT32.min <= value.min() and value.max() <= _INT32.max):
        problem = f"TensorFlow.js has integers of 32 bits, and a value of '{name}' needs more"
        hint = Hint("convert a part of the graph with ", option("to"), " and ", option("from"))
        raise UnimplementedError(problem, node=name, hint=hint)
    with np.errstate(over="ignore", invalid="ignore"):
        array = value.astype(_STORED[dtype])
    if dtype == "float32" and weight_type is not None:
        quantized, how = _quantized(array, weight_type)
        if how is not None:
            return entry | {"dtype": dtype, "quantization": how}, quantized.tobytes()
    return entry | {"dtype": dtype}, array.tobytes()


_WRITTEN: Final = {"f": "float32", "i": "int32", "u": "int32", "b": "bool", "c": "complex64"}
"""The dtypes of written weights by the kind of NumPy's dtype."""
_INT32: Final = np.iinfo(np.int32)


def _quantized(array: Array, dtype: str) -> tuple[Array, dict[str, Any] | None]:
    """Return quantized numbers and their quantization; None for numbers that the type cannot hold."""
    about: dict[str, Any] = {"dtype": dtype, "original_dtype": "float32"}
    if not array.size or not np.isfinite(array).all():
        return array, None
    if dtype == "float16":
        return (array.astype("<f2"), about) if np.abs(array).max() <= np.finfo(np.float16).max else (array, None)
    least, most, steps = float(array.min()), float(array.max()), np.iinfo(_QUANTIZED[dtype]).max
    # If all numbers are equal, any scale but 0 gives them back.
    scale = (most - least) / steps or 1.0
    if least <= 0 <= most:
        least = -np.round(-least / scale).item() * scale  # so that 0 stays 0
    # Moving `least` may push the ends half a step out of the range.
    places = np.round((array.astype(np.float64) - least) / scale).clip(0, steps)
    return places.astype(_QUANTIZED[dtype]), about | {"min": least, "scale": scale}


def _model(graph: Graph, parts: Sequence[GraphDef], signature: SignatureDef) -> dict[str, Any]:
    model, initializer = (json_format.MessageToDict(part) for part in parts)
    version = graph.meta.tensorflow_version if graph.meta is not None else ""
    written = {"format": "graph-model", "generatedBy": version, "convertedBy": "tfg", "modelTopology": model}
    if initializer.get("node"):
        written |= {"modelInitializer": initializer, "initializerSignature": {"outputs": {}}}
    return written | {"signature": json_format.MessageToDict(signature), "userDefinedMetadata": {}}


def _named_files(path: str) -> set[str]:
    """Return the names of the files of weights beside an existing model.json; none if the file is no such model."""
    if not is_file(path):
        return set()
    with file_errors(path), open_regular(path) as file:
        data = file.read()
    try:
        names = {name for group in json.loads(data)["weightsManifest"] for name in group["paths"]}
        # The names come from a file that anybody may have written, and files of these names are removed: none may lie
        # elsewhere.
        return {name for name in names if os.path.basename(name) == name}
    except _DAMAGED:
        return set()


def _remove(path: str, names: Iterable[str]) -> None:
    files = [os.path.join(os.path.dirname(path), name) for name in names]
    with file_errors(path):
        for file in filter(is_file, files):
            remove(file)


def _write_shards(path: str, stored: Sequence[_Stored]) -> list[dict[str, Any]]:
    """Write the weights in files of 4 MB beside a model.json, and return the manifest."""
    if not stored:
        return []
    data = b"".join(part for _, part in stored)
    count = max(math.ceil(len(data) / SHARD_BYTES), 1)
    folder, stem = os.path.dirname(path), os.path.basename(path).partition(".")[0]
    names = [f"{stem}-shard{number + 1}of{count}.bin" for number in range(count)]
    for number, name in enumerate(names):
        write_file(os.path.join(folder, name), [data[number * SHARD_BYTES : (number + 1) * SHARD_BYTES]])
    return [{"paths": names, "weights": [entry for entry, _ in stored]}]
