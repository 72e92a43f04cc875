"""Cases of the image_resize family."""

import numpy as np

from tests.opcases import case, i32, integers, normal, unshaped


def f32(*values):
    return np.array(values, np.float32)


X = normal(2, 5, 7, 3)
CENTERS = ({}, {"align_corners": True}, {"half_pixel_centers": True})
SIZES = ((9, 4), (3, 14), (1, 1))


def forward(op, centers):
    return [
        *(case(op, X, i32(*size), **attrs) for attrs in centers for size in SIZES),
        case(op, integers(1, 4, 4, 2, high=255, dtype="uint8"), i32(3, 6)),
        case(op, normal(1, 4, 4, 2, dtype="half"), i32(3, 6)),
        case(op, normal(1, 4, 4, 2, dtype="double"), i32(3, 6)),
        case(op, X, i32(0, 2)),
        case(op, X, i32(2)),
        case(op, X[0], i32(2, 2)),
        case(op, X[:, :0], i32(2, 2)),
    ]


def gradients():
    results = []
    for attrs in CENTERS:
        for size in SIZES:
            grads = normal(2, *size, 3)
            results += [
                case("ResizeBilinearGrad", grads, X, **attrs),
                case("ResizeBilinearGrad", grads, X.astype(np.float64), **attrs),
                case("ResizeBicubicGrad", grads, X, **attrs),
                case("ResizeNearestNeighborGrad", grads, i32(5, 7), **attrs),
            ]
    return [
        *results,
        case("ResizeBicubicGrad", normal(2, 3, 4, 3), X.astype(np.float64), tolerance=1e-6),
        *(unshaped(f"Resize{how}Grad", normal(1, 3, 4, 1), X) for how in ("Bilinear", "Bicubic")),
        case("ResizeNearestNeighborGrad", integers(1, 4, 4, 1), i32(2, 3)),
        case("ResizeBilinearGrad", normal(2, 3, 3), X),
        *infinite(),
    ]


def infinite():
    """Infinities reach their neighbours alone, and beside any number, their own copy at a border too, they become NaN."""
    image = np.zeros((1, 4, 5, 2), np.float32)
    image[0, 1, 2], image[0, 3, 4, 0], image[0, 0, 4, 1] = (np.inf, -np.inf), np.inf, np.nan
    attrs = [(how, size) for how in CENTERS for size in ((2, 2), (4, 5), (7, 9), (3, 11))]
    return [
        *(case(op, image, i32(*size), **how) for op in ("ResizeBilinear", "ResizeBicubic") for how, size in attrs),
        case("ResizeArea", image, i32(3, 4)),
        *(
            case(f"Resize{op}Grad", image, normal(1, *size, 2, dtype=dtype), differentiable=False, **how)
            for op in ("Bilinear", "Bicubic")
            for dtype in ("float32", "double")
            for how, size in attrs
        ),
    ]


def scaled():
    kernels = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")
    size, scale, move = i32(6, 5), f32(0.6, 1.4), f32(0.7, -1.2)
    return [
        *(case("ScaleAndTranslate", X, size, scale, move, kernel_type=k) for k in kernels),
        case("ScaleAndTranslate", X, size, scale, move, kernel_type="triangle", antialias=False),
        case("ScaleAndTranslate", X, size, f32(0, 1), move),
        case("ScaleAndTranslate", X, size, scale, move, kernel_type="other"),
        case("ScaleAndTranslateGrad", normal(2, 6, 5, 3), X, scale, move, kernel_type="lanczos3"),
        case("ScaleAndTranslateGrad", normal(2, 6, 5, 3), X, scale, move, kernel_type="triangle", antialias=False),
    ]


CASES = [
    *forward("ResizeBilinear", CENTERS),
    *forward("ResizeBicubic", CENTERS),
    *forward("ResizeNearestNeighbor", CENTERS),
    *forward("ResizeArea", CENTERS[:2]),
    *gradients(),
    *scaled(),
    case("ResizeBilinear", X, i32(2, 2), align_corners=True, half_pixel_centers=True),
]
