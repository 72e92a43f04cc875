"""ONNX files: writing a model as a ModelProto, running a model by onnxruntime, and comparing it with a graph."""

from __future__ import annotations

import collections
import ctypes
import importlib
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..core.comparing.value_comparison import GraphComparison, compare_outputs
from ..core.graph.graph import Graph
from ..core.onnx.blocks import Block, OnnxModel, Operation, Value
from ..core.onnx.opsets import DOMAINS, OPSET, as_bytes, check_opset, in_opset, onnx_name
from ..core.runtime.session.drawn_feeds import Feeds
from ..core.runtime.session.session import Session
from ..core.support.atomic import atomic_file, file_errors, locked_folder
from ..core.support.errors import InternalError, InvalidArgumentError, UnimplementedError
from ..core.support.file_formats import ONNX, ONNX_MODELS, extension_of, format_of
from ..core.support.hints import extra_hint
from ..core.support.places import names_in, remove, resolved
from ..core.support.user_signals import pass_on
from ..core.support.words import listed
from ..core.types.arrays import Array
from ..core.types.dtypes import DType, from_name, from_numpy
from ..core.types.shapes import Shape

LARGEST: Final = (1 << 31) - (1 << 24)
"""The size of weights, in bytes, from which the weights get a file of their own: protobuf reads no message of 2 GiB."""
_ALIGNMENT: Final = 4096
"""The alignment, in bytes, of weights in the separate file, so that the weights can be memory-mapped."""
_HALF_BYTES: Final = ("int4", "uint4")
_FOREIGN: Final = ("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", *_HALF_BYTES)
"""Dtypes that NumPy lacks."""


def require(package: str) -> Any:
    """Import the package `onnx` or `onnxruntime`; UnimplementedError names the extra to install."""
    try:
        return importlib.import_module(package)
    except ImportError:
        problem = f"ONNX files need the packages onnx and onnxruntime: {package} is not installed"
        raise UnimplementedError(problem, hint=extra_hint("onnx")) from None


def save_onnx(model: OnnxModel, path: str | os.PathLike[str], opset: int = OPSET) -> int:
    """Write a model, checked, and return the bytes of weights. Large weights go to `PATH.data` or `PATH.1.data`.

    InvalidArgumentError for a name that does not end in .onnx and for an unknown opset, UnimplementedError without the
    package onnx and for what the opset lacks, InternalError for a model that onnx.checker refuses.
    """
    format_of(path, ONNX_MODELS)
    onnx = require("onnx")
    check_opset(onnx, opset)
    path = resolved(path)
    writer = _ModelWriter(onnx, in_opset(onnx, model, opset), opset)
    size = sum(array.nbytes for array in writer.arrays())
    # The nodes and names of the message need the room between LARGEST and protobuf's limit of 2 GiB.
    if size > LARGEST:
        with file_errors(path), locked_folder(os.path.dirname(path)):
            _save_in_two(writer, path)
    else:
        proto = writer.model(None)
        _check(onnx, proto)
        with atomic_file(path) as file:
            file.write(proto.SerializeToString())
    return size


def _save_in_two(writer: _ModelWriter, path: str) -> None:
    """Write the weights under a new name, then the model, so that at each moment a complete model exists."""
    folder, name = os.path.split(path)
    earlier = [entry for entry in names_in(folder) if re.fullmatch(re.escape(name) + r"(\.\d+)?\.data", entry)]
    names = itertools.chain([f"{name}.data"], (f"{name}.{number}.data" for number in itertools.count(1)))
    # The model that is there names its own file of weights, which must stay until the new model is in its place.
    weights = next(itertools.filterfalse(earlier.__contains__, names))
    proto = writer.model(weights)
    with atomic_file(os.path.join(folder, weights)) as file:
        for chunk in writer.external:
            file.write(chunk)
    with atomic_file(path) as file:
        file.write(proto.SerializeToString())
        file.flush()
        # The checker follows the names of external weights from the model's folder, so the model is checked where it lies.
        _check(writer.onnx, file.name)
    for entry in earlier:
        remove(os.path.join(folder, entry))


def _number(kinds: Any, dtype: DType) -> int:
    """Return the number of a dtype in TensorProto."""
    number: int = getattr(kinds, onnx_name(dtype).upper())
    return number


def _check(onnx: Any, model: Any) -> None:
    """Check a model or a file with onnx.checker, and infer the shapes of a model.

    The checker refuses values of unknown rank, though ONNX allows them: a model with unknown ranks is checked as a copy
    with rank 0, without inference.
    """
    is_whole = not isinstance(model, str)
    if is_whole and any(not info.type.tensor_type.HasField("shape") for info in _infos(model.graph)):
        shown = type(model)()
        shown.CopyFrom(model)
        for info in _infos(shown.graph):
            info.type.tensor_type.shape.SetInParent()
        model, is_whole = shown, False
    try:
        onnx.checker.check_model(model, full_check=is_whole)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise InternalError(f"onnx.checker rejects the model: {error}") from error


