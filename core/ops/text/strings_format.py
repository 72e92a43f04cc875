"""Numbers and tensors as text, base64."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...registry.registry import kernel, onnx
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ..shared.argument_checks import require
from ..shared.string_functions import bounded, map_bytes
from ..shared.tensor_text import summarize_numpy_style

_MOST: Final = 2**31 - 1
"""The largest width and precision of C's printf."""


@kernel("AsString", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def as_string(input: Array, *, T: DType, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> Result:
    """Format each element as C's printf does."""
    array = np.asarray(input)
    _check_format(T, precision, scientific, shortest, fill)
    require(max(width, precision) <= _MOST, f"width and precision must fit into 32 bits, not {max(width, precision)}")
    is_signed = T.is_floating or T.is_complex or (T.is_integer and not T.is_unsigned)
    # A space stands before positive numbers in C, and means nothing for numbers without a sign.
    flag = fill if fill != " " or is_signed else ""
    if T.is_object:
        convert = _text_converter(width, precision, flag)
    else:
        convert = _converter(T, _number_format(T, precision, scientific, shortest, width, flag), width, flag)
    # Width and precision may ask for 2 GiB an element; the elements together are bounded text by text.
    reserve(max(width, precision, 0))
    return object_array(bounded(convert(value).encode("utf-8", "surrogateescape") for value in array.ravel()), array.shape)


def _text_converter(width: int, precision: int, flag: str) -> Callable[[Any], str]:
    """Strings cut at `precision` and padded to `width`, both in bytes; as they are without a width."""

    def convert(value: Any) -> str:
        if not isinstance(value, bytes):
            return repr(value)
        # TensorFlow uses the format of a string only where a width is given.
        text = value if precision < 0 or width <= 0 else value[:precision]
        text = text.ljust(width) if flag == "-" else text.rjust(width)
        return text.decode("utf-8", "surrogateescape")

    return convert


def _converter(dtype: DType, form: str, width: int, flag: str) -> Callable[[Any], str]:
    if dtype.is_complex:
        part = _float_converter(form, width, flag)
        return lambda value: f"({part(value.real)},{part(value.imag)})"
    if dtype.is_floating:
        return _float_converter(form, width, flag)
    if dtype.name == "bool":
        return lambda value: "true" if value else "false"
    return lambda value: form % int(value)


def _float_converter(form: str, width: int, flag: str) -> Callable[[Any], str]:
    """C's printf: infinities and NaN are padded with spaces, and NaN has a sign."""

    def convert(value: Any) -> str:
        number = float(value)
        # Python's % formats finite numbers as C does, but spells NaN and infinity otherwise.
        if math.isfinite(number):
            return form % number
        sign = "-" if math.copysign(1, number) < 0 else flag if flag and flag in "+ " else ""
        text = f"{sign}{'nan' if math.isnan(number) else 'inf'}"
        return text.ljust(width) if flag == "-" else text.rjust(width)

    return convert


def _number_format(dtype: DType, precision: int, scientific: bool, shortest: bool, width: int, flag: str) -> str:
    """Return the %-format of a number; both parts of a complex number take the same format."""
    width_text = "" if width < 0 else str(width)
    if not (dtype.is_floating or dtype.is_complex):
        # C ignores a plus sign for unsigned numbers.
        return f"%{'' if dtype.is_unsigned and flag == '+' else flag}{width_text}d"
    precision_text = "" if precision < 0 else f".{precision}"
    return f"%{flag}{width_text}{precision_text}{'e' if scientific else 'g' if shortest else 'f'}"


def _check_format(dtype: DType, precision: int, scientific: bool, shortest: bool, fill: str) -> None:
    has_point = dtype.is_floating or dtype.is_complex
    if len(fill) > 1:
        raise InvalidArgumentError(f"Fill string must be one or fewer characters, not {fill!r}")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise InvalidArgumentError(f"Fill argument not supported: {fill!r}")
    if (scientific or shortest) and not (has_point or dtype.is_object):
        raise InvalidArgumentError(f"scientific and shortest format not supported for datatype {dtype}")
    require(not (scientific and shortest), "Cannot select both scientific and shortest notation")
    if precision >= 0 and not (has_point or dtype.is_object):
        raise InvalidArgumentError(f"precision not supported for datatype {dtype}")


@kernel("EncodeBase64", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def encode_base64(input: Array, *, pad: bool) -> Result:
    """Web-safe base64, with = at the end if asked."""

    def encode(text: bytes) -> bytes:
        encoded = base64.urlsafe_b64encode(text)
        return encoded if pad else encoded.rstrip(b"=")

    return map_bytes(encode, input)


@kernel("DecodeBase64", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def decode_base64(input: Array) -> Result:
    """The bytes behind web-safe base64; padding may be missing."""
    return map_bytes(_decode_base64, input)


_OF_WEB_SAFE = bytes.maketrans(b"-_+/", b"+/..")
"""The translation of web-safe base64 to plain base64; letters of plain base64 alone become the invalid dot."""


def _decode_base64(text: bytes) -> bytes:
    body = text.rstrip(b"=")
    # A length of 1 modulo 4 leaves six bits, less than a byte. Padding is all there or not there at all.
    missing = -len(body) % 4
    if missing == 3 or len(text) - len(body) not in (0, missing):
        raise InvalidArgumentError("Invalid character found in base64.", details=[f"the string is {text!r}"])
    try:
        # Strict: Python would otherwise skip letters outside of the alphabet.
        return binascii.a2b_base64(body.translate(_OF_WEB_SAFE) + b"=" * missing, strict_mode=True)
    except binascii.Error as error:
        raise InvalidArgumentError(f"Invalid base64: {error}", details=[f"the string is {text!r}"]) from None


@kernel("StringFormat", shape="-> ()", arithmetic=False)
def string_format(inputs: list[Array], *, template: str, placeholder: str, summarize: int) -> Result:
    """The template with each placeholder replaced by the summary of a tensor."""
    pieces = _pieces(template.encode("utf-8", "surrogateescape"), placeholder.encode("utf-8", "surrogateescape"))
    if len(pieces) - 1 != len(inputs):
        raise InvalidArgumentError(
            f"num placeholders in template and num inputs must match: {len(pieces) - 1} vs. {len(inputs)}"
        )
    texts = [summarize_numpy_style(value, summarize) for value in inputs]
    return scalar_object(pieces[0] + b"".join(text + piece for text, piece in zip(texts, pieces[1:])))


def _pieces(template: bytes, placeholder: bytes) -> list[bytes]:
    """Return the text between the placeholders; an empty placeholder stands between any two bytes."""
    if placeholder:
        return template.split(placeholder)
    return [template[i : i + 1] for i in range(len(template))] or [b""]


@onnx("AsString")
def _as_string_onnx(g: Any, x: Any, *, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> Any:
    """Integers and truth values; ONNX writes floats otherwise."""
    # Casts of floats to strings differ between runtimes in their digits.
    if x.dtype.is_floating or x.dtype.is_complex or width > 0:
        g.refuse("ONNX writes numbers in one form")
    if x.dtype is dtypes.bool_:
        return g.Where(x, g.constant(b"true", dtypes.string), g.constant(b"false", dtypes.string))
    return g.cast(x, dtypes.string)
