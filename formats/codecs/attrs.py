"""AttrValue messages to plain Python values and back."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.registry.catalog import CATALOG
from ...core.support.errors import InvalidArgumentError, TfgError
from ...core.types import dtypes
from ...core.types.dtypes import DType
from ...core.types.shapes import UNSTATED, NumberedShape, Shape
from ...core.types.tensors import FuncRef, Placeholder, Tensor
from ..protos.graph_pb2 import AttrValue, NameAttrList, NodeDef, TensorShapeProto
from .tensor_proto import decode_tensor, encode_tensor

HEAD = ("name", "op", "input", "device")
"""The fields of a NodeDef that come before the attributes."""


_DAMAGED: Final = object()


class NodeAttrs(Mapping[str, Any]):
    """The attributes of NodeDefs in the file's bytes, decoded at first use; nodes with equal attributes share an object.

    A loaded node keeps the same object as `source`: if `attrs` still is `source`, the attributes are unchanged.
    `contents` holds the large tensor_content bytes that were left in the file, by attribute. Errors name the node passed
    in.
    """

    __slots__ = ("_cache", "_data", "_name", "_op", "contents")

    def __init__(self, data: bytes | NodeDef, name: str, op: str, contents: Mapping[str, memoryview] | None = None) -> None:
        self._data = data
        self._name = name
        self._op = op
        self.contents = contents
        self._cache: dict[str, Any] | None = None

    @property
    def proto(self) -> NodeDef:
        """Return the message with the attributes; the message's name, op, inputs and device are not meaningful."""
        data = self._data
        # The message replaces the bytes: it is made once, and most attributes of a large graph are never asked for.
        if isinstance(data, bytes):
            data = self._data = NodeDef.FromString(data)
        return data

    def bare(self) -> NodeDef:
        """Return the message without name, op, inputs and device."""
        proto = self.proto
        # A large node keeps its whole message, which also has the fields before the attributes.
        if any(getattr(proto, field) for field in HEAD):
            proto = NodeDef()
            proto.CopyFrom(self.proto)
            for field in HEAD:
                proto.ClearField(field)
        return proto

    @property
    def _values(self) -> dict[str, Any]:
        """The decoded attributes by name, in alphabetical order, and `_DAMAGED` for those that cannot be decoded."""
        values = self._cache
        if values is None:
            # All at once: a check asks for all of them, and one by one takes three times as long.
            values = self._cache = {name: self._or_damaged(name) for name in sorted(self.proto.attr)}
        return values

    def _or_damaged(self, name: str) -> Any:
        try:
            return self._decoded(name)
        except TfgError:
            return _DAMAGED  # an error for who asks for this attribute, and not for others

    def _decoded(self, name: str) -> Any:
        content = self.contents.get(name) if self.contents else None
        try:
            return decode_attr(self.proto.attr[name], content)
        except TfgError as error:
            raise type(error)(f"attribute '{name}': {error.message}", node=self._name, op=self._op, hint=error.hint) from None

    def __getitem__(self, name: str) -> Any:
        value = (self._cache or self._values)[name]
        return self._decoded(name) if value is _DAMAGED else value

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute, or `default` if the attribute is not set."""
        # Without a call in the usual case: shape functions ask for attributes of each node.
        value = (self._cache or self._values).get(name, default)
        return self._decoded(name) if value is _DAMAGED else value

    def __contains__(self, name: object) -> bool:
        return name in (self._cache or self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def items(self) -> ItemsView[str, Any]:
        """Return the names and values of all attributes."""
        values = self._values
        # The views of a dict take a fifth of the time of Mapping's, but would show damaged values.
        return super().items() if any(value is _DAMAGED for value in values.values()) else values.items()

    def __len__(self) -> int:
        return len(self._values)

    def is_original(self, name: str, value: Any) -> bool:
        """Return True if `value` is the very object decoded from this message."""
        return self._cache is not None and self._cache.get(name, _DAMAGED) is value

    def __repr__(self) -> str:
        return f"NodeAttrs({dict(self)})"


def decode_attr(proto: AttrValue, content: memoryview | None = None) -> Any:
    """Return the plain value of an AttrValue, None for an empty AttrValue; InvalidArgumentError for an impossible value."""
    kind = proto.WhichOneof("value")
    if kind is None:
        return None
    if kind == "tensor":
        return decode_tensor(proto.tensor, content)
    return _DECODERS[kind](getattr(proto, kind))


def decode_attrs(attrs: Mapping[str, AttrValue]) -> dict[str, Any]:
    """Decode all attributes of a map, by name in alphabetical order."""
    return {name: decode_attr(attrs[name]) for name in sorted(attrs)}


def decode_shape(proto: TensorShapeProto) -> Shape:
    """Decode a shape; negative dimensions are unknown, and dimensions below -1 keep their numbers."""
    if proto.unknown_rank:
        return Shape()
    sizes = [dim.size for dim in proto.dim]
    # Grappler numbers unknown dimensions below -1 in `_output_shapes`; TensorFlow imports such graphs, and they are written
    # back as they were.
    if any(size < -1 for size in sizes):
        return NumberedShape(sizes)
    return Shape(None if size < 0 else size for size in sizes)


def encode_shape(shape: Shape) -> TensorShapeProto:
    """Encode a shape; symbolic dimensions become -1, and the empty shape of an old placeholder stays empty."""
    if shape is UNSTATED:
        return TensorShapeProto()
    if shape.dims is None:
        return TensorShapeProto(unknown_rank=True)
    if isinstance(shape, NumberedShape):
        sizes = list(shape.sizes)
    else:
        sizes = [dim if isinstance(dim, int) else -1 for dim in shape.dims]
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _decode_func(proto: NameAttrList) -> FuncRef:
    return FuncRef(proto.name, decode_attrs(proto.attr))


def _decode_list(proto: AttrValue.ListValue) -> list[Any]:
    for descriptor, values in proto.ListFields():
        decode = _LIST_DECODERS.get(descriptor.name)
        return list(values) if decode is None else [decode(value) for value in values]
    return []


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "s": bytes,
    "i": int,
    "f": float,
    "b": bool,
    "type": dtypes.from_number,
    "shape": decode_shape,
    "func": _decode_func,
    "placeholder": Placeholder,
    "list": _decode_list,
}
_LIST_DECODERS: dict[str, Callable[[Any], Any]] = {
    "type": dtypes.from_number,
    "shape": decode_shape,
    "tensor": decode_tensor,
    "func": _decode_func,
}


def attr_type(op: str, name: str) -> str | None:
    """Return the declared type of an op's attribute, for example `list(float)`; None for an undeclared attribute."""
    definition = CATALOG.get(op)
    declared = definition.attrs.get(name) if definition is not None else None
    return None if declared is None else declared.type


