"""TensorFlow's files: graphs, SavedModels, checkpoints; the only part of tfg that knows protobuf."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checkpoint.store import FileCheckpointStore, Partitioned, merge_checkpoints, open_checkpoint, write_checkpoint
    from .loading import load
    from .saving import save, to_bytes, to_text

_LAZY = {
    "FileCheckpointStore": "checkpoint.store",
    "Partitioned": "checkpoint.store",
    "load": "loading",
    "merge_checkpoints": "checkpoint.store",
    "open_checkpoint": "checkpoint.store",
    "save": "saving",
    "to_bytes": "saving",
    "to_text": "saving",
    "write_checkpoint": "checkpoint.store",
}
__all__ = [
    "FileCheckpointStore",
    "Partitioned",
    "load",
    "merge_checkpoints",
    "open_checkpoint",
    "save",
    "to_bytes",
    "to_text",
    "write_checkpoint",
]


def __getattr__(name: str) -> Any:
    """Import a public name at first use: a checkpoint is read without the reader of graphs."""
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module 'tfg.formats' has no attribute '{name}'")
