"""Cases of the parsing_protos family."""

import numpy as np
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from tests.opcases import case, string_array
from tfg.core.codecs import wire
from tfg.core.codecs.wire import varint

DTYPES = {
    "double": "double", "float": "float double", "int64": "int64", "uint64": "uint64", "int32": "int32 int64",
    "fixed64": "uint64", "fixed32": "uint32 uint64", "bool": "bool", "string": "string", "group": "string",
    "message": "string", "bytes": "string", "uint32": "uint32 uint64", "enum": "int32", "sfixed32": "int32 int64",
    "sfixed64": "int64", "sint32": "int32 int64", "sint64": "int64",
}  # fmt: skip
DEFAULTS = {
    "int32": "-5", "uint32": "300", "uint64": "70000", "enum": "B", "string": "de\0f", "bytes": r"a\000\377",
    "bool": "true", "double": "1.5", "float": "-inf",
}  # fmt: skip
NUMBERS = dict(FieldDescriptorProto.Type.items())
TYPE_NAMES = {"message": ".t.M", "enum": ".t.E", "group": ".t.M.G"}


def add_field(message, kind, name, number, **more):
    message.field.add(name=name, number=number, type=NUMBERS[f"TYPE_{kind.upper()}"], type_name=TYPE_NAMES.get(kind), **more)


def file_of(syntax):
    """A file with a message M that has each type of fields: optional, with a default, repeated and packed."""
    file = FileDescriptorProto(name=f"{syntax}.proto", package="t", syntax=syntax)
    enum = file.enum_type.add(name="E")
    for name, number in (("A", 0), ("B", -2)):
        enum.value.add(name=name, number=number)
    message = file.message_type.add(name="M")
    for i, kind in enumerate(DTYPES, 1):
        if kind == "group" and syntax == "proto3":
            continue
        add_field(message, kind, "g" if kind == "group" else kind, i, label=1)
        if kind != "group":
            add_field(message, kind, f"{kind}_list", 20 + i, label=3)
        if DTYPES[kind] != "string" and syntax == "proto2":
            add_field(message, kind, f"{kind}_packed", 40 + i, label=3)
            message.field[-1].options.packed = True
        if kind in DEFAULTS and syntax == "proto2":
            add_field(message, kind, f"{kind}_default", 60 + i, label=1, default_value=DEFAULTS[kind])
    if syntax == "proto2":
        add_more(file, message)
    return file


def add_more(file, message):
    """A group, an extension, and a message with a required field."""
    add_field(message.nested_type.add(name="G"), "int32", "a", 1, label=1)
    message.extension_range.add(start=100, end=200)
    file.extension.add(name="more", number=100, type=NUMBERS["TYPE_INT32"], label=3, extendee=".t.M")
    add_field(file.message_type.add(name="R"), "int32", "needed", 1, label=2)


def source(*files):
    return b"bytes://" + FileDescriptorSet(file=files).SerializeToString(deterministic=True)


FILE = file_of("proto2")
SOURCE = source(FILE)
PROTO3 = source(file_of("proto3"))
KINDS = [kind for kind in DTYPES if kind != "group"]
PLACES = {field.name: field.number for field in FILE.message_type[0].field}


def decode(key, messages, fields, descriptor_source=SOURCE, message_type="t.M", **attrs):
    """A case of DecodeProtoV2; `fields` are (name, dtype)."""
    return case(
        "DecodeProtoV2",
        string_array(messages),
        key=f"decode {key}",
        flops=0 if key in ("each type", "nothing") else None,
        message_type=message_type,
        field_names=[name for name, _ in fields],
        output_types=[dtype for _, dtype in fields],
        descriptor_source=descriptor_source,
        **attrs,
    )


def encode(key, sizes, values, fields, descriptor_source=SOURCE, message_type="t.M"):
    """A case of EncodeProto."""
    return case(
        "EncodeProto",
        np.array(sizes, np.int32),
        values,
        key=f"encode {key}",
        flops=0 if key in ("double", "float") else None,
        message_type=message_type,
        field_names=list(fields),
        descriptor_source=descriptor_source,
    )


def ints(number, *values):
    """Fields of integers, one after the other."""
    return b"".join(wire.varint_field(number, value, always=True) for value in values)


def packed(number, *values):
    return wire.bytes_field(number, b"".join(map(varint, values)))


SIGNED = [1, -1, 127, 128, -(2**31), 2**31 - 1]
SAMPLES = {
    "double": [1.5, -0.0, np.inf, np.nan], "float": [1.5, -0.0, np.inf, 1e-45], "bool": [True, False],
    "string": ["", "a\0b", "é"], "bytes": [b"\xff", b""], "message": [b"", ints(3, 5)],
    **dict.fromkeys(("int32", "sint32", "sfixed32", "enum"), SIGNED),
    **{kind: [*SIGNED, -(2**63), 2**63 - 1] for kind in ("int64", "sint64", "sfixed64")},
    **{kind: [0, 1, 300, 2**32 - 1] for kind in ("uint32", "fixed32")},
    **{kind: [0, 1, 300, 2**64 - 1] for kind in ("uint64", "fixed64")},
}  # fmt: skip


