"""Checkpoints of both versions: written by TensorFlow, written by tfg, and damaged. See record_checkpoints.py."""

import io
import os
import pathlib
import weakref

import numpy as np
import pytest

from tests.formats.tables import InMemory
from tfg.core.codecs import wire
from tfg.core.codecs.tfrecord import crc32c
from tfg.core.runtime.state.file_access import FileAccess, FileGate
from tfg.core.runtime.state.tensor_lists import live, stored
from tfg.core.runtime.state.variants import StoredVariant
from tfg.core.support import regular_files
from tfg.core.support.errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    UnimplementedError,
)
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats import FileCheckpointStore, Partitioned, merge_checkpoints, open_checkpoint, write_checkpoint
from tfg.formats.checkpoint import bundle
from tfg.formats.checkpoint.bundle import read_index, write_index
from tfg.formats.checkpoint.sorted_table import SortedTable, write_table
from tfg.formats.checkpoint.tensor_slices import encode_extents, parse_spec, slice_key
from tfg.formats.protos.checkpoint_pb2 import BundleEntryProto

RECORDED = pathlib.Path(__file__).with_name("recorded")
FULL = np.arange(20, dtype=np.float32).reshape(5, 4)


def test_table_of_many_blocks():
    items = [(b"key%06d" % i, os.urandom(20) * (i % 50)) for i in range(3000)]
    file = io.BytesIO()
    write_table(file, items)
    data = InMemory(file.getvalue())
    assert [(key, bytes(value)) for key, value in SortedTable(data).items()] == items
    assert all(SortedTable(data).get(key) == value for key, value in items[::100])
    assert SortedTable(data).get(b"key") is None and SortedTable(data).get(b"z") is None
    with pytest.raises(DataLossError, match="truncated"):
        SortedTable(InMemory(data[:-10]))
    damaged = bytearray(data)
    damaged[1000] ^= 1
    with pytest.raises(DataLossError, match="checksum of the block at byte 0"):
        list(SortedTable(InMemory(damaged)).items())


def test_slice_specs():
    spec = parse_spec("10 4 2,3:-")
    assert (spec.full_shape, spec.extents, spec.shape) == ((10, 4), ((2, 3), (0, -1)), (3, 4))
    assert spec.index == (slice(2, 5), slice(0, 4))
    assert parse_spec("") is None


@pytest.mark.parametrize("spec", ["10", "10 4", "10 4 2,3", "10 4 2,9:-", "x 4 -:-", "10 4 -:a", "10  -"])
def test_bad_slice_specs(spec):
    with pytest.raises(InvalidArgumentError):
        parse_spec(spec)


def test_slice_keys_are_tensorflows():
    assert slice_key("p", ((0, 3), (0, -1))) == b"\x00p\x00\x01\x01\x02\x80\x83\x80\x7f"
    assert slice_key("a\0\xff", ((64, 8192),)) == b"\x00a\x00\xff\xc3\xbf\x00\x01\x01\x01\xc0\x40\xe0\x20\x00"


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_read_what_tensorflow_wrote(version):
    reader = open_checkpoint(RECORDED / version)
    assert reader.names() == ["h", "n", "p", "s"]
    assert len(reader) == 4 and "p" in reader and "q" not in reader
    assert (reader.dtype("h"), reader.shape("h")) == (dtypes.float16, (0, 3))
    assert reader.read("h").shape == (0, 3)
    assert reader.read("n").item() == -7
    assert reader.read("s").tolist() == [b"hi", b"", b"long" * 50]
    assert len(reader.tensor("p").parts) > 1 and len(reader.tensor("n").parts) == 1
    assert np.array_equal(reader.read("p"), FULL)
    assert np.array_equal(reader.read("p", "5 4 2,3:-"), FULL[2:])
    assert np.array_equal(reader.read("p", "5 4 1,3:1,2"), FULL[1:4, 1:3])


