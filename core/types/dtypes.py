"""TensorFlow's data types.

NumPy is imported only for a dtype's NumPy equivalent, so that inspection of a graph stays cheap.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..support.errors import InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np

# DT_FLOAT_REF is DT_FLOAT + 100 in TensorFlow's types.proto, and so on.
_REF_OFFSET = 100


class DType:
    """An element type of TensorFlow; `is_ref` marks the reference types that V1 variables produce."""

    __slots__ = ("_numpy", "_numpy_name", "is_ref", "kind", "name", "number")

    def __init__(self, name: str, number: int, kind: str, numpy_name: str, is_ref: bool = False) -> None:
        self.name = name
        self.number = number
        self.kind = kind
        self.is_ref = is_ref
        self._numpy_name = numpy_name
        self._numpy: np.dtype[Any] | None = None

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements: object for strings, resources and variants."""
        if self._numpy is None:
            self._numpy = _numpy_dtype(self._numpy_name)
        return self._numpy

    @property
    def size(self) -> int:
        """Bytes of an element in memory; strings, resources and variants count as a pointer."""
        return self.numpy.itemsize

    @property
    def base(self) -> DType:
        """This type without the reference."""
        return _BY_NUMBER[self.number - _REF_OFFSET] if self.is_ref else self

    @property
    def ref(self) -> DType:
        """The reference type to this type."""
        return self if self.is_ref else _BY_NUMBER[self.number + _REF_OFFSET]

    @property
    def is_floating(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        return self.kind == "u"

    @property
    def is_quantized(self) -> bool:
        return self.kind == "q"

    @property
    def is_numeric(self) -> bool:
        return self.kind in "fciuq"

    @property
    def is_object(self) -> bool:
        """Held as Python objects: string, resource and variant."""
        return self.kind == "O"

    @property
    def enum_name(self) -> str:
        """The protobuf enum value, DT_FLOAT or DT_FLOAT_REF for instance."""
        base = f"DT_{self.base.name.upper()}"
        return f"{base}_REF" if self.is_ref else base

    def __repr__(self) -> str:
        return f"tfg.{self}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        # The one object of this type: dtypes are compared by identity.
        return from_number, (self.number,)


def _numpy_dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    if name.startswith("ml_dtypes."):
        # Only for the types that NumPy lacks: most graphs have none, and the import takes a while.
        import ml_dtypes

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name.removeprefix("ml_dtypes.")))
        return dtype
    return np.dtype(name)


# name, number, kind (f float, c complex, i/u integer, b bool, q quantized, O object), NumPy name
_TABLE = (
    ("float", 1, "f", "float32"),
    ("double", 2, "f", "float64"),
    ("int32", 3, "i", "int32"),
    ("uint8", 4, "u", "uint8"),
    ("int16", 5, "i", "int16"),
    ("int8", 6, "i", "int8"),
    ("string", 7, "O", "object"),
    ("complex64", 8, "c", "complex64"),
    ("int64", 9, "i", "int64"),
    ("bool", 10, "b", "bool"),
    ("qint8", 11, "q", "int8"),
    ("quint8", 12, "q", "uint8"),
    ("qint32", 13, "q", "int32"),
    ("bfloat16", 14, "f", "ml_dtypes.bfloat16"),
    ("qint16", 15, "q", "int16"),
    ("quint16", 16, "q", "uint16"),
    ("uint16", 17, "u", "uint16"),
    ("complex128", 18, "c", "complex128"),
    ("half", 19, "f", "float16"),
    ("resource", 20, "O", "object"),
    ("variant", 21, "O", "object"),
    ("uint32", 22, "u", "uint32"),
    ("uint64", 23, "u", "uint64"),
    ("float8_e5m2", 24, "f", "ml_dtypes.float8_e5m2"),
    ("float8_e4m3fn", 25, "f", "ml_dtypes.float8_e4m3fn"),
    ("float8_e4m3fnuz", 26, "f", "ml_dtypes.float8_e4m3fnuz"),
    ("float8_e4m3b11fnuz", 27, "f", "ml_dtypes.float8_e4m3b11fnuz"),
    ("float8_e5m2fnuz", 28, "f", "ml_dtypes.float8_e5m2fnuz"),
    ("int4", 29, "i", "ml_dtypes.int4"),
    ("uint4", 30, "u", "ml_dtypes.uint4"),
    ("int2", 31, "i", "ml_dtypes.int2"),
    ("uint2", 32, "u", "ml_dtypes.uint2"),
    ("float4_e2m1fn", 33, "f", "ml_dtypes.float4_e2m1fn"),
)

