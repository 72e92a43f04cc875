"""Writing SavedModels: a folder with the graph, the variables' checkpoint and the assets, whole or not at all."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Container, Mapping, Sequence, Set

from ..core.building.saver import add_initializer, add_saver, has_saver
from ..core.codecs import wire
from ..core.explaining.graph_facts import output_candidates
from ..core.graph.callers import drop_uncalled
from ..core.graph.graph import Graph, Node, Output
from ..core.graph.metagraph import INIT_SIGNATURE, USUAL_SIGNATURE, JoinedModels, MetaGraph, SaverInfo
from ..core.graph.model_objects import asset_nodes, name_tables
from ..core.graph.restore_nodes import restored_resources
from ..core.graph.table_fills import iterator_starts, named_files, path_of, table_fills
from ..core.graph.table_nodes import saved_tables
from ..core.graph.variable_nodes import READ_OPS, find_variables
from ..core.inference.inference import infer
from ..core.planning.reachability import needed_nodes
from ..core.registry.op_facts import has_fact
from ..core.runtime.session.restored_variables import restored_iterators, restored_tables, unrestored
from ..core.runtime.state.file_access import NO_FILES, FileAccess, FileGate
from ..core.support import dataclasses
from ..core.support.atomic import atomic_folder, copy_new, file_errors, require_folder, require_new_folder
from ..core.support.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnimplementedError,
)
from ..core.support.file_formats import MODELS, format_of
from ..core.support.hints import Hint, command, option, step
from ..core.support.places import is_folder, is_there, names_in
from ..core.support.tensor_names import free_name, parse_tensor_name
from ..core.transforms.joined_graphs import PartNames
from ..core.transforms.subgraphs import drop_ends, forget_locations
from ..core.types.shapes import Shape
from .codecs.attrs import decode_shape, encode_shape
from .codecs.source import write_file
from .detect import MODEL_FILES
from .graphdef import GraphSource, Kind, graph_chunks
from .meta_graph import (
    ASSETS,
    MAIN_OP,
    decode_meta_graph,
    decode_signature_def,
    drop_broken_signatures,
    drop_what_is_gone,
    is_whole,
    list_variables,
    message_of,
    nodes_of_signature,
    rename_signature,
    renamed_message,
    tensors_of,
)
from .protos.graph_pb2 import GraphDef
from .protos.meta_graph_pb2 import (
    MetaGraphDef,
    SavedModel,
    SaverDef,
    SignatureDef,
    TensorInfo,
)

_EXTRAS = ("assets", "assets.extra", "keras_metadata.pb")
"""Files and folders of a SavedModel that do not depend on the variables."""
_MAX_DEPTH = 64
"""The largest depth of folders in a model's assets: Python's own functions on folders recurse once per level."""


@dataclasses.dataclass(frozen=True, slots=True)
class ModelToWrite:
    """A graph in a SavedModel's form, and the message around the graph. Variables are saved by the nodes of `saver`."""

    graph: Graph
    about: MetaGraphDef
    saver: SaverInfo | None
    has_objects: bool
    """True if the functions and objects of TF2 are there; Python uses the model through them."""
    files: Mapping[str, Node] = dataclasses.field(default_factory=dict)
    """The files from outside that fill tables, by their names among the assets: the constants with the paths."""

    @property
    def signatures(self) -> tuple[str, ...]:
        """The names of the signatures that a user may call."""
        return tuple(sorted(name for name in self.about.signature_def if name != INIT_SIGNATURE))


@dataclasses.dataclass(frozen=True, slots=True)
class SignatureEdits:
    """Changes of a model's signatures, made in this order: copies and renames as (old, new), drops, new signatures.

    A new signature has inputs and outputs by the names of the arguments, and replaces a signature of the same name.
    """

    copied: Sequence[tuple[str, str]] = ()
    renamed: Sequence[tuple[str, str]] = ()
    dropped: Sequence[str] = ()
    defined: Mapping[str, tuple[Mapping[str, Output], Mapping[str, Output]]] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.copied or self.renamed or self.dropped or self.defined)


