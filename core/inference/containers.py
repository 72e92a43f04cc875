"""Specs that cover several values, and the contents of containers: stacks, tensor arrays and lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..graph.call_signatures import signature_of
from ..graph.frames import handed_in, hands_in
from ..graph.graph import Node, Output
from ..registry.op_facts import ops_with
from ..support import dataclasses
from ..support.errors import TfgError
from ..types.dims import DimLike
from ..types.dtypes import resource
from ..types.shapes import UNKNOWN, Shape, TensorSpec, common_value, covering_shape, merge_shapes, relax_shapes, substituted

_WRITERS = {
    **dict.fromkeys(ops_with("stack_push"), (1, 0)),
    **dict.fromkeys(ops_with("array_write"), (2, 0)),
    **dict.fromkeys(ops_with("array_scatter"), (2, 1)),
}
"""Ops that write elements into a container: (input with the elements, number of leading dimensions that count elements)."""
_READERS = frozenset(ops_with("container_read"))
"""All other ops that take the handle of a container, as calls, may write elements of any shape."""
CONTAINERS = frozenset(ops_with("container"))


def contents(
    specs: Mapping[Output, TensorSpec],
    order: Sequence[Node],
    assumed: Mapping[Output, TensorSpec],
    containers: Collection[Node],
) -> dict[Output, TensorSpec]:
    """Return the handles of stacks and tensor arrays with the specs of their elements, known only after a sweep."""
    written: dict[Output, TensorSpec] = {}
    open_handles: set[Output] = set()
    for node in order:
        if node.op not in _WRITERS:
            # An op that gets the handle may write elements, unless its facts say that it writes none.
            open_handles.update(_handles_given_to(node))
            continue
        position, counting = _WRITERS[node.op]
        handle = handed_in(node.inputs[0])
        element = _without_dims(specs[node.inputs[position]], counting)
        written[handle] = cover(written[handle], element) if handle in written else element
    filled: dict[Output, TensorSpec] = {}
    for handle, element in written.items():
        spec = specs[handle]
        # Elements of which nothing is known here may have any shape.
        if handle in open_handles:
            element = TensorSpec(element.dtype)
        spec = dataclasses.replace(spec, handle=(_declared(handle, element), *spec.handle[1:]))
        if handle.node in containers and (handle not in assumed or not _are_alike(assumed[handle], spec)):
            filled[handle] = spec
    return filled


def _are_alike(before: TensorSpec, now: TensorSpec) -> bool:
    """Return True if two specs say the same; unknown sizes, which each sweep names anew, are told apart by their places."""
    return signature_of([before])[0] == signature_of([now])[0]


def _handles_given_to(node: Node) -> Iterator[Output]:
    """Yield the handles through which a node may write elements that are not seen here."""
    # A call may write into what it gets, and so may an op of a user.
    if node.op not in _READERS and not hands_in(node):
        yield from (handed_in(value) for value in node.inputs if value.dtype is resource)


def container_of(node: Node) -> Node | None:
    """Return the stack or tensor array to which a node writes elements."""
    return handed_in(node.inputs[0]).node if node.op in _WRITERS else None


def _without_dims(spec: TensorSpec, count: int) -> TensorSpec:
    """Return the spec of a slice along the first dimensions."""
    if not count:
        return spec
    return TensorSpec(spec.dtype, UNKNOWN if spec.shape.dims is None else Shape(spec.shape.dims[count:]))


def _declared(handle: Output, element: TensorSpec) -> TensorSpec:
    """Refine an element's spec by the element shape that its tensor array declares."""
    declared = handle.node.attr_of(Shape, "element_shape")
    if declared is None:  # a stack
        return element
    try:
        return dataclasses.replace(element, shape=merge_shapes(declared, element.shape))
    except TfgError:
        # A write of another shape fails in the run, so whatever is read has the declared shape.
        return TensorSpec(element.dtype, declared)


