"""Freezing: variables become constants, and handles that go into functions become values there. Unfreezing is the way back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from ..building.builder import GraphBuilder
from ..building.built_variables import BuiltVariable
from ..explaining.author_scopes import passes_weight_on
from ..graph.callers import drop_uncalled
from ..graph.frames import find_frames
from ..graph.graph import Graph, Node, Output
from ..graph.metagraph import MetaGraph, VariableInfo
from ..graph.model_objects import asset_assignments, asset_nodes, asset_variables, name_tables
from ..graph.node_making import add_constant, become_constant
from ..graph.reference_ops import plain_op, read_as
from ..graph.restore_nodes import restored_resources
from ..graph.table_fills import filled_tables, iterator_starts, table_fills, takes_files
from ..graph.table_nodes import TableNodes, find_tables
from ..graph.traversal import copied_from, descendants, reachable, topological_order, trail_end
from ..graph.variable_nodes import RESOURCE_VARIABLES, find_variables
from ..graph.variable_nodes import variable as find_variable
from ..inference.binding import named_inputs
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import FailedPreconditionError, UnimplementedError
from ..support.hints import Blank, Hint, option, step
from ..types.dtypes import variant
from ..types.shapes import UNKNOWN, Shape
from ..types.tensors import Tensor
from .frozen_handles import FrozenValue, Values, become_initialized, leave_it, replace_handles
from .subgraphs import subgraph

_RESTORE: Final = option("state", Blank("FILE"))


def freeze(
    graph: Graph,
    values: Mapping[str, Tensor],
    outputs: Sequence[str],
    inputs: Sequence[str] = (),
    keep: Sequence[str] = (),
    *,
    keep_files: bool = False,
) -> Graph:
    """Return the nodes that `outputs` need, cut at `inputs`, with variables as constants of the given values.

    Functions that took handles have copies that take values; functions that nothing calls are dropped. Tables stay tables;
    `init_all_tables` fills them, from constants where `values` hold the contents that a checkpoint or a file had. With
    `keep_files` the files of a SavedModel stay files, and the variables with their paths stay variables. The variables of
    `keep` stay variables, too. FailedPreconditionError names a variable or table without a value, a node that writes to a
    variable, or a node that reads a file of the model; NotFoundError names the nearest variables for a name in `keep` that
    none has.
    """
    source = graph.copy()
    # An anonymous table of TF2 is another one in each run: a frozen graph, whose fill is a run of its own, could not find
    # it.
    name_tables(source)
    paths = asset_variables(source)
    # By names, since the subgraph is another copy.
    initializers = [node.name for node in _initializers(source, values, outputs, inputs, keep_files)]
    result = subgraph(source, [*outputs, *initializers], inputs)
    if initializers:
        # The name that tf.compat.v1.tables_initializer gives the operation, under which users look for it.
        result.add_node(result.unique_name("init_all_tables"), "NoOp", (), map(result.node, initializers))
    _freeze_variables(result, values, {*paths, *(find_variable(source, name).name for name in keep)})
    if not keep_files:
        _refuse_files(result, source)
    # What freezing adds stands at the end, behind its readers.
    result.reorder(topological_order(result))
    drop_uncalled(result)
    # After functions without callers are gone, since nobody needs what they own.
    _refuse_own_variables(result)
    return result


def _freeze_variables(graph: Graph, values: Mapping[str, Tensor], kept: Set[str]) -> None:
    """Turn all variables but the kept into constants."""
    handles: Values = {}
    for variable in find_variables(graph).values():
        if variable.name in kept:
            continue
        value = values.get(variable.name)
        if value is not None and value.dtype is variant:
            words = f"variable '{variable.name}' holds lists or other objects, which no constant can hold"
            raise UnimplementedError(words, node=variable.node.name, op=variable.node.op)
        if value is None:
            raise FailedPreconditionError(
                f"variable '{variable.name}' has no value to freeze", node=variable.node.name, op=variable.node.op,
                hint=Hint("add ", _RESTORE, ", or ", option("init"), " to freeze the initial values"),
            )  # fmt: skip
        if variable.is_resource:
            handles[variable.node.output()] = FrozenValue(variable.name, value.dtype, Shape(value.shape))
        else:
            _drop_references(graph, variable.node)
        become_constant(graph, variable.node, value)
    replace_handles(graph, handles)


def _initializers(
    graph: Graph, values: Mapping[str, Tensor], outputs: Sequence[str], inputs: Sequence[str], keep_files: bool
) -> list[Node]:
    """Return the nodes that begin the iterators and fill the tables that `outputs` take, and with `keep_files` those that set
    the paths of files.

    Contents of checkpoints and of files come from constants, which are added here.
    """
    needed = needed_nodes([graph.fetch(name) for name in outputs], [graph.output(name) for name in inputs])
    starts = [node for iterator, node in iterator_starts(graph).items() if iterator in needed]
    # What begins an iterator reads its dataset, which may take tables of its own.
    needed |= reachable(starts)
    tables = {table.node: table for table in find_tables(graph).values() if table.node in needed}
    resources = _hold_contents(graph, needed, values)
    fills = {node: filled_tables(node) & {*tables, *resources} for node in table_fills(graph)}
    # A fill from a file of the model, which a single graph cannot have, makes way for constants with the same contents.
    stale: set[Node] = set()
    if not keep_files:
        of_tables = {node: [tables[table] for table in filled if table in tables] for node, filled in fills.items()}
        stale = {node for node, filled in of_tables.items() if _is_stale(graph, node, filled, values)}
    lasting = [node for node, filled in fills.items() if filled and node not in stale]
    filled = {table for node in lasting for table in fills[node]}
    emptied = {table for node in stale for table in fills[node]}
    g = GraphBuilder(graph)
    # A saved table is filled by the restore, which freezing leaves out, and an emptied one lost its fill above.
    wanting = [table for node, table in tables.items() if node not in filled and (table.is_saved or node in emptied)]
    made = [_fill(g, table, _contents(table, values)) for table in wanting]
    needed |= reachable(lasting)
    assignments = [node for node in asset_assignments(graph) if keep_files and node.inputs[0].node in needed]
    return [*starts, *lasting, *(node for node in made if node is not None), *assignments]


def _hold_contents(graph: Graph, needed: Set[Node], values: Mapping[str, Tensor]) -> set[Node]:
    """Let the nodes that restore other resources than tables take constants; return the resources.

    FailedPreconditionError where the values lack the contents of a needed resource.
    """
    restored = {node: keys for node, keys in restored_resources(graph) if node.inputs[0].node in needed}
    g = GraphBuilder(graph)
    for node, keys in restored.items():
        if missing := [key for key in keys.values() if key not in values]:
            owner = node.inputs[0].node
            words = f"'{owner.name}' has no contents to freeze"
            hint = Hint("add ", step("state", path=Blank("FILE")), f" with {' and '.join(missing)}")
            raise FailedPreconditionError(words, node=owner.name, op=owner.op, hint=hint)
        with g.name_scope(node.inputs[0].node.name):
            graph.set_inputs(node, [node.inputs[0], *(g.constant(values[key], name="contents") for key in keys.values())])
    return {node.inputs[0].node for node in restored}


def _is_stale(graph: Graph, fill: Node, tables: Sequence[TableNodes], values: Mapping[str, Tensor]) -> bool:
    """Return True if constants take the place of a node that fills tables from a file: of a model, or of known contents."""
    if not takes_files(graph, fill):
        return False
    are_known = all(entry in values for table in tables for entry in table.entries)
    return are_known or not reachable([fill]).isdisjoint(asset_nodes(graph))


def _contents(table: TableNodes, values: Mapping[str, Tensor]) -> list[Tensor]:
    """Return the keys and values of a table; FailedPreconditionError where they are not known."""
    contents = [values[entry] for entry in table.entries if entry in values]
    if len(contents) < len(table.entries):
        raise FailedPreconditionError(
            f"table '{table.name}' has no contents to freeze", node=table.node.name, op=table.node.op,
            hint=Hint("add ", _RESTORE, f" with {' and '.join(table.entries)}"),
        )  # fmt: skip
    return contents


def _fill(g: GraphBuilder, table: TableNodes, contents: Sequence[Tensor]) -> Node | None:
    """Add the operation that fills a table with constants; None for a table without entries."""
    # A table is empty before it is filled.
    if not contents[0].size:
        return None
    with g.name_scope(table.node.name):
        parts = [g.constant(value, name=name) for name, value in zip(("keys", "values"), contents)]
        if table.exports_buckets:
            # The default hides the shape of the buckets from the shape function, which refuses anything but vectors.
            parts = [g.PlaceholderWithDefault(part, shape=UNKNOWN, name="buckets") for part in parts]
        node: Node = g.apply(table.filling_op, table.node.output(), *parts, name="fill")
    return node


def _refuse_files(graph: Graph, source: Graph) -> None:
    """Raise FailedPreconditionError where a node takes the path of a file of the model that the graph comes from."""
    assets = {node.name: asset for node, asset in asset_nodes(source).items()}
    for assignment in asset_assignments(source):
        assets[assignment.inputs[0].node.name] = assets[trail_end(assignment.inputs[1], copied_from).node.name]
    for name, asset in assets.items():
        if name in graph:
            # The node that opens the file tells the user more than the path does.
            behind = descendants([graph.node(name)])
            node = next((node for node in graph if node in behind and has_fact(node.op, "reads_files")), graph.node(name))
            raise FailedPreconditionError(
                f"it takes '{asset.filename}', a file of the model that a single graph cannot hold",
                node=node.name, op=node.op, hint="write a SavedModel: end the name of OUT with a slash",
            )  # fmt: skip


def _refuse_own_variables(graph: Graph) -> None:
    """Raise FailedPreconditionError where a function makes a variable in its body."""
    for name, function in graph.functions.items():
        for node in function.body:
            if node.op in RESOURCE_VARIABLES:
                raise FailedPreconditionError(
                    f"function '{name}' owns a variable", node=node.name, op=node.op,
                    hint=Hint("inline the function with ", option("inline-functions"), ", to freeze the variable"),
                )  # fmt: skip


def _drop_references(graph: Graph, node: Node) -> None:
    """Make the users of a node's reference take a value, and in turn the users of the references that they return."""
    pending = [node]
    for giver in pending:
        for user in [user for user in giver.uses if any(value.node is giver for value in user.inputs)]:
            if any(dtype.is_ref for dtype in user.output_dtypes) and plain_op(user.op) is not None:
                pending.append(user)
            _drop_reference(graph, node, user)