def prepare(
    graph: Graph,
    inputs: Mapping[str, Output] | None = None,
    outputs: Mapping[str, Output] | None = None,
    signature: str = USUAL_SIGNATURE,
    edits: SignatureEdits | None = None,
) -> ModelToWrite:
    """Prepare a graph for writing: add nodes that save the variables, signatures, and the init op.

    Parts of a SavedModel around the graph stay as far as the graph still has the named nodes. `inputs` and `outputs` make
    up `signature` if the graph has no signature and `edits` drop none; InvalidArgumentError if both are needed and
    missing. The objects of TF2 are left out if `edits`, or values and shapes of placeholders, changed a signature, which
    the objects describe too.
    """
    # The order: inputs that the graph lost come back before signatures are judged by their nodes, and broken signatures go
    # before edits copy them. Tables have names before a saver names their entries, and signatures their final tensors before
    # `_start` asks which iterators these take. Assets that are gone are forgotten before `_declare_assets` asks whether the
    # message names any; files from outside come last, under names that the model's own files leave free.
    _refuse_resources(graph)
    result = graph.copy()
    about = _about(result)
    list_variables(result, about)
    if graph.meta is not None and graph.meta.joined is not None:
        _drop_restores(result, graph.meta.joined, about)
    _add_unread_inputs(result, about)
    is_same = not _fit_inputs(result, about) and not edits
    if not is_same:
        _fit_outputs(result, about)
    has_objects = is_same and about.HasField("object_graph_def") and _has_objects(result, about)
    if not has_objects:
        name_tables(result)
        _forget_objects(about)
    drop_broken_signatures(result, about)
    changes = edits or SignatureEdits()
    _edit(result, about, changes)
    model = ModelToWrite(result, about, _saver(result, about, has_objects), has_objects)
    if not model.signatures and not changes.dropped:
        describe(result, about.signature_def[signature], inputs or {}, outputs or {})
    drop_what_is_gone(result, about)
    _start(result, about)
    _declare_assets(result, about)
    return dataclasses.replace(model, files=_declare_files(result, about))


@dataclasses.dataclass(frozen=True, slots=True)
class PartOfModel:
    """A graph that became a part of a joined graph."""

    graph: Graph
    names: PartNames
    label: str
    """The name of the part, for arguments and signatures whose names the other part has too."""
    signature: str
    """The name of the signature that joins the other part's; empty for a graph without one."""
    inputs: Mapping[str, Output]
    outputs: Mapping[str, Output]
    """The arguments of a signature for a graph without one."""


def add_joined_signatures(graph: Graph, parts: Sequence[PartOfModel]) -> None:
    """Give a joined graph the signatures and collections of its parts.

    The parts' chosen signatures become one, with the inputs of both that are not connected, and the outputs of both that are
    no connected tensors; none is made if a part has several signatures and none is usual. Another signature with
    connected inputs takes the inputs behind them instead.
    """
    messages = [renamed_message(message_of(part.graph), part.names) for part in parts]
    chosen = [_chosen(part, message) for part, message in zip(parts, messages)]
    # Of several signatures of which none is usual, none is chosen.
    has_choice = all(part.signature or not part.graph.signatures for part in parts)
    joined = _joined_signature(chosen, parts) if has_choice else SignatureDef()
    others = [_others(graph, place, parts, messages, chosen) for place in (0, 1)]
    about = messages[0]
    about.signature_def.clear()
    if joined.outputs:
        names = [part.signature for part in parts if part.signature]
        about.signature_def[USUAL_SIGNATURE if USUAL_SIGNATURE in names or not names else names[-1]].CopyFrom(joined)
    for part, signatures in zip(parts, others):
        for key, other in signatures.items():
            about.signature_def[_free(key, part, about.signature_def)].CopyFrom(other)
    _join_collections(about, messages[1])
    _take_message(graph, about, [part.graph for part in parts])


