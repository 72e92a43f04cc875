"""Lookups of many integers at once: places of integers, and changes between lookups."""

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.numerics.hash_tables import IntegerIndex

INT64 = np.iinfo(np.int64)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("numbers", [[5], [7, -3, 0, 4], [1000, -1000, 3], range(50, 0, -1), range(-300, 300, 7)])
def test_places_of_integers(dtype, numbers):
    numbers = list(numbers)
    sought = np.array([*numbers, *range(-320, 320), np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    result = IntegerIndex(np.array(numbers, dtype)).places(sought)
    assert result.tolist() == [numbers.index(n) if n in numbers else -1 for n in sought.tolist()]


def test_places_from_the_least_integer_to_the_largest():
    numbers = np.array([INT64.max, INT64.min, 0])
    assert IntegerIndex(numbers).places(np.array([0, 1, INT64.min, INT64.max])).tolist() == [2, -1, 1, 0]
    near = np.array([INT64.max - 1, INT64.max - 3])
    assert IntegerIndex(near).places(np.array([INT64.max, INT64.max - 1, INT64.min, 0])).tolist() == [-1, 0, -1, -1]


def chain(b):
    return b.MutableHashTableV2(key_dtype="int64", value_dtype="float32", name="table")


def vectors(b):
    return b.MutableHashTableOfTensorsV2(key_dtype="int64", value_dtype="float32", value_shape=[2], name="table")


def buckets(b):
    return b.MutableDenseHashTableV2(np.int64(-1), np.int64(-2), value_dtype="float32", value_shape=[2], name="table")


@pytest.mark.parametrize(("make", "row"), [(chain, ()), (vectors, (2,)), (buckets, (2,))])
def test_many_keys_are_found_as_few_are(make, row):
    """Lookups of any number of keys see the inserts and removals before."""
    b = GraphBuilder()
    table = make(b)
    keys, values = b.Placeholder(dtype="int64", shape=[None], name="k"), b.Placeholder(dtype="float32", name="v")
    b.LookupTableInsertV2(table, keys, values, name="insert")
    b.LookupTableRemoveV2(table, keys, name="remove")
    b.LookupTableFindV2(table, keys, b.constant(np.full(row, -9, np.float32)), name="find")
    session, rng, held = Session(b.graph), np.random.default_rng(0), {}

    def agree(sought):
        result = session.run("find:0", {"k:0": sought})
        missing = np.full(row, -9, np.float32)
        np.testing.assert_array_equal(result, np.stack([held.get(k, missing) for k in sought.tolist()]))

    for count in (40, 300, 3):
        new, rows = rng.integers(0, 400, count), rng.normal(size=(count, *row)).astype(np.float32)
        session.run("insert", {"k:0": new, "v:0": rows})
        held.update(zip(new.tolist(), rows))
        agree(rng.integers(0, 500, 600))
        agree(rng.integers(0, 500, 130))
        gone = rng.integers(0, 400, 20)
        session.run("remove", {"k:0": gone})
        for key in gone.tolist():
            held.pop(key, None)
        agree(rng.integers(0, 500, 600))
        agree(rng.integers(0, 500, 5))


def test_many_keys_have_defaults_of_their_own():
    b = GraphBuilder()
    table, sought = vectors(b), np.arange(200)
    keys = b.constant(np.arange(0, 100, 3))
    b.LookupTableInsertV2(table, keys, b.constant(np.zeros((34, 2), np.float32)), name="insert")
    defaults = np.arange(1, 401, dtype=np.float32).reshape(200, 2)
    b.LookupTableFindV2(table, b.constant(sought), b.constant(defaults), name="find")
    session = Session(b.graph)
    session.run("insert")
    is_held = (sought < 100) & (sought % 3 == 0)
    np.testing.assert_array_equal(session.run("find:0"), np.where(is_held[:, None], 0, defaults))


def test_buckets_take_what_stands_before_a_key_that_is_not_allowed():
    b = GraphBuilder()
    table = b.MutableDenseHashTableV2(np.int64(-1), np.int64(-2), value_dtype="int64", name="table")
    b.LookupTableInsertV2(table, b.constant(np.array([3, 3, 4, -2, 5])), b.constant(np.arange(5)), name="insert")
    b.LookupTableFindV2(table, b.constant(np.array([3, 4, 5])), b.constant(np.int64(-7)), name="find")
    session = Session(b.graph)
    with pytest.raises(Exception, match="deleted_key"):
        session.run("insert")
    assert session.run("find:0").tolist() == [1, 2, -7]