def sample(kind, dtype):
    values = SAMPLES[kind]
    return string_array([values]) if dtype == "string" else np.array([values], np.dtype(dtype.replace("float", "f4")))


def encoded(kind, suffix):
    """A message with the samples of a type, written by protobuf's own types."""
    number, values = PLACES[kind + suffix], SAMPLES[kind]
    if kind in ("string", "bytes", "message"):
        return b"".join(wire.bytes_field(number, v.encode() if isinstance(v, str) else v) for v in values)
    items = [stored(kind, value) for value in values]
    if suffix == "_packed":
        return wire.bytes_field(number, b"".join(items))
    width = {4: wire.FIXED32, 8: wire.FIXED64}[len(items[0])] if "fixed" in kind or kind in ("double", "float") else 0
    return b"".join(varint(number << 3 | width) + item for item in items)


def stored(kind, value):
    fixed = {"double": "<f8", "float": "<f4", "fixed32": "<u4", "fixed64": "<u8", "sfixed32": "<i4", "sfixed64": "<i8"}
    if kind in fixed:
        return np.array(value, fixed[kind]).tobytes()
    return varint((value << 1) ^ (value >> 63) if kind.startswith("sint") else int(value))


TYPED = [(kind, dtype) for kind in KINDS for dtype in DTYPES[kind].split()]
NUMERIC = [(kind, dtype) for kind, dtype in TYPED if dtype != "string"]
INT64 = [("int64_list", "int64"), ("int32", "int32")]

