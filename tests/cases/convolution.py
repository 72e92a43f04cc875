"""Cases of the convolution family."""

import numpy as np

from tests.opcases import case, i32, integers, normal, removed, unshaped


def forward():
    x, w = normal(2, 5, 6, 3, dtype="double"), normal(3, 2, 3, 4, dtype="double")
    one = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    return [
        case("Conv2D", x, w, **one),
        case("Conv2D", x, w, strides=[1, 2, 2, 1], padding="SAME"),
        case("Conv2D", x, w, strides=[1, 2, 1, 1], padding="VALID", dilations=[1, 2, 3, 1]),
        case("Conv2D", x, w, strides=[1, 1, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 3, 0, 0, 0]),
        case("Conv2D", normal(2, 4, 4, 4), normal(3, 3, 2, 6), **one),
        case("Conv2D", normal(2, 4, 4, 3), normal(1, 1, 3, 5), strides=[1, 2, 2, 1], padding="SAME"),
        case("Conv2D", normal(1, 4, 4, 2, dtype="half"), normal(2, 2, 2, 3, dtype="half"), **one),
        case("Conv2D", integers(1, 4, 4, 2), integers(2, 2, 2, 3), **one),
        case("Conv2D", np.zeros((0, 4, 4, 2)), normal(2, 2, 2, 3, dtype="double"), **one),
        case("Conv2D", normal(2, 3, 5, 6), normal(3, 2, 3, 4), data_format="NCHW", **one),
        case("Conv2D", normal(1, 2, 2, 1), normal(4, 4, 1, 1), **one),
        case("Conv2D", normal(1, 2, 2, 1), normal(4, 4, 1, 1), strides=[1, 1, 1, 1], padding="SAME"),
        case("Conv2D", normal(1, 4, 4, 3), normal(2, 2, 2, 3), **one),
        case("Conv2D", normal(4, 4, 3), normal(2, 2, 3, 3), **one),
        case("Conv2D", normal(1, 4, 4, 2), normal(2, 2, 2, 3), dilations=[2, 1, 1, 1], **one),
        case("Conv2D", normal(1, 4, 4, 2), normal(2, 2, 2, 3), strides=[1, 1, 1, 2], padding="VALID"),
    ]


def backward_2d():
    w, dy = normal(3, 2, 3, 4, dtype="double"), normal(2, 3, 5, 4, dtype="double")
    x = normal(2, 5, 6, 3, dtype="double")
    valid, same = {"strides": [1, 1, 1, 1], "padding": "VALID"}, {"strides": [1, 2, 2, 1], "padding": "SAME"}
    small = normal(2, 3, 3, 4, dtype="double")
    explicit = {"strides": [1, 1, 2, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 3, 0, 0, 0]}
    dilated = {"strides": [1, 1, 1, 1], "padding": "SAME", "dilations": [1, 2, 2, 1]}
    full = normal(2, 5, 6, 4)
    return [
        case("Conv2DBackpropInput", i32(2, 5, 6, 3), w, dy, **valid),
        case("Conv2DBackpropInput", i32(5, 6), w, dy, **valid),
        case("Conv2DBackpropInput", i32(2, 5, 6, 3), w, small, **same),
        case("Conv2DBackpropInput", i32(2, 5, 6, 3), w, normal(2, 6, 4, 4, dtype="double"), **explicit),
        case("Conv2DBackpropInput", i32(2, 5, 6, 3), normal(3, 2, 3, 4), full, **dilated),
        case("Conv2DBackpropInput", i32(2, 5, 6, 3), w, small, **valid),
        case("Conv2DBackpropInput", i32(0, 5, 6, 3), w, np.zeros((0, 3, 5, 4)), **valid),
        case("Conv2DBackpropFilter", x, i32(3, 2, 3, 4), dy, **valid),
        case("Conv2DBackpropFilter", x, i32(3, 2, 3, 4), small, **same),
        case("Conv2DBackpropFilter", x, i32(3, 2, 3, 4), normal(2, 6, 4, 4, dtype="double"), **explicit),
        case("Conv2DBackpropFilter", normal(2, 5, 6, 3), i32(3, 2, 3, 4), full, **dilated),
        case("Conv2DBackpropFilter", x, i32(3, 2, 3, 4), small, **valid),
        case("Conv2DBackpropFilter", np.zeros((0, 5, 6, 3)), i32(3, 2, 3, 4), np.zeros((0, 3, 5, 4)), **valid),
    ]


