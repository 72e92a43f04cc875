"""Symbolic dimensions: polynomials with integer coefficients over named or anonymous symbols.

A known dimension is a plain `int`, otherwise a `Dim`. Arithmetic between the two never fails, so shape and FLOP formulas
are written once: `2 * m * k * n` is a number for known shapes and a polynomial, `1536*N` for instance, for unknown shapes.
The order and the value of symbolic dimensions are unknown: comparison and conversion to int raise UnimplementedError.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias, Union

from ..support.errors import InvalidArgumentError, UnimplementedError

DimLike: TypeAlias = Union[int, "Dim"]
_Atom: TypeAlias = Union[str, "_OpaqueFunction"]
Monomial: TypeAlias = tuple[tuple[_Atom, int], ...]

_anonymous = itertools.count()
_MAX_PRODUCTS: Final = 1024
"""Products of terms that a multiplication writes out: more, as of sums multiplied again and again, is an unknown."""

_BROADCAST: Final = "broadcast"
_NUMBER: Final = "?#"
"""The beginning of symbols for unnamed numbers, which may be below zero; all other symbols are sizes."""
_MAX_SIZE: Final = 256
"""The largest number of symbols and functions inside an opaque function; a larger function becomes an anonymous symbol,
since sums of a function's own results grow without bound.
"""


class _OpaqueFunction:
    """An opaque function of dimensions, for instance a floor division with a remainder."""

    __slots__ = ("args", "function", "has_broadcast", "size")

    def __init__(self, function: str, *args: DimLike) -> None:
        self.function = function
        self.args = args
        # Counted once, as functions nest and each is asked at every step of a sum.
        self.size = 1 + sum(map(_size, args))
        self.has_broadcast = function == _BROADCAST or any(isinstance(arg, Dim) and arg.has_broadcast for arg in args)

    def _key(self) -> tuple[Any, ...]:
        # The order of operands makes no difference to a broadcast, so that two ways to the same shape are equal.
        return (self.function, frozenset(self.args) if self.function == _BROADCAST else self.args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OpaqueFunction) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        if self.function == "//":
            return f"({self.args[0]})//{_factor(self.args[1])}"
        return f"{self.function}({', '.join(map(str, self.args))})"

    def evaluate(self, values: Mapping[str, DimLike]) -> DimLike:
        args = [substitute(arg, values) for arg in self.args]
        # With numbers in place of symbols, a divisor may turn out to be 0.
        if self.function == "//" and args[1] == 0:
            raise InvalidArgumentError(f"a size is {self}, and {self.args[1]} is 0")
        return functools.reduce(_FUNCTIONS[self.function], args)


def _size(value: DimLike) -> int:
    """Count the symbols and functions of a dimension."""
    if not isinstance(value, Dim):
        return 0
    return sum(atom.size if isinstance(atom, _OpaqueFunction) else 1 for monomial in value.terms for atom, _ in monomial)


def _opaque(function: str, *args: DimLike) -> DimLike:
    call = _OpaqueFunction(function, *args)
    return Dim.unknown() if call.size > _MAX_SIZE else Dim({((call, 1),): 1})


class Dim:
    """A polynomial; equal to another only where both have the same terms."""

    __slots__ = ("_symbols", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms
        self._symbols: frozenset[str] | None = None

    @staticmethod
    def symbol(name: str) -> Dim:
        """Return the dimension called `name`."""
        return Dim({((name, 1),): 1})

    @staticmethod
    def unknown() -> Dim:
        """Return a new anonymous dimension: equal only to itself, shown as `?`."""
        # A new number each time: two unknown sizes must not look equal.
        return Dim.symbol(f"?{next(_anonymous)}")

    @staticmethod
    def unknown_number() -> Dim:
        """Return a new anonymous number, shown as `?`: no size, so it may be below zero, as a -1 that Reshape fills in."""
        return Dim.symbol(f"{_NUMBER}{next(_anonymous)}")

    @property
    def symbols(self) -> frozenset[str]:
        """Return the names of all symbols, including symbols inside floor divisions."""
        if self._symbols is None:
            atoms = {atom for monomial in self.terms for atom, _ in monomial}
            self._symbols = frozenset().union(*map(_atom_symbols, atoms))
        return self._symbols

    @property
    def is_anonymous(self) -> bool:
        """True if an unnamed unknown takes part."""
        return any(name.startswith("?") for name in self.symbols)

    @property
    def unnamed(self) -> list[str]:
        """The symbols of unnamed unknowns, the oldest first."""
        return sorted((name for name in self.symbols if name.startswith("?")), key=lambda name: int(name.lstrip(_NUMBER)))

    @property
    def has_broadcast(self) -> bool:
        """True if a broadcast of dimensions that may be 1 takes part."""
        atoms = (atom for monomial in self.terms for atom, _ in monomial)
        return any(isinstance(atom, _OpaqueFunction) and atom.has_broadcast for atom in atoms)

    @property
    def is_unknown(self) -> bool:
        """True for an unnamed unknown by itself."""
        return any(self.terms == {((name, 1),): 1} for name in self.unnamed)

    def __add__(self, other: DimLike) -> DimLike:
        terms = dict(self.terms)
        for monomial, coefficient in _terms(other).items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return _simplest(terms)

    def __mul__(self, other: DimLike) -> DimLike:
        if isinstance(other, int):
            return Dim({monomial: c * other for monomial, c in self.terms.items()}) if other else 0
        # Before the products are made: polynomials grow with each product, and so would the time of inference.
        if len(self.terms) * len(_terms(other)) > _MAX_PRODUCTS:
            return Dim.unknown()
        terms: dict[Monomial, int] = {}
        for (left, a), (right, b) in itertools.product(self.terms.items(), _terms(other).items()):
            monomial = _multiply(left, right)
            terms[monomial] = terms.get(monomial, 0) + a * b
        return _simplest(terms)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> DimLike:
        return self * -1

    def __sub__(self, other: DimLike) -> DimLike:
        return self + -other

    def __rsub__(self, other: DimLike) -> DimLike:
        return -self + other

    def __floordiv__(self, other: DimLike) -> DimLike:
        return floor_div(self, other)

    def __rfloordiv__(self, other: DimLike) -> DimLike:
        return floor_div(other, self)

    def __mod__(self, other: DimLike) -> DimLike:
        return self - floor_div(self, other) * other

    def __rmod__(self, other: DimLike) -> DimLike:
        return other - floor_div(other, self) * self

    def __pow__(self, power: int) -> DimLike:
        # By products, so that each is simplified and bounded as any other.
        return math.prod([self] * power)

    def _refuse(self, *_: object) -> NoReturn:
        raise UnimplementedError(f"expected a number, not the symbolic dimension {self}")

    # An error, and not False: a shape function that forgets unknown sizes would else take a wrong branch in silence.
    __lt__ = __le__ = __gt__ = __ge__ = __int__ = __index__ = __float__ = _refuse

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __str__(self) -> str:
        if self.is_anonymous:
            return "?"
        return " + ".join(_term_text(monomial, c) for monomial, c in self.terms.items()).replace("+ -", "- ")

    def __repr__(self) -> str:
        return f"Dim({self})"


def of_same_kind(symbol: str, number: int | None = None) -> Dim:
    """Return another unnamed unknown, a size or a number as `symbol` is one; a new one by default."""
    kind = _NUMBER if symbol.startswith(_NUMBER) else "?"
    return Dim.symbol(f"{kind}{next(_anonymous) if number is None else number}")


def floor_div(a: DimLike, b: DimLike) -> DimLike:
    """Return a // b: exact where a is a multiple of b, otherwise an opaque term. b must not be zero."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    # b is not 0, so equal sizes have the quotient 1, also where they are symbols.
    if a == b:
        return 1
    quotient = _exact_quotient(_terms(a), _terms(b))
    if quotient is not None:
        return quotient
    # Strides and pools one after the other make nested floors, which are equal in one form alone.
    inner = _quotient_and_rest(a) if isinstance(b, int) and b > 0 else None
    if inner is not None:  # (x // c + k) // b = (x + k c) // (b c)
        return floor_div(inner[0] + inner[2] * inner[1], inner[1] * b)
    return _opaque("//", a, b)


