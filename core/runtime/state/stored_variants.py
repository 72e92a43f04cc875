"""Variants as checkpoints hold them."""

from __future__ import annotations

from collections.abc import Iterable

from ...codecs import wire
from ...support import dataclasses

_TYPE_NAME, _METADATA, _TENSORS = 1, 2, 3
"""Numbers of the fields of VariantTensorDataProto."""


@dataclasses.dataclass(frozen=True, slots=True)
class StoredVariant:
    """The stored form of a variant: a VariantTensorDataProto, `message`, which names the type of the variant."""

    message: bytes

    @staticmethod
    def of(kind: str, metadata: bytes, tensors: Iterable[bytes] = ()) -> StoredVariant:
        """Return a variant of the kind; `tensors` are TensorProtos."""
        head = wire.string_field(_TYPE_NAME, kind.encode()) + wire.bytes_field(_METADATA, metadata)
        return StoredVariant(head + b"".join(wire.bytes_field(_TENSORS, tensor) for tensor in tensors))

    @property
    def kind(self) -> str:
        """The type name of the variant; DataLossError where the message is damaged."""
        return b"".join(wire.contents(self.message, _TYPE_NAME)[-1:]).decode("utf-8", "replace")

    @property
    def metadata(self) -> bytes:
        """The data of the variant beside tensors; DataLossError where the message is damaged."""
        return b"".join(wire.contents(self.message, _METADATA)[-1:])

    @property
    def tensors(self) -> list[bytes]:
        """The TensorProtos of the variant; DataLossError where the message is damaged."""
        return wire.contents(self.message, _TENSORS)
