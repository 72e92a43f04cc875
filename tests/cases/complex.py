"""Cases of the complex family."""

from tests.opcases import case, normal

CASES = [
    case("Complex", normal(2, 3), normal(2, 3, seed=1), Tout="complex64"),
    case("Complex", normal(2, 3, dtype="double"), normal(3, dtype="double", seed=1), Tout="complex128"),
    case("Complex", normal(2, 3), normal(2), Tout="complex64"),
    case("Complex", normal(0, 3), normal(3), Tout="complex64"),
    case("Complex", normal(3, dtype="double"), normal(3, dtype="double"), Tout="complex64"),
    *(case(op, normal(2, 3, dtype="complex64"), Tout="float") for op in ("Real", "Imag", "Angle", "ComplexAbs")),
    *(case(op, normal(2, 3, dtype="complex128"), Tout="double") for op in ("Real", "Imag", "Angle", "ComplexAbs")),
    *(case(op, normal(0, dtype="complex64"), Tout="float") for op in ("Real", "Imag", "Angle", "ComplexAbs")),
    *(case(op, normal(2, dtype="complex64"), Tout="double") for op in ("Real", "Imag", "Angle", "ComplexAbs")),
    *(case("Conj", normal(2, 3, dtype=t)) for t in ("complex64", "complex128")),
]
