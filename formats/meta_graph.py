"""MetaGraphDefs, alone and in SavedModels: the graph inside, and the message's facts about the graph."""

from __future__ import annotations

import collections
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..core.building.saver import has_saver
from ..core.codecs import wire
from ..core.graph.call_kinds import CALL_KINDS, Form
from ..core.graph.graph import Graph, Output
from ..core.graph.metagraph import (
    INIT_SIGNATURE,
    Asset,
    Bound,
    MetaGraph,
    SavedCallable,
    SaverInfo,
    Signature,
    SignatureTensor,
    VariableInfo,
)
from ..core.support import dataclasses
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, TfgError
from ..core.support.hints import Hint, command, option
from ..core.support.places import exists, names_in
from ..core.support.tensor_names import parse_tensor_name
from ..core.transforms.joined_graphs import PartNames
from ..core.types import dtypes
from ..core.types.tensors import FuncRef
from . import detect
from .checkpoint.object_graph import escaped
from .codecs.attrs import decode_shape
from .codecs.printed_text import OtherLayout, PrintedReader
from .codecs.scan import parse
from .codecs.tensor_proto import decode_tensor
from .codecs.textformat import read_printed, serialize_text
from .graphdef import GraphSource, Kind, add_registered_gradients, graph_from_bytes, graph_from_printed, leaves
from .protos.graph_pb2 import GraphDef
from .protos.meta_graph_pb2 import (
    AssetFileDef,
    CollectionDef,
    CondContextDef,
    MetaGraphDef,
    SavedModel,
    SavedObjectGraph,
    SaverDef,
    SignatureDef,
    TensorInfo,
    VariableDef,
    WhileContextDef,
)

_GRAPH = MetaGraphDef.GRAPH_DEF_FIELD_NUMBER
VARIABLE_COLLECTIONS = frozenset(
    ("variables", "trainable_variables", "local_variables", "model_variables", "moving_average_variables", "global_step",
     "metric_variables", "concatenated_variables")
)  # fmt: skip
_CONTEXTS = {"cond_context": CondContextDef, "while_context": WhileContextDef}
MAIN_OP, _LEGACY_INIT_OP = "saved_model_main_op", "legacy_init_op"
"""The collections with the operation that a loader runs first: what it is called now, and what it was called before."""
ASSETS = "saved_model_assets"
"""The collection in which older loaders look for the files of a model."""
_VARIABLE_FIELDS = ("variable_name", "initializer_name", "snapshot_name", "initial_value_name")
_SPARSE_FIELDS = ("indices_tensor_name", "values_tensor_name", "dense_shape_tensor_name")


def graph_from_meta_graph(data: memoryview, folder: str | None = None, faults: list[TfgError] | None = None) -> Graph:
    """Return the graph of a serialized MetaGraphDef, with `meta`; `folder` is the SavedModel's."""
    around = bytearray()
    graph_data = memoryview(b"")
    for field in wire.fields(data):
        if field.number == _GRAPH:
            # A field that occurs twice is merged, and merging messages is concatenating them.
            part = data[field.start : field.end]
            graph_data = memoryview(bytes(graph_data) + bytes(part)) if len(graph_data) else part
        else:
            around += data[field.tag_start : field.end]
    # The graph is cut out of the message: protobuf would parse all nodes, which are read by their bytes.
    return _with_meta(graph_from_bytes(graph_data, _kind(folder), bytes(around), faults), around, folder)


def graph_from_meta_graph_text(data: memoryview, faults: list[TfgError] | None = None) -> Graph:
    """Return the graph of a MetaGraphDef in text, as `graph_from_meta_graph`."""
    graph = read_printed(
        data, faults, lambda text, errors: graph_from_printed_meta_graph(cut_meta_graph(bytes(text)), None, errors)
    )
    return graph_from_meta_graph(memoryview(serialize_text(MetaGraphDef, data)), faults=faults) if graph is None else graph


