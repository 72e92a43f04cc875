"""Counting FLOPs from shapes: every node that a fetch runs, through functions, branches and loops."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from .. import registry
from ..control_flow import Frame
from ..dims import Dim, DimLike
from ..errors import InvalidArgumentError, TfgError
from ..frames import find_frames
from ..graph import Graph, Node, Output
from ..inference import Inference, call_flops_function, infer
from ..plan import needed_nodes
from ..registry import ZERO
from ..shapes import Shape, TensorSpec, as_shape
from .branches import not_taken
from .growth import Growth, changing, find_growth, unchanged
from .report import FlopsReport, NodeCost, magnitude, total
from .sections import classify
from .trips import for_trips, frame_trips, while_trips

_SOURCES = frozenset({"Const", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg", "NoOp", "ControlTrigger"})
_VARIABLES = frozenset({"VariableV2", "Variable", "VarHandleOp"})
_WHILES = ("While", "StatelessWhile", "_While")
_PASSING_ON = frozenset({"Identity", "ReadVariableOp", "Enter", "RefEnter", "Cast", "Switch", "RefSwitch", "StopGradient"})


def count_flops(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Iterable[str] = (),
    *,
    shapes: Mapping[str, Sequence[int | None] | Shape] | None = None,
    trips: Mapping[str, int] | None = None,
) -> FlopsReport:
    """Count everything that runs for `fetches`.

    Unknown dimensions of placeholders become symbols: the first dimension of all is N, others are named after the
    placeholder; `shapes` gives placeholders' shapes, `trips` the iterations of loops by frame or node name.
    """
    counter = _Counter(graph, trips or {})
    known, symbols = symbolic_placeholders(graph, shapes or {})
    counter.symbols.update(symbols)
    targets = [graph.output(name) if ":" in name else graph.node(name) for name in fetches]
    nodes = counter.count(targets, [graph.output(name) for name in feeds], known)
    return FlopsReport(tuple(fetches), tuple(nodes), counter.symbols, tuple(counter.notes))


def symbolic_placeholders(
    graph: Graph, shapes: Mapping[str, Sequence[int | None] | Shape]
) -> tuple[dict[Output, TensorSpec], dict[str, str]]:
    """Specs of all placeholders with symbols for what is unknown, and what the symbols mean.

    InvalidArgumentError for a shape given of a tensor that the graph has not.
    """
    given = {graph.output(name): as_shape(shape) for name, shape in shapes.items()}
    specs: dict[Output, TensorSpec] = {}
    symbols: dict[str, str] = {}
    for node in graph:
        if node.op.startswith("Placeholder") and node.output() not in given:
            declared = as_shape(node.attr("shape"))
            specs[node.output()] = TensorSpec(node.output_dtypes[0], _symbolic(node.name, declared, symbols))
    for output, shape in given.items():
        if output.dtype is None:
            raise InvalidArgumentError(f"the dtype of '{output}' is unknown", node=output.node.name, op=output.node.op)
        specs[output] = TensorSpec(output.dtype.base, _symbolic(output.node.name, shape, symbols))
    return specs, symbols


def _symbolic(name: str, shape: Shape, symbols: dict[str, str]) -> Shape:
    """The shape with a symbol for each unknown dimension: N for the first, others called after the placeholder."""
    if shape.dims is None:
        return shape
    dims: list[DimLike] = []
    for axis, dim in enumerate(shape.dims):
        if not isinstance(dim, int):
            symbol = "N" if axis == 0 else f"{name.rsplit('/', 1)[-1]}_{axis}"
            text = "the batch: dimension 0 of every placeholder" if axis == 0 else f"dimension {axis} of placeholder {name}"
            symbols.setdefault(symbol, text)
            dim = Dim.symbol(symbol)
        dims.append(dim)
    return Shape(dims)


class _Counter:
    """The state of one count: symbols handed out, notes taken, parameters already attributed."""

    def __init__(self, graph: Graph, trips: Mapping[str, int]) -> None:
        self.graph = graph
        self.trips = trips
        self.symbols: dict[str, str] = {}
        self.notes: list[str] = []
        self._seen_parameters: set[Node] = set()

    def count(
        self, targets: Sequence[Output | Node], feeds: Sequence[Output], known: Mapping[Output, TensorSpec]
    ) -> list[NodeCost]:
        """The cost of every node that runs for the targets; initializers that run with them are told apart."""
        needed = needed_nodes(targets, feeds)
        inference = self._inferred(self.graph, known)
        sections = classify(self.graph, needed, targets)
        frames = find_frames(self.graph) if any(node.op == "Enter" for node in needed) else {}
        scope = _Scope(self.graph, inference, "", 1, frames)
        return self._all(scope, needed, sections)

    def _all(self, scope: _Scope, needed: set[Node], sections: Mapping[Node, str]) -> list[NodeCost]:
        """The costs of all nodes that run, without those on branches of V1 conditionals that do not count."""
        costs = {node: self._node(node, scope, sections[node]) for node in scope.graph if node in needed}
        dropped, choices = not_taken(costs, scope.inference)
        self.notes += [str(choice) for choice in choices]
        return [cost for node, found in costs.items() if node not in dropped for cost in found]

    def _node(self, node: Node, scope: _Scope, section: str) -> list[NodeCost]:
        """The cost of a node, or of the bodies that it calls."""
        times = scope.times * self._frame_times(node, scope)
        expanded = self._called(node, scope, times, section)
        if expanded is not None:
            return expanded
        function = registry.flops_function(node.op)
        base = NodeCost(scope.prefix + node.name, node.op, section, ZERO, 0, 0, times)
        if function is None:
            reason = "its op is not declared" if node.op_def is None else f"op {node.op} has no FLOPs formula"
            return [dataclasses.replace(base, reason=reason)]
        inputs = [scope.inference.specs[value] for value in node.inputs]
        outputs = [scope.inference.specs[value] for value in node.outputs()]
        try:
            cost = call_flops_function(node, function, inputs, outputs)
        except TfgError as error:
            return [dataclasses.replace(base, reason=error.message)]
        if any(isinstance(v, Dim) and v.is_anonymous for v in (cost.flops, cost.macs, cost.transcendentals)):
            return [dataclasses.replace(base, reason=self._shape_reason(node, scope.inference))]
        return [
            dataclasses.replace(
                base,
                cost=cost * times,
                bytes=moved_bytes(node, inputs, outputs) * times,
                parameters=self._parameters(node, scope),
                is_free=cost == ZERO,
            )
        ]

    def _frame_times(self, node: Node, scope: _Scope) -> DimLike:
        """How often a node runs because of the V1 loops around it; the condition's one extra run is left out."""
        times: DimLike = 1
        frame = scope.frames.get(node)
        while frame is not None:
            if node.op not in ("Enter", "RefEnter", "Exit", "RefExit") or frame is not scope.frames.get(node):
                times = times * self._trips_of_frame(frame, scope)
            frame = frame.enclosing
        return times

    def _trips_of_frame(self, frame: Frame, scope: _Scope) -> DimLike:
        if frame not in scope.frame_trips:
            scope.frame_trips[frame] = self._decide_trips(frame.name, frame_trips(frame, scope.frames, scope.inference))
        return scope.frame_trips[frame]

    def _decide_trips(self, name: str, derived: DimLike | None) -> DimLike:
        """What the user says, what the graph says, or a symbol."""
        short = name.rstrip("/").rsplit("/", 1)[-1]
        for key in (name, name.rstrip("/"), short):
            if key in self.trips:
                self.notes.append(f"loop {name}: {self.trips[key]} iterations as given")
                return self.trips[key]
        if derived is not None:
            self.notes.append(f"loop {name}: {derived} iterations, derived from its condition")
            return derived
        symbol = f"trips[{short}]"
        self.symbols.setdefault(symbol, f"the iterations of loop {name}; --trips {short}=NUMBER sets them")
        return Dim.symbol(symbol)

    def _called(self, node: Node, scope: _Scope, times: DimLike, section: str) -> list[NodeCost] | None:
        """The nodes of the functions that a node calls, None where it calls none."""
        specs = [scope.inference.specs[value] for value in node.inputs]
        if node.op in self.graph.functions:
            return self._body(node.op, specs, scope, node, times, section)
        if node.op in ("PartitionedCall", "StatefulPartitionedCall", "RemoteCall"):
            return self._body(node.attr("f").name, specs, scope, node, times, section)
        if node.op in ("If", "StatelessIf", "_If"):
            names = {"then": node.attr("then_branch").name, "else": node.attr("else_branch").name}
            return self._branches(names, specs, scope, node, times, section)
        if node.op in ("Case", "StatelessCase"):
            names = {str(i): branch.name for i, branch in enumerate(node.attr("branches"))}
            return self._branches(names, specs, scope, node, times, section)
        if node.op in _WHILES:
            return self._while(node, specs, scope, times, section)
        if node.op == "For":
            rounds = self._decide_trips(node.name, for_trips(specs))
            index = TensorSpec(specs[0].dtype, specs[0].shape)
            return self._body(node.attr("body").name, [index, *specs[3:]], scope, node, times * rounds, section)
        if node.op == "MapDefun":
            mapped = len(node.attr("Targuments"))
            elements = [dataclasses.replace(s, shape=s.shape[1:], value=None) for s in specs[:mapped]]
            rounds = specs[0].shape[0]
            return self._body(node.attr("f").name, elements + specs[mapped:], scope, node, times * rounds, section)
        if node.op == "BatchFunction":
            return self._body(node.attr("f").name, specs, scope, node, times, section)
        return None

    def _while(
        self, node: Node, specs: Sequence[TensorSpec], scope: _Scope, times: DimLike, section: str
    ) -> list[NodeCost]:
        """A loop's condition and body; where its variables grow, each iteration at their sizes then."""
        condition, body = node.attr("cond").name, node.attr("body").name
        rounds = self._decide_trips(node.name, while_trips(self.graph, node, specs))
        growth = self._growth(node, specs) if isinstance(rounds, int) else None
        if growth is not None and isinstance(rounds, int):
            tests = self._body(condition, growth.specs, scope, node, times, section)
            return growth.summed(tests, rounds + 1) + growth.summed(
                self._body(body, growth.specs, scope, node, times, section), rounds
            )
        if body in self.graph.functions:
            specs = changing(self.graph.functions[body], specs)
        tests = self._body(condition, specs, scope, node, times * (rounds + 1), section)
        return tests + self._body(body, specs, scope, node, times * rounds, section)

    def _growth(self, node: Node, specs: Sequence[TensorSpec]) -> Growth | None:
        body = self.graph.functions.get(node.attr("body").name)
        return None if body is None else find_growth(body, specs, f"iteration of {node.name}", self.graph.functions)

    def _inferred(self, graph: Graph, known: Mapping[Output, TensorSpec]) -> Inference:
        """The shapes of a graph; those that leave a growing loop follow from how often it runs."""
        inference = infer(graph, known, self.graph.functions)
        found: dict[Output, TensorSpec] = {}
        for node in graph:
            if node.op in _WHILES and any(not _is_definite(inference.shape(value)) for value in node.outputs()):
                specs = [inference.specs[value] for value in node.inputs]
                rounds = while_trips(self.graph, node, specs)
                growth = self._growth(node, specs)
                if growth is not None and isinstance(rounds, int):
                    found |= dict(zip(node.outputs(), growth.after(rounds)))
        return infer(graph, {**known, **found}, self.graph.functions) if found else inference

    def _branches(
        self, names: Mapping[str, str], specs: Sequence[TensorSpec], scope: _Scope, node: Node, times: DimLike, section: str
    ) -> list[NodeCost]:
        """The branch that a known condition takes, or else the costlier one, with a note of what each costs."""
        found = {label: self._body(name, specs[1:], scope, node, times, section) for label, name in names.items()}
        costs = {label: total(nodes).flops for label, nodes in found.items()}
        known = _chosen(tuple(names), specs[0])
        taken = known or max(costs, key=lambda label: magnitude(costs[label]))
        listed = ", ".join(f"{label} {cost}" for label, cost in costs.items())
        reason = "is what runs" if known else "is counted"
        self.notes.append(f"branches of {scope.prefix}{node.name}: {listed} FLOPs; {taken} {reason}")
        return found[taken]

    def _body(
        self, name: str, specs: Sequence[TensorSpec], scope: _Scope, node: Node, times: DimLike, section: str
    ) -> list[NodeCost]:
        function = self.graph.functions.get(name)
        if function is None:
            raise InvalidArgumentError(f"the graph has no function '{name}'", node=node.name, op=node.op)
        if name in scope.calls:
            raise InvalidArgumentError(f"function '{name}' calls itself", node=node.name, op=node.op)
        known = {arg.output(): spec for arg, spec in zip(function.args, specs)}
        inference = self._inferred(function.body, known)
        needed = needed_nodes([*function.results, *function.control_results], list(known))
        frames = find_frames(function.body) if any(n.op == "Enter" for n in needed) else {}
        arguments = dict(zip(reversed(function.args), reversed(node.inputs)))
        if node.op in (*_WHILES, "For"):
            arguments = {arg: arguments[arg] for arg in unchanged(function) if arg in arguments}
        inner = _Scope(
            function.body, inference, f"{scope.prefix}{node.name}/", times, frames, scope.calls | {name}, scope, arguments
        )
        return self._all(inner, needed, dict.fromkeys(needed, section))

    def _parameters(self, node: Node, scope: _Scope) -> DimLike:
        """Elements of the variables, or weights frozen to constants, that this node is the first to read."""
        count: DimLike = 0
        if node.op in _PASSING_ON or node.op in _SOURCES or node.op in _VARIABLES:
            return 0
        for value in node.inputs:
            origin, home = _origin(value, scope)
            if origin is not None and origin.node not in self._seen_parameters:
                self._seen_parameters.add(origin.node)
                spec = home.inference.specs[origin]
                held = spec.handle[0] if spec.handle else spec
                count = count + held.shape.num_elements
        return count

    def _shape_reason(self, node: Node, inference: Inference) -> str:
        """Why the shapes at a node are unknown: where inference ended before it."""
        stack, seen = [node], set()
        while stack:
            current = stack.pop()
            if current.name in inference.reasons:
                return f"shapes end at node '{current.name}' ({current.op}): {inference.reasons[current.name]}"
            for value in current.inputs:
                spec = inference.specs[value]
                if value.node not in seen and not _is_definite(spec.shape):
                    seen.add(value.node)
                    stack.append(value.node)
        return "its shapes are unknown; `--shape NAME=DIMS` can give them"


