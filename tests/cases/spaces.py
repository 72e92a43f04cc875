"""Cases of the spaces family."""

import numpy as np

from tests.opcases import case, i32, integers, normal, wide

IMAGE = wide(2, 4, 6, 3)
NONE = i32([0, 0], [0, 0])


def batches():
    return [
        case("SpaceToBatchND", IMAGE, i32(2, 3), NONE),
        case("SpaceToBatchND", IMAGE, i32(2, 4), i32([1, 1], [0, 2])),
        case("SpaceToBatchND", wide(2, 4), i32(2), i32([1, 1])),
        case("SpaceToBatchND", IMAGE, np.zeros(0, np.int32), np.zeros((0, 2), np.int32)),
        case("SpaceToBatchND", IMAGE, i32(3, 3), NONE),
        case("SpaceToBatchND", IMAGE, i32(0, 3), NONE),
        case("SpaceToBatchND", IMAGE, i32(2, 3), i32([-2, 0], [0, 0])),
        case("SpaceToBatchND", wide(2, 4), i32(2, 2), NONE),
        case("BatchToSpaceND", wide(6, 2, 3, 2), i32(2, 3), NONE),
        case("BatchToSpaceND", wide(6, 2, 3, 2), i32(2, 3), i32([1, 0], [2, 3])),
        case("BatchToSpaceND", wide(4, 3), i32(2), i32([0, 1])),
        case("BatchToSpaceND", wide(5, 3), i32(2), i32([0, 1])),
        case("BatchToSpaceND", wide(4, 3), i32(2), i32([4, 4])),
        case("SpaceToBatch", IMAGE, i32([0, 0], [1, 1]), block_size=2),
        case("SpaceToBatch", wide(2, 4), NONE, block_size=2),
        case("BatchToSpace", wide(8, 2, 3, 2), i32([0, 0], [1, 1]), block_size=2),
        case("BatchToSpace", wide(7, 2, 3, 2), NONE, block_size=2),
    ]


def depths():
    return [
        case("SpaceToDepth", IMAGE, block_size=2),
        case("SpaceToDepth", integers(1, 4, 4, 2, dtype="uint8"), block_size=4),
        case("SpaceToDepth", IMAGE, block_size=3),
        case("SpaceToDepth", IMAGE[0], block_size=2),
        case("DepthToSpace", wide(2, 2, 3, 8), block_size=2),
        case("DepthToSpace", integers(1, 1, 2, 9, dtype="half"), block_size=3),
        case("DepthToSpace", IMAGE, block_size=2),
        case("DepthToSpace", normal(0, 2, 3, 8), block_size=2),
    ]


def layouts():
    vec = "DataFormatVecPermute"
    return [
        case("DataFormatDimMap", i32(0, 1, 2, 3)),
        case("DataFormatDimMap", np.int64([[-1, -2], [-3, -4]]), src_format="NCHW", dst_format="NHWC"),
        case("DataFormatDimMap", i32(0, 4), src_format="NDHWC", dst_format="NCDHW"),
        case("DataFormatDimMap", i32(4)),
        case(vec, i32(7, 4, 9, 3)),
        case(vec, np.int64([5, 6])),
        case(vec, i32([1, 2], [3, 4], [5, 6], [7, 8]), src_format="NCHW", dst_format="NHWC"),
        case(vec, i32([1, 2], [3, 4]), src_format="NHWC", dst_format="NCHW"),
        case(vec, i32(1, 2, 3, 4, 5), src_format="NDHWC", dst_format="NCDHW"),
        case(vec, i32(1, 2), src_format="ABHW", dst_format="WHAB"),
        case(vec, i32(1, 2, 3, 4), src_format="ABCD", dst_format="DCBA"),
        case(vec, i32(1, 2), src_format="ABCD", dst_format="DCBA"),
        case(vec, i32(1, 2), src_format="NHWC", dst_format="NHWD"),
        case(vec, i32(1, 2, 3), src_format="ABCDE", dst_format="EDCBA"),
        case(vec, i32(1, 2, 3, 4), src_format="HHWW", dst_format="WWHH"),
        case(vec, i32(1), src_format="NHW", dst_format="HWN"),
        case("DataFormatDimMap", i32(0), src_format="HHWW", dst_format="WWHH"),
        case(vec, i32(1, 2, 3)),
        case(vec, i32([1], [2])),
    ]


def patches():
    images = "ExtractImagePatches"
    size = {"ksizes": [1, 2, 3, 1], "strides": [1, 1, 2, 1], "rates": [1, 1, 1, 1]}
    cases = [case(images, wide(2, 4, 5, 2), **size, padding=p) for p in ("VALID", "SAME")]
    cases += [case(images, wide(1, 5, 6, 1), **{**size, "rates": [1, 2, 2, 1]}, padding=p) for p in ("VALID", "SAME")]
    cases += [case(images, integers(1, 3, 3, 2, dtype=t), **size, padding="SAME") for t in ("uint8", "half", "int64")]
    volume = {"ksizes": [1, 2, 2, 1, 1], "strides": [1, 1, 2, 1, 1]}
    cases += [case("ExtractVolumePatches", wide(1, 3, 3, 2, 2), **volume, padding=p) for p in ("VALID", "SAME")]
    return [
        *cases,
        case(images, normal(2, 4, 5), **size, padding="SAME"),
        case(images, normal(2, 4, 5, 1), **{**size, "ksizes": [2, 1, 1, 1]}, padding="SAME"),
        case(images, normal(0, 4, 5, 1), **size, padding="SAME"),
        case("ExtractVolumePatches", normal(2, 4, 5, 1), **volume, padding="SAME"),
    ]


CASES = [*batches(), *depths(), *layouts(), *patches()]
