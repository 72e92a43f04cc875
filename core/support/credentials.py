"""Credentials in addresses such as `https://user:password@host/graph.pb?signature=x`: no text for the user has any."""

from __future__ import annotations

import re
from typing import Final

_USER: Final = re.compile(r"(?<=://)[^\s/?#'\"]*@")
_QUERY: Final = re.compile(r"(://[^\s?'\"]*\?)([^\s'\"]+)")
_VALUE: Final = re.compile(r"=[^&]*|^[^=&]+$")
_HIDDEN: Final = "***"


def masked(text: str) -> str:
    """Return a text in which addresses have no credentials: no user, no password, and no value of a query."""
    if "://" not in text:
        return text
    text = _USER.sub(f"{_HIDDEN}@", text)
    return _QUERY.sub(lambda match: match[1] + _VALUE.sub(_hidden, match[2]), text)


def _hidden(match: re.Match[str]) -> str:
    return f"={_HIDDEN}" if match[0].startswith("=") else _HIDDEN


_credentials: set[str] = set()
"""The addresses with credentials that this process opened."""


def note_credentials(address: str) -> None:
    """Have `concealed` mask the credentials of an address."""
    if masked(address) != address:
        _credentials.add(address)


def concealed(text: str) -> str:
    """Return a text for the user in which the addresses that tfg opened have no credentials; other text may be a graph's."""
    if not _credentials:
        return text
    for address in sorted(_credentials, key=len, reverse=True):
        text = text.replace(address, masked(address))
    return text
