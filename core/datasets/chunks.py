"""The chunks of a snapshot that a service writes, as they come."""

from __future__ import annotations

import os
import re
from typing import ClassVar, Final, Protocol

from ..runtime.state.edge_values import scalar_object
from ..runtime.state.run_context import sleep
from ..support import dataclasses
from .dataset import Dataset, Element, Pull

_NAME: Final = re.compile(rb"chunk_(\d+)_(\d+)")
_MOMENT: Final = 0.1
"""Seconds between two listings of a folder."""


class ChunkStore(Protocol):
    """A folder of chunks."""

    def chunks(self) -> list[bytes]:
        """Return the paths of the present chunks."""
        ...

    def is_done(self) -> bool:
        """Return True at the end of the chunks."""
        ...


@dataclasses.dataclass(eq=False)
class Chunks(Dataset):
    """The paths of chunks by their numbers, then by their streams; waits for more until the snapshot is done."""

    kind: ClassVar[str] = "ListSnapshotChunks"
    folder: ChunkStore

    def begin(self) -> Pull:
        seen: set[bytes] = set()
        waiting: list[bytes] = []

        def next_element() -> Element | None:
            is_done = False
            while not waiting and not is_done:
                is_done = self.folder.is_done()
                waiting.extend(sorted(set(self.folder.chunks()) - seen, key=_place))
                seen.update(waiting)
                if not waiting and not is_done:
                    sleep(_MOMENT)
            return (scalar_object(waiting.pop(0)),) if waiting else None

        return next_element


def _place(path: bytes) -> tuple[int, int, bytes]:
    """Return (number of the chunk, number of its stream, path) of a path."""
    match = _NAME.match(os.path.basename(path))
    stream, number = map(int, match.groups()) if match else (0, 0)
    return number, stream, path
