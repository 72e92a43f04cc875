"""Regular expressions in RE2's syntax, matched by the package google-re2."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any

from ...registry.registry import kernel, onnx
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, Result
from ..shared.argument_checks import scalar
from ..shared.string_functions import bounded, map_bytes, map_to


def _compiled(pattern: bytes, op: str) -> Any:
    """Return RE2's pattern; UnimplementedError, which names `op`, if google-re2 is not installed."""
    try:
        import re2
    except ImportError as error:
        hint = "run `pip install google-re2`, which has wheels for Linux with glibc, macOS and Windows"
        raise UnimplementedError(f"{op} needs the package google-re2, which cannot be imported: {error}", hint=hint) from None
    options = re2.Options()
    # RE2 would write malformed patterns to the standard error stream.
    options.log_errors = False
    try:  # google-re2 keeps the last 128 patterns
        return re2.compile(pattern, options)
    except re2.error as error:
        text, reason = (part.decode("utf-8", "replace") for part in (pattern, error.args[0]))
        raise InvalidArgumentError(f"Invalid pattern: {text}, error: {reason}") from None


def _full_match(input: Array, pattern: bytes, op: str) -> Array:
    match = _compiled(pattern, op).fullmatch
    return map_to(bool, lambda text: match(text) is not None, input)


def _replace(input: Array, pattern: bytes, rewrite: bytes, everywhere: bool, op: str) -> Array:
    """Replace matches as RE2's Replace and GlobalReplace do.

    A rewrite of a missing group replaces nothing. Of a rewrite with a bad escape, Replace replaces nothing, but GlobalReplace
    inserts the part before the escape.
    """
    compiled = _compiled(pattern, op)
    pieces, highest, is_valid = _rewrite_pieces(rewrite)
    if highest > compiled.groups or not (everywhere or is_valid):
        return input
    return map_bytes(lambda text: b"".join(bounded(_replaced(compiled, pieces, text, everywhere))), input)


@functools.lru_cache(256)
def _rewrite_pieces(rewrite: bytes) -> tuple[tuple[bytes | int, ...], int, bool]:
    """Return the literals and group numbers before the first bad escape, the highest group, and whether no escape is bad."""
    highest = max((int(group) for group in re.findall(rb"\\(?:(\d)|.)", rewrite, re.DOTALL) if group), default=0)
    pieces: list[bytes | int] = []
    for literal, escape in re.findall(rb"([^\\]+)|(\\.?)", rewrite, re.DOTALL):
        if escape[1:].isdigit():
            pieces.append(int(escape[1:]))
        elif escape in (b"", rb"\\"):
            pieces.append(literal or b"\\")
        else:
            return tuple(pieces), highest, False
    return tuple(pieces), highest, True


def _replaced(pattern: Any, pieces: tuple[bytes | int, ...], text: bytes, everywhere: bool) -> Iterator[bytes]:
    """Yield the parts of a text in which the first match or all matches are replaced."""
    position = 0
    for match in itertools.islice(_matches(pattern, text), None if everywhere else 1):
        yield text[position : match.start()]
        for piece in pieces:
            # A group that took no part in the match is None in Python, an empty text in RE2.
            yield piece if isinstance(piece, bytes) else match[piece] or b""
        position = match.end()
    yield text[position:]


def _matches(pattern: Any, text: bytes) -> Iterator[Any]:
    """Yield the matches that GlobalReplace replaces: no empty match directly after a match, or inside a character.

    `finditer` yields both. After an empty match it goes on at the next byte, so another starts after the character.
    """
    position, last_end = 0, -1
    while True:
        for match in pattern.finditer(text, position):
            start, end = match.span()
            if start != end or start != last_end:
                yield match
                last_end = end
            if start == end and (size := _character_size(text, start)) > 1:
                position = start + size
                break
        else:
            return


def _character_size(text: bytes, start: int) -> int:
    """Return the number of bytes of the character at `start`; 1 for a byte that begins none in UTF-8, and at the end."""
    lead = text[start : start + 1]
    size = 1 + (lead >= b"\xc2") + (lead >= b"\xe0") + (lead >= b"\xf0")
    try:  # RE2 reads surrogates as characters, Python only with `surrogatepass`
        text[start : start + size].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return 1
    return size


@kernel("RegexFullMatch", shape="..., (), () -> ...", facts=("row_wise",), arithmetic=False)
def regex_full_match(input: Array, pattern: Array) -> Result:
    """Return True for each string that matches as a whole."""
    return _full_match(input, scalar(pattern, "pattern"), "RegexFullMatch")


@kernel("StaticRegexFullMatch", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def static_regex_full_match(input: Array, *, pattern: str) -> Result:
    """Return True for each string that matches as a whole."""
    return _full_match(input, _encoded(pattern), "StaticRegexFullMatch")


@kernel("RegexReplace", shape="..., (), () -> ...", facts=("row_wise",), arithmetic=False)
def regex_replace(input: Array, pattern: Array, rewrite: Array, *, replace_global: bool) -> Result:
    r"""Replace matches by `rewrite`, where \1 stands for the first group."""
    return _replace(input, scalar(pattern, "pattern"), scalar(rewrite, "rewrite"), replace_global, "RegexReplace")


@kernel("StaticRegexReplace", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def static_regex_replace(input: Array, *, pattern: str, rewrite: str, replace_global: bool) -> Result:
    r"""Replace matches by `rewrite`, where \1 stands for the first group."""
    return _replace(input, _encoded(pattern), _encoded(rewrite), replace_global, "StaticRegexReplace")


def _encoded(attribute: str) -> bytes:
    """Return the bytes of a string attribute."""
    return attribute.encode("utf-8", "surrogateescape")


onnx("StaticRegexFullMatch")(lambda g, x, *, pattern: g.RegexFullMatch(x, pattern=pattern))


@onnx("RegexFullMatch")
def _regex_full_match_onnx(g: Any, x: Any, pattern: Any) -> Any:
    # ONNX has the pattern as an attribute. Its operator takes RE2's syntax, so that the pattern goes over as it is.
    return g.RegexFullMatch(x, pattern=g.known(pattern, "patterns").item().decode())
