"""An array that counts the arithmetic done with it, instruction by instruction: the reference for every FLOPs formula."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from tfg.core.registry.registry import Cost

FREE = {"positive", "conjugate"}
TRANSCENDENTAL = {
    "exp", "expm1", "log", "log1p", "logaddexp", "power", "float_power", "sin", "cos", "tan", "tanh", "arctan2", "arccos",
    "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cosh", "sinh",
    "gammaln", "psi", "erf", "erfc", "erfinv", "ndtri", "dawsn", "expi", "fresnel", "spence", "_zeta", "gammainc",
    "gammaincc", "betainc", "i0", "i0e", "i1", "i1e", "k0", "k0e", "k1", "k1e", "j0", "j1", "y0", "y1",
}  # fmt: skip
ARITHMETIC = {
    "add", "subtract", "multiply", "divide", "reciprocal", "sqrt", "square", "negative", "absolute", "sign",
    "maximum", "minimum", "greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or",
    "floor", "ceil", "rint", "trunc", "remainder", "floor_divide", "nextafter", "invert", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bitwise_count", "left_shift", "right_shift", "isfinite",
    "isinf", "isnan", "logical_not", "fmod",
}  # fmt: skip

COMPOUND = {"clip": 2, "modulus": 4}
"""Functions that are several operations: a modulus of a complex number is the root of a sum of two squares."""


class NotCountableError(Exception):
    """A program computes in a way that arrays do not count, such as LAPACK's."""


@dataclasses.dataclass
class Tally:
    """What was counted; a choice between values (np.where) is free, the comparison behind it is not."""

    flops: int = 0
    transcendentals: int = 0
    products: int = 0
    macs: int = 0

    @property
    def cost(self) -> Cost:
        return Cost(self.flops, self.macs, self.transcendentals)

    def add(self, name: str, count: int) -> None:
        if name not in FREE | TRANSCENDENTAL | ARITHMETIC | COMPOUND.keys():
            raise NotCountableError(name)
        if name in TRANSCENDENTAL:
            self.transcendentals += count
        elif name not in FREE:
            self.flops += count * COMPOUND.get(name, 1)
        self.products += count if name == "multiply" else 0


class Counted(np.ndarray):
    """An ndarray that adds to its tally one operation for each element that a ufunc computes."""

    tally: Tally

    def __array_finalize__(self, source: Any) -> None:
        self.tally = getattr(source, "tally", None) or Tally()

    @property
    def at(self) -> Parts:
        return Parts(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if ufunc is np.matmul:
            return _product(*(counted(x, self.tally) for x in inputs))
        plain = [np.asarray(x) if isinstance(x, np.ndarray) else x for x in inputs]
        targets = tuple(np.asarray(x) for x in out) if out else None
        result = getattr(ufunc, method)(*plain, **options, **({"out": targets} if targets else {}))
        if method == "__call__":
            self.tally.add(_operation(ufunc, plain[0]), np.size(result[0] if isinstance(result, tuple) else result))
        else:
            assert method == "reduce", method
            self.tally.add(ufunc.__name__, max(plain[0].size - np.size(result), 0))
        return out[0] if out else counted(result, self.tally)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        result = super().__array_function__(function, types, args, options)
        return [self._again(item) for item in result] if isinstance(result, list) else self._again(result)

    def _again(self, value: Any) -> Any:
        """A view that counts into this array's tally."""
        if not isinstance(value, np.ndarray):
            return value
        view = value.view(Counted)
        view.tally = self.tally
        return view


class Parts:
    """Rows of an array to change, as JAX has them: `x.at[places].add(rows)` is a new array, without rows outside."""

    def __init__(self, array: Counted, places: Any = None) -> None:
        self.array, self.places = array, places

    def __getitem__(self, places: Any) -> Parts:
        return Parts(self.array, np.asarray(places))

    def set(self, rows: Any, mode: str = "drop") -> Counted:
        result = np.array(self.array)
        result[self.places] = rows
        return counted(result, self.array.tally)

    def __getattr__(self, name: str) -> Any:
        ufuncs = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
        return functools.partial(self._sent, ufuncs[name])

    def _sent(self, ufunc: Any, rows: Any, mode: str = "drop") -> Counted:
        """Each element that is sent is an operation."""
        result, inside = np.array(self.array), self.places < len(self.array)
        rows = np.broadcast_to(np.asarray(rows), (*self.places.shape, *result.shape[1:]))
        self.array.tally.add(ufunc.__name__, rows.size)
        ufunc.at(result, self.places[inside], rows[inside])
        return counted(result, self.array.tally)


def _operation(ufunc: Any, operand: Any) -> str:
    """Return what a ufunc is counted as."""
    return "modulus" if ufunc is np.absolute and np.iscomplexobj(operand) else str(ufunc.__name__)


def _product(a: Counted, b: Counted) -> Counted:
    """Products of matrices, one rank-1 update after the other."""
    total: Any = counted(np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])), a.tally)
    for k in range(a.shape[-1]):
        total = total + a[..., :, k, None] * b[..., None, k, :]
    a.tally.macs += total.size * a.shape[-1]
    return total


def counted(value: Any, tally: Tally) -> Counted:
    """The value as an array that counts into `tally`."""
    array = np.array(value).view(Counted)
    array.tally = tally
    return array


def normal(tally: Tally, *shape: int, seed: int = 0) -> Counted:
    """Random numbers that count into `tally`."""
    return counted(np.random.default_rng(seed).normal(size=shape), tally)


def positive(tally: Tally, *shape: int, seed: int = 0) -> Counted:
    """Random positive numbers that count into `tally`."""
    return counted(np.random.default_rng(seed).uniform(0.5, 2, size=shape), tally)