def of_anything(container: TensorSpec) -> TensorSpec:
    """Return the spec of a container with unknown elements."""
    return dataclasses.replace(container, handle=(TensorSpec(container.handle[0].dtype), *container.handle[1:]))


def holds_anything(assumed: Mapping[Output, TensorSpec], handle: Output) -> bool:
    """Return True if no elements of a container are assumed any more."""
    return handle in assumed and shown(assumed[handle]) == shown(of_anything(assumed[handle]))


def cover(a: TensorSpec, b: TensorSpec, free: Collection[DimLike] = ()) -> TensorSpec:
    """Return a spec that covers both, with the contents of a handle where both have contents.

    `free` dimensions of the first stand for any number.
    """
    return TensorSpec(a.dtype, relax_shapes(a.shape, b.shape, free), common_value(a, b), _known_handle(a, b, free))


def _known_handle(a: TensorSpec, b: TensorSpec, free: Collection[DimLike]) -> tuple[TensorSpec, ...]:
    """Return the contents of a handle that cover both specs; an empty list takes the other list's elements."""
    if len(a.handle) != len(b.handle):
        return ()
    parts = [
        TensorSpec(x.dtype, covering_shape(x.shape, y.shape, free), common_value(x, y)) for x, y in zip(a.handle, b.handle)
    ]
    # An empty list has no element whose shape would have to be covered.
    if is_empty_list(a) or is_empty_list(b):
        parts[0] = (b if is_empty_list(a) else a).handle[0]
    return tuple(parts)


def is_empty_list(spec: TensorSpec) -> bool:
    """Return True for a list without elements; the second spec of the handle has the list's length."""
    length = spec.handle[1].value if len(spec.handle) > 1 else None
    return length is not None and length.size == 1 and length.item() == 0


def shown(spec: TensorSpec) -> str:
    return f"{spec.shape} {[(str(held.shape), held.value is None) for held in spec.handle]}"


def is_covered(spec: TensorSpec, covering: TensorSpec) -> bool:
    """Return True if a spec says no more than its covering: equal shapes, and values known to both or to neither."""
    pairs = [(spec, covering), *zip(spec.handle, covering.handle)]
    return len(spec.handle) == len(covering.handle) and all(
        a.shape == b.shape and (a.value is None) == (b.value is None) for a, b in pairs
    )


def new_dims(covering: TensorSpec, covered: Iterable[TensorSpec]) -> set[DimLike]:
    """Return the dimensions that a covering has in the place of different ones: any numbers, as nothing else has them."""
    return _dims_in(covering).difference(*map(_dims_in, covered))


def _dims_in(spec: TensorSpec) -> set[DimLike]:
    """Return the dimensions of a spec and of its contents."""
    return {dim for part in (spec, *spec.handle) for dim in part.shape.dims or ()}


def without_values(spec: TensorSpec) -> TensorSpec:
    """Return the spec without values, as a Merge knows none: also the values of a list's elements and length."""
    return dataclasses.replace(spec, value=None, handle=tuple(dataclasses.replace(part, value=None) for part in spec.handle))


def symbols_of_elements(spec: TensorSpec) -> list[str]:
    """Return the unnamed sizes in the elements of a container: not the length of a list, which is that of the list in hand."""
    return signature_of(_elements(spec))[1]


def elements_renamed(spec: TensorSpec, names: Mapping[str, DimLike]) -> TensorSpec:
    """Return a container's spec with other symbols in its elements."""
    renamed = [substituted(part, names) for part in _elements(spec)]
    lengths = [dataclasses.replace(part, value=whole.value) for part, whole in zip(renamed[1:], spec.handle[1:])]
    return dataclasses.replace(spec, handle=(*renamed[:1], *lengths))


def _elements(spec: TensorSpec) -> list[TensorSpec]:
    """Return the parts of a handle, all but the first without values: the second of a list is its length."""
    return [dataclasses.replace(part, value=None) if place else part for place, part in enumerate(spec.handle)]
