"""Text between encodings and code points."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ...codecs import unicode
from ...registry.registry import kernel, shape
from ...runtime.state.run_context import is_bounded
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result, object_array
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require
from ..shared.string_functions import map_bytes

_OUTPUT_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
# What replace_control_characters replaces lies below: the C0 controls, but not 0x7F and the C1 controls.
_FIRST_PRINTABLE = 0x20


class UnicodeDecoding(NamedTuple):
    """The attributes of a decoder."""

    input_encoding: str
    errors: str
    replacement_char: int
    replace_control_characters: bool


class _UnicodeDecoder:
    """Decodes strings and treats malformed and control characters as the attributes say."""

    def __init__(self, decoding: UnicodeDecoding) -> None:
        encoding, errors, replacement, replace_control = decoding
        if not 0 <= replacement <= 0x10FFFF:
            raise InvalidArgumentError(f"replacement_char out of unicode codepoint range: {replacement}")
        try:
            self._decoder = unicode.Decoder(encoding)
        except LookupError:
            raise InvalidArgumentError(f"Could not create converter for input encoding: {encoding}") from None
        self._errors = errors
        self._replacement = replacement
        self._replace_control = replace_control

    def read(self, text: bytes) -> tuple[list[int], list[int]]:
        """Code points and the byte where each begins."""
        codes, starts = self._decoder.decode(text)
        if unicode.INVALID in codes and self._errors == "strict":
            raise InvalidArgumentError(f"Invalid formatting on input string {text!r}")
        pairs = [(code, start) for code, start in map(self._replaced, codes, starts) if code != unicode.INVALID]
        return [code for code, _ in pairs], [start for _, start in pairs]

    def read_all(self, texts: list[bytes]) -> tuple[Array, Array, Array]:
        """Code points of texts, the byte where each begins, and the bounds of texts among them."""
        # Well-formed UTF-8, the usual case, is decoded in one step for all texts.
        code_points = unicode.decode_all(texts) if self._takes_as_it_is else None
        if code_points is not None:
            return code_points
        rows = [self.read(text) for text in texts]
        codes = np.array([code for codes, _ in rows for code in codes], np.int32)
        starts = np.array([start for _, starts in rows for start in starts], np.int64)
        return codes, starts, np.cumsum([0, *(len(codes) for codes, _ in rows)])

    @property
    def _takes_as_it_is(self) -> bool:
        """Return True if only malformed text is changed."""
        # A bounded run decodes text by text, where time and memory are checked.
        return self._decoder.is_utf8 and not self._replace_control and not is_bounded()

    def transcode(self, text: bytes, codec: str) -> bytes:
        """Return the text in another encoding."""
        valid = unicode.utf8(text) if self._takes_as_it_is else None
        return _write(self.read(text)[0], codec) if valid is None else valid.encode(codec)

    def _replaced(self, code: int, start: int) -> tuple[int, int]:
        bad = code == unicode.INVALID or (self._replace_control and code < _FIRST_PRINTABLE)
        if not bad:
            return code, start
        # The caller leaves out what is still invalid.
        return (unicode.INVALID if self._errors == "ignore" else self._replacement), start


def _write(codes: list[int], codec: str) -> bytes:
    return "".join(chr(code) if unicode.is_scalar_value(code) else "\ufffd" for code in codes).encode(codec)


@kernel("UnicodeDecode", arithmetic=False)
def unicode_decode(input: Array, *, decoding: UnicodeDecoding, Tsplits: DType) -> tuple[Result, Result]:
    """Code points of each string: row splits and values."""
    return unicode_decode_with_offsets(input, decoding=decoding, Tsplits=Tsplits)[:2]


@kernel("UnicodeDecodeWithOffsets", arithmetic=False)
def unicode_decode_with_offsets(input: Array, *, decoding: UnicodeDecoding, Tsplits: DType) -> tuple[Result, Result, Result]:
    """Code points of each string and the byte where each begins: row splits, values, offsets."""
    codes, starts, splits = _UnicodeDecoder(decoding).read_all(input.ravel().tolist())
    return splits.astype(Tsplits.numpy), codes, starts


@kernel("UnicodeTranscode", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def unicode_transcode(input: Array, *, decoding: UnicodeDecoding, output_encoding: str) -> Result:
    """Each string in another encoding."""
    reader = _UnicodeDecoder(decoding)
    codec = _OUTPUT_CODECS[output_encoding]
    return map_bytes(lambda text: reader.transcode(text, codec), input)


@kernel("UnicodeEncode", shape="*, n -> n-1", arithmetic=False)
def unicode_encode(
    input_values: Array, input_splits: Array, *, errors: str, output_encoding: str, replacement_char: int
) -> Result:
    """Strings from the rows of a ragged tensor of code points."""
    if not 0 <= replacement_char <= 0x10FFFF:
        raise InvalidArgumentError(f"replacement_char out of unicode codepoint range: {replacement_char}")
    codes, splits = np.ravel(input_values), np.ravel(input_splits)
    _check_splits(splits, codes.size)
    bounds, codec = splits.tolist(), _OUTPUT_CODECS[output_encoding]
    # All code points as one text, which is then cut; surrogates would not survive the decoder.
    if unicode.is_scalar_value(codes).all():
        text = codes.astype("<u4").tobytes().decode("utf-32-le")
        return object_array(text[a:b].encode(codec) for a, b in itertools.pairwise(bounds))
    values = [_encodable(code, errors, replacement_char) for code in codes.tolist()]
    rows = ([c for c in values[a:b] if c != unicode.INVALID] for a, b in itertools.pairwise(bounds))
    return object_array(_write(row, codec) for row in rows)


def _check_splits(splits: Array, count: int) -> None:
    require(splits.size > 0, "Input_splits should contain elements")
    require(splits[0] == 0, "First value in input_splits must be zero.")
    require(np.all(splits[1:] >= splits[:-1]), "Values in input_splits must be equal or in ascending order.")
    require(splits[-1] == count, "Last value in input_splits must be equal to length of input_tensor.")


def _encodable(code: int, errors: str, replacement: int) -> int:
    if unicode.is_scalar_value(code):
        return code
    if errors == "strict":
        raise InvalidArgumentError(f"Code point {code} is out of range for Unicode, or is a surrogate.")
    return unicode.INVALID if errors == "ignore" else replacement


@kernel("UnicodeScript", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def unicode_script(input: Array) -> Result:
    """The number that ICU gives the script of each code point."""
    return unicode.scripts(np.asarray(input))


@shape("UnicodeDecode")
def unicode_decode_shape(input: TensorSpec) -> tuple[Shape, Shape]:
    # Splits count the strings of an input of any rank as those of a vector.
    return Shape((input.shape.num_elements + 1,)), Shape([None])


@shape("UnicodeDecodeWithOffsets")
def unicode_decode_with_offsets_shape(input: TensorSpec) -> tuple[Shape, Shape, Shape]:
    count = Dim.unknown()
    return Shape((input.shape.num_elements + 1,)), Shape((count,)), Shape((count,))
