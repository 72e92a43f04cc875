"""References to V1 variables: the inputs that read references, and the nodes that pass references on or write through them."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Final

from ..registry.catalog import OpDef
from ..registry.op_facts import NodeKinds, has_fact, ops_with
from .frames import ENTER, EXIT, LOOP_OPS, MERGE, NEXT_ITERATION, SWITCH
from .graph import Node, Output
from .traversal import closure, nodes_of_kind, trail_ends

_PASSING_REFERENCES: Final = frozenset({*LOOP_OPS, *ops_with("initialized_reference"), *SWITCH, *ops_with("forwarding")})
_PASSING_VALUES: Final = frozenset({*ENTER, *EXIT, *MERGE, *NEXT_ITERATION, *SWITCH, *ops_with("alias")})


def dereferenced_inputs(node: Node, definition: OpDef) -> tuple[int, ...]:
    """Return the positions of inputs at which a reference arrives and the op takes a value."""
    references = [i for i, value in enumerate(node.inputs) if value.is_reference]
    if not references:
        return ()
    # Only behind the test above: most nodes take no references, and the dtypes of an op are looked up slowly.
    expected = definition.input_dtypes(node.attrs)
    return tuple(i for i in references if not expected[i].is_ref)


def any_reference(nodes: Iterable[Node]) -> bool:
    """Return True if a node returns a reference to a variable: graphs of TensorFlow 2, and frozen graphs, have none."""
    kinds = {node._output_dtypes for node in nodes}  # known of all nodes once the graph was checked
    kinds = {node.output_dtypes for node in nodes} if None in kinds else kinds
    return any(dtype.is_ref for dtypes in kinds for dtype in dtypes or ())


def passed_references(node: Node) -> tuple[int, ...]:
    """Return the positions of references that a node passes on although their variables must be initialized."""
    if not has_fact(node.op, "initialized_reference"):
        return ()
    return tuple(i for i, value in enumerate(node.inputs) if value.is_reference)


def referenced_variables(reference: Output, trails: dict[Output, Output] | None = None) -> list[Node]:
    """Return the nodes that own the memory to which a reference may lead; `trails` caches the results of `trail_end`."""
    return [end.node for end in trail_ends(reference, _references_before, trails)]


def _references_before(reference: Output) -> Sequence[Output]:
    node = reference.node
    # Which input passes is known in a run only, so all variables count.
    taken = node.inputs if node.op in MERGE or has_fact(node.op, "selects_input") else node.inputs[:1]
    return [value for value in taken if value.is_reference]


def held_references(node: Node) -> list[Output]:
    """Return the references that a node reads or writes behind; not those of which it takes the value, or passes on."""
    definition = node.op_def
    if definition is None or node.op in _PASSING_REFERENCES:
        return []
    dereferenced = dereferenced_inputs(node, definition)
    places = [i for i, value in enumerate(node.inputs) if value.is_reference]
    return [node.inputs[i] for i in places if i not in dereferenced]


def written_variables(node: Node, trails: dict[Output, Output] | None = None) -> list[Node]:
    """Return the variables that a node writes to by reference: an optimizer's update writes to its slots, too.

    `trails` caches the results of `trail_end`.
    """
    references = held_references(node) if has_fact(node.op, "side_effect") else []
    return [owner for reference in references for owner in referenced_variables(reference, trails)]


def memory_outputs(node: Node) -> list[Output]:
    """Return the outputs that are the memory of a node's first input, or of any input of a Merge: later writes show in
    them.
    """
    if not _passes_memory(node):
        return []
    return [node.output()] if node.op in MERGE else list(node.outputs())


def _passes_memory(kind: NodeKinds) -> bool:
    return kind.op in _PASSING_VALUES or has_fact(kind.op, "alias_view")


class WrittenMemory:
    """The values that are memory of V1 variables with writes; each node's result is cached."""

    def __init__(self) -> None:
        self._seen: dict[Output, Output] = {}
        self._references: dict[Output, Output] = {}
        self._written: dict[Node, bool] = {}

    def holds(self, value: Output) -> bool:
        """True for the memory of a variable that some node writes to: the value read may depend on the time of the read."""
        owners = self._owners(value)
        for owner in owners:
            if owner not in self._written:
                self._written[owner] = is_written(owner)
        return any(self._written[owner] for owner in owners)

    def _owners(self, value: Output) -> list[Node]:
        """Return the variables whose memory a value may be."""
        memory = trail_ends(value, _viewed, self._seen)
        references = [end for end in memory if end.is_reference]
        return [owner for reference in references for owner in referenced_variables(reference, self._references)]


def _viewed(value: Output) -> Sequence[Output]:
    # A reference is the end of the trail: `referenced_variables` goes on from there.
    is_value = value.dtype is not None and not value.dtype.is_ref
    return passed_memory(value.node) if is_value and memory_outputs(value.node) else ()


def passed_memory(node: Node) -> Sequence[Output]:
    """Return the inputs of which a node's outputs may be the memory."""
    return node.inputs if node.op in MERGE else node.inputs[:1]


def is_view(node: Node) -> bool:
    """True if a node's result is a view of the memory of its first input."""
    return has_fact(node.op, "alias_view")


def kept_inputs(node: Node, definition: OpDef) -> tuple[int, ...]:
    """Return the positions of inputs that a pipeline node captures for its functions, which are called in later runs."""
    if not has_fact(node.op, "input_pipeline"):
        return ()
    places: list[int] = []
    start = 0
    for arg in definition.inputs:
        count = len(definition.arg_dtypes(arg, node.attrs))
        # The lists of captured values are called Targuments, Tkey_func_other_arguments and so on.
        if arg.type_list_attr is not None and "arg" in arg.type_list_attr.lower():
            places += range(start, start + count)
        start += count
    return tuple(places)


def is_written(owner: Node) -> bool:
    """True if some node of the graph writes to a variable through a reference."""
    # A writer may stand behind any number of nodes that hand the reference on.
    holders = closure([owner], lambda node: [user for user in node.uses if user.op in _PASSING_REFERENCES])
    return any(owner in written_variables(user) for holder in holders for user in holder.uses)


def memory_of_variables(nodes: Collection[Node], fed: Container[Output]) -> dict[Output, tuple[Node, ...]]:
    """Return the values that may be the memory of V1 variables, with the variables. `nodes` are in topological order."""
    owners: dict[Output, tuple[Node, ...]] = {}
    references: dict[Output, Output] = {}
    # The two cheap tests first: nearly all graphs have no references.
    passing = nodes_of_kind(nodes, _passes_memory)
    if not passing or not any_reference(nodes):
        return owners
    for node in passing:
        values = [output for output in memory_outputs(node) if output.dtype is not None and not output.dtype.is_ref]
        passed = _owners_of_memory(node, owners, fed, references) if values else ()
        if passed:
            owners |= dict.fromkeys(values, passed)
    return owners


def _owners_of_memory(
    node: Node, owners: Mapping[Output, tuple[Node, ...]], fed: Container[Output], references: dict[Output, Output]
) -> tuple[Node, ...]:
    """Return the variables whose memory a node may pass on."""
    passed: dict[Node, None] = {}
    for value in passed_memory(node):
        if value not in fed and value.dtype is not None:
            behind = referenced_variables(value, references) if value.dtype.is_ref else owners.get(value, ())
            passed |= dict.fromkeys(behind)
    return tuple(passed)