@dataclasses.dataclass(slots=True)
class _Scope:
    """The graph or function body being counted: its specs, how often it runs, and how it was reached."""

    graph: Graph
    inference: Inference
    prefix: str
    times: DimLike
    frames: Mapping[Node, Frame]
    calls: frozenset[str] = frozenset()
    caller: _Scope | None = None
    arguments: Mapping[Node, Output] = dataclasses.field(default_factory=dict)
    """Where the body's arguments come from in the caller's graph; of a loop those that stay as they are."""
    frame_trips: dict[Frame, DimLike] = dataclasses.field(default_factory=dict)


def _chosen(labels: Sequence[str], condition: TensorSpec) -> str | None:
    """The branch for a condition whose value is known; numbers past the last case take it."""
    if condition.value is None or condition.value.size != 1 or isinstance(condition.value.item(), Dim):
        return None
    value = condition.value.item()
    if labels == ("then", "else"):
        return labels[0 if value else 1]
    return labels[value if 0 <= value < len(labels) else -1]


def _origin(value: Output, scope: _Scope) -> tuple[Output | None, _Scope]:
    """The variable, or the floating-point constant of rank 1 and more, that a value is read from, and the scope it is in."""
    while True:
        if value.node.op in _PASSING_ON and value.node.inputs:
            value = value.node.inputs[0]
        elif value.node in scope.arguments and scope.caller is not None:
            value, scope = scope.arguments[value.node], scope.caller
        else:
            break
    is_weight = value.node.op == "Const" and value.dtype is not None and value.dtype.is_floating
    if value.node.op in _VARIABLES or (is_weight and value.node.attrs["value"].shape):
        return value, scope
    return None, scope


def moved_bytes(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> DimLike:
    """Bytes read and written; ops that only pass a value on move none."""
    if node.op in _SOURCES or node.op in _VARIABLES or registry.has_fact(node.op, "forwarding"):
        return 0
    moved: DimLike = 0
    for spec in (*inputs, *outputs):
        if not spec.dtype.is_object and _is_definite(spec.shape):
            moved = moved + spec.shape.num_elements * spec.dtype.size
    return moved


def _is_definite(shape: Shape) -> bool:
    return shape.dims is not None and not any(isinstance(d, Dim) and d.is_anonymous for d in shape.dims)