def _drop_reference(graph: Graph, variable: Node, user: Node) -> None:
    plain = plain_op(user.op)
    if has_fact(user.op, "initialization_test"):
        become_initialized(graph, user)
    elif plain is not None:
        read_as(user, plain)
    elif user.op_def is not None and any(arg.is_ref for arg in user.op_def.inputs):
        raise FailedPreconditionError(
            "it writes to a variable that must be frozen", node=user.name, op=user.op, hint=leave_it(variable.name),
        )  # fmt: skip


# Unfreezing: constants become variables that begin with the values of the constants.

_AVERAGES: Final = ("mean", "variance")
"""The inputs of a batch normalization that a training averages, and changes by no gradient."""
_NAMED_SO: Final = re.compile(r"(^|/)moving_(mean|variance)(_\d+)?$")
"""The names that tf.layers and Keras give to such averages, of which a normalization can be any arithmetic."""


def why_not(graph: Graph, names: Iterable[str]) -> dict[str, str]:
    """Return the reasons for nodes that cannot become variables, by name; NotFoundError names the nearest nodes."""
    nodes = [graph.node(name) for name in names]
    frames = find_frames(graph) if any(node.control_inputs for node in nodes) else {}
    reasons = {node.name: _why_not(node, node in frames) for node in nodes}
    return {name: reason for name, reason in reasons.items() if reason}


