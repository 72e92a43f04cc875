"""Variants as checkpoints hold them."""

from __future__ import annotations

import dataclasses

from ...codecs import wire

_TYPE_NAME, _METADATA = 1, 2
"""Numbers of the fields of VariantTensorDataProto."""


@dataclasses.dataclass(frozen=True, slots=True)
class StoredVariant:
    """What a variant is made of again: a VariantTensorDataProto, `message`, which says what kind of thing it is."""

    message: bytes

    @staticmethod
    def of(kind: str, metadata: bytes) -> StoredVariant:
        """A variant of that kind without tensors."""
        return StoredVariant(wire.string_field(_TYPE_NAME, kind.encode()) + wire.bytes_field(_METADATA, metadata))

    @property
    def kind(self) -> str:
        """What it calls itself; DataLossError where it is damaged."""
        return b"".join(wire.contents(self.message, _TYPE_NAME)[-1:]).decode("utf-8", "replace")

    @property
    def metadata(self) -> bytes:
        """What it holds beside tensors; DataLossError where it is damaged."""
        return b"".join(wire.contents(self.message, _METADATA)[-1:])
