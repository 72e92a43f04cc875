"""Escaping of untrusted text for output: no character moves a cursor, hides text or reverses the direction. Credentials in
addresses that the user gave are masked.

A log of a CI service is an output too, and its lines may be commands: `::stop-commands::` at the beginning of a line on
GitHub, `##[...]`, `##vso[...]` and `##teamcity[...]` in any place on others.
"""

from __future__ import annotations

import re
from typing import Final

# C0 but for tab and line feed, DEL, C1; marks and embeddings of direction; line and paragraph separators; lone surrogates.
_CONTROLS = "\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_ANYWHERE = r"#(?=#\w*\[)"
# The spaces before `::` are those that need no escape: a match would carry a carriage return along.
# Texts, which `re` compiles when they are first used: few commands print anything that needs an escape.
_IN_TEXT = f"(?m)[{_CONTROLS}]|{_ANYWHERE}|^[^\\S\n{_CONTROLS}]*:(?=:)"
_IN_LINE = f"[\t\n{_CONTROLS}]|{_ANYWHERE}|^[^\\S\t\n{_CONTROLS}]*:(?=:)"
_IN_DATA = f"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|{_ANYWHERE}"
_USER: Final = re.compile(r"(?<=://)[^\s/?#'\"]*@")
_QUERY: Final = re.compile(r"(://[^\s?'\"]*\?)([^\s'\"]+)")
_VALUE: Final = re.compile(r"=[^&]*|^[^=&]+$")
_HIDDEN: Final = "***"
_credentials: set[str] = set()
"""The addresses with credentials that this process opened."""


def printable(text: str) -> str:
    r"""Return the text with control characters as escapes (`\x1b`); tabs and line feeds stay."""
    return re.sub(_IN_TEXT, _escape, concealed(text))


def printable_line(text: str) -> str:
    """Return the text on a single line, as `printable`, with tabs and line feeds as escapes too."""
    text = concealed(text)
    if is_plain(text):  # the common case, faster than any pattern
        return text
    return re.sub(_IN_LINE, _escape, text)


def is_plain(text: str) -> bool:
    """Return True for text that certainly needs no escape, without a search for patterns."""
    return text.isascii() and text.isprintable() and "::" not in text and "##" not in text


def printable_proto(text: str) -> str:
    """Return equivalent text of protobuf's text format, with remaining control characters in strings as octal escapes."""
    # By bytes of UTF-8, as protobuf's text format has no escape for a code point.
    return re.sub(_IN_DATA, lambda match: "".join(f"\\{byte:03o}" for byte in match[0].encode(errors="surrogatepass")), text)


def printable_json(text: str) -> str:
    """Return equivalent JSON without control characters; JSON itself forbids only the first 32."""
    return re.sub(_IN_DATA, lambda match: f"\\u{ord(match[0]):04x}", concealed(text))


def _escape(match: re.Match[str]) -> str:
    """Return the escape of the last character of a match, after the spaces before it."""
    spaces, character = match[0][:-1], match[0][-1]
    escape = f"\\x{ord(character):02x}" if character in ":#" else character.encode("unicode_escape").decode("ascii")
    return spaces + escape


# Credentials in addresses such as `https://user:password@host/graph.pb?signature=x`: no text for the user has any.


def masked(text: str) -> str:
    """Return a text in which addresses have no credentials: no user, no password, and no value of a query."""
    if "://" not in text:
        return text
    text = _USER.sub(f"{_HIDDEN}@", text)
    return _QUERY.sub(lambda match: match[1] + _VALUE.sub(_hidden, match[2]), text)


def _hidden(match: re.Match[str]) -> str:
    return f"={_HIDDEN}" if match[0].startswith("=") else _HIDDEN


def note_credentials(address: str) -> None:
    """Have `concealed` mask the credentials of an address."""
    if masked(address) != address:
        _credentials.add(address)


def concealed(text: str) -> str:
    """Return a text for the user in which the addresses that tfg opened have no credentials; other text may be a graph's."""
    if not _credentials:
        return text
    # The longest first: an address may be the beginning of another.
    for address in sorted(_credentials, key=len, reverse=True):
        text = text.replace(address, masked(address))
    return text
