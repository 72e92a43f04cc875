"""Serialized Examples for the cases of parsing."""

from tfg.core.codecs import wire


def feature(values):
    """Return a Feature: bytes, floats or integers; None for an empty Feature."""
    if values is None:
        return b""
    if values and isinstance(values[0], bytes):
        return wire.bytes_field(1, b"".join(wire.bytes_field(1, v) for v in values))
    if values and isinstance(values[0], float):
        return wire.bytes_field(2, b"".join(wire.float_field(1, v, always=True) for v in values))
    return wire.bytes_field(3, b"".join(wire.varint_field(1, v, always=True) for v in values))


def entries(features, encode):
    """A map field."""
    return b"".join(
        wire.bytes_field(1, wire.bytes_field(1, name.encode()) + wire.bytes_field(2, encode(value)))
        for name, value in features.items()
    )


def example(**features):
    """An Example."""
    return wire.bytes_field(1, entries(features, feature))


def sequence_example(context, **lists):
    """A SequenceExample."""

    def encode(steps):
        return b"".join(wire.bytes_field(1, feature(step)) for step in steps)

    return wire.bytes_field(1, entries(context, feature)) + wire.bytes_field(2, entries(lists, encode))