def _take_message(graph: Graph, about: MetaGraphDef, parts: Sequence[Graph]) -> None:
    """Give a joined graph a message, and the facts in it."""
    kinds = [part.source.kind for part in parts if isinstance(part.source, GraphSource)]
    rest = graph.source.rest if isinstance(graph.source, GraphSource) else GraphDef()
    kind: Kind = "meta_graph" if "meta_graph" in kinds else "graph"
    graph.source = GraphSource(rest, kind, about.SerializeToString(deterministic=True))
    files = graph.meta or MetaGraph()
    graph.meta = dataclasses.replace(decode_meta_graph(about, graph), assets=files.assets, joined=files.joined)


def _chosen(part: PartOfModel, about: MetaGraphDef) -> SignatureDef:
    """Return the chosen signature of a part with its new names, or a signature of its arguments."""
    result = SignatureDef()
    if part.signature:
        result.CopyFrom(about.signature_def[part.signature])
    elif part.outputs:
        describe(part.graph, result, part.inputs, part.outputs)
        rename_signature(result, part.names)
    return result


def _joined_signature(signatures: Sequence[SignatureDef], parts: Sequence[PartOfModel]) -> SignatureDef:
    """Return a signature with the inputs and outputs of two that are not connected."""
    result = SignatureDef(method_name="tensorflow/serving/predict")
    connected = parts[0].names.connected
    for signature, part in zip(signatures, parts):
        _add_inputs(result, signature, part)
        for key in sorted(signature.outputs):
            if signature.outputs[key].name not in connected.values():
                _add_output(result, _free(key, part, result.outputs), signature.outputs[key], connected)
    return result


def _add_output(signature: SignatureDef, key: str, info: TensorInfo, connected: Mapping[str, str]) -> None:
    """Add an output; for an input that is handed on, the tensor that took its place."""
    signature.outputs[key].CopyFrom(info)
    if info.name in connected:
        signature.outputs[key].name = connected[info.name]


def _add_inputs(signature: SignatureDef, other: SignatureDef, part: PartOfModel, needed: Set[str] | None = None) -> None:
    """Add the inputs of another signature that are not connected, and if `needed` is given, only those among its nodes."""
    for key in sorted(other.inputs):
        tensors = tensors_of(other.inputs[key])
        open_ones = [name for name in tensors if name not in part.names.connected]
        # Half of a sparse tensor cannot come from the other part: the argument would need indices without values.
        if open_ones and len(open_ones) < len(tensors):
            raise InvalidArgumentError(f"input '{key}' has the tensors {', '.join(tensors)}: connect all or none of them")
        if open_ones and (needed is None or any(parse_tensor_name(name)[0] in needed for name in open_ones)):
            free = _free(key, part, signature.inputs)
            signature.inputs[free].CopyFrom(other.inputs[key])
            if key in other.defaults:
                signature.defaults[free].CopyFrom(other.defaults[key])


def _others(
    graph: Graph, place: int, parts: Sequence[PartOfModel], messages: Sequence[MetaGraphDef], chosen: Sequence[SignatureDef]
) -> dict[str, SignatureDef]:
    """Return the signatures of a part but the chosen; in place of connected inputs they take the other part's inputs."""
    part, result = parts[place], {}
    for name, signature in sorted(messages[place].signature_def.items()):
        if name == part.signature:
            continue
        proto = result[name] = SignatureDef(method_name=signature.method_name)
        for key, info in signature.outputs.items():
            _add_output(proto, key, info, part.names.connected)
        _add_inputs(proto, signature, part)
        # A signature whose inputs are all open runs without the other part, and takes none of the other part's inputs.
        if len(proto.inputs) < len(signature.inputs):
            outputs = [graph.output(name) for info in proto.outputs.values() for name in tensors_of(info)]
            needed = {node.name for node in needed_nodes(outputs)}
            _add_inputs(proto, chosen[1 - place], parts[1 - place], needed)
    return result


