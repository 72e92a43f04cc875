"""Opsets of ONNX: lowerings emit operators as the usual opset has them, and a model for another opset gets the form there.

The schemas of the package onnx say which operators, inputs, attributes and dtypes an opset has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..support import dataclasses
from ..support.errors import InvalidArgumentError, UnimplementedError
from ..support.words import counted
from ..types import dtypes
from ..types.dtypes import DType
from ..types.shapes import Shape
from .blocks import Block, OnnxModel, Operation, Value, wider_dtypes

OPSET: Final = 21
"""The opset whose operators the lowerings emit."""
LOWEST: Final = 13
"""The lowest opset of a model."""
DOMAINS: Final = {"LabelEncoder": ("ai.onnx.ml", 2)}
"""The domains of operators outside ONNX's own, with the version of their set of operators."""
_TYPES: Final = {
    "half": "float16", "float8_e4m3fn": "float8e4m3fn", "float8_e4m3fnuz": "float8e4m3fnuz", "float8_e5m2": "float8e5m2",
    "float8_e5m2fnuz": "float8e5m2fnuz",
}  # fmt: skip
"""ONNX's names of dtypes that are not tfg's."""
_VALUES: Final[Mapping[tuple[str, str], Mapping[Any, int]]] = {
    (op, "reduction"): {"max": 18, "min": 18} for op in ("ScatterND", "ScatterElements")
}
"""The values of attributes that came later than the attribute, with the first opset that has them; schemas do not say it."""


def onnx_name(dtype: DType) -> str:
    """Return the name of a dtype in ONNX's schemas."""
    return _TYPES.get(dtype.name, dtype.name)


def check_opset(onnx: Any, number: int) -> None:
    """Raise InvalidArgumentError for an opset that tfg does not write, or that the package `onnx` does not know."""
    newest = onnx.defs.onnx_opset_version()
    if not LOWEST <= number <= newest:
        problem = f"opset {number} of ONNX is not between {LOWEST} and {newest}, the newest that onnx {onnx.__version__} knows"
        raise InvalidArgumentError(problem)


def in_opset(onnx: Any, model: OnnxModel, number: int) -> OnnxModel:
    """Return the model with each operation in the form that an opset has.

    UnimplementedError names all nodes that need what the opset lacks, each with the first opset that has it.
    """
    forms = _Forms(onnx, number)
    block = forms.block(model.block)
    for name, value in model.outputs.items():
        forms.note_text(name, [value])
    if forms.faults:
        problem = f"ONNX does not support {counted(len(forms.faults), 'node')} of the graph:"
        raise UnimplementedError(problem, details=list(forms.faults))
    return dataclasses.replace(model, block=block)


class _Opset:
    """The schemas of an opset."""

    def __init__(self, onnx: Any, number: int) -> None:
        self.onnx = onnx
        self.number = number

    def schema(self, op: str) -> Any | None:
        """Return the schema of an operator; None where the opset lacks it."""
        domain, version = DOMAINS.get(op, ("", self.number))
        try:
            return self.onnx.defs.get_schema(op, version, domain)
        except self.onnx.defs.SchemaError:
            return None

    def problem(self, operation: Operation) -> str | None:
        """Return what the opset lacks for an operation, in words; None where the operation fits."""
        op, schema = operation.op, self.schema(operation.op)
        if schema is None:
            return op
        if len(operation.inputs) > schema.max_input:
            return f"{op} with {counted(len(operation.inputs), 'input')}"
        if (key := next(self.lacking(operation, schema), None)) is not None:
            return f"{op} with {key}={operation.attrs[key]}"
        ill = next((value for value, formal in _formals(operation, schema) if not _takes(formal, value.dtype)), None)
        return None if ill is None else f"{op} of {ill.dtype}"

    def lacking(self, operation: Operation, schema: Any) -> Iterator[str]:
        """Yield the attributes of an operation that a schema lacks, or whose values came later."""
        for key, value in operation.attrs.items():
            values = _VALUES.get((operation.op, key), {})
            if key not in schema.attributes or (values and self.number < values.get(value, 0)):
                yield key


def _formals(operation: Operation, schema: Any) -> Iterator[tuple[Value, Any]]:
    """Yield the values of an operation, each with the parameter of the schema."""
    for values, formals in ((operation.inputs, schema.inputs), (operation.outputs, schema.outputs)):
        for index, value in enumerate(values):
            if value is not None:
                yield value, formals[min(index, len(formals) - 1)]


