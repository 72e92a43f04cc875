"""Cases of the fft family."""

import numpy as np

from tests.opcases import case, i32, normal

SIZES = {1: (2, 5), 2: (2, 4, 3), 3: (2, 3, 4)}


def complex_transforms():
    results = []
    for rank, name in ((1, "FFT"), (2, "FFT2D"), (3, "FFT3D")):
        for op in (name, f"I{name}"):
            results += [
                case(op, normal(*SIZES[rank], dtype="complex64")),
                case(op, normal(*SIZES[rank], dtype="complex128")),
                case(op, normal(0, *SIZES[rank], dtype="complex64")),
            ]
    return [*results, case("FFT", np.complex64(1)), case("FFT2D", normal(3, dtype="complex64"))]


def real_transforms():
    results = []
    for rank, name in ((1, "RFFT"), (2, "RFFT2D"), (3, "RFFT3D")):
        for last in (6, 5, 4):
            size = (2, 3, 4, 6)[3 - rank :]
            length = i32(*size[1:-1], last)
            spectrum = (*size[:-1], 4)
            for real, complex_ in (("float32", "complex64"), ("double", "complex128")):
                types = {"Treal": real, "Tcomplex": complex_}
                results += [
                    case(name, normal(*size, dtype=real), length, **types),
                    case(f"I{name}", normal(*spectrum, dtype=complex_), length, **types),
                ]
    return results


def refusals():
    return [
        case("RFFT", normal(3), i32(4)),
        case("RFFT", normal(3), i32(-1)),
        case("RFFT", normal(3), i32(3, 3)),
        case("RFFT", normal(3), np.int32(3)),
        case("RFFT", normal(3), i32(3), Tcomplex="complex128"),
        case("RFFT2D", normal(3), i32(3, 3)),
        case("RFFT2D", normal(3, 4), i32(2, 2)),
        case("RFFT", normal(0, 3), i32(2)),
        case("RFFT", normal(2, 0), i32(0)),
        case("IRFFT", normal(3, dtype="complex64"), i32(6)),
        case("IRFFT", normal(3, dtype="complex64"), i32(1)),
        case("IRFFT", normal(2, 3, dtype="complex64"), i32(3, 3)),
    ]


CASES = [*complex_transforms(), *real_transforms(), *refusals()]