def graph_from_printed_meta_graph(
    cut: PrintedMetaGraph, folder: str | None = None, faults: list[TfgError] | None = None
) -> Graph:
    """Return the graph of a MetaGraphDef cut out of a printed text, as `graph_from_meta_graph`."""
    graph = graph_from_printed(memoryview(cut.graph), _kind(folder), cut.around, faults)
    return _with_meta(graph, cut.around, folder)


def _kind(folder: str | None) -> Kind:
    # The graph of a SavedModel is written as a GraphDef by default, as the message around it belongs to the folder.
    return "meta_graph" if folder is None else "graph"


def _with_meta(graph: Graph, around: bytes | bytearray, folder: str | None) -> Graph:
    """Add the facts of the surrounding MetaGraphDef to a graph."""
    graph.meta = decode_meta_graph(parse(MetaGraphDef, around), graph, folder)
    if graph.registered_gradients:
        add_registered_gradients(graph, graph.meta.objects)
    return graph


def with_files_of(model: Graph, part: Graph) -> Graph:
    """Let a part of a SavedModel know the files of the model that the part takes, and nothing else of the model."""
    assets = model.meta.assets if model.meta is not None else ()
    left = tuple(asset for asset in assets if asset.path and asset.tensor.partition(":")[0] in part)
    if left and model.meta is not None and isinstance(part.source, GraphSource):
        # A part lacks the operations that start the whole model, but still reads the files of each model that was joined.
        joined = model.meta.joined and dataclasses.replace(model.meta.joined, first_steps=(), initializers=())
        part.meta = MetaGraph(assets=left, folder=model.meta.folder, joined=joined)
        part.source = GraphSource(part.source.rest, part.source.kind, b"")
    return part


