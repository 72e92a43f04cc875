"""Ops on many strings at once beside ops on each string."""

import numpy as np
import pytest

from tfg.core.ops.text.strings import string_length


def drawn(longest):
    """Return strings of characters of one to four bytes, some cut inside a character."""
    rng = np.random.default_rng(longest)
    letters = [*"ab 9", "é", "語", "🙂"]
    texts = ["".join(rng.choice(letters, rng.integers(0, longest + 1))).encode() for _ in range(60)]
    return np.array([text[: len(text) - rng.integers(0, 2)] for text in texts] + [b"\xff\x80", b""], object).reshape(31, 2)


@pytest.mark.parametrize("longest", [0, 1, 20, 200])
def test_characters_are_counted(longest):
    texts = drawn(longest)
    result = string_length(texts, unit="UTF8_CHAR")
    assert result.dtype == np.int32
    assert result.tolist() == [[sum(byte & 0xC0 != 0x80 for byte in text) for text in row] for row in texts]
    assert string_length(texts[0, 0:1].reshape(()), unit="UTF8_CHAR") == result[0, 0]
    assert string_length(texts[:0], unit="UTF8_CHAR").shape == (0, 2)
