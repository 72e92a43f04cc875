"""Constants: every layout of TensorProto, as TensorFlow 2.21's runtime decodes and make_tensor_proto writes."""

import numpy as np
import pytest
from google.protobuf import text_format

from tfg.core.support.errors import InvalidArgumentError, ResourceExhaustedError, UnimplementedError
from tfg.core.types import dtypes
from tfg.core.types.tensors import ResourceHandle, Tensor, VariantData
from tfg.formats.codecs.tensor_proto import decode_tensor, encode_tensor
from tfg.formats.protos.graph_pb2 import TensorProto


def proto(text):
    return text_format.Parse(text, TensorProto())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dtype: DT_FLOAT tensor_shape{dim{size:4}} float_val: [1, 2]", np.float32([1, 2, 2, 2])),
        ("dtype: DT_FLOAT tensor_shape{dim{size:2}}", np.float32([0, 0])),
        ("dtype: DT_FLOAT float_val: [1, 2]", np.float32(1)),
        ("dtype: DT_FLOAT tensor_shape{dim{size:0}} float_val: 1", np.zeros(0, np.float32)),
        ("dtype: DT_FLOAT tensor_shape{unknown_rank: true} float_val: 1", np.float32(1)),
        ("dtype: DT_DOUBLE tensor_shape{dim{size:1}} double_val: 0.1", np.array([0.1])),
        ("dtype: DT_INT32 tensor_shape{dim{size:2}} int_val: [1, 2, 3]", np.int32([1, 2])),
        ("dtype: DT_INT8 tensor_shape{dim{size:2}} int_val: [300, -1]", np.int8([44, -1])),
        ("dtype: DT_UINT16 tensor_shape{dim{size:2}} int_val: 70000", np.uint16([4464, 4464])),
        ("dtype: DT_UINT32 uint32_val: 4294967295", np.uint32(4294967295)),
        ("dtype: DT_UINT64 uint64_val: 18446744073709551615", np.uint64(18446744073709551615)),
        ("dtype: DT_BOOL tensor_shape{dim{size:3}} bool_val: true", np.array([True] * 3)),
        ("dtype: DT_QINT8 tensor_shape{dim{size:2}} int_val: -1", np.int8([-1, -1])),
        ("dtype: DT_HALF tensor_shape{dim{size:3}} half_val: [15360, 16384]", np.float16([1, 2, 2])),
        ("dtype: DT_BFLOAT16 half_val: 16256", np.array(1, dtypes.bfloat16.numpy)),
        ("dtype: DT_COMPLEX64 tensor_shape{dim{size:3}} scomplex_val: [1, 2, 3]", np.complex64([1 + 2j] * 3)),
        ("dtype: DT_COMPLEX64 tensor_shape{dim{size:2}} scomplex_val: 1", np.complex64([0, 0])),
        ("dtype: DT_COMPLEX128 dcomplex_val: [1, -2]", np.complex128(1 - 2j)),
        ("dtype: DT_STRING tensor_shape{dim{size:2}} string_val: 'x'", np.array([b"x", b"x"], object)),
        ("dtype: DT_STRING tensor_shape{dim{size:2}}", np.array([b"", b""], object)),
        ("dtype: DT_STRING tensor_shape{dim{size:2}} tensor_content: '\\001\\002abb'", np.array([b"a", b"bb"], object)),
        ("dtype: DT_INT4 tensor_shape{dim{size:2}} int_val: [1, -3]", np.array([1, -3], dtypes.from_name("int4").numpy)),
        ("dtype: DT_FLOAT8_E5M2 float8_val: '<'", np.array(1, dtypes.from_name("float8_e5m2").numpy)),
        ("dtype: DT_FLOAT_REF float_val: 3", np.float32(3)),
        ("dtype: DT_FLOAT tensor_shape{dim{size:1}} tensor_content: '\\000\\000\\200?' float_val: 9", np.float32([1])),
    ],
)
def test_decode(text, expected):
    got = decode_tensor(proto(text)).numpy()
    assert got.dtype == np.asarray(expected).dtype
    assert got.shape == np.shape(expected)
    assert got.tolist() == np.asarray(expected).tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dtype: 0", "0 is not a TensorFlow data type"),
        ("dtype: 99", "99 is not a TensorFlow data type"),
        ("dtype: DT_FLOAT tensor_shape{dim{size:-2}}", "negative"),
        ("dtype: DT_FLOAT tensor_shape{dim{size:4294967296} dim{size:4294967296}}", "more elements than 64 bits"),
        ("dtype: DT_FLOAT tensor_shape{dim{size:2}} tensor_content: 'abc'", "3 bytes.* needs 8"),
        ("dtype: DT_STRING tensor_shape{dim{size:2}} tensor_content: '\\001\\011abb'", "5 bytes"),
        ("dtype: DT_STRING tensor_shape{dim{size:1000000000000}} tensor_content: 'abb'", "too few"),
        ("dtype: DT_RESOURCE tensor_content: 'abb'", "its strings need"),
        ("dtype: DT_VARIANT tensor_content: 'abb'", "cannot hold"),
    ],
)
def test_impossible_constants(text, message):
    with pytest.raises(InvalidArgumentError, match=message):
        decode_tensor(proto(text)).numpy()


