"""Cases of the image_boxes family."""

import numpy as np

from tests.opcases import case, i32, i64, integers, normal, uniform, unshaped

BOXES = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.3, 0.5, 0.6, 1.4]], np.float32)
PLACES = np.array([0, 1, 1, 0], np.int32)
X = normal(2, 5, 6, 3)


def crops():
    results = []
    for size in ((3, 4), (1, 5), (7, 1)):
        grads = normal(4, *size, 3)
        results += [
            *(
                case("CropAndResize", X, BOXES, PLACES, i32(*size), method=m, differentiable=False)
                for m in ("bilinear", "nearest")
            ),
            *(
                case("CropAndResizeGradImage", grads, BOXES, PLACES, i32(2, 5, 6, 3), T="float", method=m)
                for m in ("bilinear", "nearest")
            ),
            case("CropAndResizeGradBoxes", grads, X, BOXES, PLACES),
        ]
    return [
        *results,
        case("CropAndResize", integers(1, 4, 4, 1, dtype="uint8"), BOXES[:1], i32(0), i32(3, 3), extrapolation_value=2.0),
        case("CropAndResize", X, BOXES, i32(0, 1, 2, 0), i32(3, 3)),
        case("CropAndResize", X, BOXES, PLACES, i32(0, 3)),
        case("CropAndResize", X, BOXES[:, :3], PLACES, i32(3, 3)),
        case("CropAndResize", X, BOXES[:0], PLACES[:0], i32(3, 3)),
        # TensorFlow's gradients end the process for empty boxes of rank 1.
        *(
            unshaped("CropAndResize", X, BOXES[:0].reshape(dims), PLACES[:0].reshape(rows), i32(3, 3))
            for dims, rows in ((0, 0), ((0, 4, 2), 0), ((0, 4), (0, 2)), ((0, 3), 0), ((2, 0), 0))
        ),
        *(case("CropAndResize", X, BOXES + np.float32(v), PLACES, i32(3, 3)) for v in (np.nan, np.inf)),
        case("CropAndResizeGradImage", normal(4, 3, 3, 3), BOXES, PLACES, i32(2, 5, 6, 3), T="double", tolerance=1e-6),
        case("CropAndResizeGradImage", normal(4, 3, 3, 2), BOXES, PLACES, i32(2, 5, 6, 3), T="float"),
    ]


def drawings():
    boxes = np.stack((BOXES, BOXES[::-1]))
    return [
        *(case("DrawBoundingBoxes", uniform(2, 9, 8, c), boxes) for c in (1, 3, 4)),
        case("DrawBoundingBoxes", uniform(2, 9, 8, 2), boxes),
        case("DrawBoundingBoxes", uniform(2, 9, 8, 3, dtype="half"), boxes),
        case("DrawBoundingBoxesV2", uniform(2, 9, 8, 3), boxes, uniform(2, 4)),
        case("DrawBoundingBoxesV2", uniform(2, 9, 8, 3), boxes, np.zeros((0, 4), np.float32)),
        case("DrawBoundingBoxesV2", uniform(2, 9, 8, 3), boxes, uniform(2, 3)),
    ]


def samples():
    one = np.array([[[0.2, 0.1, 0.7, 0.9], [0.3, 0.3, 0.8, 0.6]]], np.float32)
    seeds = {"seed": 5, "seed2": 6}
    op = "SampleDistortedBoundingBox"
    return [
        *(case(op, i32(40, 50, 3), one, seed=s, seed2=9, min_object_covered=0.3) for s in range(1, 6)),
        case(op, i32(40, 50, 3), one, area_range=[0.9, 1.0], min_object_covered=0.99, max_attempts=3, **seeds),
        case(op, np.array([7, 9, 1], np.int64), one[:, :0], use_image_if_no_bounding_boxes=True, **seeds),
        case(op, i32(40, 50, 3), one[:, :0], **seeds),
        case(op, i32(40, 50, 3), one * 2, **seeds),
        case(op, i32(40, 50, 3), one, aspect_ratio_range=[1.0], **seeds),
        case(f"{op}V2", i32(40, 50, 3), one, np.float32(0.5), **seeds),
        case(f"{op}V2", i32(40, 50, 3), one, np.float32(-0.5), **seeds),
        *(case(f"Stateless{op}", i32(40, 50, 3), one, 0.3, i32(s, 9)) for s in range(1, 6)),
        case(f"Stateless{op}", np.int64([7, 9, 1]), one[:, :0], 0.3, i64(5, 6), use_image_if_no_bounding_boxes=True),
        case(f"Stateless{op}", i32(40, 50, 3), one * 2, 0.3, i32(5, 6)),
        case(f"Stateless{op}", i32(40, 50, 3), one, -0.3, i32(5, 6)),
        case(f"Stateless{op}", i32(40, 50, 3), one, 0.3, i32(5, 6, 7)),
    ]


CASES = [*crops(), *drawings(), *samples()]
