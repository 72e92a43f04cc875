"""The best classes of a classifier's scores, with the labels of a file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.support import dataclasses
from ...core.support.arguments import checked, expect
from ...core.support.errors import DataLossError, InvalidArgumentError
from ...core.types.arrays import Array
from ..codecs.source import read_text

__all__ = ["read_labels", "top_classes"]


@dataclasses.dataclass(frozen=True, slots=True)
class TopClasses:
    """The best classes of each row, the best first: arrays (..., k)."""

    classes: Array
    """Numbers of classes, from 0."""
    scores: Array
    labels: Array | None
    """Labels as bytes, None without labels."""


@checked
def top_classes(scores: Any, k: int = 5, labels: Sequence[str] | None = None) -> TopClasses:
    """Return the k largest scores of each row of `scores`, (..., classes), the largest first; all where there are fewer.

    Equal scores come in the order of their classes, as of `tf.math.top_k`. InvalidArgumentError for scores that are no
    numbers, for scalars, and where there is not one label for each class.
    """
    expect(str, *(labels or ()))
    array = np.asarray(scores)
    if array.ndim == 0 or array.dtype.kind in "OSUcb":
        raise InvalidArgumentError("ranking classes needs real scores, with a row for each example")
    if k < 1:
        raise InvalidArgumentError(f"the number of classes is {k}", hint="choose a number of at least 1")
    count = array.shape[-1]
    if labels is not None and len(labels) != count:
        hint = "use the labels of this model; some models count the background as class 0"
        raise InvalidArgumentError(f"{len(labels)} labels do not fit {count} classes", hint=hint)
    order = np.argsort(-array.astype(np.float64), axis=-1, kind="stable")[..., :k]
    named = None if labels is None else np.array([label.encode() for label in labels], object)[order]
    return TopClasses(order, np.take_along_axis(array, order, -1), named)


@checked
def read_labels(path: str | os.PathLike[str]) -> list[str]:
    """Return the labels in a file, by class: a label a line, a JSON array, or a JSON object by class.

    An object's value may be a list, as in Keras's `imagenet_class_index.json`: the last element is the label. DataLossError
    for a file of another form.
    """
    text = read_text(path)
    if not text.lstrip().startswith(("[", "{")):
        return text.splitlines()
    try:
        parsed = json.loads(text)
        values = parsed if isinstance(parsed, list) else [parsed[str(number)] for number in range(len(parsed))]
        return [str(value[-1] if isinstance(value, list) else value) for value in values]
    except (ValueError, KeyError, IndexError, RecursionError) as error:
        problem = f"'{os.fspath(path)}' lacks a label for some class: {type(error).__name__} {error}"
        raise DataLossError(problem, hint='write a label a line, or JSON such as {"0": "cat", "1": "dog"}') from None
