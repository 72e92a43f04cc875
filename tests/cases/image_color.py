"""Cases of the image_color family."""

import numpy as np

from tests.opcases import case, normal, removed, uniform


def f32(value):
    return np.float32(value)


EDGES = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]], np.float32)
X = uniform(2, 4, 5, 3)

CASES = [
    case("RGBToHSV", uniform(4, 5, 3, dtype="double")),
    case("RGBToHSV", EDGES),
    case("RGBToHSV", uniform(3, 3, dtype="half")),
    case("RGBToHSV", np.zeros((0, 3), np.float32)),
    case("HSVToRGB", uniform(4, 5, 3, dtype="double")),
    case("HSVToRGB", EDGES),
    case("HSVToRGB", uniform(3, 3, dtype="bfloat16")),
    *(case("AdjustHue", X, f32(d)) for d in (-0.9, 0.0, 0.3, 1.0)),
    case("AdjustHue", EDGES[None], f32(0.2)),
    case("AdjustHue", uniform(3, 4), f32(0.2)),
    case("AdjustHue", X, np.ones(1, np.float32)),
    *(case("AdjustSaturation", X, f32(s)) for s in (0.0, 0.5, 2.0)),
    case("AdjustSaturation", EDGES[None], f32(0.5)),
    *(case("AdjustContrastv2", X, f32(c)) for c in (0.0, 0.5, 2.0)),
    case("AdjustContrastv2", normal(3, 3), f32(2.0)),
    case("AdjustContrastv2", np.zeros((0, 2, 2, 3), np.float32), f32(2.0)),
    case("AdjustContrastv2", normal(4, 4, 5), f32(1.5)),
    removed("AdjustContrast", X, f32(2.0), f32(0.1), f32(0.8), version=1),
]
