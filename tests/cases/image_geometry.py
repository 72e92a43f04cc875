"""Cases of the image_geometry family."""

import numpy as np

from tests.opcases import case, i32, integers, normal

X = normal(2, 5, 6, 3)
OFFSETS = np.array([[0.1, -0.2], [-0.9, 0.8]], np.float32)
TRANSFORMS = np.array([[1.1, 0.2, -1.0, -0.1, 0.9, 0.5, 0.01, 0.0], [0.7, 0.0, 1.5, 0.0, 1.4, -2.0, 0.0, 0.02]], np.float32)


def glimpses():
    zero = {"uniform_noise": False, "noise": "zero"}
    results = []
    for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
        for centered in (False, True):
            for normalized in (False, True):
                offsets = OFFSETS if normalized else OFFSETS * 4
                results.append(case(op, X, i32(3, 4), offsets, centered=centered, normalized=normalized, **zero))
        results += [
            case(op, X, i32(3, 3), OFFSETS * 0),
            case(op, X, i32(3), OFFSETS, **zero),
            case(op, X, i32(3, 3), OFFSETS[:1], **zero),
            case(op, X, i32(9, 9), OFFSETS * 0, **zero),
        ]
    return results


def transforms():
    cases = []
    for interpolation in ("NEAREST", "BILINEAR"):
        for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
            attrs = {"interpolation": interpolation, "fill_mode": mode}
            cases.append(case("ImageProjectiveTransformV2", X, TRANSFORMS, i32(4, 7), differentiable=False, **attrs))
            third = (X, TRANSFORMS[:1], i32(5, 6), np.float32(1.5))
            cases.append(case("ImageProjectiveTransformV3", *third, differentiable=False, **attrs))
    op = "ImageProjectiveTransformV2"
    return [
        *cases,
        case(op, integers(1, 4, 4, 1, high=255, dtype="uint8"), TRANSFORMS[:1], i32(4, 4), interpolation="BILINEAR"),
        case(op, X, TRANSFORMS[:, :7], i32(4, 4), interpolation="NEAREST"),
        case(op, X, TRANSFORMS, i32(0, 4), interpolation="NEAREST"),
    ]


CASES = [*glimpses(), *transforms()]
