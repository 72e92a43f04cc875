"""Joining: two graphs become one, in which tensors of one are inputs of the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final

from ..building.saver import has_saver
from ..graph.callers import all_nodes
from ..graph.deadness import ALWAYS, Deadness
from ..graph.frames import ENTER, EXIT, MERGE, SWITCH, find_frames, frame_of_outputs
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import INTERFACE, OF_AN_INTERFACE, copied
from ..graph.metagraph import Asset, JoinedModels, MetaGraph
from ..graph.model_objects import name_tables
from ..graph.saved_gradients import Capture, RegisteredGradient
from ..graph.traversal import descendants
from ..graph.variable_nodes import find_variables
from ..inference.inference import infer
from ..runtime.session.restored_variables import restored_variables, unrestored
from ..runtime.session.runner import initializers, table_initializers
from ..runtime.state.resources import ANONYMOUS_NAME
from ..support import dataclasses
from ..support.errors import InvalidArgumentError, NotFoundError
from ..support.hints import Hint, option
from ..support.tensor_names import free_name, parse_tensor_name
from ..support.versions import Versions
from ..support.words import some
from ..types.shapes import UNKNOWN, UNSTATED, merge_shapes
from ..types.tensors import FuncRef
from .placeholders import drop_recorded_shapes, own_functions
from .subgraphs import drop_ends, forget_locations

_SHARED: Final = "shared_name"
"""The attribute by which nodes in different places find a variable, a table or a queue."""
_FRAME: Final = "frame_name"
_LOCATION: Final = b"loc:@"
_GRADIENT: Final = "_gradient_op_type"


@dataclasses.dataclass(frozen=True)
class PartNames:
    """The names that a joined graph has for those of one of its parts: in a scope, where the part has a prefix."""

    prefix: str = ""
    functions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """New names of functions and registered gradients whose names the other part has too."""
    connected: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Tensors that took the place of inputs, of either part, by the inputs; both with their names in the joined graph."""

    def name(self, name: str) -> str:
        """Return the new name of a node or a resource."""
        return f"{self.prefix}/{name}" if self.prefix and name else name

    def tensor(self, text: str) -> str:
        """Return the new name of `a`, `a:1` or `^a`."""
        return f"^{self.name(text[1:])}" if text.startswith("^") else self.name(text)

    def function(self, name: str) -> str:
        """Return the new name of a function or of a registered gradient."""
        return self.functions.get(name, name)


@dataclasses.dataclass(frozen=True, eq=False)
class JoinedParts:
    """A graph joined from two, and how their names changed."""

    graph: Graph
    names: tuple[PartNames, PartNames]
    clashes: tuple[str, ...]
    """The names of nodes, variables and loops that both parts have, for which the second part got a prefix."""


def join(
    parts: tuple[Graph, Graph], connect: Sequence[tuple[str, str]], prefixes: tuple[str, str | None], label: str
) -> JoinedParts:
    """Return the nodes and functions of two graphs in one graph, with the models' own ways to restore their variables.

    `connect` has pairs of tensors: an input of the second graph, and a tensor of the first that takes its place. Names of
    the joined graph serve on both sides. The second prefix may be left open: there is none, or `label` where names clash.
    InvalidArgumentError for names that clash in spite of the prefixes, for ends of different dtypes or shapes, and for
    connections that close a cycle.
    """
    first, second = (_prepared(part) for part in parts)
    clashes = _clashes(first, second, (prefixes[0], prefixes[1] or ""))
    open_prefix = free_scope(first, label, prefixes[0]) if clashes else ""
    chosen = (prefixes[0], open_prefix if prefixes[1] is None else prefixes[1])
    if left := _clashes(first, second, chosen):
        hint = Hint("give one of them another prefix, for instance ", option("second-prefix", "part"))
        raise InvalidArgumentError(f"both graphs have {some(left)}", hint=hint)
    names = PartNames(chosen[0]), PartNames(chosen[1], _function_names(first, second, chosen[1] or label))
    _rename(first, names[0])
    _rename(second, names[1])
    result = _together(first, second)
    result.meta = _meta(parts, names)
    connected = _connect(result, [_ends(result, names, pair) for pair in connect])
    both = (dataclasses.replace(names[0], connected=connected), dataclasses.replace(names[1], connected=connected))
    return JoinedParts(result, both, clashes)