@pytest.mark.parametrize("version", [1, 2])
def test_write_is_read(tmp_path, version):
    tensors = {
        "scalar": np.float64(2.5),
        "a/b": FULL,
        "strings": np.array([[b"x"], [b"y" * 200]], object),
        "flags": np.array([True, False]),
        "empty": np.zeros((0, 2), np.int64),
        "complex": np.complex64([1 + 2j]),
        "quantized": Tensor.from_numpy(np.int8([1, -1]), dtypes.qint8),
        "part": Partitioned((5, 4), [("0,2:-", FULL[:2]), (((2, 3), (0, -1)), FULL[2:])]),
    }
    if version == 2:
        tensors["bf"] = np.arange(3).astype(dtypes.bfloat16.numpy)
    prefix = tmp_path / "new" / "model.ckpt-1"
    write_checkpoint(prefix, tensors, version)
    reader = open_checkpoint(prefix)
    assert reader.version == version
    assert reader.names() == sorted(tensors)
    assert reader.dtype("quantized") is dtypes.qint8
    for name, value in tensors.items():
        expected = FULL if name == "part" else value.numpy() if isinstance(value, Tensor) else value
        got = reader.read(name)
        assert got.dtype == expected.dtype and got.shape == expected.shape
        assert got.tolist() == expected.tolist()
    assert not [entry for entry in prefix.parent.iterdir() if entry.name.endswith(".tmp")]


def test_the_same_bytes_as_tensorflow(tmp_path):
    recorded = open_checkpoint(RECORDED / "v2")
    values = {name: recorded.read(name) for name in "snh"}
    part = Partitioned((5, 4), [("0,2:-", FULL[:2]), ("2,3:-", FULL[2:])])
    write_checkpoint(tmp_path / "v2", {"p": part, **values})
    for name in ("v2.index", "v2.data-00000-of-00001"):
        assert (tmp_path / name).read_bytes() == (RECORDED / name).read_bytes()


def test_merge(tmp_path):
    first, second = str(tmp_path / "parts" / "a"), str(tmp_path / "parts" / "b")
    write_checkpoint(first, {"p": Partitioned((5, 4), [("0,2:-", FULL[:2])]), "x": np.int32(1)})
    write_checkpoint(second, {"p": Partitioned((5, 4), [("2,3:-", FULL[2:])]), "y": np.int32(2)})
    destination = str(tmp_path / "all")
    merge_checkpoints([first, second], destination)
    reader = open_checkpoint(destination)
    assert np.array_equal(reader.read("p"), FULL)
    assert (reader.read("x"), reader.read("y")) == (1, 2)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [
        "all.data-00000-of-00002", "all.data-00001-of-00002", "all.index",
    ]  # fmt: skip


def test_merge_refuses(tmp_path):
    first, second = str(tmp_path / "a"), str(tmp_path / "b")
    write_checkpoint(first, {"x": np.int32(1)})
    write_checkpoint(second, {"x": np.int32(1)})
    with pytest.raises(DataLossError, match=r"'x'.* is in another checkpoint"):
        merge_checkpoints([first, second], str(tmp_path / "all"))
    assert open_checkpoint(first).read("x") == 1
    with pytest.raises(NotFoundError):
        merge_checkpoints([first, str(tmp_path / "none")], str(tmp_path / "all"))
    merge_checkpoints([first, str(tmp_path / "none")], str(tmp_path / "all"), allow_missing=True)
    assert open_checkpoint(tmp_path / "all").read("x") == 1
    with pytest.raises(NotFoundError, match="to merge"):
        merge_checkpoints(["none"], str(tmp_path / "all"), allow_missing=True)


@pytest.fixture
def prefix(tmp_path):
    write_checkpoint(tmp_path / "ck", {"a": FULL, "layer/weights": FULL, "s": np.array([b"abc", b"defg"], object)})
    return str(tmp_path / "ck")


def test_ways_to_name_a_checkpoint(prefix, tmp_path):
    for path in (prefix, f"{prefix}.index", f"{prefix}.data-00000-of-00001", tmp_path):
        assert "a" in open_checkpoint(path)
    write_checkpoint(tmp_path / "other", {"b": FULL})
    with pytest.raises(NotFoundError) as error:
        open_checkpoint(tmp_path)
    assert "ck, other" in str(error.value.hint)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "other"\nall_model_checkpoint_paths: "ck"\n')
    assert "b" in open_checkpoint(tmp_path)


