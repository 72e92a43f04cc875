"""Event files, read by TensorBoard: TFRecords of Event messages.

https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/util/event.proto names the fields.
"""

from __future__ import annotations

import itertools
import os
import socket
import time

from ...codecs import wire
from ...codecs.tfrecord import encode_record
from ...runtime.state.file_access import FileGate
from ...runtime.state.resources import Shared
from ...support.errors import NotFoundError
from ..shared.kernel_files import system_errors

_VERSION = b"brain.Event:2"
_numbers = itertools.count()


class EventWriter:
    """A writer of events to a file of its own in a folder; the queue is written on `flush` or when full."""

    def __init__(self, folder: str, max_queue: int, suffix: str, files: FileGate) -> None:
        self._max_queue = max_queue
        self._files = files
        self._waiting: list[bytes] = []
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}{suffix}"
        self.path = os.path.join(folder, name)
        with system_errors(folder):
            self._files.to_write(self.path)
            os.makedirs(self._files.to_write(folder), exist_ok=True)
        self.add(wire.bytes_field(3, _VERSION), 0)
        self.flush()

    def add(self, content: bytes, step: int) -> None:
        """Add an event with `content` after the time and the step."""
        self.add_event(wire.double_field(1, time.time()) + wire.varint_field(2, step) + content)

    def add_event(self, event: bytes) -> None:
        """Add a whole Event message."""
        self._waiting.append(encode_record(event))
        if len(self._waiting) > self._max_queue:
            self.flush()

    def flush(self) -> None:
        """Write the queued events."""
        with system_errors(self.path), self._files.open_to_append(self.path) as file:
            file.write(b"".join(self._waiting))
        self._waiting.clear()


class WriterResource(Shared):
    """The resource of a SummaryWriter handle: a writer, once created."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._writer: EventWriter | None = None

    @property
    def is_open(self) -> bool:
        return self._writer is not None

    def open(self, writer: EventWriter) -> None:
        self._writer = writer

    def writer(self) -> EventWriter:
        """Return the writer; NotFoundError if not yet created, or closed."""
        if self._writer is None:
            raise NotFoundError(
                f"Resource '{self.name}' (SummaryWriter) does not exist", hint="run its CreateSummaryFileWriter first"
            )
        return self._writer

    def close(self) -> None:
        if self._writer is not None:
            self._writer.flush()
        self._writer = None
