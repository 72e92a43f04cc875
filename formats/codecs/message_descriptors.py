"""Message types of protobuf, from a FileDescriptorSet or from the messages that TensorFlow has of its own."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message

from ...core.codecs.message_types import MessageField
from ...core.support import dataclasses
from ...core.support.errors import DataLossError, InvalidArgumentError
from ..protos import checkpoint_pb2, event_pb2, example_pb2, graph_pb2, meta_graph_pb2, run_metadata_pb2

OWN: Final = (graph_pb2, example_pb2, event_pb2, run_metadata_pb2, meta_graph_pb2, checkpoint_pb2)
"""The messages that equal TensorFlow's, field by field, but for the name of the package."""
_ZEROS: Final = {
    "double": 0.0, "float": 0.0, "bool": False, "string": b"", "bytes": b"", "message": b"", "group": b""
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class DescribedType:
    """A message type of a pool of descriptors."""

    descriptor: Descriptor
    pool: descriptor_pool.DescriptorPool

    def field(self, name: str, extensions: bool = False) -> MessageField | None:
        """Return the field of a name, or the extension of a full name; None for no such field."""
        field = self.descriptor.fields_by_name.get(name)
        if field is None and extensions:
            field = next((other for other in self.pool.FindAllExtensions(self.descriptor) if other.full_name == name), None)
        if field is None:
            return None
        kind = descriptor_pb2.FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()  # type: ignore[arg-type]
        return MessageField(field.full_name, field.number, kind, field.is_repeated, field.is_packed, _default(field, kind))

    def from_text(self, text: bytes) -> bytes:
        """Return the binary form of a message in text format; DataLossError for a text of no such message."""
        try:
            return _serialized(text_format.Parse(text, self._new(), descriptor_pool=self.pool))
        except (text_format.ParseError, EncodeError, UnicodeDecodeError, RecursionError) as error:
            raise DataLossError(f"Unable to parse text protobuf: {error}") from None

    def sanitized(self, data: bytes) -> bytes:
        """Return the message as protobuf writes it; DataLossError if protobuf refuses the message."""
        message = self._new()
        try:
            message.ParseFromString(data)
            return _serialized(message)
        except (DecodeError, EncodeError) as error:
            raise DataLossError(f"Unable to parse binary protobuf: {error}") from None

    def _new(self) -> Message:
        return message_factory.GetMessageClass(self.descriptor)()


def _serialized(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


def _default(field: FieldDescriptor, kind: str) -> Any:
    """Return the default of the field, and of an element: the first value of an enum, else zero."""
    value = field.default_value
    if isinstance(value, str):
        return value.encode()
    if value is not None and not field.is_repeated:
        return value
    return field.enum_type.values[0].number if field.enum_type is not None else _ZEROS.get(kind, 0)


def described_type(descriptors: bytes | None, name: str) -> DescribedType | None:
    """Return the message type of a full name in a FileDescriptorSet, or among TensorFlow's own types for None.

    None for an unknown name; InvalidArgumentError for bytes that hold no valid FileDescriptorSet.
    """
    pool = _own_pool() if descriptors is None else _pool(descriptors)
    try:
        return DescribedType(pool.FindMessageTypeByName(name), pool)
    except KeyError:
        return None


# A dataset decodes each of its records by the same descriptors.
@functools.lru_cache(8)
def _pool(descriptors: bytes) -> descriptor_pool.DescriptorPool:
    files = descriptor_pb2.FileDescriptorSet()
    pool = descriptor_pool.DescriptorPool()
    try:
        files.ParseFromString(descriptors)
        for file in files.file:
            pool.AddSerializedFile(file.SerializeToString())
    except (DecodeError, TypeError) as error:
        raise InvalidArgumentError(f"the descriptors of the messages are not valid: {error}") from None
    return pool


@functools.cache
def _own_pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    added: set[str] = set()
    for module in OWN:
        for file in _with_dependencies(module.DESCRIPTOR):
            if file.name not in added:
                pool.AddSerializedFile(_as_tensorflow(file))
                added.add(file.name)
    return pool


def _with_dependencies(file: FileDescriptor) -> Iterator[FileDescriptor]:
    """Yield the files that a file imports, then the file."""
    for imported in file.dependencies:
        yield from _with_dependencies(imported)
    yield file


def _as_tensorflow(file: FileDescriptor) -> bytes:
    """Return the descriptor of a file with the messages of the package `tfg` in the package `tensorflow`."""
    proto = descriptor_pb2.FileDescriptorProto.FromString(file.serialized_pb)
    # The package must not be `tensorflow` in tfg's own modules: protobuf has one pool for a process, and refuses the messages
    # of an imported TensorFlow beside others of the same names.
    proto.package = "tensorflow" if proto.package == "tfg" else proto.package
    messages = list(proto.message_type)
    while messages:
        message = messages.pop()
        messages += message.nested_type
        for field in filter(lambda field: field.type_name, message.field):
            field.type_name = field.type_name.replace(".tfg.", ".tensorflow.", 1)
    return proto.SerializeToString()