def _free(key: str, part: PartOfModel, taken: Container[str]) -> str:
    """Return a name for an argument or a signature of a part, with the part's label if the name is taken."""
    return key if key not in taken else free_name(f"{part.label}_{key}", taken)


def _join_collections(about: MetaGraphDef, second: MetaGraphDef) -> None:
    """Add the collections of a message to those of another; numbers and the like stay as they are."""
    for key, collection in second.collection_def.items():
        kind = collection.WhichOneof("kind")
        if key not in about.collection_def:
            about.collection_def[key].CopyFrom(collection)
        elif kind in ("node_list", "bytes_list") and about.collection_def[key].WhichOneof("kind") == kind:
            about.collection_def[key].MergeFrom(collection)


def write_saved_model(
    folder: str,
    model: ModelToWrite,
    source: MetaGraph | None,
    save: Callable[[str], None],
    files: FileAccess = NO_FILES,
) -> None:
    """Write a SavedModel to a folder that does not exist yet, or is empty; otherwise AlreadyExistsError.

    `save` writes the variables to a prefix by the nodes of the model's saver; `source` says where the assets lie, and
    `files` which files from outside may be copied into the model (PermissionDeniedError names the node and the file).
    """
    format_of(folder, MODELS)
    require_folder(folder)
    require_new_folder(folder)
    with atomic_folder(folder) as staged:
        _write(staged, model, source, save)
        _copy_files(staged, model, files)


def _write(folder: str, model: ModelToWrite, source: MetaGraph | None, save: Callable[[str], None]) -> None:
    chunks = list(graph_chunks(model.graph, lambda: model.graph))
    around = model.about.SerializeToString(deterministic=True)
    graph_field = wire.length_prefix(MetaGraphDef.GRAPH_DEF_FIELD_NUMBER, sum(map(len, chunks)))
    size = len(around) + len(graph_field) + sum(map(len, chunks))
    # The messages around the graph are written as lengths and pieces: protobuf would hold a second copy of all constants.
    head = SavedModel(saved_model_schema_version=1).SerializeToString()
    prefix = wire.length_prefix(SavedModel.META_GRAPHS_FIELD_NUMBER, size)
    write_file(os.path.join(folder, MODEL_FILES[0]), [head, prefix, around, graph_field, *chunks])
    if model.saver is not None:
        os.mkdir(os.path.join(folder, "variables"))
        save(os.path.join(folder, "variables", "variables"))
    if source is not None and source.joined is not None:
        _copy_assets(folder, model, source)
    elif source is not None and source.folder is not None:
        # A part of a model keeps the files that its tables need, and not what describes the whole model.
        for name in _EXTRAS if source.signatures or source.objects is not None else _EXTRAS[:1]:
            _copy(source.folder, name, folder)


def _copy_files(folder: str, model: ModelToWrite, files: FileAccess) -> None:
    """Copy the files from outside that fill tables."""
    assets = os.path.join(folder, "assets")
    if model.files:
        os.makedirs(assets, exist_ok=True)
    for name, node in model.files.items():
        # The permissions of the session hold here, too: a file that the graph may not read in a run must not be copied.
        gate = FileGate(files, node)
        path = path_of(node)
        with file_errors(path), gate.open(path) as read:
            copy_new(read, os.path.join(assets, name))


def _copy_assets(folder: str, model: ModelToWrite, source: MetaGraph) -> None:
    """Copy the files of the models that a graph was joined from, as far as the written model declares them."""
    # A joined model has the files of several folders, and may read in each of them.
    files = FileGate(functools.reduce(FileAccess.reading, source.folders, NO_FILES))
    declared = {asset.filename for asset in model.about.asset_file_def}
    for filename, path in {asset.filename: asset.path for asset in source.assets if asset.filename in declared}.items():
        copied = os.path.join(folder, "assets", filename)
        os.makedirs(os.path.dirname(copied), exist_ok=True)
        _copy_file(path, copied, files)