def _quotient_and_rest(value: DimLike) -> tuple[DimLike, int, int] | None:
    """Return (x, c, k) of x // c + k for a number c above 0, else None."""
    terms = dict(_terms(value))
    rest = terms.pop((), 0)
    if len(terms) != 1:
        return None
    ((monomial, coefficient),) = terms.items()
    if coefficient != 1 or len(monomial) != 1:
        return None
    ((atom, power),) = monomial
    if power != 1 or not isinstance(atom, _OpaqueFunction) or atom.function != "//":
        return None
    dividend, divisor = atom.args
    return (dividend, divisor, rest) if isinstance(divisor, int) and divisor > 0 else None


def dim_max(a: DimLike, b: DimLike) -> DimLike:
    """Return the larger of two dimensions, an opaque term where the order is unknown."""
    return _pick("max", a, b)


def dim_min(a: DimLike, b: DimLike) -> DimLike:
    """Return the smaller of two dimensions, an opaque term where the order is unknown."""
    return _pick("min", a, b)


def broadcast_dims(a: DimLike, b: DimLike) -> DimLike:
    """Return the broadcast of two dimensions by NumPy's rule; InvalidArgumentError if there is none.

    A dimension that is surely not 1 decides. Of two others either may be 1, so the result is an opaque term: equal for equal
    operands in any order, and the other operand once one of them is known to be 1.
    """
    if a == 1:
        return b
    if b == 1 or a == b:
        return a
    if isinstance(a, int) and isinstance(b, int):
        raise InvalidArgumentError(f"dimensions {a} and {b} must be equal")
    # A number decides before a symbol, as it says more.
    for decisive in (a, b) if isinstance(a, int) else (b, a) if isinstance(b, int) else (a, b):
        if is_never_one(decisive):
            return decisive
    return _opaque(_BROADCAST, *dict.fromkeys((*_operands(a), *_operands(b))))