def test_absurd_sizes_do_not_allocate():
    shape = "tensor_shape{dim{size:1000000000000}}"
    one = decode_tensor(proto(f"dtype: DT_FLOAT {shape} float_val: 7")).numpy()
    assert one.shape == (10**12,) and one.strides == (0,) and one[5] == 7
    with pytest.raises(ResourceExhaustedError):
        decode_tensor(proto(f"dtype: DT_DOUBLE tensor_shape{{dim{{size:{10**15}}}}} double_val: [7, 8]")).numpy()


@pytest.mark.sampled(10)
@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.name not in ("resource", "variant")], ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (3, 2), (0,)])
def test_encode_decode(dtype, shape):
    size = int(np.prod(shape))
    if dtype is dtypes.string:
        array = np.array([b"%d\xff" % i for i in range(size)] + [None], object)[:-1].reshape(shape)
    else:
        array = (np.arange(size) % 2).reshape(shape).astype(dtype.numpy)
    message = encode_tensor(Tensor.from_numpy(array, dtype))
    again = decode_tensor(TensorProto.FromString(message.SerializeToString()))
    assert (again.dtype, again.shape) == (dtype, shape)
    assert again.numpy().dtype == array.dtype
    assert again.numpy().tolist() == array.tolist()


@pytest.mark.parametrize(
    ("dtype", "field"),
    [("float", "tensor_content"), ("bfloat16", "tensor_content"), ("float8_e5m2", "tensor_content"), ("uint16", "int_val"),
     ("bool", "bool_val"), ("complex64", "scomplex_val"), ("int4", "int_val")],
)  # fmt: skip
def test_layout_is_make_tensor_protos(dtype, field):
    dtype = dtypes.from_name(dtype)
    message = encode_tensor(Tensor.from_numpy(np.array([0, 1]).astype(dtype.numpy), dtype))
    assert [descriptor.name for descriptor, _ in message.ListFields()] == sorted(
        ["dtype", "tensor_shape", field], key=lambda name: TensorProto.DESCRIPTOR.fields_by_name[name].number
    )


def test_decoded_constants_are_written_as_they_were():
    message = proto("dtype: DT_FLOAT tensor_shape{dim{size:4}} float_val: [1, 2] version_number: 3")
    tensor = decode_tensor(message)
    tensor.numpy()
    assert encode_tensor(tensor) == message


def test_resources_and_variants():
    text = "dtype: DT_RESOURCE resource_handle_val{device:'d' container:'c' name:'n' hash_code:5 maybe_type_name:'t'}"
    tensor = decode_tensor(proto(text))
    assert tensor.numpy().item() == ResourceHandle("d", "c", "n", 5, "t")
    fresh = Tensor(dtypes.resource, (), tensor.numpy)
    assert encode_tensor(fresh) == proto(text + " tensor_shape{}")
    text = "dtype: DT_VARIANT variant_val{type_name:'v' metadata:'m' tensors{dtype: DT_INT32 int_val: 4}}"
    (value,) = decode_tensor(proto(text)).numpy().reshape(1)
    assert isinstance(value, VariantData)
    assert (value.type_name, value.metadata, value.tensors[0].numpy().item()) == ("v", b"m", 4)
    fresh = Tensor(dtypes.variant, (), decode_tensor(proto(text)).numpy)
    assert encode_tensor(fresh) == proto(text + " tensor_shape{}")
    alien = np.empty((), object)
    alien[()] = object()
    with pytest.raises(UnimplementedError):
        encode_tensor(Tensor(dtypes.resource, (), lambda: alien))


