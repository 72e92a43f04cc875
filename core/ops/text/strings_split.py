"""Strings taken apart: splits, n-grams."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...registry.registry import kernel, onnx
from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ..shared.onnx_lowerings import along
from ..shared.string_functions import joined_rows


def _vector_and_scalar(input: Array, separator: Array, name: str) -> bytes:
    if input.ndim != 1:
        raise InvalidArgumentError(f"input must be a vector, got shape: {input.shape}")
    if separator.ndim:
        raise InvalidArgumentError(f"{name} must be a scalar, got shape: {separator.shape}")
    return separator.item()


def _as_sparse(rows: list[list[bytes]]) -> tuple[Array, Array, Array]:
    """Rows of different lengths as a SparseTensor: (n, 2) indices, values, dense shape."""
    # A single string, as a served request has, needs no counting of rows.
    if len(rows) == 1:
        count = len(rows[0])
        indices = np.zeros((count, 2), np.int64)
        indices[:, 1] = np.arange(count)
        return indices, object_array(rows[0]), np.array([1, count], np.int64)
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    firsts = np.cumsum(lengths) - lengths
    indices = np.empty((int(lengths.sum()), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(rows)), lengths)
    indices[:, 1] = np.arange(len(indices)) - np.repeat(firsts, lengths)
    values = object_array(itertools.chain.from_iterable(rows))
    return indices, values, np.array([len(rows), lengths.max(initial=0)], np.int64)


@kernel("StringSplit", shape="n, () -> k 2, k, 2", arithmetic=False)
def string_split(input: Array, delimiter: Array, *, skip_empty: bool) -> tuple[Result, Result, Result]:
    """Split strings at each byte of `delimiter`, or at every byte where `delimiter` is empty."""
    delimiters = _vector_and_scalar(input, delimiter, "delimiter")
    if delimiters:
        # One split at one byte, after the others were turned into it, is faster than a pattern of several.
        first, rest = delimiters[:1], delimiters[1:]
        alike = bytes.maketrans(rest, first * len(rest))  # all delimiters as the first of them
        texts = [text.translate(alike) for text in input.tolist()] if rest else input.tolist()
        # An empty text has no parts; Python's split would return one.
        rows = [text.split(first) if text else [] for text in texts]
    else:
        rows = [[text[i : i + 1] for i in range(len(text))] for text in input.tolist()]
    if skip_empty:
        rows = [list(filter(None, row)) for row in rows]
    return _as_sparse(rows)


@kernel("StringSplitV2", shape="n, () -> k 2, k, 2", arithmetic=False)
def string_split_v2(input: Array, sep: Array, *, maxsplit: int) -> tuple[Result, Result, Result]:
    """Split strings as Python does: at `sep`, or at runs of whitespace where `sep` is empty."""
    separator = _vector_and_scalar(input, sep, "sep")
    if maxsplit == 0:
        # Python would still strip white space for no split at all; TensorFlow returns the text as it is.
        return _as_sparse([[text] for text in input.tolist()])
    if separator:
        return _as_sparse([text.split(separator, max(maxsplit, -1)) for text in input.tolist()])
    return _as_sparse([_split_at_whitespace(text, max(maxsplit, -1)) for text in input.tolist()])


def _split_at_whitespace(text: bytes, maxsplit: int) -> list[bytes]:
    """Split at whitespace as bytes.split does, but with an empty last word when nothing follows `maxsplit` words."""
    words = text.split(None, maxsplit)
    return [*words, b""] if len(words) == maxsplit else words


@kernel("StringNGrams", shape="_, splits -> n, splits", arithmetic=False)
def string_n_grams(
    data: Array,
    data_splits: Array,
    *,
    separator: str,
    ngram_widths: list[int],
    left_pad: str,
    right_pad: str,
    pad_width: int,
    preserve_short_sequences: bool,
) -> tuple[Result, Result]:
    """The n-grams of each row of a ragged tensor of words, as values and row splits."""
    if any(width <= 0 for width in ngram_widths):
        raise InvalidArgumentError(f"ngram_widths must contain positive values: {ngram_widths}")
    splits = _checked_splits(np.asarray(data_splits), data.size)
    if not splits or data.size == 0:
        return object_array([b""] * data.size, data.shape), np.asarray(data_splits)
    words = data.ravel().tolist()
    left, right, joiner = (text.encode("utf-8", "surrogateescape") for text in (left_pad, right_pad, separator))
    result: list[bytes] = []
    result_splits = [0]

    def add(row: list[bytes], width: int) -> bool:
        # More padding than that would make n-grams of padding alone.
        padding = min(width - 1 if pad_width < 0 else pad_width, width - 1)
        length = len(row) + 2 * padding
        # Widths come from attributes, and a wide window repeats each word as often.
        reserve(8 * length + max(length - width + 1, 0) * width * (1 + len(joiner)))
        padded = [left] * padding + row + [right] * padding
        result.extend(joined_rows(joiner, (padded[i : i + width] for i in range(length - width + 1))))
        return len(padded) >= width

    for start, end in itertools.pairwise(splits):
        row = words[start:end]
        n_grams = [add(row, width) for width in ngram_widths]
        # A row shorter than every width becomes one n-gram of all its words.
        if preserve_short_sequences and row and not any(n_grams):
            add(row, len(row) + 2 * pad_width)
        result_splits.append(len(result))
    return object_array(result), np.array(result_splits, np.asarray(data_splits).dtype)


def _checked_splits(splits: Array, size: int) -> list[int]:
    """Row splits as a list: from 0, never falling, to the number of words."""
    values = splits.ravel().tolist()
    if not values:
        return values
    if values[0] != 0:
        raise InvalidArgumentError(f"First split value must be 0, got {values[0]}")
    for before, after in itertools.pairwise(values):
        if after < before or after > size:
            raise InvalidArgumentError(f"Invalid split value {after}, must be in [{before}, {size}]")
    if values[-1] != size:
        raise InvalidArgumentError(f"Last split value must be data size. Expected {size}, got {values[-1]}")
    return values


@onnx("StringSplit")
def _string_split_onnx(g: Any, input: Any, delimiter: Any, *, skip_empty: bool) -> Any:
    text = g.known(delimiter, "delimiters").item()
    if len(text) != 1:
        g.refuse("ONNX splits at one delimiter, not at each of several characters and not between all characters")
    return _pieces_onnx(g, input, {"delimiter": text.decode("latin-1")}, skip_empty)


@onnx("StringSplitV2")
def _string_split_v2_onnx(g: Any, input: Any, sep: Any, *, maxsplit: int) -> Any:
    text = g.known(sep, "separators").item().decode()
    if not maxsplit or (maxsplit > 0 and not text):
        g.refuse("ONNX counts splits from 1 on, and drops white space behind the last")
    limits = {"maxsplit": maxsplit} if maxsplit > 0 else {}
    return _pieces_onnx(g, input, {"delimiter": text, **limits} if text else limits, False, least=1 if text else 0)


def _pieces_onnx(g: Any, input: Any, attrs: dict[str, Any], skips_empty: bool, least: int = 0) -> Any:
    """Return the pieces of strings (n) as a sparse tensor: places (pieces, 2), pieces, and the shape (2).

    An empty string is `least` pieces, and none for ONNX.
    """
    pieces, counts = g.StringSplit(input, outputs=2, **attrs)
    if least:
        empty = g.Expand(g.constant(b"", dtypes.string), g.joined(g.dim(input, 0), 1))
        pieces, counts = g.Concat(pieces, empty, axis=1), g.Max(counts, least)
    # ONNX pads the rows to the longest; the counts tell padding from pieces.
    numbers = along(g, pieces, -1)
    used = g.Less(numbers, g.unsqueeze(counts, -1))
    if skips_empty:
        used = g.And(used, g.Not(g.Equal(pieces, g.constant(b"", dtypes.string))))
    before = g.Sub(g.CumSum(g.cast(used, dtypes.int64), g.constant(np.int64(1))), 1)
    used_places = g.Transpose(g.NonZero(used), perm=[1, 0])
    places = g.Concat(g.slice(used_places, 0, 1, 1), g.unsqueeze(g.GatherND(before, used_places), 1), axis=1)
    width = g.Max(g.ReduceMax(g.joined(g.ReduceSum(g.cast(used, dtypes.int64), [1], keepdims=0), [0]), [0]), 0)
    return places, g.GatherND(pieces, used_places), g.joined(g.dim(input, 0), width)
