"""Tables of checkpoints in memory."""


class InMemory(bytes):
    """Bytes that a Table reads as it reads a file."""

    def read_at(self, position, size):
        return self[position : position + size]
