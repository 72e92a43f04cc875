"""All problems of a graph at once: nodes that cannot run, nodes that never run, contradictions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ..building.placement import DeviceSpec, Placement
from ..graph.callers import function_references
from ..graph.frames import LOOP_OPS, find_frames
from ..graph.graph import Function, Graph, Node, Output
from ..graph.node import are_checked
from ..graph.reference_ops import handle_hint, lacks_reference, leftover_hint
from ..graph.traversal import (
    descendants,
    forward_predecessors,
    is_in_order,
    nodes_of_kind,
    predecessors,
    reachable,
    strongly_connected,
)
from ..graph.variable_nodes import find_variables
from ..inference.inference import Inference, infer
from ..inference.node_calls import check_ranks
from ..registry import registry
from ..registry.catalog import CATALOG, OpDef
from ..registry.op_facts import ABSENT, has_fact
from ..registry.validation import attribute_faults, check_attrs, check_name, check_op_name, expected_inputs, is_importable
from ..support import dataclasses
from ..support.display import Rows
from ..support.errors import InvalidArgumentError, TfgError, nearest_names
from ..support.hints import Hint, command, option, step
from ..support.versions import GRAPH_VERSION, Versions
from ..support.words import counted
from ..types.dtypes import DType, resource
from ..types.shapes import NumberedShape, Shape, TensorSpec, merge_shapes
from ..types.tensors import Tensor
from .broken import fault_of
from .graph_facts import missing_among
from .node_listing import RECORDED_SHAPES
from .problem_codes import code_of

ERROR: Final = "error"
WARNING: Final = "warning"
_MAX_NAMES: Final = 8
"""How many nodes of a cycle are named."""


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """A problem: an error if the node cannot run as written, a warning if the author likely meant another thing.

    `function` names the function in whose body the node is; None for the graph itself.
    """

    severity: str
    """`error` if the node cannot run as written, or `warning`."""
    kind: str
    """A few words that all problems of the kind share, such as `unknown op`."""
    node: str | None
    """The name of the node; None for a problem of the graph."""
    op: str | None
    """The op of the node."""
    function: str | None
    """The function in whose body the node is; None for the graph itself."""
    message: str
    """The fault."""
    hint: str | None = None
    """The next step, if any is known."""
    code: str = ""
    """The kind as a word to look up and to ignore problems by, such as `unknown-op`."""

    def __post_init__(self) -> None:
        # Past the guard of a frozen class: the code follows from the kind, and no caller states both.
        object.__setattr__(self, "code", code_of(self.kind))


@dataclasses.dataclass(frozen=True, slots=True)
class CheckedBody:
    """A graph or a function's body, with the library of functions around the body."""

    graph: Graph
    functions: Mapping[str, Function]
    function: Function | None = None
    is_checked: bool = False
    """True if the check of a load finds no fault: then nodes of equal attributes take the same dtypes, and edges are sound."""
    dtypes: dict[tuple[str, int], Sequence[DType] | None] = dataclasses.field(default_factory=dict)
    """Memo of `_output_dtypes`, by op and identity of the attributes."""
    sound: set[Hashable] = dataclasses.field(default_factory=set)
    """What nodes without problems have in common with others, as `_likeness` says."""

    def problem(self, severity: str, kind: str, node: Node | None, message: str, hint: str | None = None) -> Problem:
        name, op = (node.name, node.op) if node is not None else (None, None)
        return Problem(severity, kind, name, op, self.function.name if self.function else None, message, hint)


