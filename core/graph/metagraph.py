"""Metadata of a graph's file besides the nodes: signatures, collections, saver, assets."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final

from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..support.hints import Hint, option
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape

USUAL_SIGNATURE: Final = "serving_default"
INIT_SIGNATURE: Final = "__saved_model_init_op"
"""The signature whose output is the op that TensorFlow's loader runs before all others."""


@dataclasses.dataclass(frozen=True, slots=True)
class SignatureTensor:
    """A tensor that users know by a name: an argument or result of a signature, or a variable.

    A composite value, a sparse tensor for instance, has the names of several tensors.
    """

    tensor: str
    """The name of the tensor; "" for a composite value."""
    dtype: DType | None = None
    """The dtype."""
    shape: Shape = UNKNOWN
    """The shape as far as known."""
    components: tuple[str, ...] = ()
    """The names of the tensors of a composite value."""


@dataclasses.dataclass(frozen=True, slots=True)
class Signature:
    """A named entry point: argument names and the tensors behind them."""

    name: str
    """The name of the signature."""
    inputs: Mapping[str, SignatureTensor]
    """The arguments by name."""
    outputs: Mapping[str, SignatureTensor]
    """The results by name."""
    method_name: str = ""
    """The name by which TensorFlow Serving knows the kind of the signature."""
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The values of arguments that may be left out."""

    @property
    def fed(self) -> dict[str, str]:
        """The tensors behind the inputs, by the names that a user has for them."""
        return _flat(self.inputs)

    @property
    def fetched(self) -> dict[str, str]:
        """The tensors behind the outputs, by the names that a user has for them."""
        return _flat(self.outputs)


def _flat(arguments: Mapping[str, SignatureTensor]) -> dict[str, str]:
    """Return tensors by name; the components of a composite argument `x` are `x.0`, `x.1` ..."""
    keys: dict[str, str] = {}
    for key, info in arguments.items():
        parts = {f"{key}.{number}": name for number, name in enumerate(info.components)}
        keys |= parts or {key: info.tensor}
    return keys


@dataclasses.dataclass(frozen=True, slots=True)
class VariableInfo:
    """A variable of a collection: the names of its node and of the nodes around the variable."""

    name: str
    initial_value: str = ""
    initializer: str = ""
    snapshot: str = ""
    is_resource: bool = False
    trainable: bool = True
    partition_of: str = ""
    """The full name, where the variable is a slice of a partitioned variable."""


@dataclasses.dataclass(frozen=True, slots=True)
class SaverInfo:
    """How the graph saves and restores itself: the tensor fed with the prefix, the tensor that saves, the op that restores."""

    filename_tensor: str
    save_tensor: str
    restore_op: str
    sharded: bool = False
    format: str = "V2"


@dataclasses.dataclass(frozen=True, slots=True)
class Asset:
    """A file that belongs to the model: the tensor to feed with the file's path, and the path."""

    tensor: str
    filename: str
    path: str = ""
    """The full path in a SavedModel's folder; empty for a graph without a SavedModel."""