def _prepared(graph: Graph) -> Graph:
    """Return a copy in which tables have names, and a variable that Python alone gives a value is the one of this value.

    The nodes that save the graph are left out, as they save a part of the joined graph.
    """
    twins = unrestored(graph)
    result = graph.copy()
    name_tables(result)
    saver = graph.meta.saver if graph.meta is not None else None
    if saver is not None and has_saver(graph, saver):
        drop_ends(result, [result.node_of(saver.save_tensor)])
    for restored, read in twins.items():
        result.replace_all_uses(result.node(read).output(), result.node(restored).output())
    # Before the renaming: `loc:@` of a node that is gone could then name a node of the other part.
    forget_locations(result)
    return result


def _clashes(first: Graph, second: Graph, prefixes: tuple[str, str]) -> tuple[str, ...]:
    """Return the names that both graphs would have, of nodes, of what nodes share, and of the frames of loops."""
    clashes: dict[str, None] = {}
    for kind in (_node_names, _resource_names, _frame_names):
        left, right = (map(PartNames(prefix).name, kind(graph)) for graph, prefix in zip((first, second), prefixes))
        taken = set(left)
        clashes |= dict.fromkeys(name for name in right if name in taken)
    return tuple(clashes)


def _node_names(graph: Graph) -> Iterator[str]:
    return (node.name for node in graph)


def _resource_names(graph: Graph) -> Iterator[str]:
    """Yield the names under which nodes, also in functions, keep variables, tables, queues and other resources."""
    return (name for node in all_nodes(graph) if (name := node.text_attr(_SHARED)) and name != ANONYMOUS_NAME)


def _frame_names(graph: Graph) -> Iterator[str]:
    return (name for node in graph if node.op in ENTER and (name := node.text_attr(_FRAME)))


def free_scope(graph: Graph, name: str, prefix: str = "") -> str:
    """Return the name, or one like it, of a scope that a graph whose names get a prefix has not."""
    return free_name(name, {PartNames(prefix).name(node.name).partition("/")[0] for node in graph})


def _function_names(first: Graph, second: Graph, prefix: str) -> dict[str, str]:
    """Return new names for what the second graph's library calls as the first's does: functions, interfaces of functions,
    and registered gradients.
    """
    kinds: tuple[Callable[[Graph], Iterable[str]], ...] = (
        lambda graph: graph.functions, _interfaces, lambda graph: graph.registered_gradients,
    )  # fmt: skip
    taken = {name for kind in kinds for graph in (first, second) for name in kind(graph)}
    renamed: dict[str, str] = {}
    for kind in kinds:
        ours = set(kind(first))
        for name in kind(second):
            if name in ours and name not in renamed:
                renamed[name] = free_name(f"{prefix}_{name}".replace("/", "_"), taken)
                taken.add(renamed[name])
    return renamed


def _interfaces(graph: Graph) -> list[str]:
    """Return the interfaces that several functions of a library implement, each for a device."""
    stated = [function.attrs.get(INTERFACE) for function in graph.functions.values()]
    return [_decoded(text) for text in stated if isinstance(text, bytes)]


def _rename(graph: Graph, names: PartNames) -> None:
    """Rename all that a graph names: nodes, shared resources, loops, functions and registered gradients."""
    if not names.prefix and not names.functions:
        return
    # Copies of graphs share their functions, and the renaming changes bodies in place.
    graph.functions = {name: copied(function) for name, function in graph.functions.items()}
    # Before the renaming: `loc:@` names of nodes that the graph lacks stay as they are.
    own = frozenset(node.name for node in graph)
    graph.rename_nodes({node: names.name(node.name) for node in graph})
    for node in all_nodes(graph):
        _rename_attrs(node, names)
    for node in graph if names.prefix else ():
        _rename_places(node, names, own)
    graph.functions = {names.function(name): _renamed_function(function, names) for name, function in graph.functions.items()}
    for function in graph.functions.values():
        function.body.functions = graph.functions
    graph.registered_gradients = {
        names.function(name): _renamed_gradient(gradient, names) for name, gradient in graph.registered_gradients.items()
    }


