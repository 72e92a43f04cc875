"""Examples parsed in batches beside the same examples parsed singly, and records parsed run after run."""

import numpy as np
import pytest

from tests.example_messages import example
from tfg import GraphBuilder, Session
from tfg.core.codecs import wire
from tfg.core.ops.io import parsing_examples
from tfg.core.ops.io._examples import FeatureColumn, entries_of, parse_example
from tfg.core.ops.io.parsing_examples import dense_features, parse_batch
from tfg.core.runtime.execute.tiers import SETTLING_RUN
from tfg.core.support.errors import DataLossError, InvalidArgumentError, TfgError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import Tensor

TYPES = (dtypes.int64, dtypes.float32, dtypes.string)


def packed(name, number, payload):
    """Return a map entry with a list of packed numbers, as writers make the entry."""
    values = wire.bytes_field(number, wire.bytes_field(1, payload) if payload else b"")
    return wire.bytes_field(1, wire.bytes_field(1, name) + wire.bytes_field(2, values))


def integers(name, values):
    return packed(name, 3, b"".join(map(wire.varint, values)))


def floats(name, values):
    return packed(name, 2, np.float32(values).tobytes())


def texts(name, values):
    return packed_texts(name, b"".join(wire.bytes_field(1, value) for value in values))


def packed_texts(name, payload):
    return wire.bytes_field(1, wire.bytes_field(1, name) + wire.bytes_field(2, wire.bytes_field(1, payload)))


def message(*entries):
    return wire.bytes_field(1, b"".join(entries))


def drawn(rng, most=5):
    """An Example with some features of each type, of few values or many, in any order."""
    count = int(rng.choice([0, 1, 2, most]))
    wide = rng.integers(-(2**63), 2**63 - 1, count) >> rng.integers(0, 63, count)
    entries = [
        integers(b"i", wide.tolist()),
        floats(b"f", rng.normal(size=count)),
        texts(b"t", [rng.bytes(int(n)) for n in rng.integers(0, 200, count)]),
        integers(b"another", [1]),
    ]
    return message(*(entries[i] for i in rng.permutation(4)[: rng.integers(0, 5)]))


def agree(batch):
    """Columns read both ways."""
    plain, entries = FeatureColumn([parse_example(text) for text in batch], []), entries_of(batch)
    assert entries is not None
    for key, dtype in zip((b"i", b"f", b"t", b"x"), (*TYPES, dtypes.int64)):
        want, got = plain.column(key, dtype), entries.column(key, dtype)
        if got is not None:
            np.testing.assert_array_equal(got.sizes, want.sizes)
            assert (got.values.dtype, got.values.tolist()) == (want.values.dtype, want.values.tolist())
            assert got.values.flags.writeable


@pytest.mark.parametrize("seed", range(5))
def test_columns_of_any_examples(seed):
    rng = np.random.default_rng(seed)
    agree([drawn(rng, most=300 if seed == 4 else 5) for _ in range(60)])


@pytest.mark.parametrize("text", [
    b"", message(), example(), message(integers(b"i", [])), message(integers(b"i", [2**63 - 1, -(2**63), 127, 128])),
    message(floats(b"f", range(20000)), texts(b"t", [b"x" * 70000])), message(integers(b"i", [1]), integers(b"i", [2, 3])),
    message(integers(b"i" * 200, [1])), message(integers(b"", [1])),
])  # fmt: skip
def test_columns_of_one_example_among_others(text):
    agree([message(floats(b"f", [1]), integers(b"i", [5])), text] * 20)


def test_one_long_example_is_not_read_a_step_at_a_time():
    assert entries_of([message(*[integers(b"i", [1])] * 1000), *[message()] * 30]) is None


@pytest.mark.parametrize("text", [
    example(i=[1], f=[1.0]), example(t=[b"x"], i=None), message(packed(b"i", 3, b"\x01") + wire.varint_field(9, 5)),
    message(packed(b"f", 2, b"")), message(packed_texts(b"t", wire.varint_field(2, 1))),
    message(wire.bytes_field(1, wire.bytes_field(2, b"") + wire.bytes_field(1, b"i"))),
    message(packed(b"i", 3, b"\x81" * 9 + b"\x01")), message(integers(b"i", [1])) + wire.varint_field(2, 1),
])  # fmt: skip
def test_unusual_examples_are_read_one_by_one_where_they_must(text):
    batch = [message(integers(b"i", [7])), text] * 20
    keys = [b"i", b"f", b"t"]
    expected = [(key, dtype) for key, dtype in zip(keys, TYPES)]
    assert_same(parsed(batch, expected, many=1), parsed(batch, expected, many=1000))


def parsed(batch, expected, many):
    """Return the results of a batch: outputs as lists, or the error."""
    dense = dense_features([b"d"], [dtypes.int64], [Shape([None])], [np.int64([0])])
    before, parsing_examples.MANY_MESSAGES = parsing_examples.MANY_MESSAGES, many
    try:
        serialized = np.array([*batch, None], object)[:-1]
        return [
            [array.tolist() for array in part] for part in parse_batch(serialized, np.empty(0, object), expected, dense, [])
        ]
    except (TfgError, DataLossError) as error:
        return type(error).__name__, str(error)
    finally:
        parsing_examples.MANY_MESSAGES = before


