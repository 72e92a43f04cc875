"""Lookup tables in ONNX: a LabelEncoder of the keys that an initializer fills in, and the values by number."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...support import dataclasses
from ...support.hints import Hint, option
from ...types import dtypes
from ...types.arrays import Array


@dataclasses.dataclass(frozen=True, slots=True)
class TableHandle:
    """The handle of a table; the contents are in the emitter's `tables`, by the name."""

    name: str


def created(g: Any, *, shared_name: str) -> TableHandle:
    return TableHandle(shared_name or g.source)


def filled(g: Any, table: TableHandle, keys: Any, values: Any) -> None:
    """Keep the contents of a table, constants as in the graphs of frozen models."""
    g.tables[table.name] = _constant(g, keys), _constant(g, values)


_MAKE_INPUT: Final = Hint("make the result of the lookup an input, with ", option("from"))


def _constant(g: Any, value: Any) -> Array:
    if value.array is None:
        g.refuse(Hint("the contents of its table are not constant: ", _MAKE_INPUT))
    return np.asarray(value.array)


def _contents(g: Any, table: TableHandle) -> tuple[Array, Array]:
    if table.name not in g.tables:
        g.refuse(Hint("no initializer fills its table: ", _MAKE_INPUT))
    contents: tuple[Array, Array] = g.tables[table.name]
    return contents


def size(g: Any, table: TableHandle) -> Any:
    return g.constant(np.int64(len(set(_contents(g, table)[0].tolist()))))


def looked_up(g: Any, table: TableHandle, keys: Any, default: Any) -> Any:
    """Return the value of each key, the default for keys that the table does not have."""
    known, values = _contents(g, table)
    if known.ndim != 1 or not len(known):
        g.refuse("its table is empty, or has keys of several numbers")
    numbers = _numbers(g, known, keys)
    is_there = g.unsqueeze(g.GreaterOrEqual(numbers, 0), *range(-1, -values.ndim, -1))
    rows = g.Gather(g.constant(values, default.dtype), g.Max(numbers, 0), axis=0)
    return g.Where(is_there, rows, default)


def _numbers(g: Any, known: Array, keys: Any) -> Any:
    """Return the number of the last known key that equals each key; -1 for unknown keys."""
    places = {key: place for place, key in enumerate(known.tolist())}
    attrs = {"values_int64s": list(places.values()), "default_int64": -1}
    if keys.dtype is dtypes.string:
        if any("\ufffd" in key.decode(errors="replace") for key in places):
            g.refuse("ONNX's strings are UTF-8, and a key of its table has other bytes")
        return g.op("LabelEncoder", keys, dtype=dtypes.int64, keys_strings=list(places), **attrs)
    if not keys.dtype.is_integer:
        g.refuse(f"ONNX has no tables with keys of {keys.dtype}")
    return g.op("LabelEncoder", g.cast(keys, dtypes.int64), dtype=dtypes.int64, keys_int64s=list(places), **attrs)
