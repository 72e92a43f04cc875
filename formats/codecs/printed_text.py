"""A serializer of printed text, ten times as fast as protobuf's own text parser.

Printed text has a single field on a line and indents nested messages by two spaces, so that a regular expression finds the
end of a message; repeated messages like `type: DT_FLOAT` are parsed once. Text changed by people and editors is laid out
anew: other indents and ends of lines, comments and empty lines. Text of any other layout, and every possible error, is left
to protobuf.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from ...core.codecs import wire
from ...core.codecs.wire import varint

_LONGEST_CACHED: Final = 256
"""The length, in characters, beyond which messages are not cached: they hardly ever occur twice."""
# A number that begins with 0 is octal or hexadecimal, and a float may end with `f`. Protobuf prints neither; a text that has
# them is left to protobuf's parser.
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,19})")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|-?inf|nan")
_ESCAPED: Final = re.compile(r'''"(?:[^"\\]++|\\[0-3][0-7][0-7]|\\[nrt"'\\])*+"''')


_DEEPEST: Final = 100
"""The nesting depth that protobuf's own parsers allow."""


class OtherLayout(Exception):
    """Raised for text that protobuf did not print, and for invalid text."""


def serialize_printed(descriptor: Any, text: str) -> bytes | None:
    """Return the serialized message of a printed text; None for text that protobuf has to parse."""
    serialized = _serialized(descriptor, text, str)
    return _serialized(descriptor, text, laid_out) if serialized is None else serialized


def _serialized(descriptor: Any, text: str, layout: Callable[[str], str]) -> bytes | None:
    try:
        printed = layout(text)
        return PrintedReader(descriptor).message(printed, 0, len(printed), 0)
    except OtherLayout:
        return None


def laid_out(text: str) -> str:
    """Lay out text with a field on each line in protobuf's printed layout; no string goes from a line to the next.

    OtherLayout if messages nest so deeply that indents would make the text much longer.
    """
    lines = []
    depth = 0
    for raw in text.split("\n"):
        line = raw.strip(" \t\r")
        if not line or line[0] == "#":
            continue
        depth -= line == "}"
        if line[-1] == "{":
            line = f"{line[:-1].rstrip(' ').removesuffix(':')} {{"
        lines.append(f"{'  ' * depth}{line}\n")
        depth += line[-1] == "{"
        if depth > _DEEPEST:
            raise OtherLayout
    return "".join(lines)


class PrintedReader:
    """A reader of messages of a type, `without` some of their fields; each distinct text is serialized once."""

    def __init__(self, descriptor: Any, without: Collection[str] = ()) -> None:
        self._fields = {name: field for name, field in _fields_of(descriptor).items() if name not in without}
        self._cache: dict[tuple[int, str], bytes] = {}

    def message(self, text: str, start: int, end: int, depth: int) -> bytes:
        """Return the serialized message in text[start:end], nested `depth` levels deep; OtherLayout otherwise."""
        self._text = text
        try:
            return self._message(self._fields, start, end, depth)
        except RecursionError:
            raise OtherLayout from None

    def _message(self, fields: Mapping[str, _Field], start: int, end: int, depth: int) -> bytes:
        pieces: list[bytes] = []
        seen = 0
        position, text, field_at = start, self._text, _pattern(depth).match
        while position < end:
            match = field_at(text, position, end)
            if match is None:
                raise OtherLayout
            name, value = match.group(1, 2)
            field = fields.get(name)
            # Protobuf refuses a text that has a single field twice, or two fields of a oneof.
            if field is None or seen & field.once:
                raise OtherLayout
            position = match.end()
            seen |= field.once
            if value is None:
                pieces.append(self._nested(field, match, depth + 1))
            else:
                pieces += field.tag, field.encode(value)
        return b"".join(pieces)

    def _nested(self, field: _Field, match: re.Match[str], depth: int) -> bytes:
        """Return an encoded field with a message."""
        if field.message is None:
            raise OtherLayout
        start, end = match.span(3)
        is_short = depth > 1 and end - start <= _LONGEST_CACHED  # nodes have names of their own
        # The cache of fields keeps them alive, so the id of a field stays its own.
        key = id(field), match[3] if is_short else ""
        encoded = self._cache.get(key) if is_short else None
        if encoded is None:
            inner = self._message(_fields_of(field.message), start, end, depth)
            encoded = field.tag + varint(len(inner)) + inner
            if is_short:
                self._cache[key] = encoded
        return encoded


@functools.cache
def _pattern(depth: int) -> re.Pattern[str]:
    """Return a pattern of a field: the name, and the text of the value or the lines of the message."""
    indent = "  " * depth
    return re.compile(rf"{indent}(\w++)(?:: ([^\n]*+)| \{{\n((?:{indent}  [^\n]*+\n)*+){indent}\}})\n")


