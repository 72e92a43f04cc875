"""Values of variables by name, in a checkpoint, an .npz archive or a safetensors file; only the format in use is imported."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..core.graph.callers import nodes_by_path
from ..core.graph.graph import Graph, Node
from ..core.graph.model_objects import asset_variables
from ..core.graph.table_nodes import saved_tables
from ..core.graph.variable_nodes import find_variables
from ..core.runtime.session.restored_variables import read_instead, restored_tables, restored_variables
from ..core.support import dataclasses
from ..core.support.arguments import expect
from ..core.support.atomic import file_errors
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, TfgError, UnimplementedError
from ..core.support.file_formats import NPZ, SAFETENSORS, STATES, format_of
from ..core.support.gc_control import rare_collection
from ..core.support.hints import Blank, Hint, command
from ..core.support.places import is_file, is_folder
from ..core.support.regular_files import LEFT_OUT, WITHOUT_VALUES, open_regular, open_size
from ..core.types.arrays import Array
from ..core.types.dtypes import DType, string, variant
from ..core.types.tensors import Tensor
from .checkpoint.object_graph import OBJECT_GRAPH, moved_objects, read_objects
from .detect import TFJS_FILE, is_safetensors, is_saved_model
from .loading import load

if TYPE_CHECKING:
    from .checkpoint.reader import CheckpointReader
    from .protos.meta_graph_pb2 import TrackableObjectGraph

State: TypeAlias = Mapping[str, Any]
"""Values of variables by name: arrays or Tensors."""
TRAINED_STEPS = "_TRAINED_STEPS"
"""The entry that says after how many steps of training a state was noted: int64, a scalar. No node can be called so."""
_STREAM = "_RANDOM_STREAM/"
"""The prefix of the entry with a node's position in a stream of random numbers: uint64, key and halves of the counter."""
_HALF = 64
_HEAD = 64
"""The number of first bytes that identify a safetensors file."""


def as_tensors(state: State) -> dict[str, Tensor]:
    """Return the values as Tensors."""
    expect(str, *state)
    return {name: value if isinstance(value, Tensor) else Tensor.from_numpy(value) for name, value in state.items()}


