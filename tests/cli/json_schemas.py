"""Validation of documents against docs/json.md."""

from __future__ import annotations

import pathlib
import runpy
from collections.abc import Iterator
from typing import Any

import numpy as np

import tfg
from tfg.core.types.dtypes import DType
from tfg.core.types.shapes import Shape

listing = runpy.run_path(str(pathlib.Path(tfg.__file__).parent / "scripts" / "list_json.py"))
NUMBERS_AS_TEXT = ("nan", "inf", "-inf")


def faults(document: dict[str, Any]) -> list[str]:
    """Return all that contradicts the schema that a document names."""
    (first, schema), *rest = document.items()
    if first != "schema" or schema not in listing["SCHEMAS"]:
        return [f"the first key is {first}: {schema}"]
    return list(_faults(dict(rest), listing["document_type"](schema), schema))


def _faults(value: Any, hint: Any, place: str) -> Iterator[str]:
    """Yield the faults of a value; for a union, the faults of the nearest alternative."""
    items = [list(_faults_of_one(value, part, place)) for part in listing["parts"](hint)]
    yield from min(items, key=len)


def _faults_of_one(value: Any, hint: Any, place: str) -> Iterator[str]:
    kind, inner = listing["element"](hint)
    if kind == "array" and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _faults(item, inner, f"{place}[{number}]")
    elif kind == "object" and isinstance(value, dict):
        for key, item in value.items():
            yield from _faults(item, inner, f"{place}.{key}")
    elif listing["is_object"](hint) and isinstance(value, dict):
        keys = {key.name: key for key in listing["keys"](hint)}
        yield from (f"{place}.{name} is described nowhere" for name in value if name not in keys)
        yield from (f"{place}.{key.name} is missing" for key in keys.values() if key.is_required and key.name not in value)
        for name in value.keys() & keys.keys():
            yield from _faults(value[name], keys[name].type, f"{place}.{name}")
    elif kind or listing["is_object"](hint) or not _is_plain(value, hint):
        yield f"{place} is {value!r}, and not {listing['type_text'](hint)}"


def _is_plain(value: Any, hint: Any) -> bool:
    if hint is Any or hint is object or hint is np.ndarray:
        return True
    if hint is type(None):
        return value is None
    if hint is bool or hint is int:
        return type(value) is hint
    if hint is float:
        return type(value) in (int, float) or value in NUMBERS_AS_TEXT
    if hint is Shape:
        return value is None or (isinstance(value, list) and all(size is None or type(size) is int for size in value))
    return isinstance(value, str) if hint in (str, bytes, DType) else True