def _operands(dim: DimLike) -> tuple[DimLike, ...]:
    """Return the operands of a broadcast, of another dimension the dimension itself."""
    call = _lone_call(dim)
    return call.args if call is not None and call.function == _BROADCAST else (dim,)


def _lone_call(dim: DimLike) -> _OpaqueFunction | None:
    """Return the opaque function that a dimension consists of, else None."""
    ((monomial, coefficient),) = _terms(dim).items() if len(_terms(dim)) == 1 else (((), 0),)
    atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 and coefficient == 1 else None
    return atom if isinstance(atom, _OpaqueFunction) else None


def is_never_one(dim: DimLike) -> bool:
    """Return True if a dimension is another number than 1 in every run, as 2 * N or N + 2."""
    terms = dict(_terms(dim - 1))
    constant = terms.pop((), 0)
    # dim - 1 is the constant and multiples of the divisor: it can be 0 only if the divisor divides the constant.
    divisor = math.gcd(*terms.values())
    return (constant % divisor != 0 if divisor else constant != 0) or is_never_negative(dim - 2)


def with_broadcasts(dim: DimLike, chosen: Callable[[Sequence[DimLike]], DimLike]) -> DimLike:
    """Return `dim` with `chosen` of the operands in the place of every broadcast."""

    def value(atom: _Atom) -> DimLike:
        if isinstance(atom, str):
            return Dim.symbol(atom)
        # From the inside out, as an operand may be a broadcast itself.
        args = [with_broadcasts(arg, chosen) for arg in atom.args]
        return chosen(args) if atom.function == _BROADCAST else functools.reduce(_FUNCTIONS[atom.function], args)

    return dim if isinstance(dim, int) or not dim.has_broadcast else _rebuilt(dim, value)


def ceil_div(a: DimLike, b: int) -> DimLike:
    """Return a / b rounded up."""
    return floor_div(a + b - 1, b)


def not_negative(count: DimLike) -> DimLike:
    """Return 0 for a number below 0, any other count unchanged."""
    return max(count, 0) if isinstance(count, int) else count


def is_known(dim: DimLike) -> bool:
    """Return True for a plain number."""
    return isinstance(dim, int)


def substitute(dim: DimLike, values: Mapping[str, DimLike]) -> DimLike:
    """Return `dim` with symbols replaced by numbers."""
    return dim if isinstance(dim, int) else _rebuilt(dim, lambda atom: _atom_value(atom, values))


def _rebuilt(dim: Dim, atom_value: Callable[[_Atom], DimLike]) -> DimLike:
    """Return a polynomial of other symbols and functions."""
    total: DimLike = 0
    for monomial, coefficient in dim.terms.items():
        product: DimLike = coefficient
        for atom, power in monomial:
            product = product * atom_value(atom) ** power
        total = total + product
    return total


