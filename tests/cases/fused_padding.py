"""Cases of the fused_padding family."""

import numpy as np

from tests.opcases import case, normal

# One image: TensorFlow's kernel mixes up the images of a batch.
X, W = normal(1, 5, 6, 3), normal(2, 3, 3, 4)
PADS = np.array([[0, 0], [1, 2], [2, 0], [0, 0]], np.int32)
SIZE = np.array([7, 4], np.int32)

CASES = [
    *(
        case("FusedPadConv2D", X, PADS, W, mode=m, strides=[1, 2, 1, 1], padding=p)
        for m in ("REFLECT", "SYMMETRIC")
        for p in ("VALID", "SAME")
    ),
    case("FusedPadConv2D", X.astype(np.float64), PADS, W.astype(np.float64), mode="REFLECT", strides=[1] * 4, padding="VALID"),
    case("FusedPadConv2D", X, PADS * 5, W, mode="REFLECT", strides=[1] * 4, padding="VALID"),
    case("FusedPadConv2D", X, PADS[:3], W, mode="REFLECT", strides=[1] * 4, padding="VALID"),
    *(
        case(
            "FusedResizeAndPadConv2D", X, SIZE, PADS, W,
            mode="REFLECT", strides=[1] * 4, padding="VALID", resize_align_corners=a,
        )
        for a in (False, True)
    ),
]  # fmt: skip
