"""JSON as users write it for inputs: values by name, and requests and bytes in the form of TensorFlow Serving.

https://www.tensorflow.org/tfx/serving/api_rest describes the requests. Where a text is not JSON, errors say the place and why.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ...core.graph.metagraph import Signature
from ...core.support.errors import InvalidArgumentError
from ...core.support.hints import Hint, option

WHOLE: Final = ""
"""The name of a value without a name, which feeds the only input."""

BEGINNINGS: Final = ("[", "{", '"')
"""The characters with which only JSON begins: no other form of a value does."""
_BYTES: Final = "b64"
_ROWS: Final = "instances"
_COLUMNS: Final = "inputs"
_SIGNATURE: Final = "signature_name"
_WORD: Final = re.compile(r"[^\W\d]\w*")
_MISSING: Final = ("Expecting value", "Expecting property name")
_PYTHON: Final = tuple(map(str, (True, False, None)))
_SHELL: Final = "a shell removes double quotes: put single quotes around the whole value"


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; InvalidArgumentError says at which character the text is not JSON, and why."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason, hint = _slip(error)
        raise InvalidArgumentError(f"not JSON at character {error.pos + 1:,}: {reason}", hint=hint) from None
    except RecursionError:
        raise InvalidArgumentError("not JSON: it is nested too deeply") from None
    except ValueError as error:  # bytes of another encoding, or a number with thousands of digits
        raise InvalidArgumentError(f"not JSON: {error}") from None


def is_json(text: str | bytes) -> bool:
    """Return True for the JSON text of one value."""
    try:
        parse_json(text)
    except InvalidArgumentError:
        return False
    return True


def _slip(error: json.JSONDecodeError) -> tuple[str, str | None]:
    """Return the reason of an error and the next step, if one is known."""
    rest = error.doc[error.pos :]
    word = _WORD.match(rest)
    if error.msg == "Extra data":
        return "the value ends before", None
    if error.msg.startswith("Unterminated string"):
        return "the string has no closing quote", None
    if not rest.strip():
        return "the text ends too early", None
    if error.msg.startswith(_MISSING) and word is not None and word[0] in _PYTHON:
        return "JSON writes true, false and null", None
    if error.msg.startswith(_MISSING) and (word is not None or rest.startswith("'")):
        return "strings take double quotes", _SHELL if word is not None else None
    return f"{error.msg[0].lower()}{error.msg[1:]}", None


def decoded(value: Any) -> Any:
    """Return the bytes of {"b64": BASE64}, and any other value as it is."""
    if not _is_bytes(value):
        return value
    # The program `base64` wraps its lines, and many encoders leave out the padding.
    text = "".join(value[_BYTES].split()).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArgumentError(f"'{value[_BYTES][:80]}' is not base64: {error}") from None


def _is_bytes(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {_BYTES} and isinstance(value[_BYTES], str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not _is_bytes(value)


def named_values(parsed: Any, signature: Signature | None, is_input: Callable[[str], bool]) -> Mapping[str, Any]:
    """Return the values of a document by the names of inputs; a value without a name has the name `WHOLE`.

    The document is an object of values by name, a request of TensorFlow Serving, or the value of the only input. A request
    may have a name that is also the name of an input: then only objects of values by name make a request.
    """
    if not _is_object(parsed):
        return {WHOLE: parsed}
    # An input may itself be called `inputs`, as in many exported models: its arrays do not make a request.
    keys = [key for key in (_ROWS, _COLUMNS) if key in parsed and (_is_object(parsed[key]) or not is_input(key))]
    if not keys:
        return dict(parsed)
    unknown = sorted(parsed.keys() - {keys[0], _SIGNATURE})
    if unknown:
        raise InvalidArgumentError(f"a request with '{keys[0]}' cannot have '{unknown[0]}'")
    name = parsed.get(_SIGNATURE)
    if name is not None and (signature is None or signature.name != name):
        raise InvalidArgumentError(f"the request is for signature '{name}'", hint=Hint("add ", option("signature", str(name))))
    if keys[0] == _ROWS:
        return _of_rows(parsed[_ROWS])
    columns = parsed[_COLUMNS]
    return columns if _is_object(columns) else {WHOLE: columns}


def _of_rows(rows: Any) -> Mapping[str, Any]:
    """Return the batch of all rows, for each input by name, or for the only input."""
    if not isinstance(rows, list) or not rows:
        raise InvalidArgumentError(f"'{_ROWS}' of a request must be a list of rows")
    if not any(map(_is_object, rows)):
        return {WHOLE: rows}
    return {name: [row[name] for row in rows] for name in _names_of(rows)}


def _names_of(rows: Sequence[Any]) -> Sequence[str]:
    """Return the names of the inputs, which all rows must have."""
    # The first row decides which inputs there are, and the others must agree: a batch has a value of each row.
    names = next(row.keys() for row in rows if _is_object(row))
    for number, row in enumerate(rows, 1):
        if not _is_object(row) or row.keys() != names:
            raise InvalidArgumentError(f"row {number:,} of '{_ROWS}' must have the inputs {', '.join(sorted(names))}")
    return list(names)


def example_rows(text: str) -> Mapping[str, Any] | list[Mapping[str, Any]] | None:
    """Return the features of an Example, or of several, in a JSON text: an object, or a list of objects; None for other
    texts, and for bytes.
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):  # the reader of other values says what is wrong
        return None
    if _is_object(parsed):
        return _features(parsed)
    is_rows = isinstance(parsed, list) and bool(parsed) and all(map(_is_object, parsed))
    return list(map(_features, parsed)) if is_rows else None


def nested_value(text: str) -> Any:
    """Return the lists or the object of a JSON text, with bytes in place of {"b64": BASE64}; None for other texts."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return _decoded(json.loads(text))
    except (ValueError, RecursionError):  # the reader of other values says what is wrong
        return None


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_decoded, value))
    return {key: _decoded(one) for key, one in value.items()} if _is_object(value) else decoded(value)


def _features(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of features by name, with bytes in place of {"b64": BASE64}."""
    lists = {name: value if isinstance(value, list) else [value] for name, value in row.items()}
    return {name: list(map(decoded, values)) for name, values in lists.items()}
