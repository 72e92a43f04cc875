"""Values as people write them on a command line: files, JSON, zeros(2,3), uniform(2,3,low=0,high=1,seed=1)."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..core.graph.graph import Output
from ..core.runtime.session.readable_texts import PLAIN
from ..core.support.atomic import file_errors
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, ResourceExhaustedError, TfgError
from ..core.support.hints import Hint, HintStep, option
from ..core.support.regular_files import open_input, open_regular
from ..core.types.arrays import Array, object_array
from ..core.types.dtypes import DType, bool_, string
from ..core.types.shapes import UNKNOWN, Shape
from ..core.types.tensors import Tensor, as_bytes_array
from .codecs.json_inputs import BEGINNINGS, decoded, is_json, parse_json
from .codecs.source import read_file, read_source

_FILES: Final = re.compile(r"\[\s*@.*\]", re.DOTALL)
"""A list of files, which are the elements of a batch."""
_BETWEEN_FILES: Final = re.compile(r"\s*,\s*(?=@)")
_CALL = re.compile(r"([a-z_]+)\((.*)\)", re.DOTALL)
_FORMS = (
    "write @x.npy, @x.npz:key, @table.csv:column, @photo.png?resize=224,224&scale=1/255, [@a.png,@b.png], for strings "
    "@any.bytes, "
    '@examples.tfrecord or {"b64": ..}, a JSON literal, zeros(2,3), ones(..), uniform(2,3,low=0,high=1,seed=1), normal(..), '
    "randint(..), strings(..) or - for JSON from standard input"
)
_MAX_ELEMENTS = 1 << 40
_MAX_SHOWN: Final = 80
"""The length of a text that a message repeats."""
_AS_JSON: Final = "write a text as a JSON string: in double quotes"
_SHORT: Final = 40
"""The length of a text up to which an error repeats the text as JSON."""


def fed_shape(fed: Output) -> Shape:
    """Return the shape that a placeholder declares, an unknown shape for another node."""
    shape = fed.node.attrs.get("shape") if fed.node.is_placeholder else None
    return UNKNOWN if shape is None else shape


def value_of(
    text: str,
    dtype: DType | None,
    place: str | HintStep,
    shape: Shape = UNKNOWN,
    readable: Callable[[], bytes] = lambda: PLAIN,
) -> Any:
    """Return the value of a text, of a dtype if the dtype is known; an error begins with `place`."""
    try:
        return parse_value(text, dtype.base if dtype else None, shape, readable)
    except TfgError as error:
        raise type(error)(Hint(place, ": ", error.message), hint=error.hint) from None


def parse_value(
    text: str, dtype: DType | None = None, shape: Shape = UNKNOWN, readable: Callable[[], bytes] = lambda: PLAIN
) -> Array:
    """Return the array that `text` stands for, of `dtype` if not None; InvalidArgumentError explains a malformed text.

    `shape` is the tensor's shape, as far as known: the number of channels of a picture, and whether a batch dimension is
    added. `readable` returns a string that the readers of the tensor accept, for `strings(..)`.
    """
    from .codecs.casts import cast_value  # lazy: most words name no value

    text = text.strip()
    if text.startswith("@"):
        return cast_value(_read_file(text[1:], dtype, shape), dtype, text)
    if _FILES.fullmatch(text):
        return _stacked(text, dtype, shape)
    if text == "-":
        return _literal(sys.stdin.read(), dtype)
    match = _CALL.fullmatch(text)
    if match is not None:
        hint = "randint(SIZES,low=0,high=10) draws integers" if match[1] in _FRACTIONAL else None
        return cast_value(_generated(match[1], match[2], readable), dtype, text, hint)
    return _literal(text, dtype)


def _stacked(text: str, dtype: DType | None, shape: Shape) -> Array:
    """Stack the values of several files: each file is an element of the tensor of `shape`."""
    from .codecs.casts import cast_value  # lazy, as above

    files = _BETWEEN_FILES.split(text[1:-1].strip())
    element = shape[1:] if shape.rank else shape
    values = [cast_value(_read_file(file[1:].strip(), dtype, element), dtype, file) for file in files]
    shapes = {value.shape: file for value, file in zip(values, files)}
    if len(shapes) > 1:
        listed = ", ".join(f"{file} {_sizes(sizes)}" for sizes, file in shapes.items())
        raise InvalidArgumentError(
            f"the files hold values of different shapes: {listed}", hint="pictures take ?resize=224,224"
        )
    return np.stack(values)


def _sizes(shape: Sequence[int]) -> str:
    return f"({','.join(map(str, shape))})"


def read_document(text: str, name: str) -> Any:
    """Return the value of a JSON text, of the JSON in a file for `@FILE`, or of standard input for `-`.

    An error begins with the option of this name.
    """
    source = text.removeprefix("@") if text == "-" or text.startswith("@") else None
    contents = text if source is None else bytes(read_source(source))
    try:
        return parse_json(contents)
    except InvalidArgumentError as error:
        hint = error.hint if source is None else Hint("a file for one tensor is ", option(name, f"TENSOR={text}"))
        raise InvalidArgumentError(Hint(option(name), f": '{text[:80]}' is {error.message}"), hint=hint) from None


def _read_bytes(path: str, shape: Shape) -> Array | None:
    """Return the bytes of a file as strings: each record of a .tfrecord, else the whole file, as the only element of a tensor
    of any rank; None for an array file.
    """
    # The name decides here, as any bytes may be the value of a tensor of strings.
    if ".npz:" in path or path.endswith((".npy", ".npz")):
        return None
    with file_errors(path), open_input(path) as file:
        contents = read_file(file)
        if not path.endswith((".tfrecord", ".tfrecords")):
            return as_bytes_array(bytes(contents)).reshape([1] * (shape.rank or 0))
        return records_in(contents, path)


def records_in(contents: memoryview, path: str) -> Array:
    """Return the records of the TFRecord file at `path`; DataLossError names a damaged one."""
    from ..core.codecs.tfrecord import RecordError, read_records  # lazy, as all kinds of files here

    records: list[bytes] = []
    try:
        records.extend(read_records(io.BytesIO(contents)))
    except RecordError as error:
        raise DataLossError(f"record {len(records) + 1:,} of '{path}' is damaged: {error}") from None
    return object_array(records)


def _read_file(path: str, dtype: DType | None, shape: Shape) -> Array:
    # The last `.csv:` divides the text: the name of a folder may have one, too.
    table, csv, columns = path.rpartition(".csv:")
    if csv or (path.endswith(".csv") and dtype is not string):
        from .codecs.csv_table import read_columns

        names = [name.strip() for name in columns.split(",")] if csv else ()
        return read_columns(f"{table}.csv" if csv else path, names, dtype, shape)
    array = _read_bytes(path, shape) if dtype is string else _read_pixels(path, dtype, shape)
    return _read_array(path) if array is None else array


def _read_pixels(path: str, dtype: DType | None, shape: Shape) -> Array | None:
    """Return the pixels of an image file, changed by the options behind the path; None for a file that is no picture."""
    if ".npz:" in path:
        return None
    from .pictures import parse_transform, read_picture

    name, transform = parse_transform(path)
    pixels = read_picture(name, dtype, shape, transform)
    if pixels is None and not transform.is_empty:
        raise InvalidArgumentError(f"'{name}' is not a picture, so options such as resize do not apply")
    return pixels


def _read_array(path: str) -> Array:
    from .codecs.numpy_files import open_array, read_npz

    key: str | None = None
    if ".npz:" in path:
        head, _, key = path.rpartition(".npz:")
        path = head + ".npz"
    with file_errors(path), open_regular(path) as file:
        # The content decides: numpy.savez and numpy.save write what they are told, whatever the name is.
        is_archive = file.read(2) == b"PK"
    if is_archive:
        # If no array has the key, all are opened, because the error lists them.
        return _member(path, read_npz(path, only=key) or read_npz(path), key).numpy()
    if key is not None:
        raise InvalidArgumentError(f"'{path}' holds a single array without a key")
    return open_array(path).read()


def _member(path: str, archive: Mapping[str, Tensor], key: str | None) -> Tensor:
    if key is None and len(archive) == 1:
        key = next(iter(archive))
    if key is None or key not in archive:
        problem = f"'{path}' has {len(archive)} arrays" if key is None else f"'{path}' has no array '{key}'"
        raise NotFoundError(problem, hint=f"write @{path}:KEY with one of {', '.join(list(archive)[:8])}")
    return archive[key]


def _literal(text: str, dtype: DType | None) -> Array:
    parsed = _parsed(text, dtype)
    # A number or an object is no string; a text that looks like one is written in double quotes.
    if dtype is string and not isinstance(decoded(parsed), str | bytes | list):
        raise InvalidArgumentError(f"'{text[:_MAX_SHOWN]}' is not a string", hint=_text_hint(text))
    if isinstance(parsed, dict) or parsed is None:
        raise InvalidArgumentError(f"'{text[:_MAX_SHOWN]}' is not a value", hint=_in_json(text, dtype))
    from .codecs.casts import cast_value

    try:
        return cast_value(_strings(parsed) if dtype is string else _parsed_array(parsed), dtype, text)
    except (ValueError, TypeError) as error:
        raise InvalidArgumentError(
            f"'{text[:_MAX_SHOWN]}' is not an array: {error}", hint="give all rows the same length"
        ) from None


def joined_rows(values: Sequence[Any], dtype: DType) -> Array | None:
    """Return the rows of parsed values behind each other as an array; None for values that are no lists of equal rows."""
    if not all(isinstance(value, list) and value for value in values):
        return None
    from .codecs.casts import cast_value  # lazy, as above

    rows = [row for value in values for row in value]
    try:
        return cast_value(_strings(rows) if dtype is string else _parsed_array(rows), dtype, "the values")
    except (ValueError, TypeError):
        return None


_WORDS: Final = {str(word).lower(): json.dumps(word) for word in (True, False, None)}
"""Words of Python, in small letters, and the same in JSON."""
_WORD: Final = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)


def _in_json(text: str, dtype: DType | None) -> str:
    """Return the hint for a text that is no JSON: the text in JSON if it has words of Python, else the forms of values."""
    # People write Python's words, in any letters; the hint shows the value as JSON if nothing else is wrong with it.
    words = _WORD.sub(lambda match: _WORDS[match[0].lower()], text)
    if re.search(r"\bnull\b", words):
        return f"a tensor has no None: write {'true or false' if dtype is bool_ else 'a number, such as 0'}"
    if words != text and len(words) < _MAX_SHOWN and is_json(words):
        return f"write {words}"
    return "write true or false" if dtype is bool_ and "@" not in text else _FORMS


def _parsed(text: str, dtype: DType | None) -> Any:
    """Return the value of a JSON text, or a text itself if the tensor has strings; a slip in JSON is an error."""
    try:
        return parse_json(text)
    except InvalidArgumentError as error:
        # A shell makes [ab] of ["ab"]: taken as a text, it would feed other characters than were meant.
        if text.lstrip().startswith(BEGINNINGS):
            hints = filter(None, (error.hint, _text_hint(text) if dtype is string else _in_json(text, dtype)))
            raise InvalidArgumentError(f"'{text[:_MAX_SHOWN]}' is {error.message}", hint="; ".join(hints)) from None
        if dtype is string:
            return text
        raise InvalidArgumentError(f"'{text[:_MAX_SHOWN]}' is not a value", hint=_in_json(text, dtype)) from None


def _text_hint(text: str) -> str:
    """Return how a text that looks like JSON is fed as it is."""
    is_short = len(text) <= _SHORT
    return f"the text itself is the JSON string {json.dumps(text, ensure_ascii=False)}" if is_short else _AS_JSON


def _strings(parsed: Any) -> Array:
    """Return the strings of a JSON value, where objects are bytes as TensorFlow Serving writes them."""
    array = np.array(parsed, object)
    for place, value in enumerate(array.flat):
        if isinstance(value, dict):
            array.flat[place] = decoded(value)
    return as_bytes_array(array)


def _parsed_array(parsed: Any) -> Array:
    """Return the numbers of a JSON value; NumPy would read integers below and above 2**63 together as floats."""
    array = np.asarray(parsed)
    if array.dtype.kind == "f" and array.size and array.max() >= 2.0**63:
        numbers = np.asarray(parsed, object)
        if all(type(number) is int and 0 <= number < 1 << 64 for number in numbers.ravel().tolist()):
            return numbers.astype(np.uint64)
    return array


def _generated(name: str, arguments: str, readable: Callable[[], bytes]) -> Array:
    # Made for each call: which strings are readable depends on the tensor.
    generators = {**_GENERATORS, "strings": _Generator(lambda shape: _filled(shape, readable()))}
    make = generators.get(name)
    if make is None:
        raise InvalidArgumentError(f"unknown generator '{name}'", hint=f"the generators are {', '.join(generators)}")
    sizes: list[int] = []
    options: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in arguments.replace("[", "").replace("]", "").split(","))):
        key, equals, number = part.partition("=")
        try:
            if equals:
                options[key.strip()] = float(number)
            else:
                sizes.append(int(part))
        except ValueError:
            raise InvalidArgumentError(f"'{part}' in {name}(...) is not a number") from None
    # NumPy would raise a MemoryError, or an error about its own limits, without the text.
    if any(size < 0 for size in sizes) or math.prod(sizes) > _MAX_ELEMENTS:
        raise InvalidArgumentError(f"{name}({arguments}) has an impossible shape")
    unknown = set(options) - set(make.options)
    if unknown:
        takes = ", ".join(make.options) or "no options"
        raise InvalidArgumentError(f"{name}(...) has no option '{min(unknown)}' (it takes {takes})")
    return make(tuple(sizes), options)


def _filled(shape: tuple[int, ...], text: bytes) -> Array:
    """Return an array of a string; NumPy's `full` drops zeros at the end of the string."""
    array = np.empty(shape, object)
    array.fill(text)
    return array


