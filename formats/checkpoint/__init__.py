"""Checkpoints: V2 (tensor bundles) and V1 (tables of slices), read and written."""

from .reader import CheckpointReader, StoredTensor
from .store import FileCheckpointStore, Partitioned, checkpoint_beside, merge_checkpoints, open_checkpoint, write_checkpoint

__all__ = [
    "CheckpointReader",
    "FileCheckpointStore",
    "Partitioned",
    "StoredTensor",
    "checkpoint_beside",
    "merge_checkpoints",
    "open_checkpoint",
    "write_checkpoint",
]