def test_missing_things(prefix, tmp_path):
    with pytest.raises(NotFoundError, match=r"checkpoint '.*' does not exist") as error:
        open_checkpoint(tmp_path / "cc")
    assert prefix in str(error.value.hint)
    with pytest.raises(NotFoundError, match="Key layer/weight not found") as error:
        open_checkpoint(prefix).read("layer/weight")
    assert "layer/weights" in str(error.value.hint)
    os.unlink(f"{prefix}.data-00000-of-00001")
    with pytest.raises(NotFoundError, match="with tensor 'a' does not exist"):
        open_checkpoint(prefix).read("a")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(InvalidArgumentError, match="is not a checkpoint"):
        open_checkpoint(tmp_path / "text")


def test_slices_that_are_not_there(prefix, tmp_path):
    reader = open_checkpoint(prefix)
    assert np.array_equal(reader.read("a", "5 4 1,2:-"), FULL[1:3])
    with pytest.raises(InvalidArgumentError, match="has shape"):
        reader.read("a", "6 4 1,2:-")
    write_checkpoint(tmp_path / "half", {"p": Partitioned((5, 4), [("0,2:-", FULL[:2])])})
    with pytest.raises(InvalidArgumentError, match="do not cover"):
        open_checkpoint(tmp_path / "half").read("p")
    assert np.array_equal(open_checkpoint(tmp_path / "half").read("p", "5 4 1,1:-"), FULL[1:2])


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "bad"
    with pytest.raises(InvalidArgumentError, match="overlap"):
        write_checkpoint(path, {"p": Partitioned((5, 4), [("0,2:-", FULL[:2]), ("1,4:-", FULL[1:])])})
    with pytest.raises(InvalidArgumentError, match="has shape"):
        write_checkpoint(path, {"p": Partitioned((5, 4), [("0,3:-", FULL[:2])])})
    with pytest.raises(UnimplementedError, match="resource"):
        write_checkpoint(path, {"r": Tensor(dtypes.resource, (), lambda: np.empty((), object))})
    with pytest.raises(InvalidArgumentError, match="unknown checkpoint format V3"):
        write_checkpoint(path, {"a": FULL}, 3)
    assert list(tmp_path.iterdir()) == []


def damage(path, position, value=None):
    data = bytearray(pathlib.Path(path).read_bytes())
    if value is None:
        del data[position:]
    else:
        data[position] ^= value
    pathlib.Path(path).write_bytes(data)


def test_what_lies_in_memory_is_checked_once(prefix, monkeypatch):
    checked = []
    monkeypatch.setattr(bundle, "crc32c", lambda content, crc: checked.append(len(content)) or crc32c(content, crc))
    reader = open_checkpoint(prefix)
    for _ in range(2):
        assert np.array_equal(reader.read("a"), FULL)
    assert checked == [FULL.nbytes]


def test_damage_is_told_each_time(prefix):
    damage(f"{prefix}.data-00000-of-00001", 85, 1)
    reader = open_checkpoint(prefix)
    for _ in range(2):
        with pytest.raises(DataLossError, match="checksum of tensor 'layer/weights'"):
            reader.read("layer/weights")


def test_damage_names_tensor_and_offset(prefix):
    data = f"{prefix}.data-00000-of-00001"
    damage(data, 85, 1)
    reader = open_checkpoint(prefix)
    assert np.array_equal(reader.read("a"), FULL)
    with pytest.raises(DataLossError, match="checksum of tensor 'layer/weights' at byte 80 of"):
        reader.read("layer/weights")
    damage(data, 100)
    with pytest.raises(DataLossError, match=r"tensor 'layer/weights' at byte 80 of .* the file ends at byte 100"):
        open_checkpoint(prefix).read("layer/weights")


@pytest.mark.parametrize(("position", "message"), [(160, "lengths"), (163, "lengths"), (168, "checksum")])
def test_damaged_strings(prefix, position, message):
    damage(f"{prefix}.data-00000-of-00001", position, 1)
    with pytest.raises(DataLossError, match=message):
        open_checkpoint(prefix).read("s")


def test_damaged_index(prefix):
    damage(f"{prefix}.index", 10, 1)
    with pytest.raises(DataLossError, match=r"ck.index': the checksum of the block at byte 0"):
        open_checkpoint(prefix)
    damage(f"{prefix}.index", 50)
    with pytest.raises(DataLossError, match="truncated at byte 50"):
        open_checkpoint(prefix)


