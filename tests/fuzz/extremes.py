"""Cases of the op tests of which one input or attribute is replaced by what is often forgotten: each op as often as any."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np

from tests.fuzz import corpus, drawing
from tests.fuzz.trials import Trial
from tfg.core.graph.graph import Node
from tfg.core.registry.catalog import AttrDef
from tfg.core.support.errors import TfgError
from tfg.core.support.tensor_names import parse_tensor_name
from tfg.core.types import dtypes
from tfg.core.types.dtypes import DType
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import Tensor

_SHAPES = (Shape(), Shape([]), Shape([0]), Shape([2]), Shape([None, 3]), Shape([2**31, 2**31]), Shape([1] * 6), Shape([2**26]))
_ATTRS: Mapping[str, Sequence[Any]] = {
    "int": drawing.INTEGERS, "float": drawing.FLOATS, "bool": (False, True), "string": drawing.STRINGS, "type": drawing.DTYPES,
    "shape": _SHAPES,
}  # fmt: skip


@functools.cache
def _cases_by_op() -> Mapping[str, Sequence[int]]:
    """The numbers of the cases of each op."""
    by_name = defaultdict(list)
    for number, case in enumerate(corpus.cases()):
        by_name[case.op].append(number)
    return by_name


def draw_trial(random: Random) -> Trial:
    """A case of an op with one change."""
    by_op = _cases_by_op()
    number = random.choice(by_op[random.choice(sorted(by_op))])
    trial = corpus.unchanged(number)
    if trial is None:
        return drawing.op_trial(random, corpus.cases()[number].op)
    nodes = [node for node in trial.graph if node.op_def is not None and node.op_def.attrs and node.op != "Placeholder"]
    place = random.choice([*sorted(trial.feeds) * 2, *nodes, None])
    if isinstance(place, Node):
        _change_attr(random, place)
    elif place is not None:
        node = trial.graph.node(parse_tensor_name(place)[0])
        value = np.asarray(trial.feeds[place])
        corpus.loosen(node)
        changed = _changed(random, value, corpus.fed_dtype(node, value))
        return Trial(trial.graph, trial.steps, {**trial.feeds, place: changed}, trial.origin)
    return trial


def _changed(random: Random, value: np.ndarray, dtype: DType) -> np.ndarray:
    """The array with another shape, or with an extreme number in one place or in all."""
    if dtype in (dtypes.resource, dtypes.variant):
        return value
    if not value.size or dtype is dtypes.bool_ or random.random() < 0.4:
        return _reshaped(random, value, dtype)
    changed = np.array(value)
    is_all = random.random() < 0.3
    places = slice(None) if is_all else random.choice((0, value.size - 1, random.randrange(value.size)))
    changed.reshape(-1)[places] = drawing.extreme(random, dtype)
    return changed


def _reshaped(random: Random, value: np.ndarray, dtype: DType) -> np.ndarray:
    """One dimension more, one less, or one of another size; or no dimension."""
    shape = list(value.shape)
    kind = random.choice(("size", "more", "less", "none")) if shape else "more"
    if kind == "size":
        axis = random.randrange(len(shape))
        shape[axis] = random.choice((0, 1, shape[axis] + 1, max(shape[axis] - 1, 0)))
    elif kind == "more":
        shape.insert(random.randint(0, len(shape)), random.choice((0, 1, 1, 2)))
    else:
        shape = [] if kind == "none" else shape[1:]
    return corpus.resized(random, value, dtype, shape)


def _change_attr(random: Random, node: Node) -> None:
    """An attribute with an extreme value; one that cannot be set stays."""
    definition = node.op_def
    assert definition is not None
    name = random.choice(sorted(definition.attrs))
    value = _extreme_attr(random, node.attr(name), definition.attrs[name])
    try:
        node.set_attr(name, value)
        node.forget_dtypes()
    except TfgError:
        return


def _extreme_attr(random: Random, value: Any, attr: AttrDef) -> Any:
    if isinstance(value, Tensor):
        if value.dtype in (dtypes.resource, dtypes.variant):
            return value
        return Tensor.from_numpy(_changed(random, value.numpy(), value.dtype), value.dtype)
    kind = attr.type.removeprefix("list(").removesuffix(")")
    if kind not in _ATTRS:
        return value
    extreme = random.choice(attr.allowed or _ATTRS[kind])
    if not attr.type.startswith("list("):
        return extreme
    listed = list(value) if isinstance(value, list) else []
    choices = [[], [extreme] * len(listed), listed[:-1], [*listed, extreme]]
    if listed:
        index = random.randrange(len(listed))
        choices += [[*listed[:index], extreme, *listed[index + 1 :]]] * 6
    return random.choice(choices)