def test_what_is_computed_with_stands_at_multiples_of_its_size():
    """Bytes of a file stand anywhere, and NumPy would copy them in every call."""
    data = bytes(1) + np.arange(5, dtype=np.float32).tobytes()
    tensor = Tensor(dtypes.float32, (5,), lambda: np.frombuffer(data, np.float32, offset=1))
    assert not tensor.numpy().flags.aligned
    array = tensor.aligned()
    assert array.flags.aligned and not array.flags.writeable and array.tolist() == [0, 1, 2, 3, 4]
    assert tensor.aligned() is array and tensor.numpy() is array


def test_shapes_that_numpy_has_not_are_refused():
    for sizes in ([2, 2**62, 0], [1] * 65, [2**62, 1]):
        dims = " ".join(f"dim {{ size: {size} }}" for size in sizes)
        tensor = decode_tensor(proto(f"dtype: DT_DOUBLE double_val: 1 tensor_shape {{ {dims} }}"))
        with pytest.raises(InvalidArgumentError, match="which NumPy does not support"):
            tensor.numpy()


def test_one_element_that_stands_for_all_is_compared_once():
    vast = "dim { size: 1099511627776 } dim { size: 1 } dim { size: 1024 }"
    for text, other in (("dtype: DT_INT8 int_val: 7", 8), ('dtype: DT_STRING string_val: "7"', '"8"')):
        tensor, same = (decode_tensor(proto(f"{text} tensor_shape {{ {vast} }}")) for _ in range(2))
        different = decode_tensor(proto(f"{text.rpartition(' ')[0]} {other} tensor_shape {{ {vast} }}"))
        tensor.source = None
        assert tensor == same and tensor != different
        assert tensor.key() == same.key() != different.key()
    few = decode_tensor(proto("dtype: DT_INT8 int_val: 7 tensor_shape { dim { size: 3 } }"))
    assert few == Tensor.from_numpy(np.full(3, 7, np.int8)) != Tensor.from_numpy(np.array([7, 7, 8], np.int8))


def test_elements_that_are_left_out_are_filled_in_up_to_a_cap():
    few = decode_tensor(proto("dtype: DT_INT8 int_val: 7 int_val: 8 tensor_shape { dim { size: 4 } }"))
    assert few.numpy().tolist() == [7, 8, 8, 8]
    vast = decode_tensor(proto("dtype: DT_INT8 int_val: 7 int_val: 8 tensor_shape { dim { size: 300000000 } }"))
    with pytest.raises(ResourceExhaustedError, match="2 of its 300000000 elements"):
        vast.numpy()


@pytest.mark.parametrize(
    ("dtype", "stored", "dims", "shown"),
    [
        ("DT_INT32", {}, [], [0]),
        ("DT_INT32", {"int_val": [7]}, [3], [7, 7]),
        ("DT_FLOAT", {"float_val": [1.5]}, [1], [1.5]),
        ("DT_INT64", {"int64_val": [1, 2]}, [2**40], [1, 2]),
        ("DT_BOOL", {}, [1], [False]),
        ("DT_DOUBLE", {}, [2, 2], [0.0, 0.0]),
        ("DT_STRING", {}, [1], [b""]),
        ("DT_INT8", {}, [0], []),
    ],
)
def test_first_elements_are_told_where_files_leave_out_what_repeats(dtype, stored, dims, shown):
    """As TensorFlow reads them: the last of a typed list stands for all behind it, none for zeros."""
    shape = {"dim": [{"size": size} for size in dims]}
    assert decode_tensor(TensorProto(dtype=dtype, tensor_shape=shape, **stored)).preview(2) == shown