def test_store(tmp_path):
    store = FileCheckpointStore()
    prefix = str(tmp_path / "ck")
    store.write(prefix, [("p", "5 4 0,2:-", Tensor.from_numpy(FULL[:2])), ("p", "5 4 2,3:-", Tensor.from_numpy(FULL[2:]))])
    assert store.names(prefix) == ["p"]
    assert store.dtype(prefix, "p") is dtypes.float32
    assert np.array_equal(store.read(prefix, "p"), FULL)
    assert np.array_equal(store.read(prefix, "p", "5 4 0,2:-"), FULL[:2])
    store.write(prefix, [("q", "", Tensor.from_numpy(np.int32(3)))])
    assert store.names(prefix) == ["q"]
    store.merge([prefix], str(tmp_path / "merged"))
    assert store.read(str(tmp_path / "merged"), "q") == 3
    store.write(prefix, [("q", "", Tensor.from_numpy(np.int32(4)))], version=1)
    assert store.read(prefix, "q") == 4


def test_store_sees_that_a_shard_was_written_anew(tmp_path):
    store = FileCheckpointStore()
    for value in (3, 4):
        store.write(str(tmp_path / "ck-00000-of-00001"), [("q", "", Tensor.from_numpy(np.int32(value)))], version=1)
        for prefix in ("ck", "ck-?????-of-?????"):
            assert store.read(str(tmp_path / prefix), "q") == value


def test_a_listing_decodes_each_kind_of_entry_once(tmp_path, monkeypatch):
    write_checkpoint(tmp_path / "many", {f"layer_{i}/w": np.full((3, 2), i, np.float32) for i in range(500)})
    decoded = []
    parse = bundle.parse
    monkeypatch.setattr(bundle, "parse", lambda kind, data: decoded.append(kind) or parse(kind, data))
    reader = open_checkpoint(tmp_path / "many")
    assert {tensor.shape for tensor in reader.tensors()} == {(3, 2)} and len(decoded) == 2  # the header and one entry
    assert reader.read("layer_7/w").tolist() == [[7, 7]] * 3


def test_an_entry_that_is_written_otherwise_is_read(tmp_path):
    """Fields in another order, and a number that takes several bytes."""
    write_checkpoint(tmp_path / "ck", {"v": FULL})
    header, entries = read_index(str(tmp_path / "ck"))
    shape, rest = BundleEntryProto(shape=entries[b"v"].shape), entries[b"v"]
    rest.ClearField("shape")
    os.rename(tmp_path / "ck.data-00000-of-00001", tmp_path / "ck.data-00300-of-00301")
    rest.shard_id, header.num_shards = 300, 301
    with open(tmp_path / "ck.index", "wb") as file:
        encoded = rest.SerializeToString() + shape.SerializeToString()
        write_table(file, [(b"", header.SerializeToString()), (b"v", encoded)])
    assert np.array_equal(open_checkpoint(tmp_path / "ck").read("v"), FULL)


def test_a_damaged_entry_is_told_by_the_index(tmp_path):
    write_checkpoint(tmp_path / "ck", {"v": FULL})
    header, _ = read_index(str(tmp_path / "ck"))
    with open(tmp_path / "ck.index", "wb") as file:
        write_table(file, [(b"", header.SerializeToString()), (b"v", b"\x08\x01\x12\x02\xff\xff\x18\x00")])
    with pytest.raises(DataLossError, match=r"ck.index': damaged"):
        open_checkpoint(tmp_path / "ck").tensor("v")


def test_a_store_keeps_few_files_open(tmp_path, monkeypatch):
    monkeypatch.setattr(regular_files, "IN_MEMORY", -1)
    store = FileCheckpointStore()
    opened = []
    made = regular_files.PositionedFile.__init__
    monkeypatch.setattr(
        regular_files.PositionedFile, "__init__", lambda self, file: opened.append(weakref.ref(self)) or made(self, file)
    )
    for i in range(40):
        store.write(str(tmp_path / f"ck-{i}"), [("q", "", Tensor.from_numpy(np.int32(i)))])
        assert store.read(str(tmp_path / f"ck-{i}"), "q") == i
    assert len(opened) > 40 > 20 > sum(file() is not None for file in opened)


def test_store_asks_before_it_touches_a_file(tmp_path):
    store, nothing = FileCheckpointStore(), FileGate(FileAccess.only())
    with pytest.raises(PermissionDeniedError):
        store.read("x", "y", files=nothing)
    with pytest.raises(PermissionDeniedError):
        store.write(str(tmp_path / "x"), [], files=nothing)
    with pytest.raises(PermissionDeniedError):
        store.merge(["x"], "y", files=nothing)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", [1 << 38, (1 << 38) - 2])