def find_problems(
    graph: Graph, faults: Sequence[TfgError] = (), ignored: Collection[str] = (), inference: Inference | None = None
) -> Rows[Problem]:
    """Return all problems of a graph and of the functions, errors first; `faults` were met while the file was read.

    Problems with a code among `ignored` are left out. `inference` has the shapes of the graph, if the caller needs them too.
    """
    functions, unreadable = _functions_of(graph)
    problems = [Problem(ERROR, "file", fault.node, fault.op, None, fault.message, fault.hint) for fault in faults]
    problems += unreadable
    bodies = [
        CheckedBody(graph, functions, None, _passes_check(graph)),
        *(CheckedBody(f.body, functions, f, _passes_check(f.body)) for f in functions.values()),
    ]
    faulty = {fault.node for fault in faults}
    for body in bodies:
        # Names of nodes are unique in one body alone: the faults of the file are those of the graph's own nodes.
        of_graph = (faulty, inference) if body.function is None else (set[str | None](), None)
        problems += _of_body(body, graph.functions, *of_graph)
    problems += _versions(graph)
    problems += _unknown_ops(bodies)
    problems += _uninitialized(bodies[0])
    # A dictionary drops problems that two checks find, such as that of a function that is also a node's type, and keeps the
    # order.
    kept = dict.fromkeys(problem for problem in problems if problem.code not in ignored)
    return Rows(sorted(kept, key=lambda problem: problem.severity != ERROR))


def _passes_check(graph: Graph) -> bool:
    try:
        graph.check_changes()
    except TfgError:
        return False
    return True


def _functions_of(graph: Graph) -> tuple[dict[str, Function], list[Problem]]:
    """Return the functions that can be read, and a problem for each of the others."""
    functions, unreadable = {}, []
    for name in graph.functions:
        try:
            functions[name] = graph.functions[name]
        except TfgError as error:
            unreadable.append(Problem(ERROR, "function", error.node, error.op, name, error.message, error.hint))
    return functions, unreadable


def _of_body(
    body: CheckedBody, declared: Container[str], faulty: set[str | None], inference: Inference | None
) -> list[Problem]:
    problems = [problem for node in body.graph for problem in _of_node(body, node)]
    # An op that nobody declares may be called like a function, or take some.
    calling = nodes_of_kind(body.graph, lambda kind: (known := CATALOG.get(kind.op)) is None or known.takes_functions)
    problems += [problem for node in calling for problem in _calls(body, node, declared)]
    problems += _cycles(body)
    # Shapes and frames are told only of what is sound: a node with a wrong attribute would otherwise bring a problem for each
    # node behind it.
    broken = {problem.node for problem in problems if problem.severity == ERROR} | faulty
    problems += [problem for check in _BODY_CHECKS for problem in check(body)]
    return [*problems, *_loops(body, broken), *_contradictions(body, broken, inference)]


def _of_node(body: CheckedBody, node: Node) -> list[Problem]:
    """Return the problems that a node and its inputs show. Nodes that are alike are checked once if the first is sound: a
    large graph has tens of kinds of nodes.
    """
    likeness = _likeness(body, node)
    if likeness in body.sound and is_importable(node.name) and (body.is_checked or not node.control_inputs):
        return []
    checks = _OWN_CHECKS if likeness in body.sound else _NODE_CHECKS
    problems = [problem for check in checks for problem in check(body, node)]
    if not problems:
        body.sound.add(likeness)
    return problems


def _likeness(body: CheckedBody, node: Node) -> Hashable:
    """Return all that the checks look at but for names: op, attributes by identity, device and dtypes of the inputs."""
    # The check of a load knows no interface of a function that is called by name.
    if body.is_checked and node.checked is not None and node.checked.is_declared:
        return node.op, id(node.attrs), node.device
    arriving = []
    for value in node.inputs:
        dtypes = _output_dtypes(body, value.node)
        # What does not exist is like no other, and so differs from an output of an undeclared op.
        is_there = (dtypes is None or value.index < len(dtypes)) and body.graph.get(value.node.name) is value.node
        arriving.append(dtypes and dtypes[value.index] if is_there else value)
    return node.op, id(node.attrs), node.device, *arriving