@rare_collection()
def read_state(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return tensors by name from an .npz archive, a safetensors file, or a checkpoint's prefix or folder; values are read
    late.

    NotFoundError if there is neither, DataLossError if the file is damaged.
    """
    text = os.fspath(path)
    if is_file(text):
        # The content decides. The name decides only if the content is of neither format: the error then names the format
        # meant.
        if _is_archive(text) or text.endswith(NPZ.extensions):
            from .codecs.numpy_files import read_npz

            return read_npz(text)
        if text.endswith(SAFETENSORS.extensions) or _begins_as_safetensors(text):
            from .codecs.safetensors import read_safetensors

            return read_safetensors(text)
    reader = _checkpoint(text)
    read = reader.read
    return {name: Tensor(dtype, shape, functools.partial(read, name)) for name, (dtype, shape) in reader.kinds().items()}


def _checkpoint(path: str) -> CheckpointReader:
    from .checkpoint.store import open_checkpoint  # lazy: most graphs have no checkpoint

    return open_checkpoint(path)


def _is_archive(path: str) -> bool:
    from zipfile import is_zipfile

    with file_errors(path), open_regular(path) as file:
        return is_zipfile(file)


def _begins_as_safetensors(path: str) -> bool:
    with file_errors(path), open_regular(path) as file:
        return is_safetensors(file.read(_HEAD), open_size(file))


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingPosition:
    """How far a training is: the number of steps, and the key and counter of the streams of random numbers by node."""

    steps: int
    streams: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)

    def entries(self) -> dict[str, Tensor]:
        """Return the progress as entries of a state, beside the variables."""
        arrays = {TRAINED_STEPS: np.asarray(self.steps, np.int64)}
        # The counter has 128 bits, and no dtype of a file has more than 64.
        for name, (key, counter) in self.streams.items():
            arrays[_STREAM + name] = np.array([key, counter % (1 << _HALF), counter >> _HALF], np.uint64)
        return {name: Tensor.from_numpy(value) for name, value in arrays.items()}


def holds_state(path: str | os.PathLike[str]) -> bool:
    """Return True if `read_state` finds values: for archives and checkpoints, not for graphs, SavedModels among them."""
    text = os.fspath(path)
    # A damaged archive is still a state by its name: its error comes from the read.
    named = text.endswith((*NPZ.extensions, *SAFETENSORS.extensions))
    if is_file(text) and (named or _is_archive(text) or _begins_as_safetensors(text)):
        return True
    if is_saved_model(text):
        return False
    try:
        _checkpoint(text)
    except (NotFoundError, InvalidArgumentError):
        return False
    return True


def read_variables(path: str | os.PathLike[str], names: Mapping[str, str] | None = None) -> dict[str, Tensor]:
    """Return the tensors of `read_state` by names of variables; TF2's checkpoints have object paths as keys.

    `names` are the names by key that the graph knows; other keys are looked up in the checkpoint's object graph.
    """
    return _renamed(read_state(path), {} if names is None else names)


def unread_values(graph: Graph) -> str | None:
    """Return why the values of a SavedModel's variables cannot be read: a file is missing or damaged; None if they can."""
    try:
        prefix = saved_values(graph)
        # Only the places of values are looked at: an `explain` of a large model reads none of them.
        for tensor in _checkpoint(prefix).tensors() if prefix is not None else ():
            for part in tensor.parts:
                part.check()
    except (NotFoundError, DataLossError) as error:
        return reason_of(error)
    return None


def saved_values(graph: Graph) -> str | None:
    """Return the prefix of a SavedModel's checkpoint; None for a graph that restores no variables.

    NotFoundError if the graph restores variables, but the checkpoint is not there.
    """
    meta = graph.meta
    if meta is None or meta.variables_prefix is not None:
        return meta.variables_prefix if meta is not None else None
    if meta.folder is not None and meta.saver is not None and restored_variables(graph):
        index = os.path.join(meta.folder, "variables", "variables.index")
        raise NotFoundError(f"file '{index}' does not exist", hint=LEFT_OUT, details=WITHOUT_VALUES)
    return None


def reason_of(error: TfgError) -> str:
    """Return the message and the hint of an error as one text."""
    return error.message if error.hint is None else f"{error.message}; {error.hint}"


def _renamed(tensors: Mapping[str, Tensor], names: Mapping[str, str]) -> dict[str, Tensor]:
    """Return the values of variables by `names`, or by the names in the object graph, which no two tensors share."""
    known = {key: names[key] for key in tensors if key in names}
    taken = {*known.values()}
    owners = {key: name for key, name in _full_names(tensors).items() if name not in taken} | known
    return {owners.get(key, key): tensor for key, tensor in tensors.items() if not is_apart(key)}


def read_graph_state(
    path: str | os.PathLike[str], graph: Graph, new_names: Mapping[str, str] | None = None
) -> dict[str, Tensor]:
    """Return the tensors of `read_state` by the names of a graph's variables, as far as the graph has a variable for them.

    A SavedModel tells the variable of each key, and its object graph the name that Python gave to the variable. A state of
    another model, by names or with another object graph, finds the variable by that name. `new_names` rename the tensors
    first, as `renamed` does.
    """
    tensors = read_state(path)
    return graph_state(renamed(tensors, new_names, f"'{os.fspath(path)}'") if new_names else tensors, graph)


def graph_state(tensors: Mapping[str, Tensor], graph: Graph) -> dict[str, Tensor]:
    """Return the tensors of a state by the names of a graph's variables, as `read_graph_state`."""
    names = names_in_graph(tensors, graph)
    values = {names.get(key, key): tensor for key, tensor in tensors.items() if not is_apart(key)}
    # A state may have Python's copies of the weights in place of those that the graph reads. A value of the variable's own
    # name comes first.
    return {**{read: values[twin] for twin, read in read_instead(graph).items() if twin in values}, **values}


def names_in_graph(tensors: Mapping[str, Tensor], graph: Graph) -> dict[str, str]:
    """Return the names of a graph's variables by the keys of a state."""
    by_key = restored_variables(graph) | restored_tables(graph)
    names = {key: by_key[key] for key in tensors if key in by_key}
    full_names = _full_names(tensors)
    others = {key: full_names.get(key, key) for key in tensors if key not in by_key and not is_apart(key)}
    prefix = graph.meta.variables_prefix if graph.meta is not None else None
    # The model's own checkpoint is opened only for keys that the graph does not know.
    owners = _owners(prefix, by_key, read_instead(graph)) if prefix is not None and others else {}
    taken = {*names.values(), *others.values()}
    for key, name in others.items():
        # Keras gives one name to several variables. The key is that of one of them only if all others have their values
        # already.
        free = {owner for owner in owners.get(name, (name,)) if owner == name or owner not in taken}
        names[key] = name if name in free or len(free) != 1 else free.pop()
    return names


def _owners(prefix: str, by_key: Mapping[str, str], read: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the variables of a SavedModel by the names that Python gave them; Keras gives a name to several variables."""
    owners: dict[str, set[str]] = {}
    for attribute in _attributes(read_state(prefix)):
        if attribute.checkpoint_key in by_key:
            owner = by_key[attribute.checkpoint_key]
            owners.setdefault(attribute.full_name, set()).add(read.get(owner, owner))
    return owners


def read_progress(path: str | os.PathLike[str]) -> TrainingPosition | None:
    """Return the progress of the training that wrote a state; None if the state has no progress."""
    tensors = read_state(path)
    if TRAINED_STEPS not in tensors:
        return None
    steps = _numbers(path, TRAINED_STEPS, tensors, (), np.int64)
    streams = {}
    for name in filter(_is_stream, tensors):
        key, low, high = _numbers(path, name, tensors, (3,), np.uint64).tolist()
        streams[name.removeprefix(_STREAM)] = key, low + (high << _HALF)
    return TrainingPosition(steps.item(), streams)


def _numbers(
    path: str | os.PathLike[str], name: str, tensors: Mapping[str, Tensor], shape: tuple[int, ...], dtype: Any
) -> Array:
    """Return the numbers of an entry; DataLossError if the entry has another shape or dtype, or a negative number."""
    tensor = tensors[name]
    if tensor.shape != shape or tensor.dtype.numpy != dtype or (tensor.numpy() < 0).any():
        raise DataLossError(f"'{os.fspath(path)}' has an invalid value in its entry '{name}'")
    return tensor.numpy()


def _is_stream(key: str) -> bool:
    return key.startswith(_STREAM)


def is_apart(key: str) -> bool:
    """Return True for entries that are no variables."""
    return key in (OBJECT_GRAPH, TRAINED_STEPS) or _is_stream(key)


def _full_names(tensors: Mapping[str, Tensor]) -> dict[str, str]:
    """Return the name of the variable behind each checkpoint key, from the checkpoint's object graph.

    Of the keys of several variables with a name, the last has the name, as for a Saver that restores by names.
    """
    keys = {attribute.full_name: attribute.checkpoint_key for attribute in _attributes(tensors)}
    return {key: name for name, key in keys.items() if name not in tensors}


def by_variable(tensors: Mapping[str, Tensor], part: Iterable[str]) -> dict[str, Tensor]:
    """Return a part of a state, by keys, under the names of variables in the state's object graph."""
    names = _full_names(tensors)
    return {names.get(key, key): tensors[key] for key in part}


def renamed(tensors: Mapping[str, Tensor], pairs: Mapping[str, str], owner: str) -> dict[str, Tensor]:
    """Return a state under new names, as `new_names` says; the object graph of a TF2 checkpoint follows."""
    from .checkpoint.renaming import new_names

    names = new_names([name for name in tensors if not is_apart(name)], pairs, owner)
    values = {names.get(name, name): tensor for name, tensor in tensors.items()}
    if OBJECT_GRAPH in values:
        values[OBJECT_GRAPH] = moved_objects(values[OBJECT_GRAPH], names)
    return values


def with_objects(part: Mapping[str, Tensor], objects: Tensor) -> dict[str, Tensor]:
    """Return a part of a state with the part of the object graph `objects` that belongs to the values."""
    return {**part, OBJECT_GRAPH: moved_objects(objects, {name: name for name in part})}


def _attributes(tensors: Mapping[str, Tensor]) -> list[TrackableObjectGraph.TrackableObject.SerializedTensor]:
    """Return the entries of variables in the object graph of a state."""
    if OBJECT_GRAPH not in tensors:
        return []
    attributes = (attribute for node in read_objects(tensors[OBJECT_GRAPH]).nodes for attribute in node.attributes)
    return [attribute for attribute in attributes if attribute.full_name and attribute.checkpoint_key in tensors]


def write_state(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Tensor],
    form: str | os.PathLike[str] | None = None,
    graph: Graph | None = None,
) -> int:
    """Write tensors by name, whole or not at all, and return their number: an .npz archive, a safetensors file or, for .ckpt
    and a name without extension, a V2 checkpoint.

    InvalidArgumentError, before anything is written, for other extensions. A safetensors file has no strings: in place of
    the object graph of a TF2 checkpoint, the names of variables replace the keys. Any other string is an
    UnimplementedError.

    If `form` is a checkpoint of TF2's objects, the written checkpoint is one, too: with the same keys and object graph, so
    that TensorFlow restores the same objects. `graph` tells the variables of the keys, as in `read_graph_state`; entries
    that `tensors` lacks are copied.
    """
    file_format = format_of(path, STATES)
    if file_format is NPZ:
        from .codecs.numpy_files import write_npz

        write_npz(path, tensors)
    elif file_format is SAFETENSORS:
        from .codecs.safetensors import write_safetensors

        tensors = by_variable(tensors, [key for key in tensors if key != OBJECT_GRAPH])
        write_safetensors(path, tensors)
    else:
        tensors = tensors if form is None else _in_form(form, tensors, graph)
        from .checkpoint.store import write_checkpoint

        write_checkpoint(path, tensors)
    return len(tensors)


def check_state(path: str | os.PathLike[str], graph: Graph) -> None:
    """Raise UnimplementedError for a variable or table of a graph whose dtypes the format of a file lacks."""
    file_format = format_of(path, STATES)
    is_safetensors_file = file_format is SAFETENSORS
    paths = asset_variables(graph)
    for variable in find_variables(graph).values():
        # A variable with the path of an asset gets its value from the folder of the model, not from a state.
        if variable.name not in paths:
            words = f"variable '{variable.name}' of dtype {variable.dtype}"
            if variable.dtype is not variant or file_format in (NPZ, SAFETENSORS):
                _check_dtype(variable.dtype, variable.node, words, is_safetensors_file)
    for table in saved_tables(graph).values():
        for dtype in (table.key_dtype, table.value_dtype):
            words = f"table '{table.name}' from {table.key_dtype} to {table.value_dtype}"
            _check_dtype(dtype, table.node, words, is_safetensors_file)


def _check_dtype(dtype: DType, node: Node, words: str, is_safetensors_file: bool) -> None:
    if dtype.is_object and dtype is not string:
        hint = "a checkpoint holds lists of tensors, too" if dtype is variant else "a state file holds numbers and strings"
        words = f"an .npz or .safetensors file cannot hold {words}" if dtype is variant else f"no state file can hold {words}"
        raise UnimplementedError(words, node=node.name, op=node.op, hint=hint)
    if is_safetensors_file:
        _check_safetensors(dtype, node, words)


def _check_safetensors(dtype: DType, node: Node, words: str) -> None:
    from .codecs.safetensors import can_hold

    if not can_hold(dtype):
        hint = "write an .npz file or a checkpoint"
        raise UnimplementedError(f"a safetensors file cannot hold {words}", node=node.name, op=node.op, hint=hint)


def _in_form(form: str | os.PathLike[str], tensors: Mapping[str, Tensor], graph: Graph | None) -> Mapping[str, Tensor]:
    """Return the tensors by the keys of another checkpoint of objects; tensors without a key there keep their names."""
    old = read_state(form)
    if OBJECT_GRAPH not in old:
        return tensors
    names = _full_names(old) if graph is None else names_in_graph(old, graph)
    owners = {key: names.get(key, key) for key in old}
    # Optimizer slots and counters of the old checkpoint that the graph lacks stay, so that a training in TensorFlow goes on.
    entries = {key: tensors.get(owner, old[key]) for key, owner in owners.items()}
    owned = set(owners.values())
    return entries | {name: tensor for name, tensor in tensors.items() if name not in owned}


# Tensors by name from a graph, or from any file with values: state files, SavedModels, and graphs with constants.


def values_of(graph: Graph, where: str) -> tuple[dict[str, Tensor], bool]:
    """Return the variables of a SavedModel by node and False, or the constants of a graph without variables and True.

    NotFoundError for a graph with variables and without values.
    """
    prefix = saved_values(graph)
    if prefix is not None:
        return read_variables(prefix, restored_variables(graph)), False
    if find_variables(graph):
        hint = Hint(
            command("explain", where),
            " lists the variables; ",
            command("checkpoint", Blank("PREFIX")),
            " shows the stored values",
        )
        raise NotFoundError(f"'{where}' is a graph with variables, but without their values", hint=hint)
    return constants(graph), True


def constants(graph: Graph) -> dict[str, Tensor]:
    """Return the values of Const nodes by name, those of functions as FUNCTION/NODE."""
    values = {path: node.attr_of(Tensor, "value") for path, node in nodes_by_path(graph).items() if node.is_constant}
    return {name: value for name, value in values.items() if value is not None}


def stored_tensors(
    path: str | os.PathLike[str], tags: Sequence[str] | None = None
) -> tuple[dict[str, Tensor], bool, Graph | None]:
    """Return the tensors of a state file, the variables of a SavedModel, or the constants of a graph without variables.

    The second value is True for constants, of which only some were variables; the third is the graph.
    A variable of a SavedModel has the name of its node in the graph, a constant of a function the name FUNCTION/NODE. `tags`
    choose among the graphs of a SavedModel. Errors as `read_state` and `load` raise, and NotFoundError for a graph with
    variables and without values.
    """
    text = os.fspath(path)
    if not has_graph(text):
        return read_state(text), False, None
    graph = load(text, tags=tags)
    return *values_of(graph, text), graph


def has_graph(path: str) -> bool:
    """Return True for a folder with a model, and for a file that holds no state."""
    if is_folder(path):
        return is_saved_model(path) or is_file(os.path.join(path, TFJS_FILE))
    return is_file(path) and not holds_state(path)
