"""The cache by keys."""

import pytest

from tfg.core.support.keyed_cache import KeyedCache


def filled(count):
    cache = KeyedCache(3)
    for key in range(count):
        cache[key] = -key
    return cache


@pytest.mark.parametrize(("count", "keys"), [(0, []), (3, [0, 1, 2]), (4, [3]), (6, [3, 4, 5]), (7, [6])])
def test_a_new_key_clears_a_full_cache(count, keys):
    assert [*filled(count)] == keys


def test_a_key_that_is_there_clears_nothing():
    cache = filled(3)
    cache[1] = 7
    assert cache == {0: 0, 1: 7, 2: -2}