def _unknown_ops(bodies: Sequence[CheckedBody]) -> Iterator[Problem]:
    """Yield op types that nobody declares, and op types of TensorFlow without a kernel in tfg."""
    nodes = (node for body in bodies for node in body.graph if node.op != ABSENT)
    for op in missing_among(nodes, bodies[0].functions):
        severity, kind = (WARNING, "no kernel") if op.known else (ERROR, "unknown op")
        hint = (
            Hint(f"read it as {op.map_to} with ", step("map_ops", ops={op.op: op.map_to}))
            if op.map_to
            else Hint("load your own kernels with ", option("op-library"))
        )
        message = f"{counted(op.count, 'node')} of this type: {op.reason}"
        yield Problem(severity, kind, op.nodes[0], op.op, None, message, hint)


def _names(body: CheckedBody, node: Node) -> Iterator[Problem]:
    for check, text in ((check_name, node.name), (check_op_name, node.op)):
        try:
            check(text)
        except InvalidArgumentError as error:
            yield body.problem(ERROR, "name", node, error.message, error.hint)
    # Nodes of function bodies are never imported by name, so TensorFlow takes any name there.
    if body.function is None and not is_importable(node.name):
        hint = Hint(step("optimize", passes=f"rename{{node={node.name}:NAME}}"), " renames it")
        yield body.problem(ERROR, "name", node, "TensorFlow cannot import a node with this name", hint)


def _device(body: CheckedBody, node: Node) -> Iterator[Problem]:
    """Yield a problem for a device that does not parse: TensorFlow cannot place the node."""
    try:
        DeviceSpec.parse(node.device)
    except InvalidArgumentError as error:
        yield body.problem(ERROR, "device", node, error.message, error.hint)


def _attributes(body: CheckedBody, node: Node) -> Iterator[Problem]:
    definition = _definition(body, node)
    if definition is None:
        return
    # A polymorphic function leaves attributes to its caller.
    left_open = body.function.signature.attrs if body.function else ()
    for message in attribute_faults(definition, node.attrs, left_open):
        yield body.problem(ERROR, "attribute", node, message, Hint(command("ops", node.op), " lists its attributes"))
    for name in node.attrs:
        # Attributes that start with `_` are annotations, which TensorFlow takes on every op.
        if name not in definition.attrs and not name.startswith("_"):
            yield body.problem(WARNING, "attribute", node, f"its op has no attribute '{name}'", None)


def _dangling_inputs(body: CheckedBody, node: Node) -> Iterator[Problem]:
    """Yield edges from nowhere."""
    for source in predecessors(node):
        if body.graph.get(source.name) is not source:
            yield body.problem(
                ERROR, "dangling input", node, f"input '{source.name}' is not in the graph", _near(body, source.name)
            )


def _inputs(body: CheckedBody, node: Node) -> Iterator[Problem]:
    """Yield inputs of other numbers or dtypes than the op takes."""
    definition = _definition(body, node)
    if definition is None:
        return
    # Many nodes share the result of the check that their attributes passed already.
    expected = node.checked.inputs if node.checked is not None and are_checked([node]) else None
    if expected is None or len(expected) != len(node.inputs):
        try:
            expected = expected_inputs(definition, node.attrs, len(node.inputs))
        except TfgError as error:
            yield body.problem(ERROR, "inputs", node, error.message, error.hint)
            return
    for index, (value, want) in enumerate(zip(node.inputs, expected or ())):
        yield from _input(body, node, index, value, want)


def _input(body: CheckedBody, node: Node, index: int, value: Output, want: DType | None) -> Iterator[Problem]:
    dtypes = _output_dtypes(body, value.node)
    if dtypes is None:
        return
    if value.index >= len(dtypes):
        yield body.problem(
            ERROR,
            "inputs",
            node,
            f"input {index} is '{value}', but '{value.node.name}' has only {counted(len(dtypes), 'output')}",
        )
    elif want is not None and not _fits(dtypes[value.index], want):
        got = dtypes[value.index]
        hint = leftover_hint(*_takers_of_reference(node)) if lacks_reference(got, want) else handle_hint(got, want)
        yield body.problem(ERROR, "dtype", node, f"input {index}, '{value}', has dtype {got}, not {want}", hint)