def _copy(source: str, name: str, target: str) -> None:
    """Copy a file or a folder of a model into another folder, if the model has the entry.

    PermissionDeniedError for a link to a folder, a possible cycle, and for a link that leads out of the model.
    """
    path = os.path.join(source, name)
    if is_there(path):
        _copy_tree(path, os.path.join(target, name), FileGate(NO_FILES.reading(source)))


def _copy_tree(path: str, copied: str, files: FileGate, depth: int = 0) -> None:
    if not is_folder(path):
        _copy_file(path, copied, files)
        return
    if os.path.islink(path):
        raise PermissionDeniedError(f"'{path}' is a link to a folder", hint="replace the link with the folder")
    if depth > _MAX_DEPTH:
        raise ResourceExhaustedError(f"the folders of '{path}' are nested deeper than {_MAX_DEPTH} levels")
    os.mkdir(copied)
    for name in names_in(path):
        _copy_tree(os.path.join(path, name), os.path.join(copied, name), files, depth + 1)


def _copy_file(path: str, copied: str, files: FileGate) -> None:
    try:
        read = files.open(path)
    except PermissionDeniedError:
        raise PermissionDeniedError(f"'{path}' is a link to a place outside the model's folder") from None
    # A file that is there is refused: two assets of one name must not overwrite each other.
    with read:
        copy_new(read, copied)


def _about(graph: Graph) -> MetaGraphDef:
    """Return the message around the loaded graph, or a new message."""
    about = message_of(graph)
    # Loaders ask for a model by its tags: TensorFlow Serving for `serve`.
    if not about.meta_info_def.tags:
        about.meta_info_def.tags.append("serve")
    return about


def _has_objects(graph: Graph, about: MetaGraphDef) -> bool:
    """Return True if the graph has all functions of the objects, and the nodes that save and restore them."""
    names = {*about.object_graph_def.concrete_functions}
    for node in about.object_graph_def.nodes:
        names |= {*node.function.concrete_functions} | ({node.bare_concrete_function.concrete_function_name} - {""})
    signatures = all(is_whole(graph, signature) for signature in about.signature_def.values())
    saver = graph.meta.saver if graph.meta is not None else None
    return names <= set(graph.functions) and signatures and has_saver(graph, saver)


def _forget_objects(about: MetaGraphDef) -> None:
    """Turn the message into a model without objects, started by TensorFlow through the main op alone."""
    # A loader of TensorFlow 2 goes by the objects if there are any, and would miss functions that the graph lost.
    about.ClearField("object_graph_def")
    if INIT_SIGNATURE in about.signature_def:
        operations = [info.name.partition(":")[0] for info in about.signature_def[INIT_SIGNATURE].outputs.values()]
        about.collection_def[MAIN_OP].node_list.value[:] = operations[:1]
        del about.signature_def[INIT_SIGNATURE]


def _add_unread_inputs(graph: Graph, about: MetaGraphDef) -> None:
    """Add the missing placeholders of inputs that nothing needs, for each signature with complete outputs."""
    for name, signature in about.signature_def.items():
        arguments = decode_signature_def(name, signature)
        if not all(parse_tensor_name(tensor)[0] in graph for tensor in arguments.fetched.values()):
            continue
        for argument in arguments.inputs.values():
            node, index, _ = parse_tensor_name(argument.tensor)
            # Callers feed all inputs of a signature, those too that an extraction found unneeded.
            if argument.tensor and argument.dtype is not None and index == 0 and node not in graph:
                graph.add_node(node, "Placeholder", (), (), {"dtype": argument.dtype, "shape": argument.shape})