def meta_graph_chunks(graph: Graph, graph_chunks: Sequence[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Yield the serialized MetaGraphDef of a graph in pieces."""
    about = parse(MetaGraphDef, graph.source.meta_graph if isinstance(graph.source, GraphSource) else b"")
    if graph.meta is None or graph.needless:  # a part of the loaded graph: TensorFlow refuses names of nodes that are gone
        drop_what_is_gone(graph, about)
        drop_broken_signatures(graph, about)
        if about.HasField("saver_def") and not has_saver(graph, _decode_saver(about.saver_def)):
            about.ClearField("saver_def")
    yield about.SerializeToString(deterministic=True)
    yield wire.length_prefix(_GRAPH, sum(map(len, graph_chunks)))
    yield from graph_chunks


def drop_broken_signatures(graph: Graph, about: MetaGraphDef) -> None:
    """Forget signatures with a tensor that the graph does not have."""
    for name in [name for name, signature in about.signature_def.items() if not is_whole(graph, signature)]:
        del about.signature_def[name]


def drop_what_is_gone(graph: Graph, about: MetaGraphDef) -> None:
    """Forget collections and assets of nodes that are gone."""
    for key, collection in list(about.collection_def.items()):
        if not all(name.partition(":")[0] in graph for name in _named_nodes(key, collection)):
            del about.collection_def[key]
    assets = [asset for asset in about.asset_file_def if parse_tensor_name(asset.tensor_info.name)[0] in graph]
    del about.asset_file_def[:]
    about.asset_file_def.extend(assets)


def _named_nodes(key: str, collection: CollectionDef) -> Iterator[str]:
    """Yield the tensors and nodes named by a collection."""
    yield from collection.node_list.value
    if key in VARIABLE_COLLECTIONS:
        for data in collection.bytes_list.value:
            proto = parse(VariableDef, data)
            yield from filter(None, (getattr(proto, field) for field in _VARIABLE_FIELDS))
    # Contexts of V1 conditionals and loops name nodes, too; TensorFlow's importer fails on a name that is gone.
    for data in collection.bytes_list.value if key in _CONTEXTS else ():
        context: Any = parse(_CONTEXTS[key], data)
        yield context.pivot_name
        yield from context.values_def.values


def is_whole(graph: Graph, signature: SignatureDef) -> bool:
    """Return True if the graph has all tensors of a signature."""
    return all(node in graph for node in nodes_of_signature(signature) if node)


def message_of(graph: Graph) -> MetaGraphDef:
    """Return the message around a loaded graph; an empty message for a graph without one."""
    has_source = isinstance(graph.source, GraphSource) and graph.meta is not None
    return parse(MetaGraphDef, graph.source.meta_graph if has_source else b"")


def renamed_message(about: MetaGraphDef, names: PartNames) -> MetaGraphDef:
    """Return the signatures and collections of a message, by the names of a joined graph that the graph became a part of.

    What starts and saves the graph is left out, as the joined graph is started and saved as a whole, and so are collections
    of unknown contents if names changed.
    """
    result = MetaGraphDef()
    result.meta_info_def.tags.extend(about.meta_info_def.tags)
    result.meta_info_def.tensorflow_version = about.meta_info_def.tensorflow_version
    for name, signature in about.signature_def.items():
        if name != INIT_SIGNATURE:
            result.signature_def[name].CopyFrom(signature)
            rename_signature(result.signature_def[name], names)
    for key, collection in about.collection_def.items():
        # The bytes of other collections may name nodes in a form that only their own program knows.
        is_known = collection.WhichOneof("kind") == "node_list" or key in VARIABLE_COLLECTIONS
        if key not in (MAIN_OP, _LEGACY_INIT_OP, ASSETS) and (is_known or not names.prefix):
            _rename_collection(key, collection, names, result.collection_def[key])
    return result


def rename_signature(signature: SignatureDef, names: PartNames) -> None:
    """Let a signature name the tensors of a joined graph."""
    for info in (*signature.inputs.values(), *signature.outputs.values()):
        _rename_info(info, names)


def _rename_info(info: TensorInfo, names: PartNames) -> None:
    if info.HasField("coo_sparse"):
        for field in _SPARSE_FIELDS:
            setattr(info.coo_sparse, field, names.tensor(getattr(info.coo_sparse, field)))
    elif info.HasField("composite_tensor"):
        for part in info.composite_tensor.components:
            _rename_info(part, names)
    else:
        info.name = names.tensor(info.name)


def _rename_collection(key: str, collection: CollectionDef, names: PartNames, result: CollectionDef) -> None:
    result.CopyFrom(collection)
    if collection.WhichOneof("kind") == "node_list":
        result.node_list.value[:] = map(names.tensor, collection.node_list.value)
    elif key in VARIABLE_COLLECTIONS and names.prefix:
        variables = [parse(VariableDef, data) for data in collection.bytes_list.value]
        for variable in variables:
            for field in _VARIABLE_FIELDS:
                setattr(variable, field, names.tensor(getattr(variable, field)))
            if variable.HasField("save_slice_info_def"):
                variable.save_slice_info_def.full_name = names.name(variable.save_slice_info_def.full_name)
        result.bytes_list.value[:] = [variable.SerializeToString() for variable in variables]


def nodes_of_signature(signature: SignatureDef) -> Iterator[str]:
    """Yield the names of the nodes of a signature's tensors; empty for an argument that is no tensor."""
    infos = (*signature.inputs.values(), *signature.outputs.values())
    return (parse_tensor_name(name)[0] for info in infos for name in tensors_of(info))


def tensors_of(info: TensorInfo) -> list[str]:
    """Return the names of the tensors of an argument or a result."""
    if info.HasField("coo_sparse"):
        return [getattr(info.coo_sparse, field) for field in _SPARSE_FIELDS]
    return [name for part in info.composite_tensor.components for name in tensors_of(part)] or [info.name]


def decode_meta_graph(proto: MetaGraphDef, graph: Graph, folder: str | None = None) -> MetaGraph:
    """Decode a MetaGraphDef's facts about the graph."""
    variables = {}
    others = {}
    # A proto map has no order: sorted names make two loads of a file equal.
    for name in sorted(proto.collection_def):
        collection = proto.collection_def[name]
        kind = collection.WhichOneof("kind")
        values: tuple[Any, ...] = () if kind is None else tuple(getattr(collection, kind).value)
        if name in VARIABLE_COLLECTIONS and values and all(isinstance(value, bytes) for value in values):
            variables[name] = tuple(_decode_variable(value) for value in values)
        else:
            others[name] = values
    assets = tuple(dict.fromkeys(_decode_asset(asset, folder) for asset in _assets(proto)))
    keys, untrained = _variable_keys(proto.object_graph_def), _untrained(proto.object_graph_def)
    # The nodes that calls in the graph pass to a function that captures a variable are nodes of that variable.
    read = {handle.node.name: number for number, handle in _captures(proto.object_graph_def, graph) if number in keys}
    functions = proto.object_graph_def.concrete_functions.values()
    captured = {number for function in functions for number in function.bound_inputs}
    signatures = {name: decode_signature_def(name, proto.signature_def[name]) for name in sorted(proto.signature_def)}
    return MetaGraph(
        tags=tuple(proto.meta_info_def.tags),
        signatures={name: value for name, value in signatures.items() if name != INIT_SIGNATURE},
        variables=variables,
        collections=others,
        saver=_decode_saver(proto.saver_def) if proto.HasField("saver_def") else None,
        init_op=_init_op(others, signatures),
        assets=assets,
        variables_prefix=_variables_prefix(folder),
        folder=folder,
        tensorflow_version=proto.meta_info_def.tensorflow_version,
        frozen_keys=tuple(key for number, key in keys.items() if number in untrained),
        read_keys={name: keys[number] for name, number in read.items()},
        python_names=dict(_python_names(proto.object_graph_def, read)),
        captured_keys=frozenset(keys[number] for number in captured if number in keys),
        callables=callables(proto.object_graph_def, keys, assets, graph),
        objects=proto.object_graph_def if proto.HasField("object_graph_def") else None,
    )


def _untrained(objects: SavedObjectGraph) -> set[int]:
    """Return the numbers of the variables that training leaves as they are."""
    flagged = {
        number for number, node in enumerate(objects.nodes) if node.HasField("variable") and not node.variable.trainable
    }
    # A layer of Keras with `trainable = False` changes no variable's own flag: the lists of the model tell.
    root = {child.local_name: child.node_id for child in objects.nodes[0].children} if objects.nodes else {}
    lists = [root.get(name, -1) for name in ("variables", "trainable_variables")]
    if all(0 <= number < len(objects.nodes) for number in lists):
        listed, trained = ({child.node_id for child in objects.nodes[number].children} for number in lists)
        return flagged | (listed - trained)
    return flagged


def _variable_keys(objects: SavedObjectGraph) -> dict[int, str]:
    """Return the checkpoint keys of variables by number: the names on the shortest path to each, as in TensorFlow."""
    # TensorFlow walks breadth-first, too, so the first of several shortest paths is the key.
    paths = {0: ""} if objects.nodes else {}
    queue = collections.deque(paths)
    while queue:
        number = queue.popleft()
        for child in objects.nodes[number].children:
            if child.node_id not in paths and 0 <= child.node_id < len(objects.nodes):
                paths[child.node_id] = f"{paths[number]}{escaped(child.local_name)}/"
                queue.append(child.node_id)
    held = {number for number in paths if objects.nodes[number].HasField("variable")}
    return {number: f"{paths[number]}.ATTRIBUTES/VARIABLE_VALUE" for number in held}


def _captures(objects: SavedObjectGraph, graph: Graph) -> Iterator[tuple[int, Output]]:
    """Yield the numbers of objects that functions capture, each with the tensor that a call in the graph passes for it."""
    captured = objects.concrete_functions
    for node in graph if captured else ():
        kind = CALL_KINDS.get(node.op)
        called = node.attrs.get(kind.functions[0]) if kind is not None and kind.form is Form.CALL else None
        if isinstance(called, FuncRef) and called.name in captured:
            # Captures are the last arguments of a call, so both lists are paired from their ends.
            yield from zip(reversed(captured[called.name].bound_inputs), reversed(node.inputs))


def _python_names(objects: SavedObjectGraph, read: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the nodes of variables with their names in Python, if the graph's are those with a number: `kernel_1`."""
    for node, number in read.items():
        name = objects.nodes[number].variable.name
        if name and node != name and node.startswith(f"{name}_") and node[len(name) + 1 :].isdecimal():
            yield node, name


def _decode_variable(data: bytes) -> VariableInfo:
    proto = parse(VariableDef, data)
    return VariableInfo(
        proto.variable_name, proto.initial_value_name, proto.initializer_name, proto.snapshot_name, proto.is_resource,
        proto.trainable, proto.save_slice_info_def.full_name,
    )  # fmt: skip


def list_variables(graph: Graph, about: MetaGraphDef) -> None:
    """Add the variables of the graph's metadata to the collections of the message that lack them."""
    for name, infos in (graph.meta.variables if graph.meta is not None else {}).items():
        listed = about.collection_def[name].bytes_list.value
        there = {parse(VariableDef, data).variable_name for data in listed}
        listed.extend(_encode_variable(info) for info in infos if info.name not in there)


def _encode_variable(info: VariableInfo) -> bytes:
    proto = VariableDef(
        variable_name=info.name, initial_value_name=info.initial_value, initializer_name=info.initializer,
        snapshot_name=info.snapshot, is_resource=info.is_resource, trainable=info.trainable,
    )  # fmt: skip
    return proto.SerializeToString(deterministic=True)


def decode_signature_def(name: str, proto: SignatureDef) -> Signature:
    """Decode a signature; arguments are in alphabetical order, as a proto map has no other."""
    return Signature(
        name,
        {key: _decode_tensor_info(proto.inputs[key]) for key in sorted(proto.inputs)},
        {key: _decode_tensor_info(proto.outputs[key]) for key in sorted(proto.outputs)},
        proto.method_name,
        {key: decode_tensor(proto.defaults[key]) for key in sorted(proto.defaults)},
    )


def _decode_tensor_info(proto: TensorInfo) -> SignatureTensor:
    dtype = dtypes.from_number(proto.dtype) if proto.dtype else None
    return SignatureTensor(proto.name, dtype, decode_shape(proto.tensor_shape), _components(proto))


def _components(proto: TensorInfo) -> tuple[str, ...]:
    if proto.HasField("coo_sparse"):
        sparse = proto.coo_sparse
        return sparse.indices_tensor_name, sparse.values_tensor_name, sparse.dense_shape_tensor_name
    return tuple(part.name for part in proto.composite_tensor.components)


def _decode_saver(proto: SaverDef) -> SaverInfo:
    # Protobuf keeps an unknown number of an open enum, and only `Name` would fail on it, with a ValueError.
    if proto.version not in SaverDef.CheckpointFormatVersion.values():
        raise DataLossError(f"the graph's saver names the unknown checkpoint format {proto.version}")
    format_name = SaverDef.CheckpointFormatVersion.Name(proto.version)
    return SaverInfo(
        proto.filename_tensor_name, proto.save_tensor_name, proto.restore_op_name, proto.sharded,
        "V1" if format_name == "LEGACY" else format_name,
    )  # fmt: skip


def _init_op(collections: Mapping[str, tuple[Any, ...]], signatures: Mapping[str, Signature]) -> str | None:
    """Return the op that TensorFlow's loader runs after restoring: TF2's signature, V1's main op, or V1's legacy init op."""
    # The order is that of TensorFlow's loader in C++ (GetInitOp).
    if INIT_SIGNATURE in signatures:
        for output in signatures[INIT_SIGNATURE].outputs.values():
            return output.tensor
    for key in (MAIN_OP, _LEGACY_INIT_OP):
        if collections.get(key):
            return str(collections[key][0])
    return None


def _assets(proto: MetaGraphDef) -> Sequence[AssetFileDef]:
    """Return the assets; older models keep them in a collection of Any messages."""
    if proto.asset_file_def:
        return list(proto.asset_file_def)
    packed = proto.collection_def[ASSETS].any_list.value if ASSETS in proto.collection_def else ()
    return [parse(AssetFileDef, value.value) for value in packed]


def _decode_asset(proto: AssetFileDef, folder: str | None) -> Asset:
    filename = proto.filename
    # The name comes from the file, and a kernel of the graph opens it: it must not lead out of the model's folder.
    if os.path.isabs(filename) or ".." in filename.split("/"):
        raise DataLossError(f"asset '{filename}' lies outside the SavedModel's folder")
    path = "" if folder is None else os.path.join(folder, "assets", filename)
    return Asset(proto.tensor_info.name, filename, path)


def _variables_prefix(folder: str | None) -> str | None:
    """Return the checkpoint of a SavedModel; None if the model has no variables."""
    if folder is None:
        return None
    prefix = os.path.join(folder, "variables", "variables")
    # A checkpoint of V1 is a file by the name of the prefix, without an index.
    has_checkpoint = exists(f"{prefix}.index") or exists(prefix)
    return prefix if has_checkpoint else None


# The functions that Python calls on the objects of a SavedModel: their names and their captured inputs.

_INTERNAL: Final = ("_initialize", "_create_resource", "_destroy_resource", "signatures", "keras_api")
"""Attributes whose functions only serve to save and restore the model."""


def callables(
    objects: SavedObjectGraph, keys: Mapping[int, str], assets: Sequence[Asset], graph: Graph
) -> tuple[SavedCallable, ...]:
    """Return the functions of all objects, beginning with the objects nearest to the model.

    `keys` maps the numbers of variables' objects to the variables' keys in a checkpoint.
    """
    saved_callables = []
    handles = {number: value.name for number, value in _captures(objects, graph)}
    # The shortest paths come first, as in the walk over variables: `model.call` before `model.layers.0.call`.
    for path, names in _functions(objects):
        for number, function in enumerate(names):
            concrete = objects.concrete_functions[function]
            bound = tuple(_bound(objects, i, keys, assets, handles) for i in concrete.bound_inputs)
            name = path if len(names) == 1 else f"{path}[{number}]"
            kinds = ((place, leaf.WhichOneof("kind")) for place, leaf in leaves(concrete.output_signature))
            # A None in the structure is no result of the function, and a single tensor has no place in one.
            results = tuple(place or "output_0" for place, kind in kinds if kind not in (None, "none_value"))
            saved_callables.append(SavedCallable(name, function, results, bound))
    return tuple(saved_callables)


def _functions(objects: SavedObjectGraph) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the paths of functions, each once, and the library's functions traced from each."""
    queue = collections.deque([(0, "")] if objects.nodes else [])
    seen = {0}
    while queue:
        number, path = queue.popleft()
        for child in objects.nodes[number].children:
            # An object is reached by several paths, and objects may refer to each other in circles.
            if child.node_id in seen or child.local_name in _INTERNAL or not 0 <= child.node_id < len(objects.nodes):
                continue
            seen.add(child.node_id)
            node, name = objects.nodes[child.node_id], f"{path}{child.local_name}"
            if node.WhichOneof("kind") == "function":
                traced = [function for function in node.function.concrete_functions if function in objects.concrete_functions]
                if traced:
                    yield name, traced
            else:
                queue.append((child.node_id, f"{name}."))


def _bound(
    objects: SavedObjectGraph, number: int, keys: Mapping[int, str], assets: Sequence[Asset], handles: Mapping[int, str]
) -> Bound:
    node = objects.nodes[number] if 0 <= number < len(objects.nodes) else None
    kind = node.WhichOneof("kind") if node is not None else None
    words = f"a {kind or 'thing'} of the model's objects"
    # A variable is known by its key in the checkpoint, by which a session has its value; others by a tensor of the graph.
    if number in keys:
        return Bound(f"variable '{keys[number]}'", key=keys[number], tensor=handles.get(number, ""))
    if node is not None and kind == "asset" and 0 <= node.asset.asset_file_def_index < len(assets):
        return Bound(words, tensor=assets[node.asset.asset_file_def_index].tensor)
    if node is not None and kind == "constant":
        return Bound(words, tensor=f"{node.constant.operation}:0")
    return Bound(words, tensor=handles.get(number, ""))


# MetaGraphDefs and SavedModels in printed text, taken apart: a graph inside is read like a graph in a text of its own.

_GRAPH_TEXT: Final = "graph_def"
_META_GRAPHS_TEXT: Final = "meta_graphs"


class PrintedMetaGraph(NamedTuple):
    """A MetaGraphDef as two parts: serialized without the graph, and the printed text of the graph."""

    around: bytes
    graph: bytes


def cut_meta_graph(text: bytes) -> PrintedMetaGraph:
    """Cut a MetaGraphDef in printed text into parts; OtherLayout if the text has another layout or may be wrong."""
    around, graphs = _cut(text, _GRAPH_TEXT)
    if len(graphs) > 1:
        raise OtherLayout
    return PrintedMetaGraph(_serialized(MetaGraphDef.DESCRIPTOR, around, without=(_GRAPH_TEXT,)), b"".join(graphs))


def cut_saved_model(text: bytes) -> list[PrintedMetaGraph]:
    """Cut out the MetaGraphDefs of a printed SavedModel; OtherLayout if the text has another layout or may be wrong."""
    around, meta_graphs = _cut(text, _META_GRAPHS_TEXT)
    _serialized(SavedModel.DESCRIPTOR, around, without=(_META_GRAPHS_TEXT,))
    return list(map(cut_meta_graph, meta_graphs))


def _cut(text: bytes, field: str) -> tuple[bytes, list[bytes]]:
    """Return a text without the messages of a field, and each of the messages as a text."""
    # The repeats are possessive: a text without the end of a message would otherwise be tried again from each of its lines.
    message = re.compile(rf"^{field} \{{\n((?:  [^\n]*+\n)*+)\}}\n".encode(), re.MULTILINE)
    around, inner, position = [], [], 0
    for match in message.finditer(text):
        around.append(text[position : match.start()])
        # The inner message moves two spaces to the left, and is then a text of its own. No string has a line break in it.
        inner.append((b"\n" + match[1]).replace(b"\n  ", b"\n")[1:])
        position = match.end()
    return b"".join((*around, text[position:])), inner


def _serialized(descriptor: object, text: bytes, without: Sequence[str] = ()) -> bytes:
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        raise OtherLayout from None
    return PrintedReader(descriptor, without).message(decoded, 0, len(decoded), 0)


# SavedModels: a folder with the graphs, their variables' checkpoint and their assets.


def model_file(folder: str) -> str:
    """Find the file with the graphs of a SavedModel's folder, or of a TensorFlow.js model's; NotFoundError for others."""
    for name in (*detect.MODEL_FILES, detect.TFJS_FILE):
        path = os.path.join(folder, name)
        if exists(path):
            return path
    files = " or ".join(detect.MODEL_FILES)
    raise NotFoundError(f"folder '{folder}' is not a SavedModel: it has no {files}", hint=_folder_hint(folder))


def graph_from_saved_model(
    data: memoryview,
    tags: Sequence[str] | None = None,
    folder: str | None = None,
    faults: list[TfgError] | None = None,
) -> Graph:
    """Return the graph of a serialized SavedModel; `meta` tells where variables and assets lie: in `folder`.

    InvalidArgumentError lists the tag sets if `tags` match none, or if tags are needed and missing.
    """
    meta_graphs = [
        data[field.start : field.end]
        for field in wire.fields(data)
        if field.number == SavedModel.META_GRAPHS_FIELD_NUMBER and field.wire_type == wire.LENGTH_DELIMITED
    ]
    return graph_from_meta_graph(meta_graphs[choose(meta_graphs, tags)], folder, faults)


def graph_from_saved_model_text(
    data: memoryview,
    tags: Sequence[str] | None = None,
    folder: str | None = None,
    faults: list[TfgError] | None = None,
) -> Graph:
    """Return the graph of a SavedModel in text, as `graph_from_saved_model`."""
    graph = read_printed(data, faults, lambda text, errors: _graph_from_printed(bytes(text), tags, folder, errors))
    return (
        graph_from_saved_model(memoryview(serialize_text(SavedModel, data)), tags, folder, faults) if graph is None else graph
    )


def _graph_from_printed(text: bytes, tags: Sequence[str] | None, folder: str | None, faults: list[TfgError] | None) -> Graph:
    meta_graphs = cut_saved_model(text)
    chosen = choose([memoryview(meta_graph.around) for meta_graph in meta_graphs], tags)
    # Protobuf's parser would refuse the whole text for a mistake in any of its graphs, so the graphs not chosen are checked,
    # too.
    for meta_graph in meta_graphs[:chosen] + meta_graphs[chosen + 1 :]:
        _serialized(GraphDef.DESCRIPTOR, meta_graph.graph)
    return graph_from_printed_meta_graph(meta_graphs[chosen], folder, faults)


def choose(meta_graphs: Sequence[memoryview], tags: Sequence[str] | None) -> int:
    """Return the index of the meta graph with exactly the tags; without tags of the only one, or of the "serve" one."""
    if not meta_graphs:
        raise InvalidArgumentError("the SavedModel has no graph")
    tag_sets = [_tags(meta_graph) for meta_graph in meta_graphs]
    if tags is None and len(meta_graphs) == 1:
        return 0
    requested = {"serve"} if tags is None else set(tags)
    for number, tag_set in enumerate(tag_sets):
        if set(tag_set) == requested:
            return number
    listed = "; ".join(",".join(tag_set) or "(no tags)" for tag_set in tag_sets)
    asked = "several graphs" if tags is None else f"no graph with tags {','.join(tags)}"
    hint = Hint("choose a graph with ", option("tags"))
    raise InvalidArgumentError(f"the SavedModel has {asked}; its tag sets: {listed}", hint=hint)


def _tags(meta_graph: memoryview) -> tuple[str, ...]:
    """Return the tags of a serialized MetaGraphDef, without parsing the graph."""
    # A field that occurs twice is merged, and merging messages is concatenating them.
    info = bytearray()
    for field in wire.fields(meta_graph):
        if field.number == MetaGraphDef.META_INFO_DEF_FIELD_NUMBER:
            info += meta_graph[field.start : field.end]
    return tuple(parse(MetaGraphDef.MetaInfoDef, info).tags)


def _folder_hint(folder: str) -> str:
    entries = names_in(folder)
    nested = [name for name in entries if detect.is_saved_model(os.path.join(folder, name))]
    if len(nested) > 1:
        # Folders of TensorFlow Serving are numbers, of which 10 comes after 9.
        versions = sorted(nested, key=lambda name: (len(name), name) if name.isdecimal() else (0, name))
        example = command("explain", os.path.join(folder, versions[-1]))
        return Hint(f"the folder holds the SavedModels {', '.join(versions)}; name one SavedModel, as in ", example)
    if nested:
        return f"the folder holds a SavedModel, '{os.path.join(folder, nested[-1])}'"
    indexes = [name for name in entries if name.endswith(".index")]
    if indexes:
        return f"the folder holds a checkpoint, '{os.path.join(folder, indexes[0].removesuffix('.index'))}'"
    graphs = [name for name in entries if name.endswith((".pb", ".pbtxt", ".meta")) or ".tfevents." in name]
    return (
        f"the folder holds the graph '{os.path.join(folder, graphs[0])}'"
        if graphs
        else "give the graph's file, or a SavedModel's folder"
    )
