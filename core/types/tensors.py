"""Constant tensors as graphs hold them: decoded only when somebody needs the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..support import dataclasses
from ..support.errors import InvalidArgumentError, TfgError
from . import dtypes
from .dtypes import DType

if TYPE_CHECKING:
    import numpy as np

_MAX_COPIED: Final = 1 << 14
"""The bytes up to which a key has a copy of the elements."""
_SAMPLES: Final = 1024
"""The number of elements by which larger constants are told apart first."""


class Tensor:
    """A constant of known dtype and shape.

    The elements come from `decode` on the first call of `numpy()` and stay a view of the file where its layout allows.
    `source` is data of a format for writing the constant back unchanged. `lack` is the error of a constant whose elements
    are in a file that is not there.
    """

    __slots__ = ("_array", "_decode", "dtype", "lack", "shape", "source")

    def __init__(
        self, dtype: DType, shape: tuple[int, ...], decode: Callable[[], np.ndarray[Any, Any]], source: Any = None
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.source = source
        self.lack: TfgError | None = None
        self._decode = decode
        self._array: np.ndarray[Any, Any] | None = None

    @staticmethod
    def from_numpy(array: Any, dtype: DType | None = None) -> Tensor:
        """Return a constant of `array`, of `dtype` or by default of NumPy's dtype."""
        dtype = dtypes.from_numpy(as_array(array).dtype) if dtype is None else dtype
        values = as_bytes_array(array) if dtype is dtypes.string else as_array(array, dtype)
        tensor = Tensor(dtype, values.shape, lambda: values)
        tensor._array = values
        return tensor

    @staticmethod
    def lacking(dtype: DType, shape: tuple[int, ...], error: TfgError) -> Tensor:
        """Return a constant without elements: `error` is raised where they are needed."""

        def refuse() -> NoReturn:
            raise error

        tensor = Tensor(dtype, shape, refuse)
        tensor.lack = error
        return tensor

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def stored_bytes(self) -> int:
        """The bytes of the stored elements: a constant with all elements equal may store a single element."""
        return self.distinct().nbytes

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return the elements; strings as an object array of bytes. The array must not be written to."""
        if self._array is None:
            self._array = self._decode()
        return self._array

    def read(self) -> np.ndarray[Any, Any]:
        """Return the elements as `numpy` does, for a single use: elements decoded here are not cached."""
        return self._decode() if self._array is None else self._array

    def aligned(self) -> np.ndarray[Any, Any]:
        """Return the elements in aligned memory: a file stores numbers at any address.

        NumPy copies unaligned numbers in every call.
        """
        array = self.numpy()
        if not array.flags.aligned:
            array = array.copy()
            array.flags.writeable = False
            self._array = array
        return array

    def preview(self, limit: int) -> list[Any] | None:
        """Return the first elements as Python values; None if the constant would have to be decoded."""
        if self._array is not None:
            elements: list[Any] = self._array.ravel()[:limit].tolist()
            return elements
        peek = getattr(self.source, "preview", None)
        return None if peek is None else peek(limit)

    def key(self) -> Hashable:
        """Return the identity of a constant: dtype, shape and elements; handles and variants by object identity.

        Equal constants have different keys where a file stores a single element for only the first of them.
        """
        distinct = self.distinct()
        items = distinct.ravel().tolist() if self.dtype.is_object else []
        content: Hashable = tuple(v if isinstance(v, bytes) else id(v) for v in items)
        if not items:
            content = distinct.tobytes() if distinct.nbytes <= _MAX_COPIED else _SampledElements(distinct)
        return (self.dtype.name, self.shape, content)

    def distinct(self) -> np.ndarray[Any, Any]:
        """Return the elements, or a single element where all elements share the memory of the first."""
        array = self.numpy()
        # Strides of 0 are how one stored element stands for all.
        is_repeated = array.size > 1 and not any(step for step, n in zip(array.strides, array.shape) if n > 1)
        return array[(slice(1),) * array.ndim] if is_repeated else array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor) or (self.dtype, self.shape) != (other.dtype, other.shape):
            return False
        # The same bytes of a file need no decoding.
        if self.source is not None and self.source == other.source:
            return True
        if self.lack is not None and other.lack is not None and str(self.lack) == str(other.lack):
            return True
        own, others = self.distinct(), other.distinct()
        # One stores a single element and the other all of them.
        if own.shape != others.shape:
            own, others = self.numpy(), other.numpy()
        # By bytes: a NaN is itself, and 0 is not -0, as in the file.
        return bool((own == others).all()) if self.dtype.is_object else own.tobytes() == others.tobytes()

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        return f"Tensor({self.dtype}, {self.shape})"

    def __reduce__(self) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
        """Pickle the elements, equal ones once; the data of the format stays behind."""
        if self.lack is not None:
            return Tensor.lacking, (self.dtype, self.shape, self.lack)
        return _of_distinct, (self.distinct(), self.shape, self.dtype)


class _SampledElements:
    """The elements of a large constant as a part of a key: only another with the same sample is compared as a whole."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __hash__(self) -> int:
        flat = self.array.reshape(-1)
        # Some elements tell most constants apart, and hashing all of a large one takes as long as reading it.
        return hash(flat[:: -(-flat.size // _SAMPLES)].tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SampledElements) and self.array.tobytes() == other.array.tobytes()

    def __repr__(self) -> str:
        return repr(self.array.tobytes())


def _of_distinct(array: np.ndarray[Any, Any], shape: tuple[int, ...], dtype: DType) -> Tensor:
    import numpy as np

    return Tensor.from_numpy(np.broadcast_to(array, shape), dtype)


def as_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """Return `value` as an array of `dtype`, by default NumPy's choice; InvalidArgumentError if the value is no array."""
    import numpy as np

    try:
        return np.asarray(value, None if dtype is None else dtype.numpy)
    except (ValueError, TypeError, OverflowError) as error:
        kind = "an array" if dtype is None else f"an array of {dtype}"
        raise InvalidArgumentError(f"{_shortened(value)} is not {kind}: {error}") from None


def _shortened(value: Any) -> str:
    """Return the repr of a value, shortened; a repr may exceed Python's limit of digits or raise errors of its own."""
    try:
        text = repr(value)
    # The value is an object of the user's, whose `repr` may do anything.
    except Exception:
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_bytes_array(values: Any) -> np.ndarray[Any, Any]:
    """Return an object array of bytes from bytes, text or nested lists of both; text is UTF-8 encoded.

    InvalidArgumentError for an element of another type.
    """
    import numpy as np

    from .arrays import object_array

    array = np.asarray(values, object)
    items = array.ravel().tolist()
    # The usual case, without a look at each element.
    if set(map(type, items)) <= {bytes}:
        return array.copy()
    return object_array(map(_as_bytes, items), array.shape)


def _as_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError(f"{_shortened(value)} is not a string")
    return bytes(value)


@dataclasses.dataclass(frozen=True, slots=True)
class FuncRef:
    """A function named in an attribute, with the attributes of its instantiation."""

    name: str
    attrs: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.name)


@dataclasses.dataclass(frozen=True, slots=True)
class Placeholder:
    """An attribute value that a function body leaves to its caller: `$T`. Code that inspects dtypes may treat a placeholder
    as a value.
    """

    name: str

    @property
    def is_ref(self) -> bool:
        """False: functions take no references."""
        return False

    @property
    def base(self) -> Placeholder:
        """Itself."""
        return self

    def __getattr__(self, name: str) -> Any:
        """Refuse the attributes of a value that only a caller gives; a special name is absent, as of any object."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise InvalidArgumentError(
            f"attribute '{self.name}' gets its value from the caller of a function, so it has no '{name}'"
        )

    def __str__(self) -> str:
        return f"${self.name}"


def attribute_key(value: Any) -> Hashable:
    """Return an attribute's value as a key: constants by their dtype, shape and bytes."""
    if isinstance(value, list):
        return tuple(map(attribute_key, value))
    if isinstance(value, Tensor):
        return value.key()
    return repr(value)


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceHandle:
    """An element of a constant of dtype resource: a reference to a resource by device, container and name."""

    device: str = ""
    container: str = ""
    name: str = ""
    hash_code: int = 0
    type_name: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class VariantData:
    """An element of a constant of dtype variant: a registered type name, its own bytes and its tensors."""

    type_name: str = ""
    metadata: bytes = b""
    tensors: tuple[Tensor, ...] = ()