CASES = [
    decode("each type", [b"", b"".join(encoded(kind, "_list") for kind in KINDS)], [(f"{k}_list", d) for k, d in TYPED]),
    *[decode(f"{kind} {dtype}", [encoded(kind, "_list")], [(f"{kind}_list", dtype)]) for kind, dtype in TYPED],
    *[decode(f"packed {kind} {dtype}", [encoded(kind, "_packed")], [(f"{kind}_packed", dtype)]) for kind, dtype in NUMERIC],
    *[decode(f"unpacked {kind} {dtype}", [encoded(kind, "_list")], [(kind, dtype)]) for kind, dtype in TYPED],
    decode("defaults", [[b"", ints(5, 4)]], [(f"{k}_default", DTYPES[k].split()[0]) for k in DEFAULTS]),
    decode("nothing", [b""], [(k, DTYPES[k].split()[0]) for k in KINDS]),
    decode("nothing of proto3", [b""], [(k, DTYPES[k].split()[0]) for k in KINDS], PROTO3),
    decode("counts", [[packed(23, 1, 2), b""], [ints(23, 7), ints(5, 3) + packed(23, 1, 2, 3)]], INT64),
    decode("a scalar", ints(23, 7), INT64),
    decode("no messages", np.zeros((0, 2), object), INT64),
    decode("order", [ints(5, 3) + ints(23, 1) + ints(5, 4) + packed(23, 2, 3) + ints(23, 9)], INT64),
    decode("the same field twice", [ints(23, 1, 2)], [("int64_list", "int64")] * 2),
    decode("unknown fields", [ints(99, 1) + ints(23, 2) + wire.double_field(98, 2.0)], INT64),
    decode("other wire types", [wire.double_field(5, 1.0) + wire.double_field(23, 1.0) + ints(23, 1)], INT64),
    decode("packed for one value", [packed(5, 4, 5)], INT64),
    decode("packed after a value", [ints(5, 4) + packed(5, 5)], INT64),
    decode("a value after packed", [packed(5, 5) + ints(5, 4)], INT64),
    decode("an empty packed list", [packed(23), b""], INT64),
    decode("an empty packed list after values", [ints(23, 1) + packed(23)], INT64),
    decode("packed of an odd length", [wire.bytes_field(41, b"abcde")], [("double_packed", "double")]),
    decode("a packed varint without end", [wire.bytes_field(23, b"\x01\x80")], INT64),
    decode("group", [varint(10 << 3 | 3) + ints(1, 4) + wire.double_field(3, 1.0) + varint(10 << 3 | 4)], [("g", "string")]),
    decode("a group inside", [varint(83) + varint(91) + varint(92) + varint(84)], [("g", "string")]),
    decode("an unknown group", [varint(91) + ints(23, 4) + varint(92) + ints(23, 5)], INT64),
    decode("a group without end", [varint(83) + ints(1, 4)], [("g", "string")]),
    decode("an end of another group", [varint(83) + varint(92)], [("g", "string")]),
    decode("an end without group", [ints(23, 4) + varint(84)], INT64),
    decode("a group as a string", [wire.bytes_field(10, b"abc")], [("g", "string")]),
    decode("extension", [ints(100, 3, 4)], [("t.more", "int32")]),
    decode("extension by its short name", [ints(100, 3, 4)], [("more", "int32")]),
    decode("cut off", [ints(23, 4), wire.bytes_field(9, b"abc")[:-1]], [("string", "string")]),
    decode("field number 0", [b"\x02\x00"], INT64),
    decode("no tag", [b"\x00"], INT64),
    decode("a varint of eleven bytes", [b"\x28" + b"\xff" * 10 + b"\x01"], INT64),
    decode("not UTF-8", [wire.bytes_field(9, b"\xff")], [("string", "string")]),
    decode("sanitized", [ints(5, 4) + ints(3, 2) + ints(5, 6)], [("int32", "int64"), ("int64", "int64")], sanitize=True),
    decode("sanitized and damaged", [b"\x2a\x05"], INT64, sanitize=True),
    decode("sanitized without a required field", [b""], [("needed", "int32")], message_type="t.R", sanitize=True),
    decode("without a required field", [b""], [("needed", "int32")], message_type="t.R"),
    decode("sanitized, not UTF-8", [wire.bytes_field(9, b"\xff")], [("string", "string")], PROTO3, sanitize=True),
    decode(
        "text", ["int32: 5 enum: B int64_list: [1, -2] message { int32: 4 } bytes: '\\377\\001'", "", "enum: 0"],
        [("int32", "int32"), ("enum", "int32"), ("int64_list", "int64"), ("message", "string"), ("bytes", "string")],
        message_format="text",
    ),
    decode("text of no such field", ["nothing: 5"], INT64, message_format="text"),
    decode("text of the extension", ["[t.more]: 7"], [("t.more", "int32")], message_format="text"),
    decode("another format", [b""], INT64, message_format="json"),
    decode("an unknown field", [b""], [("nothing", "int32")]),
    decode("another dtype", [b""], [("int32", "float")]),
    decode("a narrower dtype", [b""], [("int64", "int32")]),
    decode("an unknown message", [b""], INT64, message_type="t.Q"),
    decode("no descriptors", [b""], INT64, b"bytes://\x0a\x05"),
    decode("no file", [b""], INT64, "no/such/file"),
    decode("a file that lacks an import", [b""], INT64, source(FileDescriptorProto(name="a", dependency=["b"]))),
    decode(
        "Example", [wire.bytes_field(1, wire.bytes_field(1, b"abc"))], [("features", "string")], "local://",
        message_type="tensorflow.Example",
    ),
    decode("Dim", [ints(1, 7)], [("size", "int64")], "local://", message_type="tensorflow.TensorShapeProto.Dim"),
    *[encode(kind, [[len(SAMPLES[kind])]], [sample(kind, DTYPES[kind].split()[0])], [f"{kind}_list"]) for kind in KINDS],
    *[encode(f"packed {k} {d}", [[len(SAMPLES[k])]], [sample(k, d)], [f"{k}_packed"]) for k, d in NUMERIC],
    encode("int32 of wider numbers", [[2]], [np.array([[2**40 + 7, -(2**31) - 1]], np.int64)], ["int32_list"]),
    encode("uint32 of wider numbers", [[2]], [np.array([[2**40 + 7, 2**32]], np.uint64)], ["uint32_list"]),
    encode("float of wider numbers", [[2]], [np.array([[0.1, 1e300]])], ["float_list"]),
    encode("repeated in proto3", [[2]], [np.array([[1, 2]], np.int32)], ["int32_list"], PROTO3),
    encode("order", [[1, 2], [0, 1]], [string_array([["a"], ["b"]]), np.array([[1, 2], [3, 4]])], ["string", "int64_list"]),
    encode("more values than the field has", [[2]], [np.array([[1, 2]], np.int32)], ["int32"]),
    encode("group", [[1]], [string_array([[ints(1, 4)]])], ["g"]),
    encode("negative size", [[-1]], [np.array([[1, 2]], np.int32)], ["int32_list"]),
    encode("negative packed size", [[-1]], [np.array([[1, 2]], np.int32)], ["int32_packed"]),
    encode("no messages", np.zeros((0, 1)), [np.zeros((0, 2), np.float32)], ["float"]),
    encode("no values", [[0]], [np.zeros((1, 0), np.float32)], ["float"]),
    encode("a batch of two dimensions", [[[1], [0]]], [np.array([[[7], [8]]], np.int64)], ["int64"]),
    encode("sizes too large", [[3]], [np.array([[1, 2]], np.int32)], ["int32_list"]),
    encode("sizes of another shape", [1], [np.array([[1, 2]], np.int32)], ["int32_list"]),
    encode("a vector", [[1]], [np.array([1, 2], np.int32)], ["int32_list"]),
    encode("another batch", [[1, 1]], [np.array([[1]], np.int32), np.array([[1], [2]])], ["int32", "int64"]),
    encode("another dtype", [[1]], [np.array([[1]], np.float32)], ["int32"]),
    encode("an unknown field", [[1]], [np.array([[1]], np.int32)], ["nothing"]),
    encode("the extension", [[1]], [np.array([[1]], np.int32)], ["t.more"]),
    encode("fewer fields", [[1]], [np.array([[1]], np.int32)] * 2, ["int32"]),
    encode("an unknown message", [[1]], [np.array([[1]], np.int32)], ["int32"], message_type="t.Q"),
    encode("Dim", [[1]], [np.array([[7]])], ["size"], "local://", "tensorflow.TensorShapeProto.Dim"),
]  # fmt: skip
