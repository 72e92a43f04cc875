"""JSON of results: documents that begin with the name of their schema."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from . import dataclasses

PYTHON_ONLY: Final = {"json": False}
"""The metadata of a field that a document leaves out, such as a session: `dataclasses.field(metadata=PYTHON_ONLY)`."""


def json_line(schema: str, result: Any) -> bytes:
    """Return a result as a JSON object on a line of a file."""
    import json  # lazy: few commands write JSON

    return (json.dumps(json_document(schema, result), ensure_ascii=False) + "\n").encode()


def json_document(schema: str, result: Any, spell: Callable[[str], str] | None = None) -> dict[str, Any]:
    """Return a result as JSON values, after the name of its schema; `spell` as in `plain`."""
    return {"schema": schema, **plain(result, spell)}


def plain(value: Any, spell: Callable[[str], str] | None = None) -> Any:
    """Return JSON values for dataclasses, named tuples, dtypes, shapes, tensors, arrays, bytes and mappings.

    `spell` writes the texts, such as hints in the words of the command line.
    """
    if isinstance(value, str):
        return value if spell is None else spell(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        # Not zero for NaN and the infinities, which JSON has no numbers for.
        return value if value - value == 0 else str(value)
    if isinstance(value, bytes):
        # Strings of TensorFlow are bytes, and need not be text.
        return value.decode("utf-8", "backslashreplace")
    # Before the test for tuples, which named tuples are.
    if hasattr(value, "_asdict"):
        return {name: plain(item, spell) for name, item in value._asdict().items()}
    if hasattr(value, "__dataclass_fields__"):
        return _plain_fields(value, spell)
    if isinstance(value, dict) or hasattr(value, "keys"):
        return {str(key): plain(item, spell) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, spell) for item in value]
    return _plain_object(value, spell)


@functools.cache
def _fields(kind: Any) -> Sequence[tuple[str, bool]]:
    """Return the fields of a dataclass in a document, each with True for a number that may hold symbols, by its annotation."""
    fields = [field for field in dataclasses.fields(kind) if field.metadata.get("json", True)]
    return [(field.name, "DimLike" in str(field.type)) for field in fields]


def _plain_fields(value: Any, spell: Callable[[str], str] | None) -> dict[str, Any]:
    """Return a dataclass as a dict; a number that may hold symbols has two keys, for the number and for the formula."""
    result: dict[str, Any] = {}
    for name, is_formula in _fields(value.__class__):
        item = getattr(value, name)
        if is_formula:
            result[name] = item if isinstance(item, int) else None
            result[f"{name}_formula"] = None if item is None else str(item)
        else:
            result[name] = plain(item, spell)
    return result


def _plain_object(value: Any, spell: Callable[[str], str] | None) -> Any:
    # By their methods: arrays, tensors and shapes are known here without an import of NumPy or of other rooms.
    if hasattr(value, "tolist"):
        return plain(value.tolist(), spell)
    if hasattr(value, "preview") and hasattr(value, "numpy"):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "value": plain(value.numpy(), spell)}
    if hasattr(value, "dims"):
        return None if value.dims is None else [dim if isinstance(dim, int) else None for dim in value.dims]
    # JSON has no complex numbers.
    if isinstance(value, complex):
        return {"real": plain(value.real), "imag": plain(value.imag)}
    return str(value)