def _pick(name: str, a: DimLike, b: DimLike) -> DimLike:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b) if name == "max" else min(a, b)
    # By the difference: symbols are sizes, so that N + 2 is larger than N in every run.
    if is_never_negative(a - b):
        return a if name == "max" else b
    if is_never_negative(b - a):
        return b if name == "max" else a
    return _opaque(name, a, b)


def is_never_negative(value: DimLike) -> bool:
    """Return True for numbers from 0, and for sums and products of symbols and such numbers: symbols are sizes."""
    if isinstance(value, int):
        return value >= 0
    return all(c >= 0 and all(map(_is_size, (atom for atom, _ in monomial))) for monomial, c in value.terms.items())


def may_stand_for_rest(size: DimLike) -> bool:
    """Return True for a wanted size that a run may know as -1: "the rest", or "any", instead of the size itself."""
    # A symbol of a number, as in a shape that the graph computes, may be -1 in the run.
    return size == -1 if isinstance(size, int) else not is_never_negative(size)


def _is_size(atom: _Atom) -> bool:
    if isinstance(atom, str):
        return not atom.startswith(_NUMBER)
    # The larger of two is a size as soon as one of them is.
    return (any if atom.function == "max" else all)(map(is_never_negative, atom.args))


_FUNCTIONS: dict[str, Callable[[DimLike, DimLike], DimLike]] = {
    "//": floor_div, "max": dim_max, "min": dim_min, _BROADCAST: broadcast_dims,
}  # fmt: skip


def _terms(value: DimLike) -> Mapping[Monomial, int]:
    return value.terms if isinstance(value, Dim) else {(): int(value)}


def _simplest(terms: Mapping[Monomial, int]) -> DimLike:
    # One form for each polynomial, and a plain int for a number: equality is then that of the terms.
    terms = {monomial: coefficient for monomial, coefficient in terms.items() if coefficient}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Dim(terms)


def _multiply(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    # In one order, so that equal products are equal keys; by text, since symbols and functions do not compare.
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _exact_quotient(a: Mapping[Monomial, int], b: Mapping[Monomial, int]) -> DimLike | None:
    """Return a / b for a one-term divisor that divides every term, else None."""
    if len(b) != 1:
        return None
    ((divisor, scale),) = b.items()
    terms: dict[Monomial, int] = {}
    for monomial, coefficient in a.items():
        powers = dict(monomial)
        for atom, power in divisor:
            powers[atom] = powers.get(atom, 0) - power
        # A remainder, or a symbol in the denominator: neither is a polynomial with whole coefficients.
        if coefficient % scale or min(powers.values(), default=0) < 0:
            return None
        terms[tuple(item for item in powers.items() if item[1])] = coefficient // scale
    return _simplest(terms)


def _atom_symbols(atom: _Atom) -> frozenset[str]:
    if isinstance(atom, str):
        return frozenset((atom,))
    return frozenset().union(*(arg.symbols for arg in atom.args if isinstance(arg, Dim)))


def _atom_value(atom: _Atom, values: Mapping[str, DimLike]) -> DimLike:
    if isinstance(atom, str):
        return values[atom] if atom in values else Dim.symbol(atom)
    return atom.evaluate(values)


def _factor(value: DimLike) -> str:
    return f"({value})" if isinstance(value, Dim) and len(value.terms) > 1 else str(value)


def _power_text(atom: _Atom, power: int, is_alone: bool) -> str:
    """Format a power of an atom, with parentheses around a quotient beside other factors."""
    if power == 1 and is_alone:
        return str(atom)
    text = f"({atom})" if isinstance(atom, _OpaqueFunction) and atom.function == "//" else str(atom)
    return text if power == 1 else f"{text}^{power}"


def _term_text(monomial: Monomial, coefficient: int) -> str:
    is_alone = coefficient == 1 and len(monomial) == 1
    factors = [_power_text(atom, power, is_alone) for atom, power in monomial]
    if coefficient == -1 and factors:
        return "-" + "*".join(factors)
    return "*".join(([] if coefficient == 1 and factors else [str(coefficient)]) + factors)
