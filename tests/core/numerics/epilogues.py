"""Epilogues of convolutions on blocks of the result."""

from __future__ import annotations


def doubling(result):
    """Double each block in place: a block doubled twice, or never, is visible."""
    flat = result.reshape(-1, result.shape[-1])

    def finish(positions, channels):
        flat[positions, channels] *= 2

    return finish