@dataclasses.dataclass(frozen=True, slots=True)
class Bound:
    """A value bound to a function of a SavedModel's objects: a variable, by its key in a checkpoint, or a tensor of the
    graph.

    Both are empty if the graph lacks the value; `words` describes the value.
    """

    words: str
    key: str = ""
    tensor: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class SavedCallable:
    """A function of a SavedModel's objects, by the path of attributes from the model: `__call__`, `encoder.encode`.

    A function with several traces has a number for each trace at the end: `__call__[1]`.
    """

    name: str
    function: str
    results: tuple[str, ...]
    bound: tuple[Bound, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class JoinedModels:
    """The SavedModels that a graph was joined from, which still restore and initialize their parts of the graph."""

    folders: tuple[str, ...]
    first_steps: tuple[tuple[str, Mapping[str, str]], ...]
    """The operations that give the variables their first values, each with its feeds."""
    initializers: tuple[str, ...]
    """The operations that the loaders of the models run then, as those of a model that is written from the graph must."""
    unsaved: frozenset[str] = frozenset()
    """The nodes of variables that the models own and give no value, as Keras does where a layer draws no numbers."""


@dataclasses.dataclass(frozen=True, slots=True)
class MetaGraph:
    """Metadata of a graph from a MetaGraphDef or SavedModel.

    `start_steps` start a session as TensorFlow's loader does.
    """

    tags: tuple[str, ...] = ()
    signatures: Mapping[str, Signature] = dataclasses.field(default_factory=dict)
    variables: Mapping[str, tuple[VariableInfo, ...]] = dataclasses.field(default_factory=dict)
    """By collection: `variables`, `trainable_variables`, `local_variables` ..."""
    collections: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    """All other collections: names, bytes or numbers."""
    saver: SaverInfo | None = None
    init_op: str | None = None
    assets: tuple[Asset, ...] = ()
    variables_prefix: str | None = None
    folder: str | None = None
    tensorflow_version: str = ""
    frozen_keys: tuple[str, ...] = ()
    """Checkpoint keys of the variables that a TF2 model does not train, for instance a normalization's moving averages."""
    read_keys: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Checkpoint keys of the variables that a TF2 model's graph passes to its functions, by the variable's node."""
    python_names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The names that the variables of `read_keys` have in Python, by the variable's node, where the graph numbers them."""
    captured_keys: frozenset[str] = frozenset()
    """The keys in a checkpoint of the variables that a function of a TF2 model's objects captures."""
    callables: tuple[SavedCallable, ...] = ()
    chosen: str | None = None
    """The signature that was asked for when the graph was read."""
    objects: Any = None
    """The SavedObjectGraph of a TF2 model, in the format's own representation."""
    joined: JoinedModels | None = None
    """The SavedModels of a joined graph, which has no folder of its own."""

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders of the SavedModels whose files the graph reads."""
        own = () if self.folder is None else (self.folder,)
        return own if self.joined is None else self.joined.folders

    @property
    def usual_signature(self) -> Signature | None:
        """Return the default signature: `serving_default`, or the only signature."""
        # A model with several signatures and no default has none that is usual.
        only = next(iter(self.signatures.values())) if len(self.signatures) == 1 else None
        return self.signatures.get(USUAL_SIGNATURE, only)

    @property
    def called_functions(self) -> dict[str, str]:
        """Return the functions that the model's objects call, by names such as `__call__`."""
        return {called.name: called.function for called in self.callables}

    @property
    def start_steps(self) -> list[tuple[str, dict[str, str]]]:
        """Return the operations to run before any other, each with its feeds: restore the variables, then run `init_op`.

        Every asset's tensor is fed with its path each time. Without `init_op`, the initializers of local variables and
        tables run, as in TensorFlow 2's loader.
        """
        if not self.folders:
            return []
        assets = {asset.tensor: asset.path for asset in self.assets if asset.path}
        return [*self.first_steps, *((name, assets) for name in self.start_operations)]

    @property
    def first_steps(self) -> list[tuple[str, dict[str, str]]]:
        """Return the operations that restore the variables, each with its feeds."""
        if self.joined is not None:
            return [(name, dict(feeds)) for name, feeds in self.joined.first_steps]
        if self.variables_prefix is None or self.saver is None:
            return []
        assets = {asset.tensor: asset.path for asset in self.assets if asset.path}
        return [(self.saver.restore_op, {**assets, self.saver.filename_tensor: self.variables_prefix})]

    @property
    def start_operations(self) -> list[str]:
        """Return the operations that a loader runs once the variables are restored."""
        # Without an init op, the collections say what TensorFlow's loader runs.
        names = self.collected_initializers if self.init_op is None else (self.init_op,)
        return [name.partition(":")[0] for name in names]

    @property
    def collected_initializers(self) -> tuple[str, ...]:
        """Return the initializers of local variables and of tables that the graph's collections name, or those of the
        models that a graph was joined from.
        """
        if self.joined is not None:
            return self.joined.initializers
        local = [variable.initializer for variable in self.variables.get("local_variables", ()) if variable.initializer]
        tables = (name for name in self.collections.get("table_initializer", ()) if isinstance(name, str))
        return (*local, *tables)


def argument_tensor(word: str, arguments: Mapping[str, str], nodes: Container[str]) -> str:
    """Return the tensor of an argument, and any other word as it is. `image:0` is the argument `image`, as TensorFlow's users
    write names, unless a node is called so.
    """
    name = word.removesuffix(":0")
    # An argument takes precedence over a node: users think in the names of the signature.
    return arguments.get(word) or (arguments.get(name, word) if name not in nodes else word)


_MAX_LISTED: Final = 5


def asked_signature(meta: MetaGraph | None, name: str | None = None) -> Signature | None:
    """Return the signature that the caller names, or that was named when the graph was read; None without a name."""
    chosen = name if name is not None or meta is None else meta.chosen
    return None if chosen is None else find_signature(meta, chosen)


def called_signature(meta: MetaGraph | None, name: str | None = None) -> Signature | None:
    """Return the signature that `asked_signature` finds, or else the usual one."""
    return asked_signature(meta, name) or (None if meta is None else meta.usual_signature)


def find_signature(meta: MetaGraph | None, name: str) -> Signature:
    """Return a signature of a graph by name; InvalidArgumentError lists the names that exist."""
    signatures = meta.signatures if meta is not None else {}
    if name not in signatures:
        functions = ", ".join(one.name for one in meta.callables[:_MAX_LISTED]) if meta is not None else ""
        hint = Hint("the graph has no signatures: use tensor names with ", option("feed"), " and ", option("fetch"))
        if signatures:
            hint = Hint(f"the signatures are {', '.join(signatures)}")
        elif functions:
            hint = Hint("the graph has no signatures; choose a function with ", option("function"), f", such as {functions}")
        raise InvalidArgumentError(f"the graph has no signature '{name}'", hint=hint)
    return signatures[name]
