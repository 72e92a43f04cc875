"""Protobuf's text format, byte for byte as printed by TensorFlow."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from typing import TypeVar

from google.protobuf import text_format
from google.protobuf.message import Message

from ...core.support.errors import InvalidArgumentError, TfgError
from .printed_text import OtherLayout, laid_out, serialize_printed

M = TypeVar("M", bound=Message)
R = TypeVar("R")


def print_text(message: Message) -> str:
    """Print the message as text: map entries in the order of their keys, floats as short as possible."""
    return text_format.MessageToString(message)


def serialize_text(message_type: type[Message], data: memoryview) -> bytes:
    """Serialize the message of a text; InvalidArgumentError names line and column of the first mistake."""
    text = _decode(data)
    printed = serialize_printed(message_type.DESCRIPTOR, text)
    return _parse(message_type, text).SerializeToString(deterministic=True) if printed is None else printed


def read_printed(
    data: memoryview, faults: list[TfgError] | None, read: Callable[[memoryview, list[TfgError] | None], R]
) -> R | None:
    """Return the result of `read` for a printed text, adding to `faults`; None if protobuf has to parse the text.

    Protobuf has to if `read` meets another layout or an error, so that errors of the text come before errors of the
    graph. InvalidArgumentError for a text that is not UTF-8.
    """
    # The text as it is comes first, as most files are what protobuf printed; a second try lays the lines out.
    for text in _printed_forms(data):
        errors: list[TfgError] | None = None if faults is None else []
        try:
            result = read(text, errors)
        except OtherLayout:
            continue
        except TfgError:
            break
        if faults is not None:
            faults += errors or ()
        return result
    return None


def _printed_forms(data: memoryview) -> Iterator[memoryview]:
    """Yield a text without byte order mark, then the same text in printed layout, if possible."""
    yield data[len(BOM_UTF8) :] if bytes(data[: len(BOM_UTF8)]) == BOM_UTF8 else data
    try:
        printed = laid_out(_decode(data)).encode()
    except OtherLayout:
        return
    yield memoryview(printed)


def _decode(data: memoryview) -> str:
    try:
        return str(data, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"byte {error.start} of the text is not UTF-8") from None


def _parse(message_type: type[M], text: str) -> M:
    try:
        return text_format.Parse(text, message_type())
    except RecursionError:
        raise InvalidArgumentError("the text nests messages too deeply") from None
    except text_format.ParseError as error:
        # Protobuf's own message begins with the position.
        reason = str(error).partition(" : ")[2] or str(error)
        raise InvalidArgumentError(
            f"line {error.GetLine()}, column {error.GetColumn()} of the text: {reason}"
            if error.GetLine() is not None
            else f"the text is not a {message_type.DESCRIPTOR.name}: {error}"
        ) from None
    except ValueError as error:  # raised by protobuf's setter for an enum's number beyond 32 bits
        raise InvalidArgumentError(f"the text is not a {message_type.DESCRIPTOR.name}: {error}") from None
