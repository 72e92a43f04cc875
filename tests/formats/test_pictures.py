"""Pictures as values: sizes and scales, beside tf.image.resize and Pillow's pixels."""

from __future__ import annotations

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.dtypes import float32, uint8
from tfg.core.types.shapes import Shape
from tfg.formats.value_literals import parse_value

PIXELS = (np.arange(3 * 4 * 3).reshape(3, 4, 3) * 7 % 256).astype(np.uint8)
RESIZED = [
    [[21.0, 28.0, 35.0], [35.7, 42.7, 49.7], [52.5, 59.5, 66.5], [69.3, 76.3, 83.3], [84.0, 91.0, 98.0]],
    [[147.0, 154.0, 161.0], [161.7, 168.7, 175.7], [178.5, 185.5, 192.5], [195.3, 202.3, 209.3], [210.0, 217.0, 224.0]],
]
"""The result of tf.image.resize(PIXELS, (2, 5)) in TensorFlow 2.21."""


@pytest.fixture
def picture(tmp_path):
    g = GraphBuilder()
    encoded = Session(g.graph).run(g.EncodePng(PIXELS).name)
    path = tmp_path / "p.png"
    path.write_bytes(encoded.item() if isinstance(encoded, np.ndarray) else encoded)
    return str(path)


def test_sizes_are_tensorflows(picture):
    resized = parse_value(f"@{picture}?resize=2,5", float32, Shape((None, 2, 5, 3)))
    assert resized.shape == (1, 2, 5, 3)
    np.testing.assert_allclose(resized[0], RESIZED, rtol=1e-6)
    whole = parse_value(f"@{picture}?resize=2,5", uint8)
    assert (whole.dtype, whole[0, 1].tolist()) == (np.uint8, [36, 43, 50])


def test_scale_and_offset(picture):
    scaled = parse_value(f"@{picture}?scale=1/127.5&offset=-1", float32)
    np.testing.assert_allclose(scaled, PIXELS / 127.5 - 1, rtol=1e-6, atol=1e-6)
    both = parse_value(f"@{picture}?resize=2,5&scale=2/255&offset=-1", float32)
    np.testing.assert_allclose(
        both[0, 0], [-0.8352941274642944, -0.7803921699523926, -0.7254902124404907], rtol=1e-6, atol=1e-6
    )
    assert parse_value(f"@{picture}", uint8).tolist() == PIXELS.tolist()


HUGE = [
    "scale=1e999999999", "scale=1/1e-999999999", "offset=0e999999999", "offset=-1e99999999999999999999", "scale=nan",
    f"resize={'9' * 5000},1", "offset=inf",
]  # fmt: skip
"""Numbers whose digits would fill the memory, and numbers that are none."""


@pytest.mark.parametrize(
    "options", ["size=2", "resize=2", "resize=0,3", "resize=2,99999", "scale=1/0", "scale=x", "scale=1&2", *HUGE]
)
def test_options_that_mean_nothing(picture, options):
    with pytest.raises(InvalidArgumentError) as caught:
        parse_value(f"@{picture}?{options}", float32)
    assert "@photo.png" in caught.value.hint


def test_an_array_has_no_options(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(3))
    with pytest.raises(InvalidArgumentError, match="not a picture"):
        parse_value(f"@{tmp_path / 'x.npy'}?scale=2", float32)


@pytest.mark.parametrize("dims, size", [
    ((None, 8, 6, 3), "8,6"), ((8, 6, 3), "8,6"), ((1, None, 6, 3), "3,6"), ((None, 8, None, None), "8,4"),
    ((2, 8, 6, 1), "8,6"),
])  # fmt: skip
@pytest.mark.parametrize("options", ["", "?scale=1/255"])
def test_a_picture_of_another_size_than_the_tensor_is_an_error_with_the_size(picture, dims, size, options):
    with pytest.raises(InvalidArgumentError, match="pixels, but the tensor takes ") as caught:
        parse_value(f"@{picture}{options}", float32, Shape(dims))
    assert f"?resize={size}," in caught.value.hint
    assert parse_value(f"@{picture}?resize={size}", float32, Shape(dims)).shape[-3:-1] == tuple(map(int, size.split(",")))


@pytest.mark.parametrize("dims", [None, (None, 3, 4, 3), (None, None, None, 3), (3, 4, 3), (None, 12), (None, 3, 224, 224)])
def test_a_picture_of_the_size_of_the_tensor_or_of_an_open_size_is_read(picture, dims):
    assert parse_value(f"@{picture}", float32, Shape(dims)).shape[-3:] == (3, 4, 3)
