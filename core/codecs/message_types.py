"""The protocol of protobuf's message types, whose descriptors `formats` reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..support import dataclasses
from ..support.errors import UnimplementedError


@dataclasses.dataclass(frozen=True, slots=True)
class MessageField:
    """A field of a message type. `kind` is the name of the type in a .proto file, or `message`, `group` or `enum`.

    `is_packed`: the .proto file asks for the packed form of the repeated field. `default`: the value of a missing element.
    """

    full_name: str
    number: int
    kind: str
    is_repeated: bool
    is_packed: bool
    default: Any


class MessageType(Protocol):
    """A type of messages."""

    def field(self, name: str, extensions: bool = False) -> MessageField | None:
        """Return the field of a name, or the extension of a full name; None for no such field."""
        ...

    def from_text(self, text: bytes) -> bytes:
        """Return the binary form of a message in text format; DataLossError for a text of no such message."""
        ...

    def sanitized(self, data: bytes) -> bytes:
        """Return the message as protobuf writes it; DataLossError where protobuf refuses the message."""
        ...


Lookup = Callable[[bytes | None, str], MessageType | None]
_provided: list[Lookup] = []


def provide_message_types(lookup: Lookup) -> None:
    """Set the function behind `message_type`; the package does, since the package knows all rooms."""
    _provided[:] = [lookup]


def message_type(descriptors: bytes | None, name: str) -> MessageType | None:
    """Return the message type of a full name in a FileDescriptorSet, or among TensorFlow's own types for None.

    None for an unknown name; InvalidArgumentError for bytes that hold no valid FileDescriptorSet.
    """
    if not _provided:
        raise UnimplementedError("the message types of protobuf are not installed")
    return _provided[0](descriptors, name)