def encode_attr(value: Any, type_: str | None = None) -> AttrValue:
    """Encode a plain value as an AttrValue; `type_` decides between int and float, and for empty lists.

    InvalidArgumentError for a value that no attribute can hold.
    """
    if value is None:
        return AttrValue()
    if isinstance(value, Placeholder):
        return AttrValue(placeholder=value.name)
    if isinstance(value, (list, tuple)):
        return AttrValue(list=_encode_list(value, type_))
    field, encoded = _encode_scalar(value, type_)
    try:
        return AttrValue(**{field: encoded})
    except ValueError as error:  # an integer of more than 64 bits
        raise InvalidArgumentError(f"{value!r} cannot be an attribute: {error}") from None


def _encode_scalar(value: Any, type_: str | None) -> tuple[str, Any]:
    """Return the field of AttrValue, or of AttrValue's list, for a value, and the value in protobuf's form."""
    # A script may give 1 for an attribute of floats; TensorFlow reads only the field `f`.
    if type_ == "float" and isinstance(value, (int, float)):
        return "f", float(value)
    for kinds, field, encode in _ENCODERS:
        if isinstance(value, kinds):
            return field, encode(value)
    if hasattr(value, "item"):  # a NumPy scalar
        return _encode_scalar(value.item(), type_)
    raise InvalidArgumentError(f"{value!r} cannot be an attribute")


def _encode_list(values: Sequence[Any], type_: str | None) -> AttrValue.ListValue:
    element = type_[5:-1] if type_ is not None and type_.startswith("list(") else None
    pairs = [_encode_scalar(value, element) for value in values]
    kinds = {field for field, _ in pairs}
    if kinds == {"i", "f"}:
        kinds, pairs = {"f"}, [("f", float(value)) for _, value in pairs]
    if len(kinds) > 1:
        raise InvalidArgumentError(f"the list {list(values)!r} mixes kinds of values")
    return AttrValue.ListValue(**{field: [value for _, value in pairs] for field in kinds})


def encode_func(value: FuncRef) -> NameAttrList:
    """Encode a function reference as a NameAttrList."""
    return NameAttrList(name=value.name, attr={name: encode_attr(attr) for name, attr in value.attrs.items()})


# In order: a bool is an int to Python.
_ENCODERS: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (bool, "b", bool),
    (int, "i", int),
    (float, "f", float),
    ((bytes, bytearray), "s", bytes),
    (str, "s", lambda value: value.encode()),
    (DType, "type", lambda value: value.number),
    (Shape, "shape", encode_shape),
    (Tensor, "tensor", encode_tensor),
    (FuncRef, "func", encode_func),
)