def _saver(graph: Graph, about: MetaGraphDef, has_objects: bool) -> SaverInfo | None:
    """Return the graph's saver, or add a saver of all variables if no objects lead to some of the variables.

    A saver that saves positions of iterators is replaced, too: TensorFlow and tfg cannot read each other's positions.
    """
    saver = graph.meta.saver if graph.meta is not None else None
    # The graph's own saver may leave out tables whose contents are in the checkpoint.
    entries = {entry for table in saved_tables(graph).values() for entry in table.entries}
    unsaved = entries - set(restored_tables(graph).values())
    is_whole = not (unrestored(graph) or unsaved or restored_iterators(graph))
    if has_saver(graph, saver) and (has_objects or is_whole):
        return saver
    about.ClearField("saver_def")
    added = add_saver(graph)
    if added is not None:
        about.saver_def.filename_tensor_name = added.filename_tensor
        about.saver_def.save_tensor_name = added.save_tensor
        about.saver_def.restore_op_name = added.restore_op
        about.saver_def.version = SaverDef.V2
    return added


def _drop_restores(graph: Graph, joined: JoinedModels, about: MetaGraphDef) -> None:
    """Remove the operations by which the models of a joined graph restore their parts: the written model has its own.

    Variables that nothing but a restore used go too: Python's functions read them, and they have no value otherwise.
    """
    drop_ends(graph, [graph.node(name) for name, feeds in joined.first_steps if feeds and name in graph])
    named = {name for signature in about.signature_def.values() for name in nodes_of_signature(signature)}
    for variable in find_variables(graph).values():
        looks = list(variable.node.uses)
        # Reads and tests, for nobody.
        are_idle = all(not node.uses and node.name not in named for node in looks)
        if are_idle and all(node.op in READ_OPS or has_fact(node.op, "initialization_test") for node in looks):
            graph.remove_nodes([*looks, variable.node])
    forget_locations(graph)
    drop_uncalled(graph)


def _refuse_resources(graph: Graph) -> None:
    """Raise UnimplementedError for a resource, such as a tree ensemble, whose contents lie in the checkpoint of the model."""
    for node, _ in restored_resources(graph):
        owner = node.inputs[0].node
        raise UnimplementedError(
            "its contents lie in a checkpoint, and a written SavedModel would lack the contents",
            node=owner.name,
            op=owner.op,
            hint="freeze the model: constants then hold the contents",
        )


def _fit_inputs(graph: Graph, about: MetaGraphDef) -> bool:
    """Drop inputs that became constants, and write static shapes of placeholders into inputs; True for any change."""
    changed = False
    for signature in about.signature_def.values():
        for word, info in sorted(signature.inputs.items()):
            node = graph.get(parse_tensor_name(info.name)[0]) if info.name else None
            shape = node.attr_of(Shape, "shape") if node is not None and node.is_placeholder else None
            if node is not None and node.is_constant:
                del signature.inputs[word]
                changed = True
            elif shape is not None and shape.dims is not None:
                declared = encode_shape(shape)  # unknown sizes are equal in the message, and in no two shapes
                changed |= encode_shape(decode_shape(info.tensor_shape)) != declared
                info.tensor_shape.CopyFrom(declared)
    return changed


def _fit_outputs(graph: Graph, about: MetaGraphDef) -> None:
    """Write the shapes of results that the graph states anew since its inputs changed."""
    for name, signature in graph.signatures.items():
        for word, result in signature.outputs.items():
            info = about.signature_def[name].outputs[word] if name in about.signature_def else None
            if info is not None and info.name == result.tensor and str(decode_shape(info.tensor_shape)) != str(result.shape):
                info.tensor_shape.CopyFrom(encode_shape(result.shape))


def _edit(graph: Graph, about: MetaGraphDef, edits: SignatureEdits) -> None:
    """Copy, rename, drop and define signatures; NotFoundError and AlreadyExistsError name the signatures that are there."""
    signatures = about.signature_def
    for old, new in (*edits.copied, *edits.renamed):
        _require_signature(about, old)
        if new in signatures:
            hint = Hint(step("drop_signature", name=new), " drops it")
            raise AlreadyExistsError(f"signature '{new}' already exists", hint=hint)
        signatures[new].CopyFrom(signatures[old])
    for old in (*(old for old, _ in edits.renamed), *edits.dropped):
        _require_signature(about, old)
        del signatures[old]
    for name, (inputs, outputs) in edits.defined.items():
        if not name or name == INIT_SIGNATURE:
            raise InvalidArgumentError(f"a signature cannot be named '{name}'")
        signatures[name].Clear()
        describe(graph, signatures[name], inputs, outputs)


