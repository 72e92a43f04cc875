"""Words of many blocks, computed by arrays, equal the words of each block, computed by itself."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.random.philox import Philox

KEYS = (0, 1, 0xFFFFFFFFFFFFFFFF, 0x0123456789ABCDEF)
COUNTERS = (0, 0xFFFFFFFF, 0xFFFFFFF0, 5 << 32 | 0xFFFFFF00, (1 << 128) - 1, (1 << 127) + 12345678901234567890)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("counter", COUNTERS)
def test_words_are_blocks(key, counter):
    generator = Philox(key, counter)
    expected = np.array([generator.skipped(i).block() for i in range(200)]).reshape(-1)
    for count in (0, 1, 4, 5, 48, 53, 511, 800):
        words = generator.words(count)
        assert words.dtype == np.uint32
        np.testing.assert_array_equal(words, expected[:count])


def test_known_answer():
    """The vector for counter and key of ones is from the authors' Random123, kat_vectors."""
    assert Philox((1 << 64) - 1, (1 << 128) - 1).block() == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