def _takers_of_reference(node: Node) -> Iterator[Node]:
    """Yield a node and the nodes that receive the node's reference in turn."""
    pending = [node]
    # The list grows on the way, and has each node once: references may go round in a loop.
    for taker in pending:
        yield taker
        if any(dtype.is_ref for dtype in taker.output_dtypes):
            pending += [user for user in taker.uses if user not in pending and _wants_reference(user, taker)]


def _wants_reference(user: Node, giver: Node) -> bool:
    try:
        expected = expected_inputs(user.op_def, user.attrs, len(user.inputs)) if user.op_def is not None else None
    except TfgError:
        return False
    return any(value.node is giver and want.is_ref for value, want in zip(user.inputs, expected or ()))


def _fits(got: object, want: object) -> bool:
    """Return True if dtypes agree; also if an attribute holds no dtype: other checks or the caller decide then."""
    if not isinstance(got, DType) or not isinstance(want, DType):
        return True
    # A reference serves where a value is wanted, and a value does not serve where a reference is.
    return got.base is want.base and not lacks_reference(got, want)


def _calls(body: CheckedBody, node: Node, declared: Container[str]) -> Iterator[Problem]:
    """Yield the missing functions that a node names; `_functions_of` reports functions that cannot be read."""
    for reference in function_references(node):
        if reference.name not in declared:
            message = f"it calls function '{reference.name}', which the library lacks"
            yield body.problem(ERROR, "function", node, message, nearest_names(reference.name, body.functions))


_Check: TypeAlias = Callable[[CheckedBody, Node], Iterable[Problem]]
_OWN_CHECKS: Final[Sequence[_Check]] = (_names, _dangling_inputs)
"""The checks of what nodes that are alike do not share."""
_NODE_CHECKS: Final[Sequence[_Check]] = (_names, _device, _attributes, _dangling_inputs, _inputs)


def _cycles(body: CheckedBody) -> Iterator[Problem]:
    """Yield a problem for every set of nodes that wait for each other; back edges of loops do not count."""
    # As in most files: nodes behind all that they wait for have no cycle.
    if body.graph.is_in_order or is_in_order(dict.fromkeys(body.graph), forward_predecessors):
        return
    for component in strongly_connected(body.graph, forward_predecessors):
        # A component of one node is a cycle only if the node waits for itself.
        if len(component) > 1 or component[0] in forward_predecessors(component[0]):
            names = " -> ".join(node.name for node in [*component[:_MAX_NAMES], component[0]])
            more = f" ({len(component)} nodes in total)" if len(component) > _MAX_NAMES else ""
            yield body.problem(
                ERROR,
                "cycle",
                component[0],
                f"it waits for itself: {names}{more}",
                "remove an edge of the cycle; only NextIteration -> Merge may close a cycle",
            )


def _colocation(body: CheckedBody) -> Iterator[Problem]:
    try:
        groups = Placement(body.graph).groups()
    # A `_class` of the wrong kind is reported for its node.
    except TfgError:
        return
    for group in groups:
        node = body.graph.get(group.root) or next(filter(None, map(body.graph.get, group.members)))
        for conflict in group.conflicts:
            yield body.problem(ERROR, "colocation", node, conflict, "give all nodes of the group the same device")
    yield from _dangling(body)


def _dangling(body: CheckedBody) -> Iterator[Problem]:
    """Yield nodes that name a missing node after `loc:@`, each of the names once, in the order of the graph."""
    # TensorFlow looks into a function only when it is called.
    severity = ERROR if body.function is None else WARNING
    hint = Hint(step("optimize", passes="repair"), " drops it")
    seen: set[str] = set()
    first: dict[int, Node] = {}
    for node in body.graph:
        first.setdefault(id(node.attrs), node)
    # Nodes share their attributes, so most lists of names are looked at once.
    for node in first.values():
        for name in node.colocation:
            if name not in body.graph and name not in seen and not _is_captured(body, name):
                seen.add(name)
                yield body.problem(severity, "colocation", node, f"loc:@{name} names a node that is not in the graph", hint)