def _takes(formal: Any, dtype: DType) -> bool:
    return f"tensor({onnx_name(dtype)})" in formal.types


class _Forms:
    """The forms of operations in an opset. `faults` are the nodes that need what the opset lacks, in words."""

    def __init__(self, onnx: Any, number: int) -> None:
        self.opset = _Opset(onnx, number)
        self.usual = _Opset(onnx, OPSET)
        self.later = [_Opset(onnx, each) for each in range(number + 1, onnx.defs.onnx_opset_version() + 1)]
        self.attribute_value: Callable[[Any], Any] = onnx.helper.get_attribute_value
        self.faults: dict[str, None] = {}

    def block(self, block: Block) -> Block:
        operations = [form for operation in block.operations for form in self.operation(operation)]
        return Block(block.inputs, operations, block.outputs)

    def operation(self, operation: Operation) -> list[Operation]:
        """Return the operations that compute an operation in the opset; what has no form there is noted."""
        inner = {key: self.block(value) if isinstance(value, Block) else value for key, value in operation.attrs.items()}
        operation = dataclasses.replace(operation, attrs=inner)
        forms = [operation]
        # Older forms come before attributes, because their own axes are inputs. Casts come last, because they copy tensors.
        for rewrite in (self.without_defaults, _with_older_form, self.with_attributes, self.in_wider_dtype):
            forms = [form for each in forms for form in (rewrite(each) if self.opset.problem(each) else [each])]
        for form in forms:
            self.note(form)
        return forms

    def note(self, operation: Operation) -> None:
        """Note an operation that does not fit, and constants that ONNX has no strings for."""
        problem = self.opset.problem(operation)
        if problem is not None:
            first = next((later.number for later in self.later if later.problem(operation) is None), None)
            since = "" if first is None else f"; opset {first} has"
            self.faults[f"{operation.source}: opset {self.opset.number} of ONNX has no {problem}{since}"] = None
        self.note_text(operation.source, operation.inputs)

    def note_text(self, source: str, values: Iterable[Value | None]) -> None:
        if any(value is not None and _is_no_text(value) for value in values):
            self.faults[f"{source}: ONNX's strings are UTF-8, and a constant has other bytes"] = None

    def without_defaults(self, operation: Operation) -> list[Operation]:
        """Leave out attributes that the opset lacks where they say what holds without them."""
        schema, usual = self.opset.schema(operation.op), self.usual.schema(operation.op)
        if schema is None or usual is None:
            return [operation]
        left = dict(operation.attrs)
        for key in self.opset.lacking(operation, schema):
            attribute = usual.attributes.get(key)
            default = None if attribute is None else self.attribute_value(attribute.default_value)
            default = default.decode() if isinstance(default, bytes) else default
            # Before opset 18 a Split without sizes makes as many equal parts as it has outputs.
            if default == left[key] or (operation.op, key) == ("Split", "num_outputs"):
                del left[key]
        return [dataclasses.replace(operation, attrs=left)]

    def with_attributes(self, operation: Operation) -> list[Operation]:
        """State constant inputs that the opset has as attributes, as the axes of a reduction."""
        schema, usual = self.opset.schema(operation.op), self.usual.schema(operation.op)
        if schema is None or usual is None:
            return [operation]
        attrs, inputs = dict(operation.attrs), list(operation.inputs)
        # Inputs are removed from the end, so that the places of the others stay.
        while len(inputs) > schema.max_input:
            name, value = usual.inputs[len(inputs) - 1].name, inputs.pop()
            if value is not None and (value.array is None or name not in schema.attributes):
                return [operation]
            if value is not None and value.array is not None:
                attrs[name] = value.array.tolist() if value.array.ndim else int(value.array)
        return [dataclasses.replace(operation, inputs=inputs, attrs=attrs)]

    def in_wider_dtype(self, operation: Operation) -> list[Operation]:
        """Compute in a wider dtype that the opset has, between casts."""
        schema = self.opset.schema(operation.op)
        for value, formal in () if schema is None else _formals(operation, schema):
            for wide in () if _takes(formal, value.dtype) else wider_dtypes(value.dtype):
                forms = _cast(operation, schema, value.dtype, formal.type_str, wide)
                if all(self.opset.problem(form) is None for form in forms):
                    return forms
        return [operation]


