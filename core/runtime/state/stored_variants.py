"""Variants as checkpoints hold them."""

from __future__ import annotations

import dataclasses

from ...codecs import wire

_TYPE_NAME, _METADATA = 1, 2
"""Numbers of the fields of VariantTensorDataProto."""


@dataclasses.dataclass(frozen=True, slots=True)
class StoredVariant:
    """The stored form of a variant: a VariantTensorDataProto, `message`, which names the type of the variant."""

    message: bytes

    @staticmethod
    def of(kind: str, metadata: bytes) -> StoredVariant:
        """Return a variant of the kind without tensors."""
        return StoredVariant(wire.string_field(_TYPE_NAME, kind.encode()) + wire.bytes_field(_METADATA, metadata))

    @property
    def kind(self) -> str:
        """The type name of the variant; DataLossError where the message is damaged."""
        return b"".join(wire.contents(self.message, _TYPE_NAME)[-1:]).decode("utf-8", "replace")

    @property
    def metadata(self) -> bytes:
        """The data of the variant beside tensors; DataLossError where the message is damaged."""
        return b"".join(wire.contents(self.message, _METADATA)[-1:])