def _is_captured(body: CheckedBody, name: str) -> bool:
    """Return True for the name that a captured tensor had outside of a function; the argument's name is made of it.

    The argument has lower-case letters, digits and `_` (NodeNameMapping in graph_to_functiondef.cc), maybe with a number.
    It also keeps the locations that the captured tensor had.
    """
    if body.function is None:
        return False
    if any(name in arg.colocation for arg in body.function.args):
        return True
    plain = re.sub("^[^a-z]*", "", re.sub("[^a-z0-9]", "_", name.lower()))
    return any(re.fullmatch(rf"{plain}(_\d+)?", arg.name) for arg in body.function.args)


def _unreached(body: CheckedBody) -> Iterator[Problem]:
    """Yield effects in a function that no result or control output needs, and checks that nobody waits for."""
    if body.function is None:
        for node in nodes_of_kind(body.graph, lambda kind: has_fact(kind.op, "side_effect") or has_fact(kind.op, "debug")):
            # An update is fetched by its name to train; a check or a print that nobody waits for was forgotten.
            if not node.uses and _observes(body, node):
                hint = "it runs only when fetched: add a control edge from it to another node"
                yield body.problem(WARNING, "unreached effect", node, "no node waits for it", hint)
        return
    needed = reachable([value.node for value in body.function.results] + body.function.control_results)
    for node in nodes_of_kind(body.graph, lambda kind: has_fact(kind.op, "side_effect")):
        if node not in needed:
            hint = "make it a control output of the function, or add a control edge from it to a result"
            yield body.problem(WARNING, "unreached effect", node, "no result of the function needs it", hint)


def _observes(body: CheckedBody, node: Node) -> bool:
    """Return True for a node with an effect that checks or prints the inputs and changes nothing."""
    hands_on = has_fact(node.op, "forwarding") or not (node.op_def and node.op_def.outputs)
    return hands_on and bool(node.inputs) and not any(_is_state(body, value) for value in node.inputs)


def _is_state(body: CheckedBody, value: Output) -> bool:
    """Return True for a value that a node may write to, or whose dtype is unknown."""
    dtypes = _output_dtypes(body, value.node) or ()
    return value.index >= len(dtypes) or dtypes[value.index].is_ref or dtypes[value.index] is resource


def _lacking(body: CheckedBody) -> Iterator[Problem]:
    """Yield constants whose elements are in files that are not there, a problem for each file."""
    constants = ((node, node.attrs.get("value")) for node in body.graph if node.is_constant)
    lacks = {str(value.lack): (node, value.lack) for node, value in constants if isinstance(value, Tensor) and value.lack}
    for node, error in lacks.values():
        yield body.problem(ERROR, "file", node, error.message, error.hint)


_BODY_CHECKS: Final[Sequence[Callable[[CheckedBody], Iterable[Problem]]]] = (_colocation, _unreached, _lacking)


def _loops(body: CheckedBody, broken: set[str | None]) -> Iterator[Problem]:
    """Yield the first node that leaves or joins a V1 loop outside of any loop, in the sound part of the body."""
    if not any(node.op in LOOP_OPS for node in body.graph):
        return
    try:
        find_frames(_sound_part(body, broken))
    except TfgError as error:
        name = body.function.name if body.function else None
        yield Problem(ERROR, "loop", error.node, error.op, name, error.message, error.hint)


