"""Escaping of untrusted text for output: no character moves a cursor, hides text or reverses the direction."""

from __future__ import annotations

import re

# C0 but for tab and line feed, DEL, C1; marks and embeddings of direction; line and paragraph separators; lone surrogates.
_CONTROLS = "\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXT = re.compile(f"[{_CONTROLS}]")
_IN_LINE = re.compile(f"[\t\n{_CONTROLS}]")
_IN_DATA = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return the text with control characters as escapes (`\x1b`); tabs and line feeds stay."""
    return _IN_TEXT.sub(_escape, text)


def printable_line(text: str) -> str:
    """Return the text on a single line, as `printable`, with tabs and line feeds as escapes too."""
    if text.isascii() and text.isprintable():  # the common case, faster than any pattern
        return text
    return _IN_LINE.sub(_escape, text)


def printable_proto(text: str) -> str:
    """Return equivalent text of protobuf's text format, with remaining control characters in strings as octal escapes."""
    return _IN_DATA.sub(lambda match: "".join(f"\\{byte:03o}" for byte in match[0].encode(errors="surrogatepass")), text)


def printable_json(text: str) -> str:
    """Return equivalent JSON without control characters; JSON itself forbids only the first 32."""
    return _IN_DATA.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
