"""Names for dimensions that only a run decides, as the number of true elements.

Inference has an anonymous symbol for each such dimension, the same wherever the number must be the same. The symbol is
named after the first node that shows the dimension. Dimensions inside a loop stay anonymous, as the number may differ
between iterations; a dimension that leaves the loop is named and stands for the number of the last iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ..control_flow.frames import EXIT, MERGE, NEXT_ITERATION, Frame
from ..functions.call_kinds import CALL_KINDS, Form
from ..graph.graph import Node
from ..inference.estimates import Estimate
from ..inference.inference import Specs
from ..support.grouping import grouped
from ..support.hints import Hint, step
from ..types.dims import Dim, DimLike
from ..types.shapes import TensorSpec, substituted
from .symbols import Symbols

_OF_FORM: Final = {form: [op for op, kind in CALL_KINDS.items() if kind.form is form] for form in Form}
_MEANING: Final = {
    "Where": "the number of true elements",
    **dict.fromkeys(("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2"), "the number of distinct values"),
    **dict.fromkeys((*MERGE, *_OF_FORM[Form.BRANCH]), "a result of the branch taken"),
    **dict.fromkeys((*EXIT, *_OF_FORM[Form.LOOP]), "a result of the last iteration"),
}
"""The meaning of an unknown size, by op."""


def named(
    inference: Estimate, frames: Mapping[Node, Frame], prefix: str, symbols: Symbols, known: Mapping[str, DimLike]
) -> Estimate:
    """Return the inference with a name for each anonymous symbol outside of loops; `known` has names from the caller."""
    names = dict(known)
    inside: set[str] = set()
    for node, specs in _by_node(inference).items():
        places: dict[str, tuple[int, int | None]] = {}
        for symbol, place in _anonymous(specs):
            if symbol not in names:
                places.setdefault(symbol, place)
        if is_inside(node, frames):
            inside |= places.keys()
            continue
        for symbol, (index, axis) in places.items():
            names[symbol] = _claim(node, index, axis, len(places) == 1, prefix, symbols)
    if not names:
        return inference
    invariant = {symbol: name for symbol, name in names.items() if symbol not in inside}
    named_specs = {
        output: substituted(spec, invariant if is_inside(output.node, frames) else names)
        for output, spec in inference.specs.items()
    }
    return Estimate(Specs(named_specs), inference.reasons)


def shared_names(pairs: Iterable[tuple[TensorSpec, TensorSpec]]) -> dict[str, DimLike]:
    """Return the caller's names of the anonymous dimensions of a function's results, from (result, call's output) pairs."""
    names: dict[str, DimLike] = {}
    for inner, outer in pairs:
        for dim, name in zip(inner.shape.dims or (), outer.shape.dims or ()):
            if isinstance(dim, Dim) and dim.is_unknown and not (isinstance(name, Dim) and name.is_anonymous):
                names[dim.unnamed[0]] = name
    return names


def _by_node(inference: Estimate) -> dict[Node, list[tuple[int, TensorSpec]]]:
    """Return the specs with symbols of each node's outputs, in topological order.

    Values that come along back edges have the symbols of the loop's start.
    """
    return grouped(
        (output.node, (output.index, spec))
        for output, spec in inference.specs.items()
        if (spec.value is not None or not spec.shape.is_known) and output.node.op not in NEXT_ITERATION
    )


def _anonymous(specs: Iterable[tuple[int, TensorSpec]]) -> Iterator[tuple[str, tuple[int, int | None]]]:
    """Yield the anonymous symbols of outputs, each with the output and the dimension that show the symbol, None for a
    value.
    """
    for index, spec in specs:
        shown: list[tuple[int | None, object]] = list(enumerate(spec.shape.dims or ()))
        if spec.value is not None and spec.value.dtype == object:
            shown += [(None, item) for item in spec.value.ravel().tolist()]
        for axis, dim in shown:
            if isinstance(dim, Dim):
                yield from ((symbol, (index, axis)) for symbol in dim.unnamed)


def is_inside(node: Node, frames: Mapping[Node, Frame]) -> bool:
    """Return True where a node's outputs are in a loop."""
    frame = frames.get(node)
    return frame is not None and (node.op not in EXIT or frame.enclosing is not None)


def _claim(node: Node, index: int, axis: int | None, is_only: bool, prefix: str, symbols: Symbols) -> Dim:
    path = prefix + node.name
    place = "" if is_only else f":{index}" if axis is None else f":{index},{axis}"
    what = "a number in" if axis is None else f"dimension {axis} of"
    where = f"{path}:{index} ({_MEANING.get(node.op, node.op)})"

    def meaning(label: str) -> Hint:
        return Hint(f"{what} {where}, known only at run time; ", step("size", size=f"{label}{place}"), " sets it")

    return symbols.claim(f"n[{{}}{place}]", path, (path, index, axis), meaning)