def _rename_attrs(node: Node, names: PartNames) -> None:
    """Rename the functions, the registered gradient and the shared resource that a node names."""
    if node.op in names.functions:
        node.change_op(names.functions[node.op])
    shared = node.text_attr(_SHARED)
    if names.prefix and shared and shared != ANONYMOUS_NAME:
        node.set_attr(_SHARED, _encoded(names.name(shared)))
    gradient = node.text_attr(_GRADIENT)
    if gradient in names.functions:
        node.set_attr(_GRADIENT, _encoded(names.functions[gradient]))
    for key, value in list(node.attrs.items()) if names.functions else ():
        renamed = _renamed_value(value, names)
        if renamed is not value:
            node.set_attr(key, renamed)


def _rename_places(node: Node, names: PartNames, own: Set[str]) -> None:
    """Rename the loop that a node enters, and the nodes on whose device it must be."""
    if node.op in ENTER and (frame := node.text_attr(_FRAME)):
        node.set_attr(_FRAME, _encoded(names.name(frame)))
    if any(name in own for name in node.colocation):
        node.set_attr("_class", [_renamed_location(entry, names, own) for entry in node.attrs["_class"]])


def _renamed_location(entry: bytes, names: PartNames, own: Set[str]) -> bytes:
    name = _decoded(entry.removeprefix(_LOCATION))
    return _LOCATION + _encoded(names.name(name)) if entry.startswith(_LOCATION) and name in own else entry


def _renamed_value(value: Any, names: PartNames) -> Any:
    """Return the value of an attribute with new names of functions; the value itself where it has none of them."""
    if isinstance(value, FuncRef):
        attrs = {key: _renamed_value(item, names) for key, item in value.attrs.items()}
        is_same = value.name not in names.functions and all(attrs[key] is item for key, item in value.attrs.items())
        return value if is_same else FuncRef(names.function(value.name), attrs)
    if isinstance(value, list) and any(isinstance(item, FuncRef) for item in value):
        return [_renamed_value(item, names) for item in value]
    return value


def _renamed_function(function: Function, names: PartNames) -> Function:
    """Return a function under its new name, tied to the new names of the functions of its interface."""
    ties = {key: function.attrs.get(key) for key in OF_AN_INTERFACE}
    attrs = {
        **function.attrs,
        **{key: _encoded(names.function(_decoded(text))) for key, text in ties.items() if isinstance(text, bytes)},
    }
    name = names.function(function.name)
    return dataclasses.replace(
        function,
        signature=function.signature if name == function.name else dataclasses.replace(function.signature, name=name),
        attrs=attrs,
        gradient=None if function.gradient is None else names.function(function.gradient),
    )


def _renamed_gradient(gradient: RegisteredGradient, names: PartNames) -> RegisteredGradient:
    captures = gradient.captures and tuple(
        Capture(names.name(capture.tensor)) if capture.function is None
        else Capture(capture.tensor, names.function(capture.function))
        for capture in gradient.captures
    )  # fmt: skip
    return dataclasses.replace(gradient, function=names.function(gradient.function), captures=captures)


def _encoded(text: str) -> bytes:
    # A name of a damaged file may be no UTF-8: surrogates carry its bytes from reading to writing.
    return text.encode("utf-8", "surrogateescape")


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _together(first: Graph, second: Graph) -> Graph:
    """Add the nodes and the functions of the second graph to the first, and return the first."""
    made = {node: first.add_node(node.name, node.op, (), (), node.attrs, node.device, node.source) for node in second}
    for node, copy in made.items():
        # After all nodes exist, as the loops of V1 have edges back.
        inputs = [Output(made[value.node], value.index) for value in node.inputs]
        first.set_inputs(copy, inputs, [made[control] for control in node.control_inputs])
    first.functions.update(second.functions)
    for function in second.functions.values():
        # A body finds the functions that it calls in the library of its own graph.
        function.body.functions = first.functions
    first.registered_gradients = {**first.registered_gradients, **second.registered_gradients}
    _join_versions(first, second)
    if second.is_untrusted:
        first.distrust()
    return first