_BY_NUMBER: dict[int, DType] = {}
_BY_NAME: dict[str, DType] = {}
for _name, _number, _kind, _numpy_name in _TABLE:
    _BY_NAME[_name] = _BY_NUMBER[_number] = DType(_name, _number, _kind, _numpy_name)
    _ref = DType(f"{_name}_ref", _number + _REF_OFFSET, _kind, _numpy_name, is_ref=True)
    _BY_NAME[_ref.name] = _BY_NUMBER[_ref.number] = _ref
# NumPy's names, which Python users write, for TensorFlow's.
_ALIASES = {"float32": "float", "float64": "double", "float16": "half", "str": "string", "bytes": "string"}

float32 = _BY_NAME["float"]
float64 = _BY_NAME["double"]
float16 = _BY_NAME["half"]
bfloat16 = _BY_NAME["bfloat16"]
int8 = _BY_NAME["int8"]
int16 = _BY_NAME["int16"]
int32 = _BY_NAME["int32"]
int64 = _BY_NAME["int64"]
uint8 = _BY_NAME["uint8"]
uint16 = _BY_NAME["uint16"]
uint32 = _BY_NAME["uint32"]
uint64 = _BY_NAME["uint64"]
complex64 = _BY_NAME["complex64"]
complex128 = _BY_NAME["complex128"]
bool_ = _BY_NAME["bool"]
string = _BY_NAME["string"]
resource = _BY_NAME["resource"]
variant = _BY_NAME["variant"]
qint8 = _BY_NAME["qint8"]
quint8 = _BY_NAME["quint8"]
qint16 = _BY_NAME["qint16"]
quint16 = _BY_NAME["quint16"]
qint32 = _BY_NAME["qint32"]

ALL: tuple[DType, ...] = tuple(_BY_NUMBER[row[1]] for row in _TABLE)


def from_number(number: int) -> DType:
    """Return the DType of a protobuf enum number; InvalidArgumentError for an unknown number."""
    try:
        return _BY_NUMBER[number]
    except KeyError:
        raise InvalidArgumentError(f"{number} is not a TensorFlow data type") from None


def from_name(name: str) -> DType:
    """Return the DType of a name: `float`, `float32` or `DT_FLOAT`, each also with `_ref`."""
    # Enum names come from files as text, the others from users.
    key = name.removeprefix("DT_").lower()
    base, ref = key.removesuffix("_ref"), "_ref" if key.endswith("_ref") else ""
    try:
        return _BY_NAME[_ALIASES.get(base, base) + ref]
    except KeyError:
        raise InvalidArgumentError(f"'{name}' is not a TensorFlow data type") from None


def from_numpy(dtype: Any) -> DType:
    """Return the DType for a NumPy dtype; quantized types are never guessed. Text becomes string."""
    import numpy as np

    try:
        numpy_dtype = np.dtype(dtype)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{dtype!r} is not a data type") from None
    return _from_numpy(numpy_dtype)


@functools.cache
def _from_numpy(dtype: np.dtype[Any]) -> DType:
    # Bytes, text, and objects, whose elements kernels check.
    if dtype.kind in "SUO":
        return string
    for candidate in ALL:
        # The name goes first: the NumPy dtype of a candidate may import ml_dtypes, which few graphs need.
        is_named = candidate._numpy_name.removeprefix("ml_dtypes.") == dtype.name
        if is_named and candidate.kind not in "qO" and candidate.numpy == dtype:
            return candidate
    raise InvalidArgumentError(f"NumPy dtype {dtype} has no TensorFlow equivalent")


def as_dtype(value: Any) -> DType:
    """Return a DType from a DType, a name, an enum number or a NumPy dtype."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        return from_name(value)
    if isinstance(value, int):
        return from_number(value)
    return from_numpy(value)
