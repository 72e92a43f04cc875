"""Numbers in sentences."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 node`, `2 nodes`, `1,000 nodes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