def _join_versions(first: Graph, second: Graph) -> None:
    """Give the first graph versions for the nodes of both, and say the shapes that an old version left open."""
    for node in first:
        if node.attrs.get("shape") is UNSTATED:
            # An empty shape of an old graph says that nothing is known; in a joined graph of a later version it would be that
            # of a scalar.
            node.set_attr("shape", UNKNOWN)
    versions = [graph.versions for graph in (first, second) if graph.versions is not None]
    if versions:
        bad = dict.fromkeys(version for each in versions for version in each.bad_consumers)
        producer, consumer = (max(each.producer for each in versions), max(each.min_consumer for each in versions))
        first.versions = Versions(producer, consumer, tuple(bad))


def _ends(graph: Graph, names: tuple[PartNames, PartNames], pair: tuple[str, str]) -> tuple[Output, Output]:
    """Return an input of the second graph and the tensor of the first in its place; names of the joined graph serve, too."""
    # In the order of the pair: the input is of the second part, the tensor of the first.
    taken, given = (_end(graph, one, name) for one, name in zip(names[::-1], pair))
    return taken, given


def _end(graph: Graph, names: PartNames, name: str) -> Output:
    """Return the tensor of a part of the graph, otherwise the tensor that the whole graph calls so."""
    own = names.tensor(name)
    for text in (own, name):
        if parse_tensor_name(text)[0] in graph:
            return graph.output(text)
    near = ", ".join(graph.nearest(own))
    raise NotFoundError(f"neither graph has a tensor '{name}'", hint=f"nearest names: {near}" if near else None)


def _connect(graph: Graph, ends: Sequence[tuple[Output, Output]]) -> dict[str, str]:
    """Let tensors take the place of inputs, and return the names of both; placeholders that nothing reads are removed."""
    _check_ends(graph, ends)
    _check_places(graph, ends)
    readers = [graph.consumers(taken) for taken, _ in ends]
    for taken, given in ends:
        graph.replace_all_uses(taken, given)
        if taken.node.is_placeholder:
            # A node that waited for the placeholder would keep it in the graph.
            graph.replace_control_uses(taken.node, given.node)
    # After the edges are there, as two connections may close a cycle together.
    _check_order(graph, ends, readers)
    changed = [node for each in readers for node in each]
    own_functions(graph, descendants(changed))
    drop_recorded_shapes(graph, changed)
    for taken, _ in ends:
        if taken.node.is_placeholder:
            # The constant of a default was the placeholder's alone, unless something else reads it.
            defaults = [value.node for value in taken.node.inputs]
            graph.remove_node(taken.node)
            graph.remove_nodes([default for default in defaults if default.is_constant and not default.uses])
    return {taken.name: given.name for taken, given in ends}


def _check_ends(graph: Graph, ends: Sequence[tuple[Output, Output]]) -> None:
    """Raise InvalidArgumentError for an input with two tensors, for ends that do not fit each other, and for a cycle."""
    specs = infer(graph).specs if ends else {}
    seen: set[Output] = set()
    for taken, given in ends:
        both = f"cannot connect input '{taken.name}' to '{given.name}'"
        if taken in seen:
            raise _misfit(taken, f"input '{taken.name}' is connected twice")
        seen.add(taken)
        if taken.base_dtype is not given.base_dtype:
            raise _misfit(taken, f"{both}: it takes {taken.base_dtype}, and the tensor is {given.base_dtype}")
        try:
            merge_shapes(specs[taken].shape, specs[given].shape)
        except InvalidArgumentError:
            shapes = f"it takes shape {specs[taken].shape}, and the tensor has shape {specs[given].shape}"
            raise _misfit(taken, f"{both}: {shapes}") from None
    for taken, given in ends:
        if given in seen:
            raise _misfit(taken, f"'{given.name}' cannot be connected to '{taken.name}': it is a connected input itself")


