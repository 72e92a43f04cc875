"""JSON as users write it for inputs: the place and the reason where a text is not JSON."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ...core.support.errors import InvalidArgumentError

BEGINNINGS: Final = ("[", "{", '"')
"""The characters with which only JSON begins: no other form of a value does."""
_WORD: Final = re.compile(r"[^\W\d]\w*")
_MISSING: Final = ("Expecting value", "Expecting property name")
_PYTHON: Final = tuple(map(str, (True, False, None)))
_SHELL: Final = "a shell removes double quotes: put single quotes around the whole value"


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; InvalidArgumentError says at which character the text is not JSON, and why."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason, hint = _slip(error)
        raise InvalidArgumentError(f"not JSON at character {error.pos + 1:,}: {reason}", hint=hint) from None
    except RecursionError:
        raise InvalidArgumentError("not JSON: it is nested too deeply") from None
    except ValueError as error:  # bytes of another encoding, or a number with thousands of digits
        raise InvalidArgumentError(f"not JSON: {error}") from None


def _slip(error: json.JSONDecodeError) -> tuple[str, str | None]:
    """Return the reason of an error and the next step, if one is known."""
    rest = error.doc[error.pos :]
    word = _WORD.match(rest)
    if error.msg == "Extra data":
        return "the value ends before", None
    if error.msg.startswith("Unterminated string"):
        return "the string has no closing quote", None
    if not rest.strip():
        return "the text ends too early", None
    if error.msg.startswith(_MISSING) and word is not None and word[0] in _PYTHON:
        return "JSON writes true, false and null", None
    if error.msg.startswith(_MISSING) and (word is not None or rest.startswith("'")):
        return "strings take double quotes", _SHELL if word is not None else None
    return f"{error.msg[0].lower()}{error.msg[1:]}", None