def three_dimensions():
    x, w = normal(1, 4, 5, 6, 2, dtype="double"), normal(2, 3, 2, 2, 3, dtype="double")
    valid = {"strides": [1, 1, 1, 1, 1], "padding": "VALID"}
    same = {"strides": [1, 2, 2, 2, 1], "padding": "SAME"}
    small_inputs = normal(1, 4, 5, 6, 2), normal(2, 3, 2, 2, 3)
    dy, small = normal(1, 3, 3, 5, 3, dtype="double"), normal(1, 2, 3, 3, 3, dtype="double")
    return [
        case("Conv3D", x, w, **valid),
        case("Conv3D", x, w, **same),
        case("Conv3D", *small_inputs, padding="VALID", dilations=[1, 2, 2, 1, 1], strides=[1] * 5),
        case("Conv3D", np.zeros((0, 4, 5, 6, 2)), normal(2, 3, 2, 2, 3, dtype="double"), **valid),
        case("Conv3D", normal(1, 4, 5, 6, 3), normal(2, 3, 2, 2, 3), **valid),
        case("Conv3DBackpropInputV2", i32(1, 4, 5, 6, 2), w, dy, **valid),
        case("Conv3DBackpropInputV2", i32(1, 4, 5, 6, 2), w, small, **same),
        case("Conv3DBackpropFilterV2", x, i32(2, 3, 2, 2, 3), dy, **valid),
        case("Conv3DBackpropFilterV2", x, i32(2, 3, 2, 2, 3), small, **same),
        removed("Conv3DBackpropInput", x, w, dy, **valid),
        removed("Conv3DBackpropFilter", x, w, small, **same),
    ]


def general():
    return [
        case("Conv", normal(2, 5, 5, 3), normal(3, 3, 3, 4), strides=[1, 1, 1, 1], padding="VALID"),
        case("Conv", normal(2, 3, 5, 5, 2), normal(2, 2, 2, 2, 3), strides=[1, 1, 1, 1, 1], padding="SAME"),
        case("Conv", normal(2, 3, 5, 5, 2), normal(2, 2, 2, 3), strides=[1, 1, 1, 1], padding="SAME", batch_dims=2),
        case("Conv", normal(2, 5, 3), normal(2, 3, 4), strides=[1, 1, 1], padding="SAME"),
    ]


def refused():
    """Strides over channels, and gradients of empty tensors with arbitrary other shapes."""
    x, w, same = normal(1, 4, 4, 2), normal(2, 2, 2, 2), {"padding": "SAME"}
    wide = {"strides": [1, 1, 1, 2], **same}
    plain, plain_3d = {"strides": [1] * 4, "padding": "SAME"}, {"strides": [1] * 5, "padding": "SAME"}
    return [
        case("Conv2D", x, w, **wide),
        case("Conv2DBackpropInput", i32(1, 4, 4, 2), w, x, **wide),
        case("Conv2DBackpropFilter", x, i32(2, 2, 2, 2), x, **wide),
        case("Conv", x, w, **wide),
        unshaped("Conv2DBackpropInput", i32(3, 3, 0), normal(3), normal(2, 5, 5, 1), **plain),
        unshaped("Conv2DBackpropInput", i32(3, 3, 0), normal(3), normal(5), **plain),
        unshaped("Conv2DBackpropInput", i32(3, 3, 0), normal(3, dtype="double"), normal(2, 5, 5, 1, dtype="double"), **plain),
        *(
            case("Conv3D", normal(1, 2, 2, 2, 2, dtype=t), normal(1, 1, 1, 2, 2, dtype=t), strides=[1, 1, 1, 1, 2], **same)
            for t in ("float32", "double")
        ),
        *(
            unshaped("Conv3DBackpropFilterV2", normal(2, dtype=t), i32(2, 0), normal(2, dtype=t), **plain_3d)
            for t in ("float32", "double")
        ),
        unshaped("Conv3DBackpropInputV2", i32(3, 3, 0), normal(3), normal(2, 5, 5, 1), **plain_3d),
    ]


CASES = [*forward(), *backward_2d(), *three_dimensions(), *general(), *refused()]