def _infos(graph: Any) -> Iterator[Any]:
    """Yield the value infos of inputs and outputs, of subgraphs too."""
    yield from (*graph.input, *graph.output)
    for node in graph.node:
        for attribute in node.attribute:
            yield from _infos(attribute.g)


class _ModelWriter:
    """The writer of a ModelProto: names of values, and the weights that stand outside."""

    def __init__(self, onnx: Any, model: OnnxModel, opset: int) -> None:
        self.onnx = onnx
        self.helper = onnx.helper
        self.opset = opset
        self.source = model
        self.names: dict[Value, str] = {}
        self.taken: collections.Counter[str] = collections.Counter()
        self.external: list[bytes] = []
        for name, value in itertools.chain(model.inputs.items(), model.outputs.items()):
            self.names[value] = self.free(name)
        # Several steps may share a constant; it is written once.
        self.constants = list(dict.fromkeys(value for value in model.block.values() if value.array is not None))

    def arrays(self) -> Iterator[Array]:
        return (value.array for value in self.constants if value.array is not None)

    def model(self, location: str | None) -> Any:
        """Return the ModelProto, with weights in the file `location` unless that is None."""
        weights = [self.tensor(value, location) for value in self.constants]
        # An initializer with the name of an input is the value that the input has if nobody feeds it.
        for name, default in self.source.defaults.items():
            value = self.source.inputs[name]
            weights.append(self.tensor(Value(value.dtype, Shape(as_pairs(default).shape), as_pairs(default)), None))
            weights[-1].name = self.names[value]
        graph = self.graph(self.source.block, "tfg", weights)
        used = {DOMAINS[operation.op] for operation in self.source.block.everything() if operation.op in DOMAINS}
        opsets = [self.helper.make_opsetid(*opset) for opset in (("", self.opset), *sorted(used))]
        # The lowest version that has the opsets is read by the most runtimes.
        version = self.helper.find_min_ir_version_for(opsets)
        return self.helper.make_model(graph, opset_imports=opsets, ir_version=version, producer_name="tfg")

    def graph(self, block: Block, name: str, weights: Iterable[Any] = ()) -> Any:
        inputs = [self.info(value) for value in block.inputs]
        nodes = [self.node(operation) for operation in block.operations]
        return self.helper.make_graph(nodes, name, inputs, [self.info(value) for value in block.outputs], list(weights))

    def node(self, operation: Operation) -> Any:
        name = self.free(operation.source or operation.op)
        inputs = ["" if value is None else self.name(value) for value in operation.inputs]
        outputs = [self.name(value, name if i == 0 else f"{name}:{i}") for i, value in enumerate(operation.outputs)]
        # An empty name stands for an optional input that is left out in the middle; at the end ONNX lists nothing.
        while inputs and not inputs[-1]:
            inputs.pop()
        attrs = {key: self.attribute(key, value) for key, value in operation.attrs.items()}
        domain, _ = DOMAINS.get(operation.op, ("", self.opset))
        return self.helper.make_node(operation.op, inputs, outputs, name, domain=domain, **attrs)

    def attribute(self, key: str, value: Any) -> Any:
        if isinstance(value, Block):
            return self.graph(value, key)
        if isinstance(value, DType):
            return self.type(value)
        if isinstance(value, np.ndarray):
            return self.onnx.numpy_helper.from_array(value)
        return value

    def name(self, value: Value, wish: str | None = None) -> str:
        if value not in self.names:
            self.names[value] = self.free("value" if wish is None else wish)
        return self.names[value]

    def free(self, wish: str) -> str:
        """Return an unused name."""
        self.taken[wish] += 1
        return wish if self.taken[wish] == 1 else self.free(f"{wish}_{self.taken[wish] - 1}")

    def type(self, dtype: DType) -> int:
        return _number(self.onnx.TensorProto, dtype)

    def info(self, value: Value) -> Any:
        shape = _dims(value.shape)
        return self.helper.make_tensor_value_info(self.name(value), self.type(value.dtype), shape)

    def tensor(self, value: Value, location: str | None) -> Any:
        """Return a constant as a TensorProto."""
        assert value.array is not None
        name, number, dims = self.name(value, "constant"), self.type(value.dtype), value.array.shape
        if value.array.dtype == object:
            return self.helper.make_tensor(name, number, dims, [as_bytes(item) for item in value.array.flat])
        data = _packed(value)
        tensor = self.helper.make_tensor(name, number, dims, data, raw=True)
        # Smaller ones stay in the message, as each weight outside is filled up to the alignment.
        if location is not None and len(data) >= _ALIGNMENT:
            start = sum(map(len, self.external))
            self.external.append(data + bytes(-len(data) % _ALIGNMENT))
            self.onnx.external_data_helper.set_external_data(tensor, location, start, len(data))
            tensor.ClearField("raw_data")
        return tensor