def _check_places(graph: Graph, ends: Sequence[tuple[Output, Output]]) -> None:
    """Raise InvalidArgumentError for a tensor in a V1 loop or on a branch where its input is not: the readers would take
    values of two frames, or have none on the other branch.
    """
    # Most graphs have no control flow of V1, and are not searched for it.
    frames = find_frames(graph) if any(node.op in ENTER for node in graph) else {}
    deadness = Deadness() if any(node.op in SWITCH for node in graph) else None
    for taken, given in ends:
        both = f"cannot connect input '{taken.name}' to '{given.name}'"
        homes = frame_of_outputs(taken.node, frames), frame_of_outputs(given.node, frames)
        if homes[0] is not homes[1]:
            inside, frame = next((end, home) for end, home in zip((given, taken), homes[::-1]) if home is not None)
            message = f"{both}: '{inside.name}' is inside the loop of frame '{frame.name}'"
            raise _misfit(inside, message, _listed("results of the loop", frame.with_op(EXIT)))
        conditions = [deadness.of_value(end) for end in (taken, given)] if deadness is not None else [ALWAYS, ALWAYS]
        if conditions[0] != conditions[1]:
            inside, condition = (given, conditions[1]) if conditions[1] != ALWAYS else (taken, conditions[0])
            predicates = some(sorted({predicate.name for predicate, _ in condition}))
            below = descendants([inside.node])
            merges = [node for node in graph if node.op in MERGE and node in below]
            message = f"{both}: '{inside.name}' is on a branch of the conditional of {predicates}"
            raise _misfit(inside, message, _listed("results of conditionals", merges))


def _listed(words: str, nodes: Sequence[Node]) -> str | None:
    """Return a hint to connect one of the first of some nodes; None without nodes."""
    return f"connect one of the {words}: {', '.join(node.name for node in nodes[:3])}" if nodes else None


def _check_order(graph: Graph, ends: Sequence[tuple[Output, Output]], readers: Sequence[Sequence[Node]]) -> None:
    """Raise InvalidArgumentError for a connection that closed a cycle."""
    for (taken, given), own in zip(ends, readers):
        if given.node in descendants(own):
            raise _misfit(given, f"connecting input '{taken.name}' to it closes a cycle: it depends on the input")


def _misfit(end: Output, message: str, hint: str | None = None) -> InvalidArgumentError:
    return InvalidArgumentError(message, node=end.node.name, op=end.node.op, hint=hint)


def _meta(parts: tuple[Graph, Graph], names: tuple[PartNames, PartNames]) -> MetaGraph | None:
    """Return how the SavedModels among the parts restore and start themselves, with their files; None for other graphs."""
    if not any(part.meta is not None and part.meta.folders for part in parts):
        return None
    steps: list[tuple[str, Mapping[str, str]]] = []
    operations: list[str] = []
    assets: list[Asset] = []
    folders: dict[str, None] = {}
    unsaved: set[str] = set()
    for part, own in zip(parts, names):
        meta = part.meta
        if meta is None or not meta.folders:
            # A part that is no SavedModel has no files to restore from, so its initializers run when the joined model starts.
            steps += [(own.name(name), {}) for name in _own_initializers(part)]
            continue
        folders |= dict.fromkeys(meta.folders)
        steps += [(own.name(name), {own.tensor(k): v for k, v in feeds.items()}) for name, feeds in meta.first_steps]
        operations += [own.name(name) for name in meta.start_operations]
        assets += _own_assets(meta, own, {asset.filename for asset in assets})
        unsaved |= {own.name(name) for name in _without_values(part)}
    joined = JoinedModels(tuple(folders), tuple(steps), tuple(operations), frozenset(unsaved))
    return MetaGraph(assets=tuple(assets), joined=joined)


def _without_values(model: Graph) -> set[str]:
    """Return the nodes of the variables of a SavedModel that nothing restores or initializes."""
    joined = model.meta.joined if model.meta is not None else None
    if joined is not None:
        return set(joined.unsaved)
    restored = {*restored_variables(model).values(), *unrestored(model).values()}
    variables = find_variables(model).values()
    return {v.node.name for v in variables if v.initializer is None and v.node.name not in restored}


def _own_initializers(part: Graph) -> list[str]:
    """Return the operations that give the variables and tables of a graph without a SavedModel their first values."""
    names = initializers(part)
    return [name.partition(":")[0] for name in (*names, *table_initializers(part, names))]


def _own_assets(meta: MetaGraph, names: PartNames, taken: Set[str]) -> list[Asset]:
    """Return the files of a model, in a folder of their own where the other model has a file of the name."""
    return [
        dataclasses.replace(
            asset, tensor=names.tensor(asset.tensor), filename=_free_file(asset.filename, names.prefix or "joined", taken)
        )
        for asset in meta.assets
    ]


def _free_file(filename: str, folder: str, taken: Set[str]) -> str:
    while filename in taken:
        filename = f"{folder}/{filename}"
    return filename
