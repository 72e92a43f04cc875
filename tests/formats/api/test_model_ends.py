"""Graphs in front of a model and behind it: pictures, base64, and the best classes."""

from __future__ import annotations

import base64

import numpy as np
import pytest

import tfg
from tfg.core.support.errors import InvalidArgumentError

PICTURE = np.arange(2 * 2 * 3, dtype=np.uint8).reshape(2, 2, 3)


def encoded(pixels=PICTURE):
    g = tfg.GraphBuilder()
    g.EncodePng(pixels, name="png")
    return tfg.Session(g.graph).run("png:0")


def identity(shape, dtype="float", name="x"):
    g = tfg.GraphBuilder()
    g.Identity(g.Placeholder(dtype=dtype, shape=shape, name=name), name="y")
    return g.graph


def results(graph, **strings):
    fed = {name: np.array(value, object) for name, value in strings.items()}
    return {name: value.tolist() for name, value in tfg.Model(graph)(**fed).items()}


@pytest.mark.parametrize(("shape", "dtype", "options", "expected"), [
    ([None, 2, 2, 3], "float", {}, PICTURE),
    ([None, 2, 2, 3], "float", {"mean": 1, "scale": 0.5}, (PICTURE - 1.0) / 2),
    ([None, 2, 2, 3], "float", {"mean": [1, 2, 3], "bgr": True}, PICTURE[..., ::-1] - np.float32([1, 2, 3])),
    ([None, 2, 2, 3], "half", {"scale": [1, 0.5, 0]}, PICTURE * [1, 0.5, 0]),
    ([None, 2, 2, 3], "uint8", {"mean": 4}, np.maximum(PICTURE, 4) - 4),
    ([None, 3, 2, 2], "float", {"bgr": True}, PICTURE[..., ::-1].transpose(2, 0, 1)),
    ([None, 2, 2, 3], "int32", {"mean": -1000}, PICTURE + np.float32(1000)),
])  # fmt: skip
def test_pictures_become_what_the_model_takes(shape, dtype, options, expected):
    served = tfg.prepend(identity(shape, dtype), "image", **options)
    assert results(served, x_bytes=[encoded(), encoded(PICTURE)])["y"] == [expected.tolist()] * 2
    assert results(served, x_bytes=[])["y"] == []


def test_a_picture_of_another_size_is_resized():
    """Bilinear, with the centers of pixels at halves, as tf.image.resize: each row of a wide step is the mean of two."""
    wide = np.uint8([[[0], [10], [20], [30]]])
    served = tfg.prepend(identity([None, 1, 2, 1]), "image")
    assert results(served, x_bytes=[encoded(wide)])["y"] == [[[[5], [25]]]]


def test_a_model_without_a_batch_takes_one_string():
    served = tfg.prepend(identity([2, 2, 3]), "image")
    assert results(served, x_bytes=encoded())["y"] == PICTURE.tolist()


def test_base64_of_both_alphabets_becomes_bytes():
    data = bytes(range(240, 256)) + encoded()
    served = tfg.prepend(identity([None], "string", "data_bytes"), "base64")
    texts = [base64.b64encode(data), base64.urlsafe_b64encode(data), base64.urlsafe_b64encode(data).rstrip(b"="), b""]
    assert results(served, data_base64=texts)["y"] == [data, data, data, b""]


def test_ends_are_put_before_ends():
    served = tfg.prepend(tfg.prepend(identity([None, 2, 2, 3]), "image"), "base64")
    assert set(served.meta.signatures["serving_default"].inputs) == {"x_base64"}
    assert results(served, x_base64=[base64.b64encode(encoded())])["y"] == [PICTURE.tolist()]


SCORES = [[0.1, 0.7, 0.2], [0.5, 0.5, 0.0]]


def classifier():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 3], name="x")
    g.Identity(x, name="probability")
    g.Sum(x, np.int32([0, 1]), name="total")
    return g.graph


def test_the_best_classes_are_numbers_or_labels():
    """Equal scores come in the order of their classes."""
    for labels, named in ((None, [1, 0]), (["a", "b", "c"], [b"b", b"a"])):
        appended = tfg.append(classifier(), 1, labels)
        result = {name: value.tolist() for name, value in tfg.Model(appended)(x=np.float32(SCORES)).items()}
        assert result == {"classes": [[named[0]], [named[1]]], "scores": np.float32([[0.7], [0.5]]).tolist(), "total": 2}


@pytest.mark.parametrize(("make", "words"), [
    (lambda: tfg.prepend(classifier(), "image"), "no input of pictures"),
    (lambda: tfg.prepend(classifier(), "base64"), "no input of strings"),
    (lambda: tfg.prepend(classifier(), "base64", "x"), "it takes float, and the tensor is string"),
    (lambda: tfg.prepend(classifier(), "jpeg"), "'jpeg' cannot be prepended"),
    (lambda: tfg.prepend(identity([None, None, None, 3]), "image"), "does not tell the size of a picture"),
    (lambda: tfg.prepend(identity([None, 2, 2, 7]), "image"), "does not tell the size of a picture"),
    (lambda: tfg.prepend(identity([None, 2, 2, 3]), "image", scale=127.5), "scale 127.5 is above 1"),
    (lambda: tfg.prepend(identity([None, 2, 2, 3]), "image", mean=[1, 2]), "mean has 2 numbers, and the pictures 3 channels"),
    (lambda: tfg.append(classifier(), 4), "does not have 4 best classes"),
    (lambda: tfg.append(classifier(), 0), "does not have 0 best classes"),
    (lambda: tfg.append(classifier(), 2, ["a", "b"]), "2 labels do not fit 3 classes"),
    (lambda: tfg.append(classifier(), 1, output="total"), "ranking classes needs real scores"),
    (lambda: tfg.append(identity([None], "string"), 1), "no output of scores"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises(InvalidArgumentError) as refused:
        make()
    assert words in str(refused.value)


def test_an_input_of_several_is_named():
    g = tfg.GraphBuilder()
    for name in ("left", "right"):
        g.Identity(g.Placeholder(dtype="float", shape=[None, 2, 2, 3], name=name), name=f"{name}_seen")
    with pytest.raises(InvalidArgumentError, match="several inputs of pictures"):
        tfg.prepend(g.graph, "image")
    both = tfg.prepend(tfg.prepend(g.graph, "image", "left"), "image", "right")
    result = results(both, left_bytes=[encoded()], right_bytes=[encoded()[:]])
    assert result == {"left_seen": [PICTURE.tolist()], "right_seen": [PICTURE.tolist()]}
