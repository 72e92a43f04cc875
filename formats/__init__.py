"""TensorFlow's files: graphs, SavedModels, checkpoints; the only part of tfg that knows protobuf."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checkpoint.store import FileCheckpointStore as FileCheckpointStore
    from .checkpoint.store import Partitioned as Partitioned
    from .checkpoint.store import merge_checkpoints as merge_checkpoints
    from .checkpoint.store import open_checkpoint as open_checkpoint
    from .checkpoint.store import write_checkpoint as write_checkpoint
    from .loading import load as load
    from .saving import save as save
    from .saving import to_bytes as to_bytes
    from .saving import to_text as to_text

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


def __getattr__(name: str) -> Any:
    """Import a public name at first use: a checkpoint is read without the reader of graphs."""
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module 'tfg.formats' has no attribute '{name}'")