def _require_signature(about: MetaGraphDef, name: str) -> None:
    there = sorted(set(about.signature_def) - {INIT_SIGNATURE})
    if name not in there:
        none = "the model has no signatures: ", option("to"), " and ", option("freeze"), " keep only new signatures"
        hint = Hint(f"the signatures are {', '.join(there)}") if there else Hint(*none)
        raise NotFoundError(f"the model has no signature '{name}'", hint=hint)


def describe(graph: Graph, signature: SignatureDef, inputs: Mapping[str, Output], outputs: Mapping[str, Output]) -> None:
    """Fill in a signature of tensors that `graph` has by the same names, with the known shapes."""
    if not outputs:
        some = " or ".join(output_candidates(graph))
        name = f"name at least one output{f', such as {some}' if some else ''}: "
        hint = Hint(name, option("to"), " in ", command("convert"), ", ", option("fetch"), " elsewhere")
        raise InvalidArgumentError("a SavedModel needs outputs", hint=hint)
    specs = infer(graph).specs
    # TensorFlow Serving refuses a signature without a method that it knows; `tf.saved_model.save` writes this one.
    signature.method_name = "tensorflow/serving/predict"
    for arguments, named in ((signature.inputs, inputs), (signature.outputs, outputs)):
        for word, value in named.items():
            info, spec = arguments[word], specs[graph.output(value.name)]
            info.name = value.name
            info.dtype = spec.dtype.base.number  # type: ignore[assignment]
            info.tensor_shape.CopyFrom(encode_shape(spec.shape))


def _start(graph: Graph, about: MetaGraphDef) -> None:
    """Name an operation that fills tables, sets paths of files and begins iterators, if nothing else starts the graph."""
    # A loader runs one of these two operations. If the message has one, the author of the model has chosen what it starts.
    if MAIN_OP in about.collection_def or INIT_SIGNATURE in about.signature_def:
        return
    signatures = (decode_signature_def(name, signature) for name, signature in about.signature_def.items())
    outputs = [name for signature in signatures for name in signature.fetched.values()]
    # An iterator that no signature takes from may need files or feeds that nobody has.
    needed = needed_nodes([graph.output(name) for name in outputs if parse_tensor_name(name)[0] in graph])
    operation = add_initializer(graph, [node for iterator, node in iterator_starts(graph).items() if iterator in needed])
    if operation is not None:
        about.collection_def[MAIN_OP].node_list.value.append(operation)


def _declare_assets(graph: Graph, about: MetaGraphDef) -> None:
    """Name the files that the graph takes, for loaders of all versions, if the message does not name them yet."""
    if about.asset_file_def or about.HasField("object_graph_def"):
        return
    about.collection_def.pop(ASSETS, None)
    for asset in asset_nodes(graph).values():
        _declare(about, asset.filename, asset.tensor)


def _declare_files(graph: Graph, about: MetaGraphDef) -> dict[str, Node]:
    """Name the files from outside the model that fill tables, and return the constants with their paths."""
    declared = {parse_tensor_name(asset.tensor_info.name)[0] for asset in about.asset_file_def}
    files: dict[str, Node] = {}
    for fill in table_fills(graph):
        for node in named_files(fill):
            if node.name not in declared:
                # Files of several folders may have one name; the second gets a number.
                taken = {*files, *(asset.filename for asset in about.asset_file_def)}
                files[free_name(os.path.basename(path_of(node)), taken)] = node
                _declare(about, list(files)[-1], f"{node.name}:0")
                declared.add(node.name)
    return files


def _declare(about: MetaGraphDef, filename: str, tensor: str) -> None:
    proto = about.asset_file_def.add(filename=filename)
    proto.tensor_info.name = tensor
    about.collection_def[ASSETS].any_list.value.add().Pack(proto)
