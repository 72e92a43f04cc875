"""Passes and their options as text: `fold{limit=1MB},cse`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...registry.catalog import split_top
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from .graph_pass import Pass


def parse_passes(text: str) -> list[tuple[str, dict[str, str]]]:
    """Parse `fold{limit=1MB},cse` into names with options; InvalidArgumentError for another form."""
    parsed = []
    for item in split_top(text):
        match = re.fullmatch(r"([\w-]+)(?:\{(.*)\})?", item)
        if match is None:
            raise InvalidArgumentError(f"'{item}' is not of the form NAME or NAME{{OPTION=VALUE,...}}")
        options = dict(_option(match[1], part) for part in split_top(match[2] or ""))
        parsed.append((match[1], options))
    return parsed


def _option(name: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InvalidArgumentError(f"option '{text}' of pass {name} is not of the form NAME=VALUE")
    return key.strip(), value.strip()


def configure(kind: type[Pass], options: Mapping[str, str]) -> Pass:
    """Configure a pass with options in text, converted to the fields' types; InvalidArgumentError for an option that does
    not fit.
    """
    fields = {field.name: field for field in dataclasses.fields(kind)}
    settings: dict[str, Any] = {}
    for key, text in options.items():
        if key not in fields:
            existing = f"; its options are {', '.join(fields)}" if fields else ", and no other"
            raise InvalidArgumentError(f"pass {kind.name} has no option '{key}'{existing}")
        settings[key] = _converted(kind.name, key, fields[key].default, text)
    return kind(**settings)


def _converted(name: str, key: str, default: Any, text: str) -> Any:
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(default, int):
            return parse_size(text)
        if isinstance(default, float):
            return float(text)
        if isinstance(default, tuple):
            return tuple(part for part in text.strip("()").split("+") if part)
    except (KeyError, ValueError):
        raise InvalidArgumentError(f"option {key}={text} of pass {name} is not {_FORMS[type(default)]}") from None
    return text


_FORMS = {bool: "true or false", int: "a whole number such as 4096, 64KB or 1MB", float: "a number such as 0.5"}
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def parse_size(text: str) -> int:
    """Parse a number of bytes or elements: `4096`, `64KB`, `1MB`; ValueError for any other text."""
    match = re.fullmatch(r"(\d+)\s*([KMG]?)I?B?", text.strip().upper())
    if match is None:
        raise ValueError(text)
    return int(match[1]) * _UNITS[match[2]]