class _Generator:
    """A generator and the generator's options, with defaults."""

    def __init__(self, function: Callable[..., Any], **options: float) -> None:
        self.function = function
        self.options = options

    def __call__(self, shape: tuple[int, ...], options: Mapping[str, float]) -> Array:
        try:
            return np.asarray(self.function(shape, **{**self.options, **options}))
        except (ValueError, OverflowError) as error:
            raise InvalidArgumentError(str(error)) from None
        except MemoryError as error:
            raise ResourceExhaustedError(f"out of memory: {error}") from error


def _random(seed: float) -> np.random.Generator:
    # The default seed is negative, and stands for other numbers in each run.
    return np.random.default_rng(int(seed) if seed >= 0 else None)


_FRACTIONAL = ("uniform", "normal")
_GENERATORS: dict[str, _Generator] = {
    "zeros": _Generator(lambda shape: np.zeros(shape)),
    "ones": _Generator(lambda shape: np.ones(shape)),
    "full": _Generator(lambda shape, value: np.full(shape, value), value=0),
    "arange": _Generator(lambda shape: np.arange(math.prod(shape)).reshape(shape)),
    "uniform": _Generator(lambda s, low, high, seed: _random(seed).uniform(low, high, s), low=0, high=1, seed=-1),
    "normal": _Generator(lambda s, mean, stddev, seed: _random(seed).normal(mean, stddev, s), mean=0, stddev=1, seed=-1),
    "randint": _Generator(lambda s, low, high, seed: _random(seed).integers(int(low), int(high), s), low=0, high=10, seed=-1),
}