def _contradictions(body: CheckedBody, broken: set[str | None], inference: Inference | None) -> Iterator[Problem]:
    """Yield contradictions of shapes in the sound part of the graph; `inference` is that of the whole graph, if known."""
    if body.function is not None:  # of a body with the shapes of its calls, which inference looks into
        return
    sound = _sound_part(body, broken)
    functions = {name: f for name, f in body.functions.items() if fault_of(f) is None}
    is_whole = sound is body.graph and len(functions) == len(body.functions)
    try:
        if inference is None or not is_whole:
            inference = infer(sound, functions=functions)
    except TfgError as error:
        yield Problem(ERROR, "shape", error.node, error.op, None, error.message, error.hint)
        return
    # TensorFlow's importer compares recorded shapes with those of its shape functions, right or wrong. A record that agrees
    # with either is no problem.
    others = _stated_specs(sound)
    stated = infer(sound, others, functions=functions) if others else inference
    ranked: dict[Hashable, Sequence[TensorSpec]] = {}
    passed: set[int] = set()
    nodes = list(sound)
    for node, derived in zip(nodes, inference.records_of(sound, nodes)):
        # Most nodes of a large graph: one of the same attributes and shapes has passed.
        if id(derived) in passed:
            continue
        reason = inference.reasons.get(node.name)
        if reason is None:
            faults = [*_ranks(body, node, inference, ranked)]
            if RECORDED_SHAPES in node.attrs:
                faults += _recorded(body, node, inference, stated)
            elif derived is not None and not faults:
                passed.add(id(derived))
            yield from faults
        elif node.op_def is not None and (node.op in body.functions or registry.shape_function(node.op) is not None):
            yield body.problem(ERROR, "shape", node, reason)


def _ranks(
    body: CheckedBody, node: Node, inference: Inference, ranked: dict[Hashable, Sequence[TensorSpec]]
) -> Iterator[Problem]:
    """Yield a problem if an input has a rank that TensorFlow refuses when the node is built. `ranked` gets the specs that
    passed, by op, attributes and their own identities.
    """
    if node.op_def is None:
        return
    specs = [inference.specs[value] for value in node.inputs]
    key = node.op, id(node.attrs), *map(id, specs)
    if key in ranked:
        return
    try:
        check_ranks(node, specs)
        ranked[key] = specs  # kept, so that no other spec gets the identity
    except InvalidArgumentError as error:
        yield body.problem(ERROR, "shape", node, error.message)


def _stated_specs(graph: Graph) -> dict[Output, TensorSpec]:
    """Return the specs of the outputs for which TensorFlow's shape functions state other shapes than its kernels give."""

    def stated(fact: str) -> list[Node]:
        return nodes_of_kind(graph, lambda kind: has_fact(kind.op, fact))

    pairs = [node.output() for node in stated(fact="stated_pair")]
    empty = [value for node in stated(fact="stated_reserves") for value in node.outputs()[-2:]]
    ends = [value for node in stated(fact="stated_sequences") for value in node.outputs()[-2:]]
    shapes = {
        **dict.fromkeys(pairs, Shape((2,))), **dict.fromkeys(empty, Shape((0,))), **dict.fromkeys(ends, Shape((None,))),
    }  # fmt: skip
    return {value: TensorSpec(value.base_dtype, shape) for value, shape in shapes.items()}


def _recorded(body: CheckedBody, node: Node, inference: Inference, stated: Inference) -> Iterator[Problem]:
    """Yield recorded shapes that contradict the inferred and the `stated` shapes: TensorFlow refuses the graph."""
    recorded = node.attrs[RECORDED_SHAPES]
    if not isinstance(recorded, list) or not all(isinstance(shape, Shape) for shape in recorded):
        return
    hint = Hint(step("optimize", passes=f"remove_attribute{{attribute={RECORDED_SHAPES}}}"), " drops it")
    if len(recorded) < len(node.output_dtypes):
        message = f"it records {counted(len(recorded), 'shape')} of {counted(len(node.output_dtypes), 'output')}"
        yield body.problem(ERROR, "attribute", node, message, hint)
        return
    for value, shape in zip(node.outputs(), recorded):
        try:
            if isinstance(shape, NumberedShape):
                raise InvalidArgumentError(f"is recorded as {shape!r}")
            if not _agree(stated.specs[value].shape, shape):
                merge_shapes(inference.specs[value].shape, shape)
        except InvalidArgumentError as error:
            message = f"the recorded shape {shape} of '{value}' is wrong: {error.message}"
            yield body.problem(ERROR, "attribute", node, message, hint)