def test_a_table_that_claims_terabytes(length, tmp_path):
    """Slices that are not there, or that no data file can hold, are found before room is made for them."""
    entries = {}
    whole = BundleEntryProto(dtype=1)
    whole.shape.dim.add(size=1 << 38)
    for start, size in ((0, 2), (2, length - 2)):
        extents = ((start, size),)
        whole.slices.append(encode_extents(extents))
        part = BundleEntryProto(dtype=1, size=size * 4)
        part.shape.dim.add(size=size)
        entries[slice_key("v", extents)] = part
    entries[b"v"] = whole
    single = BundleEntryProto(dtype=7, size=10)
    single.shape.dim.add(size=1 << 40)
    entries[b"s"] = single
    write_index(f"{tmp_path}/f.index", entries, 1)
    (tmp_path / "f.data-00000-of-00001").write_bytes(bytes(8))
    with pytest.raises((DataLossError, InvalidArgumentError)):
        open_checkpoint(tmp_path / "f").read("v")
    with pytest.raises(DataLossError):
        open_checkpoint(tmp_path / "f").read("s")


@pytest.mark.parametrize(
    ("contents", "says"), [(None, "leave it out"), (b"version https://git-lfs.github.com/spec/v1\n", "git lfs")]
)
def test_a_data_file_that_was_not_fetched_is_named(tmp_path, contents, says):
    write_checkpoint(tmp_path / "ck", {"a": np.float32([1])})
    (data,) = tmp_path.glob("ck.data-*")
    data.unlink()
    if contents is not None:
        data.write_bytes(contents)
    with pytest.raises(NotFoundError, match=r"ck\.data") as error:
        open_checkpoint(tmp_path / "ck").read("a")
    assert says in f"{error.value.hint}"


_LIST = "0a1674656e736f72666c6f773a3a54656e736f724c697374"
LISTS = [
    (
        "12100001ffffffffffffffffff01120208021a1208011204120208022a080000803f000000401a1208011204120208022a080000404000008040",
        (dtypes.float32, "(2)", -1, [[1, 2], [3, 4]]),
    ),
    (
        "121f02000203ffffffffffffffffff01120b08ffffffffffffffffff01120208021a190803120812020801120208023a0b07f8ffffffffffffffff01",
        (dtypes.int32, "(?,2)", -1, [None, [[7, -8]], None]),
    ),
    ("120500070518011a0e0807120412020802420261624200", (dtypes.string, "<unknown>", 5, [[b"ab", b""]])),
    ("120e0001ffffffffffffffffff011801", (dtypes.float32, "<unknown>", -1, [])),
]
"""Lists as TensorFlow 2.21 wrote them: element shapes, unset elements, and a largest number of elements."""


def told(held):
    items = [None if item is None else item.tolist() for item in held.items]
    return held.dtype, str(held.element_shape), held.max_num_elements, items


@pytest.mark.parametrize(("message", "expected"), LISTS)
def test_lists_are_read_as_tensorflow_stores_them_and_as_tfg_does(message, expected):
    held = live(StoredVariant(bytes.fromhex(_LIST + message)))
    assert told(held) == expected
    assert told(live(stored(held))) == expected


@pytest.mark.parametrize("cut", [1, 9, 20])
def test_damaged_lists_are_named_as_such(cut):
    whole = stored(live(StoredVariant(bytes.fromhex(_LIST + LISTS[1][0]))))
    with pytest.raises(DataLossError):
        live(StoredVariant(whole.message[:-cut]))
    with pytest.raises(DataLossError, match="a list of tensors is damaged"):
        live(StoredVariant.of("tensorflow::TensorList", bytes([1, 7, 1, 0])))


def test_a_claimed_element_of_a_list_takes_no_memory():
    claimed = wire.varint_field(1, 1) + wire.bytes_field(2, wire.bytes_field(2, wire.varint_field(1, 1 << 40)))
    held = live(StoredVariant.of("tensorflow::TensorList", bytes([0, 1, 1]), [claimed]))
    assert held.items[0].shape == (1 << 40,) and held.items[0].strides == (0,)