def _dims(shape: Shape) -> list[int | str | None] | None:
    if shape.dims is None:
        return None
    return [dim if isinstance(dim, int) else None if dim.is_anonymous else str(dim) for dim in shape.dims]


def _packed(value: Value) -> bytes:
    """Return the bytes of a constant, little-endian; two integers of four bits share a byte."""
    assert value.array is not None
    array = np.ascontiguousarray(value.array, value.dtype.numpy)
    if value.dtype.name not in _HALF_BYTES:
        return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    # An odd number of halves is filled up to whole bytes.
    halves = np.resize(array.reshape(-1).astype(np.uint8) & 15, -(-array.size // 2) * 2)
    packed: bytes = (halves[::2] | halves[1::2] << 4).astype(np.uint8).tobytes()
    return packed


# Runs of models in files.


def onnx_input_dims(path: str | os.PathLike[str]) -> dict[str, list[int | str | None]]:
    """Return the dimensions of a model's inputs: sizes, names, or None for any size; inputs of unknown rank are left out.

    onnxruntime gives a scalar's dimensions for an unknown rank, hence the file is read.
    """
    # The dimensions need no weights, which may have gigabytes.
    model = require("onnx").load(os.fspath(path), load_external_data=False)
    types = {info.name: info.type.tensor_type for info in model.graph.input}
    shapes = {name: kind.shape.dim for name, kind in types.items() if kind.HasField("shape")}
    return {
        name: [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in dims]
        for name, dims in shapes.items()
    }


def _onnx_session(path: str | os.PathLike[str]) -> Any:
    runtime = require("onnxruntime")
    options = runtime.SessionOptions()
    # Level 4 allows fatal messages only: onnxruntime prints to the terminal, and errors arrive as exceptions anyway.
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_quant_qdq", "1")  # else 8-bit weights have activations rounded too
    try:
        return runtime.InferenceSession(os.fspath(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no other common class
        pass_on(error)
        raise UnimplementedError(f"onnxruntime cannot load the model: {error}") from error


def run_onnx(path: str | os.PathLike[str], feeds: Mapping[str, Array]) -> list[Array]:
    """Return the outputs of a model in a file, computed by onnxruntime on the CPU; complex outputs as in `as_pairs`.

    UnimplementedError without the package onnxruntime, and if onnxruntime does not run the model.
    """
    session = _onnx_session(path)
    try:
        outputs = _run(require("onnxruntime"), session, {name: _to_onnx(value) for name, value in feeds.items()})
    except Exception as error:
        pass_on(error)
        raise UnimplementedError(f"onnxruntime cannot run the model: {error}") from error
    # onnxruntime has strings as texts, tfg as bytes.
    return [
        value if value.dtype != object else np.array([*map(as_bytes, value.flat)], object).reshape(value.shape)
        for value in outputs
    ]


def _run(runtime: Any, session: Any, feeds: Mapping[str, Array]) -> list[Array]:
    """Return the outputs; numbers that NumPy lacks are passed to and from onnxruntime as bytes, except beside strings."""
    # onnxruntime makes an OrtValue of any array but one of strings.
    if any(value.dtype == object for value in feeds.values()):
        return [np.asarray(value) for value in session.run(None, feeds)]
    make, kinds = runtime.OrtValue, require("onnx").TensorProto
    inputs = {}
    for name, value in feeds.items():
        # 2 are the dtypes that another package registered with NumPy, for example bfloat16.
        if value.dtype.isbuiltin != 2:
            inputs[name] = make.ortvalue_from_numpy(value)
        else:
            # onnxruntime takes no arrays of ml_dtypes; it takes their bytes as integers beside the number of the ONNX type.
            carrier = np.asarray(value, order="C").view(f"u{value.dtype.itemsize}")
            inputs[name] = make.ortvalue_from_numpy_with_onnx_type(carrier, _number(kinds, from_numpy(value.dtype)))
    return [_array(value) for value in session.run_with_ort_values(None, inputs)]


def _array(value: Any) -> Array:
    """Convert an output of onnxruntime to an array."""
    name = value.data_type().removeprefix("tensor(").removesuffix(")")
    dtype = next((dtype for dtype in map(from_name, _FOREIGN) if onnx_name(dtype) == name), None)
    if dtype is None:
        return np.asarray(value.numpy())
    count = math.prod(value.shape())
    size = -(-count // 2) if name in _HALF_BYTES else count * dtype.size  # older runtimes do not tell the size
    numbers = np.frombuffer(ctypes.string_at(value.data_ptr(), size) if size else b"", np.uint8)
    return _unpacked(numbers, dtype, value.shape())


def _unpacked(numbers: Array, dtype: DType, shape: Sequence[int]) -> Array:
    """Unpack elements from bytes; two integers of four bits share a byte."""
    if dtype.name not in _HALF_BYTES:
        return numbers.view(dtype.numpy).reshape(shape)
    halves = np.stack([numbers & 15, numbers >> 4], -1).reshape(-1)[: math.prod(shape)]
    # Bit 3 is the sign of an int4. Flipping it adds 8 to the signed number, and the 8 is subtracted again.
    signed = (halves ^ 8).astype(np.int8) - 8 if dtype.name == "int4" else halves
    return signed.astype(dtype.numpy).reshape(shape)


def as_pairs(value: Array) -> Array:
    """Convert complex numbers to a model's form, (..., 2) real and imaginary parts; other dtypes stay."""
    return np.stack([value.real, value.imag], -1) if value.dtype.kind == "c" else value


def _to_onnx(value: Array) -> Array:
    """Convert an array to onnxruntime's form: strings as text, complex numbers as pairs."""
    value = as_pairs(np.asarray(value))
    if value.dtype != object:
        return value
    return np.array([as_bytes(item).decode("utf-8", "surrogateescape") for item in value.flat], object).reshape(value.shape)


# The outputs of a graph beside those of a model in a file, computed by onnxruntime.


def is_onnx(path: str | os.PathLike[str]) -> bool:
    """Return True for the name of an ONNX file."""
    return extension_of(path) in ONNX.extensions


def compare_with_onnx(
    graph: Graph,
    path: str | os.PathLike[str],
    names: tuple[Mapping[str, str], Mapping[str, str]],
    feeds: Mapping[str, Any],
    open_session: Callable[[Graph], Session],
    tolerance: float,
    *,
    onnx_first: bool = False,
    all_outputs: bool = True,
) -> GraphComparison:
    """Run a graph and an ONNX model on the same feeds and compare the outputs that both have.

    `names` are the graph's tensors behind the names of inputs and of outputs; other inputs are placeholders. An input
    without a value in `feeds` gets a drawn value. `onnx_first`: the model in the file is the first of the two. With
    `all_outputs` an output of the model that no name stands for is the graph's node of that name. InvalidArgumentError if
    names do not fit, UnimplementedError without the package onnxruntime.
    """
    session = _onnx_session(path)
    with_default = session.get_overridable_initializers()
    inputs, outputs = ([v.name for v in values] for values in ([*session.get_inputs(), *with_default], session.get_outputs()))
    placeholders = {node.name: node.output().name for node in graph if node.is_placeholder}
    fed, fetched = ({name.removesuffix(":0"): tensor for name, tensor in pairs.items()} for pairs in names)
    fed = placeholders | fed
    if all_outputs:
        fetched |= {name: f"{name}:0" for name in outputs if name not in fetched and name in graph}
    both = [name for name in outputs if name in fetched]
    lacking = [name for name in inputs if name not in fed]
    if lacking or not both:
        problem = f"input '{lacking[0]}'" if lacking else f"output {listed(outputs)}"
        hint = f"the graph has {', '.join(fed if lacking else fetched) or 'none'}"
        raise InvalidArgumentError(f"the graph lacks {problem} of '{os.fspath(path)}'", hint=hint)
    fetches = [fetched[name] for name in both]
    # Inputs are fetched, too: the model in the file needs all of them, also those that the outputs of the graph do not.
    drawn = Feeds(graph, feeds, [*fetches, *(fed[name] for name in inputs)])
    values, mine = next(drawn.each_that_runs(lambda given: open_session(graph).run(fetches, given)))
    theirs = dict(zip(outputs, run_onnx(path, {name: values[fed[name]] for name in inputs})))
    ops = {name: graph.node_of(fetched[name]).op for name in both}
    rows = ((fetched[name], ops[name], name, as_pairs(a), theirs[name]) for name, a in zip(both, mine))
    only_graph = tuple(name for name in fetched if name not in outputs)
    only_onnx = tuple(name for name in outputs if name not in fetched)
    if onnx_first:
        swapped = ((name, op, tensor, b, a) for tensor, op, name, a, b in rows)
        return GraphComparison(compare_outputs(swapped, tolerance), only_onnx, only_graph)
    return GraphComparison(compare_outputs(rows, tolerance), only_graph, only_onnx)