def _agree(a: Shape, b: Shape) -> bool:
    try:
        merge_shapes(a, b)
    except InvalidArgumentError:
        return False
    return True


def _versions(graph: Graph) -> Iterator[Problem]:
    """Yield conflicts of the graph's versions with the versions of TensorFlow that can read the graph."""
    versions = graph.versions or Versions()
    hint = "read the graph with a newer TensorFlow"
    if versions.min_consumer > GRAPH_VERSION:
        message = f"it needs GraphDef version {versions.min_consumer} or later, but TensorFlow 2.21 has {GRAPH_VERSION}"
        yield Problem(ERROR, "version", None, None, None, message, hint)
    if versions.producer < 0:
        message = f"its producer version {versions.producer} is invalid"
        yield Problem(ERROR, "version", None, None, None, message, "build the graph again")
    if GRAPH_VERSION in versions.bad_consumers:
        message = f"it rejects GraphDef version {GRAPH_VERSION}, the version of TensorFlow 2.21"
        yield Problem(ERROR, "version", None, None, None, message, hint)


def _sound_part(body: CheckedBody, broken: set[str | None]) -> Graph:
    """Return the nodes that neither have a problem nor depend on a node with a problem; the graph itself if these are all."""
    tainted = descendants(node for node in body.graph if node.name in broken)
    if not tainted:
        return body.graph
    # In two passes, since a loop's back edge names a node that is not there yet.
    part = body.graph.emptied()
    part.functions = dict(body.functions)
    for node in body.graph:
        if node not in tainted:
            part.add_node(node.name, node.op, (), (), node.attrs, node.device)
    for node in part:
        origin = body.graph.node(node.name)
        inputs = [part.node(value.node.name).output(value.index) for value in origin.inputs]
        part.set_inputs(node, inputs, [part.node(control.name) for control in origin.control_inputs])
    return part


def _uninitialized(body: CheckedBody) -> Iterator[Problem]:
    """Yield variables that no assignment, restore or checkpoint of the model's own gives a first value."""
    meta = body.graph.meta
    # A saver restores the variables, whatever the graph assigns.
    if meta is not None and (meta.saver is not None or meta.start_steps):
        return
    for variable in find_variables(body.graph).values():
        if variable.initializer is None:
            ways = option("assign"), " or ", option("state")
            hint = Hint("set the value with ", *ways, ", or restore the variable from a checkpoint")
            yield body.problem(
                WARNING, "uninitialized", variable.node, f"no node initializes variable '{variable.name}'", hint
            )


def _definition(body: CheckedBody, node: Node) -> OpDef | None:
    """Return the signature of an op, or of the function that the node's type names."""
    function = None if node.op_def is not None else body.functions.get(node.op)
    return node.op_def if function is None else function.signature


def _output_dtypes(body: CheckedBody, node: Node) -> Sequence[DType] | None:
    """Return the dtypes of a node's outputs; None if the node does not declare them: another check reports that."""
    key = node.op, id(node.attrs)
    if key not in body.dtypes:
        body.dtypes[key] = _declared_dtypes(body, node)
    return body.dtypes[key]


def _declared_dtypes(body: CheckedBody, node: Node) -> Sequence[DType] | None:
    definition = _definition(body, node)
    if definition is None:
        return None
    try:
        check_attrs(definition, node.attrs)
        return definition.output_dtypes(node.attrs)
    except TfgError:
        return None


def _near(body: CheckedBody, name: str) -> str | None:
    return nearest_names(name, [node.name for node in body.graph])
