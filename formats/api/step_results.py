"""Results of steps: the best classes of scores, and the bytes of .npy, .npz, CSV and JSON files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.runtime.session.runner import FetchedValue, StepResult
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect
from ...core.support.errors import DataLossError, InvalidArgumentError
from ...core.support.grouping import grouped
from ...core.support.hints import Hint, option
from ...core.support.json_documents import json_line
from ...core.types.arrays import Array
from ...core.types.tensors import Tensor
from ..codecs.source import read_text


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
    """Return the k largest scores of each row of `scores`, (..., classes), the largest first; all if there are fewer.

    Equal scores come in the order of their classes, as of `tf.math.top_k`. InvalidArgumentError for scores that are no
    numbers, for scalars, and if there is not one label for each class.
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
    # A stable sort of the negated scores leaves equal scores in the order of their classes. Unsigned scores have no negative
    # numbers, hence the float64.
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
        # The keys of an object are the numbers of the classes, in any order; a gap in the numbers is an error.
        values = parsed if isinstance(parsed, list) else [parsed[str(number)] for number in range(len(parsed))]
        return [str(value[-1] if isinstance(value, list) else value) for value in values]
    # A file may nest lists so deeply that `json` exhausts the stack.
    except (ValueError, KeyError, IndexError, RecursionError) as error:
        problem = f"'{os.fspath(path)}' lacks a label for some class: {type(error).__name__} {error}"
        raise DataLossError(problem, hint='write a label a line, or JSON such as {"0": "cat", "1": "dog"}') from None


def encoded_steps(steps: Sequence[StepResult], format_: str, schema: str = "tfg.run/1") -> bytes:
    """Return the fetched values as a file of the format holds them; `schema` is the name of the schema of JSON."""
    if format_ == "json":
        return json_line(schema, {"steps": steps})
    if format_ == "csv":
        return steps_csv(steps)
    from ..codecs.numpy_files import npy_bytes, npz_bytes  # lazy: most results are printed

    if format_ == "npz":
        return npz_bytes(fetched_tensors(steps))
    arrays = step_arrays(steps)
    if len(arrays) != 1:
        hint = Hint("use ", option("format", "npz"))
        raise InvalidArgumentError(f".npy holds a single tensor, but {len(arrays)} were fetched", hint=hint)
    return npy_bytes(*arrays.popitem())


def steps_csv(steps: Sequence[StepResult], results: Iterable[str] | None = None, count: int | None = None) -> bytes:
    """Return the fetched values as CSV with a header: a row for each index of the first axis up to `count`, or for each step.

    `results` are the values of a first column `name`. A tensor with a single column gives the column its name; several columns
    are NAME_0, NAME_1 and so on. InvalidArgumentError for tensors that do not fit into a table.
    """
    from ..codecs.csv_table import columns_of, csv_bytes  # lazy: most results are printed

    # Only the rows of several steps have to be told apart.
    columns: dict[str, Any] = {"step": [step.step for step in steps]} if len(steps) > 1 else {}
    for name, array in step_arrays(steps).items():
        if array.ndim > 2:
            problem = f"'{name}' has {array.ndim} dimensions including the steps, but CSV has only rows and columns"
            raise InvalidArgumentError(problem, hint="write .npz or .json")
        columns |= columns_of(name, array[:count] if count is not None else array)
    heights = {len(column) for column in columns.values()}
    if len(heights) > 1:
        raise InvalidArgumentError(
            "the fetched tensors have unequal numbers of rows", hint="fetch a single tensor, or write .npz"
        )
    if results is None:
        return csv_bytes([tuple(columns), *zip(*columns.values())])
    return csv_bytes([("name", *columns), *zip(results, *columns.values())])


def fetched_tensors(steps: Sequence[StepResult]) -> dict[str, Tensor]:
    """Return the value of each tensor; those of several steps are stacked along a new first axis."""
    return {name: Tensor.from_numpy(array) for name, array in step_arrays(steps).items()}


def step_arrays(steps: Sequence[StepResult]) -> dict[str, Any]:
    """Return the array of each tensor; those of several steps are stacked along a new first axis."""
    values_by_name = grouped((item.name, item.value) for step in steps for item in step.values if item.shape is not None)
    arrays = {}
    for name, values in values_by_name.items():
        if len({np.shape(value) for value in values}) > 1:
            raise InvalidArgumentError(
                f"'{name}' changed its shape from step to step", hint=Hint("use ", option("format", "json"))
            )
        arrays[name] = values[0] if len(values) == 1 else np.stack(values)
    return arrays


def with_top_classes(step: StepResult, k: int, labels: Sequence[str] | None) -> StepResult:
    """Return a step with the best classes in the place of fetched scores: floating-point tensors of rank 1 and more."""
    values: list[FetchedValue] = []
    for item in step.values:
        # Labels and counts are fetched beside the scores: only numbers of floating point are ranked.
        is_score = item.shape and isinstance(item.value, np.ndarray) and Tensor.from_numpy(item.value).dtype.is_floating
        if not is_score:
            values.append(item)
            continue
        top = top_classes(item.value, k, labels)
        arrays = {"classes": top.classes, "scores": top.scores, **({} if top.labels is None else {"labels": top.labels})}
        values += [FetchedValue(f"{item.name}/{key}", _dtype(array), array.shape, array) for key, array in arrays.items()]
    return StepResult(step.step, tuple(values))


def _dtype(array: Any) -> str:
    return "string" if array.dtype == object else Tensor.from_numpy(array).dtype.name
