"""What convolutions do to parts of their results as soon as these are there."""

from __future__ import annotations


def doubling(result):
    """Doubles each part that it is told of: one that is told twice, or never, shows."""
    flat = result.reshape(-1, result.shape[-1])

    def finish(positions, channels):
        flat[positions, channels] *= 2

    return finish
