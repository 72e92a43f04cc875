"""Elements of constants of dtype resource and variant, as a graph file can hold them."""

from __future__ import annotations

from ..support import dataclasses
from .tensors import Tensor


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceHandle:
    """An element of a constant of dtype resource: a reference to a resource by device, container and name."""

    device: str = ""
    container: str = ""
    name: str = ""
    hash_code: int = 0
    type_name: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class VariantData:
    """An element of a constant of dtype variant: a registered type name, its own bytes and its tensors."""

    type_name: str = ""
    metadata: bytes = b""
    tensors: tuple[Tensor, ...] = ()
