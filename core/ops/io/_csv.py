"""Values of fields in records of separated values, for tensors of records and for files of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array
from ...types.dtypes import DType
from ..shared.numerals import parse_number, plain_numbers
from ..shared.string_functions import as_objects


def csv_value(
    field: bytes, missing: bytes, dtype: DType, default: Array | bytes | None, record: int | str, column: int
) -> Any:
    """Return the value of a field, or the default of an empty or missing field; InvalidArgumentError where the text has no
    value of `dtype`.
    """
    if not field or field == missing:
        if default is None:
            raise InvalidArgumentError(f"Field {column} is required but missing in record {record}!")
        return default
    value = field if dtype is dtypes.string else parse_number(field, dtype.numpy)
    if value is None:
        raise InvalidArgumentError(f"Field {column} in record {record} is not a valid {dtype}: {field!r}")
    return value


def csv_column(fields: Sequence[bytes], missing: bytes, dtype: DType, default: Array | bytes | None, column: int) -> Array:
    """Return the values of a column's fields, in the order of the records."""
    are_whole = all(fields) and missing not in fields
    non_empty = fields if are_whole else [field for field in fields if field and field != missing]
    if not are_whole and default is None:
        values = None
    else:
        values = as_objects(non_empty, (len(non_empty),)) if dtype is dtypes.string else plain_numbers(non_empty, dtype.numpy)
    if values is None:
        return np.array([csv_value(field, missing, dtype, default, i, column) for i, field in enumerate(fields)], dtype.numpy)
    if are_whole:
        return values
    filled = np.full(len(fields), default, dtype.numpy)
    filled[[bool(field) and field != missing for field in fields]] = values
    return filled


def csv_default(index: int, default: Array) -> Array | bytes | None:
    """Return the default of a column; None where the column is required."""
    array = np.asarray(default)
    if array.ndim > 1:
        raise InvalidArgumentError("Each record default should be at most rank 1")
    if array.size > 1:
        raise InvalidArgumentError(f"There should only be 1 default per field but field {index} has {array.size}")
    return array.ravel()[0] if array.size else None
