"""The tensors of a state that are most like the variables which the state lacks."""

from __future__ import annotations

import collections
import re
from collections.abc import Mapping, Sequence
from typing import Final

from ..types.dtypes import DType
from ..types.shapes import Shape
from ..types.tensors import Tensor

Kind = tuple[DType, Shape]
"""The dtype and the shape of a variable or tensor."""

_BETWEEN_WORDS: Final = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])")
_USUAL: Final = {
    "w": "kernel", "weight": "kernel", "weights": "kernel", "b": "bias", "biases": "bias", "running": "moving",
    "var": "variance", "scale": "gamma", "offset": "beta", "fc": "dense", "linear": "dense", "convolution": "conv",
}  # fmt: skip
"""Words of other libraries by the words of Keras."""
_MOST_PAIRS: Final = 1 << 14
"""The largest number of pairs of a shape whose names are compared; of more, the order of the names decides."""


def kind_of(tensor: Tensor) -> Kind:
    """Return the dtype and the shape of a tensor."""
    return tensor.dtype, Shape(tensor.shape)


def kind_words(kind: Kind) -> str:
    """Return the dtype and the shape: `float (10,4)`."""
    return f"{kind[0]} {kind[1]}"


def nearest_tensors(lacking: Mapping[str, Kind], others: Mapping[str, Kind]) -> dict[str, str]:
    """Return the tensor that is most like each lacking variable: of equal shape, and with the most words of the name.

    A tensor belongs to at most one variable. Variables without a likely tensor are left out. A variable and a tensor, not
    scalars, that are alone with their shape belong together by any names.
    """
    shapes: dict[Shape, tuple[list[str], list[str]]] = collections.defaultdict(lambda: ([], []))
    for place, kinds in enumerate((lacking, others)):
        for name, (_, shape) in kinds.items():
            shapes[shape][place].append(name)
    nearest: dict[str, str] = {}
    for shape, (variables, tensors) in shapes.items():
        # Scalars are counters and rates, which have nothing in common but their shape.
        are_alone = len(variables) == len(tensors) == 1 and shape.rank != 0
        if are_alone or len(variables) * len(tensors) > _MOST_PAIRS:
            nearest |= dict(zip(variables, tensors))
        else:
            nearest |= _pairs(variables, tensors)
    return {name: nearest[name] for name in lacking if name in nearest}


def _pairs(variables: Sequence[str], tensors: Sequence[str]) -> dict[str, str]:
    """Return the pairs of names, the most alike first."""
    mine, theirs = (list(map(_words, names)) for names in (variables, tensors))
    scores = [(-_likeness(a, b), i, j) for i, a in enumerate(mine) for j, b in enumerate(theirs)]
    pairs: dict[int, int] = {}
    taken = set()
    # The best pair first, each side once; of equal scores the first names, in the order of the layers.
    for score, i, j in sorted(scores):
        if score < 0 and i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return {variables[i]: tensors[j] for i, j in pairs.items()}


def _words(name: str) -> collections.Counter[str]:
    """Return the words of a name; the last of a path, which says the role of the variable, counts twice."""
    words = [_USUAL.get(word.lower(), word.lower()) for word in _BETWEEN_WORDS.split(name) if word]
    return collections.Counter([*words, *words[-1:]])


def _likeness(a: collections.Counter[str], b: collections.Counter[str]) -> float:
    """Return the share of the words that two names have in common, from 0 to 1."""
    return 2 * (a & b).total() / max(a.total() + b.total(), 1)