def assert_same(got, want):
    assert repr(got) == repr(want)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(60))
def test_damaged_examples_are_the_same_errors(seed):
    rng = np.random.default_rng(seed)
    batch = [drawn(rng) for _ in range(30)]
    whole = np.frombuffer(batch[7] + batch[6], np.uint8).copy()
    whole[rng.integers(0, max(len(whole), 1), 2)] = rng.choice([0, 1, 10, 18, 127, 128, 200, 255], 2)
    batch[7] = whole.tobytes()[: rng.integers(0, len(whole) + 1)]
    expected = list(zip((b"i", b"f", b"t"), TYPES))
    assert_same(parsed(batch, expected, many=1), parsed(batch, expected, many=1000))


DEFAULTS = {"given": np.float32([8, 9]), "none": np.empty(0, np.float32)}


@pytest.mark.parametrize("default", DEFAULTS.values(), ids=DEFAULTS)
@pytest.mark.parametrize("counts", [[2, 2, 2], [2, None, 2], [None, None], [2, 3, None], [0, 2]])
def test_dense_features_of_a_fixed_shape(counts, default):
    batch = [message(*([] if n is None else [floats(b"f", range(n))])) for n in counts]
    dense = dense_features([b"f"], [dtypes.float32], [Shape([2])], [default])
    is_wrong = any(n not in (None, 2) for n in counts) or (not default.size and None in counts)
    if is_wrong:
        first = next(i for i, n in enumerate(counts) if n not in (None, 2) or (n is None and not default.size))
        with pytest.raises(TfgError, match=f"Index: {first}"):
            parse_batch(np.array(batch, object), np.empty(0, object), [], dense, [])
    else:
        result = parse_batch(np.array(batch, object), np.empty(0, object), [], dense, [])[3][0]
        assert result.tolist() == [default.tolist() if n is None else [0, 1] for n in counts]


def test_dense_features_are_padded_to_the_longest():
    batch = np.array([message(floats(b"f", range(n))) if n else b"" for n in (2, 0, 6, 4)], object)
    dense = dense_features([b"f"], [dtypes.float32], [Shape([None, 2])], [np.float32([-1])])
    result = parse_batch(batch, np.empty(0, object), [], dense, [])[3][0]
    assert result.shape == (4, 3, 2)
    assert result.reshape(4, 6).tolist() == [[*range(n), *[-1] * (6 - n)] for n in (2, 0, 6, 4)]
    with pytest.raises(TfgError, match=r"Index: 1.*multiple of stride"):
        parse_batch(np.array([batch[0], message(floats(b"f", [1]))]), np.empty(0, object), [], dense, [])


@pytest.mark.parametrize("row", [(), (2,)])
def test_a_padded_feature_of_no_examples(row):
    dense = dense_features([b"f"], [dtypes.float32], [Shape([None, *row])], [np.float32([-1])])
    assert parse_batch(np.empty(0, object), np.empty(0, object), [], dense, [])[3][0].shape == (0, 0, *row)


def test_a_feature_without_elements_may_be_missing():
    dense = dense_features([b"f"], [dtypes.float32], [Shape([0])], [np.empty(0, np.float32)])
    batch = np.array([b"", message(floats(b"f", []))], object)
    assert parse_batch(batch, np.empty(0, object), [], dense, [])[3][0].shape == (2, 0)


def parser(sparse, dense, default):
    """A session that parses a fed Example: the sparse feature c, and the dense number b with a default."""
    b = GraphBuilder()
    text = b.Placeholder(dtype="string", shape=[], name="text")
    keys = [Tensor.from_numpy(np.array(names, object), dtypes.string) for names in ([], sparse, dense, [])]
    inputs = [text, *(b.Const(value=names, dtype="string") for names in keys)]
    number = b.Placeholder(dtype="float32", shape=[], name="default") if default is None else b.constant(default)
    defaults = [number] * len(dense)
    b.ParseExampleV2(
        *inputs, defaults, num_sparse=len(sparse), sparse_types=["string"] * len(sparse), ragged_value_types=[],
        ragged_split_types=[], dense_shapes=[[]] * len(dense), Tdense=["float32"] * len(dense), name="parsed",
    )  # fmt: skip
    return Session(b.graph)


def test_examples_are_parsed_by_constant_keys():
    session = parser([b"c"], [b"b"], np.float32(7))
    for _ in range(SETTLING_RUN + 1):
        fetches = [f"parsed:{i}" for i in range(4)]
        indices, values, shape, number = session.run(fetches, {"text:0": example(b=[1.5], c=[b"x", b"y"])})
        assert (indices.tolist(), values.tolist(), shape.tolist(), number) == ([[0], [1]], [b"x", b"y"], [2], 1.5)
        assert session.run("parsed:3", {"text:0": example()}) == 7
        with pytest.raises(InvalidArgumentError, match=r"Number of float values != expected\.  Values size: 2") as caught:
            session.run(fetches, {"text:0": example(b=[1.5, 2.5])})
        assert caught.value.node == "parsed"


def test_a_default_of_a_parsed_feature_may_change():
    session = parser([], [b"b"], None)
    for default in range(SETTLING_RUN + 2):
        assert session.run("parsed:0", {"text:0": example(), "default:0": np.float32(default)}) == default
