"""Pictures of values: what they show, in which levels, and what they leave out."""

from __future__ import annotations

import base64
import zlib

import ml_dtypes
import numpy as np
import pytest

from tfg import GraphBuilder
from tfg.core.drawing.value_pictures import frame, layouts


def picture_of(array, layout=""):
    made = frame(np.asarray(array), layout)
    return None if made is None else made.picture()


def levels(picture):
    data = np.frombuffer(zlib.decompress(base64.b64decode(picture.pixels)), np.uint8)
    return data.reshape(-1, picture.height, picture.width, picture.channels)


def test_a_matrix_is_a_map_of_levels():
    picture = picture_of(np.array([[0, 1, 2], [3, 4, np.nan]], np.float32))
    assert (picture.kind, picture.ends, picture.about) == ("map", (0.0, 4.0), "2 rows, 3 columns")
    assert levels(picture)[0, :, :, 0].tolist() == [[0, 64, 127], [190, 254, 255]], "255 is NaN"


def test_zero_is_in_the_middle_of_both_signs():
    picture = picture_of(np.array([[-1, 0], [2, np.inf]]))
    assert picture.ends == (-2.0, 2.0) and levels(picture)[0, :, :, 0].tolist() == [[64, 127], [254, 255]]


def test_large_matrices_are_averaged():
    picture = picture_of(np.repeat(np.repeat(np.eye(96), 3, 0), 3, 1))
    assert (picture.height, picture.width) == (
        96,
        96,
    ) and picture.about == "288 rows, 288 columns; 288 x 288 averaged to 96 x 96"
    np.testing.assert_array_equal(levels(picture)[0, :, :, 0], np.eye(96) * 254)
    uneven = levels(picture_of(np.ones((97, 131)) * [[*range(131)]]))[0, 0, :, 0]
    assert sorted(uneven) == uneven.tolist() and uneven[0] == 0 and uneven[-1] == 254


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_feature_maps_are_tiles_of_the_first_example(layout):
    maps = np.zeros((2, 4, 5, 20), np.float32)
    maps[0, 1, 2, 3] = 1
    picture = picture_of(maps if layout == "NHWC" else np.moveaxis(maps, -1, 1), layout)
    assert picture.about == "12 of 20 channels of example 1 of 2" and (picture.height, picture.width) == (4, 5)
    assert np.argwhere(levels(picture)).tolist() == [[3, 1, 2, 0]]


def test_images_keep_their_bytes():
    image = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    picture = picture_of(image)
    assert picture.kind == "image" and picture.channels == 3 and levels(picture)[0].tolist() == image.tolist()
    floats = picture_of((image / 17)[np.newaxis], "NHWC")
    assert levels(floats)[0].ravel().tolist() == [i * 15 for i in range(18)] and floats.about == "1 of 1 images"


def test_attention_is_a_tile_for_each_head():
    picture = picture_of(np.random.default_rng(0).uniform(size=(3, 4, 6, 6)))
    assert picture.about.startswith("4 of 4 matrices") and levels(picture).shape == (4, 6, 6, 1)


def test_sequences_are_lines():
    picture = picture_of(np.arange(400).reshape(1, 400, 1))
    assert (picture.kind, picture.width, picture.ends) == ("line", 128, (1.0, 397.5))
    assert (np.diff(levels(picture).ravel().astype(int)) > 0).all()
    assert levels(picture_of(np.zeros((3, 40)))).shape == (3, 1, 40, 1)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.int4, np.int64, np.uint64, bool])
def test_every_number_has_a_level(dtype):
    picture = picture_of(np.array([[0, 1], [1, 0]]).astype(dtype))
    assert levels(picture)[0, :, :, 0].tolist() == [[0, 254], [254, 0]]


def test_large_and_equal_numbers():
    assert levels(picture_of([[-1.7e308, 1.7e308], [0, 0]]))[0, :, :, 0].tolist() == [[0, 254], [127, 127]]
    assert levels(picture_of(np.full((3, 3), 7.0))).max() == 0 and levels(picture_of(np.full((3, 3), np.nan))).min() == 255


@pytest.mark.parametrize("value", [np.array([b"a"] * 9, object), np.float32(3), np.zeros((0, 4)), np.zeros(4, np.complex64)])
def test_some_values_have_no_picture(value):
    assert picture_of(value) is None


def test_the_layout_leads_along_values_of_rank_4():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[1, 3, 8, 8], name="x")
    scaled = g.Mul(x, np.float32(2), name="scaled")
    maps = g.Conv2D(
        scaled, np.zeros((3, 3, 3, 4), np.float32), strides=[1, 1, 1, 1], padding="SAME", data_format="NCHW", name="conv"
    )
    active = g.Relu(maps, name="active")
    turned = g.Transpose(active, [0, 2, 3, 1], name="turned")
    flat = g.Reshape(turned, [1, -1], name="flat")
    heads = g.Reshape(flat, [1, 4, 8, 8], name="heads")
    nodes = [value.node for value in (x, scaled, maps, active, turned, flat, heads)]
    answer = layouts({node: 2 if node.name == "flat" else 4 for node in nodes})
    assert {node.name: layout for node, layout in answer.items()} == dict.fromkeys(("x", "scaled", "conv", "active"), "NCHW")
