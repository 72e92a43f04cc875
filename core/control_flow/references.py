"""References to V1 variables: the inputs that read references, and the nodes that pass references on or write through them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Final

from ..graph.graph import Node, Output
from ..graph.traversal import trail_end
from ..registry.catalog import OpDef
from ..registry.op_facts import has_fact, ops_with
from .frames import ENTER, EXIT, LOOP_OPS, MERGE, NEXT_ITERATION, SWITCH

_PASSING_VALUES: Final = frozenset({*ENTER, *EXIT, *MERGE, *NEXT_ITERATION, *SWITCH, *ops_with("alias")})


def dereferenced_inputs(node: Node, definition: OpDef) -> tuple[int, ...]:
    """Return the positions of inputs at which a reference arrives and the op takes a value."""
    references = [i for i, value in enumerate(node.inputs) if value.dtype is not None and value.dtype.is_ref]
    if not references:
        return ()
    expected = definition.input_dtypes(node.attrs)
    return tuple(i for i in references if not expected[i].is_ref)


def passed_references(node: Node) -> tuple[int, ...]:
    """Return the positions of references that a node passes on although their variables must be initialized."""
    if not has_fact(node.op, "initialized_reference"):
        return ()
    return tuple(i for i, value in enumerate(node.inputs) if value.dtype is not None and value.dtype.is_ref)


def referenced_variable(reference: Output, trails: dict[Output, Output] | None = None) -> Node:
    """Return the node that owns the memory a reference leads to; `trails` caches the results of `trail_end`."""
    return trail_end(reference, _reference_before, trails).node


def _reference_before(reference: Output) -> Output | None:
    taken = reference.node.inputs[:1]
    return taken[0] if taken and (dtype := taken[0].dtype) is not None and dtype.is_ref else None


def written_reference(node: Node, trails: dict[Output, Output] | None = None) -> Node | None:
    """Return the variable that a node writes to through its first input; `trails` caches the results of `trail_end`."""
    definition = node.op_def
    if definition is None or not node.inputs or node.op in LOOP_OPS or has_fact(node.op, "initialized_reference"):
        return None
    dtype = node.inputs[0].dtype
    if dtype is None or not dtype.is_ref or not has_fact(node.op, "side_effect"):
        return None
    return referenced_variable(node.inputs[0], trails)


def memory_outputs(node: Node) -> list[Output]:
    """Return the outputs that are the memory of a node's first input, or of any input of a Merge: later writes show in
    them.
    """
    if node.op not in _PASSING_VALUES and not is_view(node):
        return []
    return [node.output()] if node.op in MERGE else list(node.outputs())


class WrittenMemory:
    """The values that are memory of V1 variables with writes; each node's result is cached."""

    def __init__(self) -> None:
        self._seen: dict[Output, Output] = {}
        self._references: dict[Output, Output] = {}
        self._written: dict[Node, bool] = {}

    def holds(self, value: Output) -> bool:
        """True for the memory of a variable that some node writes to: the value read may depend on the time of the read."""
        owner = self._owner(value)
        if owner is not None and owner not in self._written:
            self._written[owner] = is_written(owner)
        return owner is not None and self._written[owner]

    def _owner(self, value: Output) -> Node | None:
        """Return the variable whose memory a value is."""
        memory = trail_end(value, _viewed, self._seen)
        is_reference = memory.dtype is not None and memory.dtype.is_ref
        return referenced_variable(memory, self._references) if is_reference else None


def _viewed(value: Output) -> Output | None:
    is_value = value.dtype is not None and not value.dtype.is_ref
    return value.node.inputs[0] if is_value and memory_outputs(value.node) else None


def is_view(node: Node) -> bool:
    """True where a node's result is a view of the memory of its first input."""
    return has_fact(node.op, "alias_view")


def kept_inputs(node: Node, definition: OpDef) -> tuple[int, ...]:
    """Return the positions of inputs that a pipeline node captures for its functions, which are called in later runs."""
    if not has_fact(node.op, "input_pipeline"):
        return ()
    places: list[int] = []
    start = 0
    for arg in definition.inputs:
        count = len(definition.arg_dtypes(arg, node.attrs))
        if arg.type_list_attr is not None and "arg" in arg.type_list_attr.lower():
            places += range(start, start + count)
        start += count
    return tuple(places)


def is_written(owner: Node) -> bool:
    """True where some node of the graph writes to a variable through a reference."""
    return any(written_reference(user) is owner for user in owner.uses)


def memory_of_variables(nodes: Iterable[Node], fed: Container[Output]) -> dict[Output, Node]:
    """Return the values that are the memory of a V1 variable, with the variable's node. `nodes` are in topological order."""
    owners: dict[Output, Node] = {}
    references: dict[Output, Output] = {}
    for node in nodes:
        for output in memory_outputs(node):
            owner = _owner_of_memory(node, owners, fed, references)
            if owner is not None and output.dtype is not None and not output.dtype.is_ref:
                owners[output] = owner
    return owners


def _owner_of_memory(
    node: Node, owners: Mapping[Output, Node], fed: Container[Output], references: dict[Output, Output]
) -> Node | None:
    """Return the variable whose memory a node passes on."""
    for value in node.inputs if node.op in MERGE else node.inputs[:1]:
        if value in fed:
            continue
        if value in owners:
            return owners[value]
        if value.dtype is not None and value.dtype.is_ref:
            return referenced_variable(value, references)
    return None
