"""Arrays in memory that processes share: none overlaps another that is alive, and what is given back is taken again."""

import gc
import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfg.core.numerics.shared_memory import SharedMemory

SIZE, RESERVED = 1 << 20, 100


@pytest.fixture
def memory():
    return SharedMemory(SIZE, RESERVED)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 5)), max_size=60))
def test_no_array_lies_where_another_one_does(orders):
    memory = SharedMemory(SIZE, RESERVED)
    alive = []
    for number, (size, ends) in enumerate(orders):
        array = memory.empty((size,), np.uint8)
        if array is not None:
            array[...] = number % 251
            alive.append((number % 251, array))
        del array
        del alive[:ends]
        assert all((array == value).all() for value, array in alive)
    assert bytes(memory.bytes[:RESERVED]) == bytes(RESERVED)


def test_what_is_given_back_joins_what_is_free_around_it(memory):
    arrays = [memory.empty((SIZE // 8,), np.uint8) for _ in range(7)]
    assert memory.empty((SIZE // 4,), np.uint8) is None
    del arrays[4], arrays[2], arrays[2]
    assert memory.empty((SIZE // 4 + SIZE // 8,), np.uint8) is not None


def test_a_view_keeps_its_array(memory):
    array = memory.empty((4, 1000), np.float32)
    array[...] = 7
    view = array[1:3, 5:]
    del array
    others = [memory.empty((1000,), np.float32) for _ in range(20)]
    for other in others:
        other[...] = 0
    assert (view == 7).all()


def test_an_array_may_end_in_another_thread(memory):
    arrays = [memory.empty((SIZE // 2,), np.uint8)]
    thread = threading.Thread(target=arrays.clear)
    thread.start()
    thread.join()
    assert memory.empty((SIZE // 2,), np.uint8) is not None


def test_places_are_known(memory):
    array = memory.empty((3, 50), np.float64)
    offset = memory.offset(array)
    assert memory.offset(array[1:]) == offset + 400
    assert memory.view(offset, (3, 50), np.float64).ctypes.data == array.ctypes.data
    assert memory.offset(np.empty(3)) is None
    assert memory.offset(np.empty(3)[1:]) is None
    del array
    gc.collect()
    assert memory.offset(np.empty((3, 50))) is None


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_small_and_empty_arrays_have_places_of_their_own(memory, shape):
    first, second = memory.empty(shape, np.float32), memory.empty(shape, np.float32)
    assert first.shape == second.shape == shape
    assert memory.offset(first) != memory.offset(second)


def test_a_forked_process_writes_to_the_same_memory(memory):
    array = memory.empty((1000,), np.int64)
    array[...] = 0
    process = os.fork()
    if not process:
        array[...] = 5
        os._exit(0)
    os.waitpid(process, 0)
    assert (array == 5).all()