class _Field(NamedTuple):
    """The encoding of a field: tag, then a value by `encode` or a message; `once` is a bit for a field that may occur once."""

    tag: bytes
    encode: Callable[[str], bytes]
    message: Any
    once: int


@functools.cache
def _fields_of(descriptor: Any) -> Mapping[str, _Field]:
    """Return the encodings of a message's fields, by name."""
    bits: dict[str, int] = {}
    return {field.name: _field(field, bits) for field in descriptor.fields}


def _field(field: FieldDescriptor, bits: dict[str, int]) -> _Field:
    encode, wire_type = _ENCODERS.get(field.type, (_refused, wire.VARINT))
    if field.type == FieldDescriptor.TYPE_ENUM:
        encode = functools.partial(_enum, field.enum_type)
    said = field.containing_oneof.name if field.containing_oneof else field.name
    is_repeated = isinstance(field.default_value, list)
    once = 0 if is_repeated else bits.setdefault(said, 1 << len(bits))
    return _Field(varint(field.number << 3 | wire_type), encode, field.message_type, once)


def _refused(text: str) -> bytes:
    raise OtherLayout


def _integer(text: str, lowest: int, highest: int) -> bytes:
    if not _INTEGER.fullmatch(text):
        raise OtherLayout
    value = int(text)
    if not lowest <= value <= highest:
        raise OtherLayout
    return varint(value)


def _enum(kind: EnumDescriptor | None, text: str) -> bytes:
    value = None if kind is None else kind.values_by_name.get(text)
    if value is None:
        raise OtherLayout
    return varint(value.number)


def _bool(text: str) -> bytes:
    if text not in ("true", "false"):
        raise OtherLayout
    return b"\1" if text == "true" else b"\0"


def _number(text: str, code: str) -> bytes:
    if not _DECIMAL.fullmatch(text):
        raise OtherLayout
    try:
        # A number that no float holds is an infinity to protobuf, which then reads the text.
        return struct.pack(code, float(text))
    except OverflowError:
        raise OtherLayout from None


def _fixed(text: str, code: str) -> bytes:
    if not _INTEGER.fullmatch(text):
        raise OtherLayout
    try:
        return struct.pack(code, int(text))
    except struct.error:
        raise OtherLayout from None


def _bytes(text: str) -> bytes:
    if "\\" not in text and text.count('"') == 2 and text[0] == text[-1] == '"':
        value = text[1:-1].encode()
    elif _ESCAPED.fullmatch(text):
        # The expression lets only escapes pass that mean the same to Python; latin-1 turns each character back into its byte.
        value = text[1:-1].encode().decode("unicode_escape").encode("latin-1")
    else:
        raise OtherLayout
    return varint(len(value)) + value


def _string(text: str) -> bytes:
    value = _bytes(text)
    if "\\" in text:
        try:
            value.decode()
        except UnicodeDecodeError:
            raise OtherLayout from None
    return value


def _bounded(lowest: int, highest: int) -> Callable[[str], bytes]:
    return functools.partial(_integer, lowest=lowest, highest=highest)


_SIGNED_64, _UNSIGNED_64 = _bounded(-(1 << 63), (1 << 63) - 1), _bounded(0, (1 << 64) - 1)
_SIGNED_32, _UNSIGNED_32 = _bounded(-(1 << 31), (1 << 31) - 1), _bounded(0, (1 << 32) - 1)
_ENCODERS: Final[Mapping[int, tuple[Callable[[str], bytes], int]]] = {
    FieldDescriptor.TYPE_INT32: (_SIGNED_32, wire.VARINT),
    FieldDescriptor.TYPE_INT64: (_SIGNED_64, wire.VARINT),
    FieldDescriptor.TYPE_UINT32: (_UNSIGNED_32, wire.VARINT),
    FieldDescriptor.TYPE_UINT64: (_UNSIGNED_64, wire.VARINT),
    FieldDescriptor.TYPE_BOOL: (_bool, wire.VARINT),
    FieldDescriptor.TYPE_FLOAT: (functools.partial(_number, code="<f"), wire.FIXED32),
    FieldDescriptor.TYPE_DOUBLE: (functools.partial(_number, code="<d"), wire.FIXED64),
    FieldDescriptor.TYPE_FIXED32: (functools.partial(_fixed, code="<I"), wire.FIXED32),
    FieldDescriptor.TYPE_FIXED64: (functools.partial(_fixed, code="<Q"), wire.FIXED64),
    FieldDescriptor.TYPE_STRING: (_string, wire.LENGTH_DELIMITED),
    FieldDescriptor.TYPE_BYTES: (_bytes, wire.LENGTH_DELIMITED),
    FieldDescriptor.TYPE_MESSAGE: (_refused, wire.LENGTH_DELIMITED),
}
"""The encoders of values, with wire types, by type; other types are left to protobuf."""