def _why_not(node: Node, is_in_loop: bool) -> str:
    value = node.attr_of(Tensor, "value") if node.is_constant else None
    if value is None:
        return "it is not a constant"
    if not value.dtype.is_numeric:
        return f"it holds {value.dtype}"
    return "it lies in a loop" if is_in_loop else ""


def unfreeze_constants(graph: Graph, names: Sequence[str]) -> tuple[str, ...]:
    """Turn constants of a graph into resource variables of their names, which initializers give the values of the constants;
    return the variables that can be trained.

    The metadata list the variables. Constants of floating-point numbers can be trained, apart from the averages of batch
    normalizations.
    """
    averages = {node.name for node in _averages(graph)}
    g = GraphBuilder(graph)
    for name in names:
        value = graph.node(name).attrs["value"]
        _unfreeze(g, graph.node(name), trainable=value.dtype.is_floating and name not in averages)
    g.global_variables_initializer(graph.unique_name("init"))
    graph.meta = _listing(graph.meta or MetaGraph(), g.variables)
    graph.reorder(topological_order(graph))
    return tuple(made.name for made in g.variables if made.trainable)


def _averages(graph: Graph) -> Iterator[Node]:
    """Yield the constants that batch normalizations take as averages."""
    for node in graph:
        if _NAMED_SO.search(node.name):
            yield node
        if has_fact(node.op, "batch_normalization"):
            values = (value for name, value in named_inputs(node) if name in _AVERAGES)
            yield from (trail_end(value, _handed_on).node for value in values)


def _handed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if passes_weight_on(value.node) and value.node.inputs else None


def _unfreeze(g: GraphBuilder, node: Node, *, trainable: bool) -> None:
    graph, name = g.graph, node.name
    # The variable gets the name of the constant, by which checkpoints and users know the weight.
    graph.rename_node(node, graph.unique_name(f"{name}/frozen"))
    initial = add_constant(graph, f"{name}/Initializer/initial_value", node.attrs["value"])
    with g.device(node.device or None):
        made = g.variable(initial.output(), name=f"{name}/", resource=True, trainable=trainable)
    read = made.value.node
    graph.set_inputs(read, read.inputs, node.control_inputs)  # a branch that is not taken has no value of the variable
    graph.replace_all_uses(node.output(), read.output())
    graph.replace_control_uses(node, read)
    graph.remove_nodes([node])


def _listing(meta: MetaGraph, variables: Sequence[BuiltVariable]) -> MetaGraph:
    """Return metadata that list more variables."""
    infos = [
        VariableInfo(
            made.handle.name, made.initial_value.name, made.initializer.name, made.value.name, is_resource=True,
            trainable=made.trainable,
        )
        for made in variables
    ]  # fmt: skip
    added = {"variables": infos, "trainable_variables": [info for info in infos if info.trainable]}
    listed = {name: (*meta.variables.get(name, ()), *more) for name, more in added.items()}
    return dataclasses.replace(meta, variables={**meta.variables, **listed})
