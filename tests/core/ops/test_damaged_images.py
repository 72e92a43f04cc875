"""Image files that end too early or have a changed byte: InvalidArgumentError, or an image."""

import io

import numpy as np
import pytest
from PIL import Image

from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError

FRAMES = [Image.fromarray(np.full((4, 5, 3), shade, np.uint8)) for shade in (0, 90, 180)]
OPTIONS = {"GIF": {"save_all": True, "append_images": FRAMES[1:]}, "BMP": {}, "PNG": {}, "JPEG": {}}


def encoded(form):
    stream = io.BytesIO()
    FRAMES[0].save(stream, form, **OPTIONS[form])
    return stream.getvalue()


def decoder():
    b = GraphBuilder()
    contents = b.Placeholder(dtype="string", shape=[], name="contents")
    b.DecodeGif(contents, name="gif")
    b.DecodeImage(contents, name="image")
    return Session(b.graph)


def decodes(session, op, data):
    """Return whether a file has an image, after an error of the kernel otherwise."""
    try:
        session.run(f"{op}:0", {"contents:0": data})
    except InvalidArgumentError as error:
        assert error.node == op
        return False
    return True


@pytest.mark.parametrize(("form", "op"), [("GIF", "gif"), *((form, "image") for form in OPTIONS)])
def test_files_cut_anywhere(form, op):
    data, session = encoded(form), decoder()
    assert decodes(session, op, data)
    assert sum(decodes(session, op, data[:end]) for end in range(len(data))) < len(data)


@pytest.mark.parametrize("form", OPTIONS)
def test_files_with_a_changed_byte(form):
    data, session, random = encoded(form), decoder(), np.random.default_rng(7)
    for place in random.integers(len(data), size=100):
        changed = bytearray(data)
        changed[place] = random.integers(256)
        decodes(session, "gif", bytes(changed))
