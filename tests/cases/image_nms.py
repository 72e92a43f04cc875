"""Cases of the image_nms family."""

import numpy as np

from tests.opcases import case, uniform


def f32(value):
    return np.float32(value)


def i32(value):
    return np.int32(value)


def boxes(count, *more, seed=0):
    corners = uniform(count, *more, 2, seed=seed)
    return np.concatenate((corners, corners + uniform(count, *more, 2, low=0.1, high=0.5, seed=seed + 1)), -1)


B, S = boxes(12), uniform(12)
OVERLAPS = uniform(6, 6)

CASES = [
    case("NonMaxSuppression", B, S, i32(5)),
    case("NonMaxSuppression", B, S, i32(5), iou_threshold=0.1),
    case("NonMaxSuppression", B, S, i32(5), iou_threshold=1.5),
    case("NonMaxSuppression", B, S[:3], i32(5)),
    case("NonMaxSuppression", B[:, [2, 3, 0, 1]], S, i32(20), iou_threshold=0.2),
    case("NonMaxSuppressionV2", B, S, i32(5), f32(0.3)),
    case("NonMaxSuppressionV2", B.astype(np.float16), S.astype(np.float16), i32(5), np.float16(0.3)),
    case("NonMaxSuppressionV2", B, S, i32(-1), f32(0.3)),
    case("NonMaxSuppressionV3", B, S, i32(5), f32(0.3), f32(0.5)),
    case("NonMaxSuppressionV3", B[:0], S[:0], i32(5), f32(0.3), f32(0.5)),
    *(
        case("NonMaxSuppressionV4", B, S, i32(9), f32(0.3), f32(0.5), pad_to_max_output_size=pad)
        for pad in (False, True)
    ),
    *(
        case("NonMaxSuppressionV5", B, S, i32(9), f32(0.3), f32(0.2), f32(sigma), pad_to_max_output_size=pad)
        for pad in (False, True)
        for sigma in (0.0, 0.5)
    ),
    case("NonMaxSuppressionWithOverlaps", OVERLAPS, uniform(6), i32(4), f32(0.6), f32(0.1)),
    case("NonMaxSuppressionWithOverlaps", OVERLAPS[:5], uniform(6), i32(4), f32(0.6), f32(0.1)),
    *(
        case(
            "CombinedNonMaxSuppression", boxes(2, 8, q), uniform(2, 8, 3), i32(3), i32(5), f32(0.3), f32(0.2),
            pad_per_class=pad, clip_boxes=clip,
        )
        for q in (1, 3)
        for pad in (False, True)
        for clip in (False, True)
    ),
    case("CombinedNonMaxSuppression", boxes(2, 8, 2), uniform(2, 8, 3), i32(3), i32(5), f32(0.3), f32(0.2)),
]  # fmt: skip
