"""Listing, extracting and comparing the tensors of checkpoints, state files and graphs."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from ...core.numerics.tensor_statistics import TensorStatistics, tensor_statistics
from ...core.support.errors import InvalidArgumentError, NotFoundError
from ...core.support.gc_control import rare_collection
from ...core.types.tensors import Tensor
from ...formats.state import write_state
from ...formats.stored_tensors import stored_tensors


@dataclasses.dataclass(frozen=True, slots=True)
class TensorRow:
    """A tensor of a checkpoint; `statistics` of its elements where they were asked for."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    statistics: TensorStatistics | None


@dataclasses.dataclass(frozen=True, slots=True)
class ComparedTensor:
    """A tensor of two checkpoints: equal, close, different, or only in one of them."""

    name: str
    status: str
    largest_difference: float | None
    detail: str


@dataclasses.dataclass(frozen=True, slots=True)
class StateComparison:
    """All tensors of two checkpoints; `equal` where every one is equal or close enough."""

    equal: bool
    tensors: tuple[ComparedTensor, ...]


@rare_collection()
def list_state(path: str, pattern: str, tags: Sequence[str] | None, with_statistics: bool) -> tuple[TensorRow, ...]:
    """Return the tensors whose names `pattern` matches a part of, sorted by name."""
    tensors = _chosen(path, pattern, tags)
    return tuple([_row(name, tensor, with_statistics) for name, tensor in tensors.items()])


def _row(name: str, tensor: Tensor, with_statistics: bool) -> TensorRow:
    statistics = tensor_statistics(tensor.read()) if with_statistics else None
    return TensorRow(name, str(tensor.dtype), tensor.shape, tensor.size * tensor.dtype.size, statistics)


def values_of(path: str, names: Sequence[str], tags: Sequence[str] | None) -> dict[str, Any]:
    """The values of some tensors as arrays; NotFoundError names the nearest names."""
    tensors = stored_tensors(path, tags)
    for name in names:
        if name not in tensors:
            close = get_close_matches(name, tensors, 3) or list(tensors)[:3]
            raise NotFoundError(f"'{path}' has no tensor '{name}'", hint=f"it has {', '.join(close)} ...")
    return {name: tensors[name].numpy() for name in names}


def extract(path: str, out: str, pattern: str, tags: Sequence[str] | None) -> int:
    """Write the chosen tensors to another file and return their number."""
    return write_state(out, _chosen(path, pattern, tags))


def compare_states(first: str, second: str, pattern: str, atol: float, rtol: float) -> StateComparison:
    """Compare the chosen tensors of two checkpoints by name."""
    mine, theirs = _select(stored_tensors(first), pattern), _select(stored_tensors(second), pattern)
    rows = []
    for name in sorted({*mine, *theirs}):
        if name not in mine or name not in theirs:
            rows.append(ComparedTensor(name, "missing", None, f"only in {first if name in mine else second}"))
        else:
            rows.append(_compare(name, mine[name], theirs[name], atol, rtol))
    return StateComparison(all(row.status in ("equal", "close") for row in rows), tuple(rows))


def _compare(name: str, a: Tensor, b: Tensor, atol: float, rtol: float) -> ComparedTensor:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return ComparedTensor(name, "different", None, f"{a.dtype} {a.shape} and {b.dtype} {b.shape}")
    a, b = Tensor.from_numpy(a.read(), a.dtype), Tensor.from_numpy(b.read(), b.dtype)  # read once here, and kept no longer
    if a == b:
        return ComparedTensor(name, "equal", 0.0, "")
    if a.dtype.is_object:
        return ComparedTensor(name, "different", None, "strings differ")
    x, y = (np.asarray(t.numpy(), np.complex128 if t.dtype.is_complex else np.float64) for t in (a, b))
    difference = np.abs(x - y)
    largest = float(np.nanmax(difference)) if difference.size else 0.0
    close = bool(np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True))
    where = np.unravel_index(int(np.nanargmax(difference)), difference.shape) if largest == largest else ()
    detail = f"at [{','.join(map(str, where))}]: {x[where]:.9g} and {y[where]:.9g}" if where or not a.shape else ""
    return ComparedTensor(name, "close" if close else "different", largest, detail)


def _chosen(path: str, pattern: str, tags: Sequence[str] | None) -> dict[str, Tensor]:
    tensors = _select(stored_tensors(path, tags), pattern)
    if not tensors and pattern:
        raise NotFoundError(f"'{path}' has no tensor whose name has '{pattern}'", hint="without --name all are listed")
    return tensors


def _select(tensors: Mapping[str, Tensor], pattern: str) -> dict[str, Tensor]:
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise InvalidArgumentError(f"'{pattern}' is no regular expression: {error}") from None
    return {name: tensors[name] for name in sorted(tensors) if wanted.search(name)}