def _cast(operation: Operation, schema: Any, dtype: DType, type_name: str, wide: DType) -> list[Operation]:
    """Return an operation on another dtype for all values of a type of the schema, between casts."""
    of_type = {value for value, formal in _formals(operation, schema) if formal.type_str == type_name and value.dtype is dtype}
    others = {value: Value(wide, value.shape) for value in of_type}
    source = operation.source
    before = [
        Operation("Cast", [value], [others[value]], {"to": wide}, source) for value in operation.inputs if value in others
    ]
    after = [
        Operation("Cast", [others[value]], [value], {"to": dtype}, source) for value in operation.outputs if value in others
    ]
    inputs = [None if value is None else others.get(value, value) for value in operation.inputs]
    outputs = [others.get(value, value) for value in operation.outputs]
    return [*before, dataclasses.replace(operation, inputs=inputs, outputs=outputs), *after]


# Operators with another form in older opsets.


def _with_older_form(operation: Operation) -> list[Operation]:
    """Return the older form of an operation that does not fit an opset; the operation itself where none is known."""
    form = _OLDER.get(operation.op)
    return [operation] if form is None else form(operation)


def _vector(*numbers: int) -> Value:
    array = np.array(numbers, np.int64)
    return Value(dtypes.int64, Shape(array.shape), array)


def _made(operation: Operation, op: str, *inputs: Value, **attrs: Any) -> Operation:
    """Return an operation with a new vector of int64."""
    return Operation(op, list(inputs), [Value(dtypes.int64, Shape([None]))], attrs, operation.source)


def _shape(operation: Operation) -> list[Operation]:
    """Return a part of a shape as a slice of the whole."""
    whole = _made(operation, "Shape", *_given(operation))
    start, end = operation.attrs.get("start", 0), operation.attrs.get("end", np.iinfo(np.int64).max)
    inputs: list[Value | None] = [whole.outputs[0], _vector(start), _vector(end), _vector(0)]
    return [whole, Operation("Slice", inputs, operation.outputs, {}, operation.source)]


def _reshape(operation: Operation) -> list[Operation]:
    """Return a Reshape to sizes that may be 0, where 0 means the size of the input: an empty input gets zeros everywhere."""
    x, sizes = _given(operation)
    rank = operation.outputs[0].rank or (sizes.shape[0] if sizes.rank else None)
    if not isinstance(rank, int) or not rank:
        return [operation]
    column = Operation("Reshape", [x, _vector(-1, *[1] * (rank - 1))], [Value(x.dtype)], {}, operation.source)
    flat = Operation("Reshape", [x, _vector(-1)], [Value(x.dtype)], {}, operation.source)
    count = _made(operation, "Shape", flat.outputs[0])
    some = _made(operation, "Min", count.outputs[0], _vector(1))
    spread = _made(operation, "Concat", _vector(1), *[some.outputs[0]] * (rank - 1), axis=0)
    spaced = Operation("Expand", [column.outputs[0], spread.outputs[0]], [Value(x.dtype)], {}, operation.source)
    result = Operation("Reshape", [spaced.outputs[0], sizes], operation.outputs, {}, operation.source)
    return [column, flat, count, some, spread, spaced, result]


def _reduction(operation: Operation) -> list[Operation]:
    """Return a reduction along no axis as a reduction along a new one."""
    x, axes = _given(operation)
    attrs = {key: value for key, value in operation.attrs.items() if key != "noop_with_empty_axes"}
    if axes.array is None:
        return [operation]
    if axes.array.size:
        return [dataclasses.replace(operation, attrs=attrs)]
    added = Operation("Unsqueeze", [x, _vector(0)], [Value(x.dtype)], {}, operation.source)
    return [added, dataclasses.replace(operation, inputs=[added.outputs[0], _vector(0)], attrs=attrs | {"keepdims": 0})]


def _given(operation: Operation) -> Sequence[Value]:
    return [value for value in operation.inputs if value is not None]


_REDUCTIONS: Final = ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare")
_OLDER: Final[Mapping[str, Callable[[Operation], list[Operation]]]] = {
    "Shape": _shape, "Reshape": _reshape,
    **dict.fromkeys(_REDUCTIONS, _reduction),
}  # fmt: skip


def _is_no_text(value: Value) -> bool:
    """Return True for a constant of strings that are not UTF-8 text."""
    if value.array is None or value.array.dtype != object:
        return False
    try:
        b"\0".join(map(as_bytes, value.array.flat)).decode()
    except UnicodeDecodeError:
        return True
    return False


def as_bytes(item: Any) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode("utf-8", "surrogateescape")
