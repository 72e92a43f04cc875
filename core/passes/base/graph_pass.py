"""The base class of passes, a frozen dataclass whose fields are the pass's options, and the context of a pass."""

from __future__ import annotations

import collections
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from ...control_flow.frames import ENTER, NEXT_ITERATION, SWITCH
from ...control_flow.references import WrittenMemory, memory_outputs
from ...functions.call_kinds import PARTLY_READ, call_kind
from ...functions.callers import CallTable, calls_of
from ...functions.purity import CONTROL_FLOW, impurity
from ...graph.graph import Function, Graph, Node, Output
from ...graph.node_making import add_identity
from ...graph.traversal import descendants, forward_predecessors, sources_first, topological_order
from ...graph.variable_nodes import VARIABLES
from ...inference.inference import Answers, Inference, infer
from ...model.author_scopes import layer_of
from ...support import dataclasses
from ...support.tensor_names import parse_tensor_name
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from .accuracy import Accuracy, loosest
from .rule_sets import RuleSet


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """A refused change: the node, the rule, and the reason."""

    node: str
    """The node that stays."""
    rule: str
    """The rule that was not applied."""
    reason: str
    """Why the rule was not applied."""


@dataclasses.dataclass(frozen=True)
class Pass:
    """A change of a graph that preserves results.

    Subclasses are frozen dataclasses: their fields are the options of `--passes "name{option=value}"`. `requires` names the
    passes that must have run before.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    follows: ClassVar[str] = ""
    """The pass directly before this pass in the order; empty for the first pass."""
    requires: ClassVar[tuple[str, ...]] = ()
    in_default_pipeline: ClassVar[bool] = True
    is_final: ClassVar[bool] = False
    """True for a pass that runs once, after the others have reached a fixed point."""
    precedes: ClassVar[tuple[str, ...]] = ()
    """The passes that run once behind this final pass, if both are chosen, and not before the fixed point."""
    mends: ClassVar[bool] = False
    """True for a pass that accepts a graph whose nodes do not fit their ops; the pass runs before the graph is checked."""
    accuracy: ClassVar[Accuracy] = Accuracy.EXACT
    """The accuracy class of the pass's own changes; the rules of the pass state their own classes."""
    tolerance: ClassVar[float | None] = None
    """The tolerance for `--verify` of a pass whose changes exceed the tolerance of the accuracy class."""
    assumes: ClassVar[bool] = False
    """True for a pass after which the results are those of another use, which the user wants, such as inference."""
    rule_sets: ClassVar[tuple[RuleSet, ...]] = ()
    """The rules that the pass applies."""
    is_portable: ClassVar[bool] = True
    """False for a pass that makes ops which only tfg and TensorFlow on CPUs know; other readers of graphs do not."""
    keeps_cost: ClassVar[bool] = False
    """True for a pass that removes only nodes that never run or cost nothing: a run costs the same afterwards."""

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the options and their defaults."""
        return {field.name: field.default for field in dataclasses.fields(cls)}

    @classmethod
    def accuracies(cls) -> tuple[Accuracy, ...]:
        """Return the accuracy classes of the pass and its rules, the strictest first."""
        rules = [rule for one in cls.rule_sets for rule in one.rules]
        stated = {rule.accuracy for rule in rules} if rules else {cls.accuracy}
        relaxed = {Accuracy.RELAXED for rule in rules if rule.relaxed_where}
        return tuple(sorted(stated | relaxed, key=lambda one: one.rank))

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Change the graph in place; report changes and refusals to `ctx`."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, slots=True)
class WeightError:
    """The error of a constant that a pass stores in fewer bits: bytes before and after, and errors of its elements.

    `relative` is the root of the mean squared error over the root of the mean square.
    """

    layer: str
    """The layer that uses the constant."""
    weight: str
    """The name of the constant."""
    bytes_before: int
    """The bytes before the pass."""
    bytes_after: int
    """The bytes after the pass."""
    largest: float
    """The largest error of an element."""
    relative: float
    """The root of the mean squared error over the root of the mean square."""


class Settled(NamedTuple):
    """A leaf function whose body no pass changed: with a key of the arguments' specs, and the refusals."""

    function: Function
    specs: Hashable
    refused: tuple[Refusal, ...]


@dataclasses.dataclass(slots=True)
class SharedPassState:
    """The state shared by the contexts of a graph and of the functions that are optimized with the graph."""

    passes: Sequence[Pass] = ()
    """The passes that run, including passes that do not look into functions."""
    graph: Graph | None = None
    """The graph, with the library that all functions share."""
    answers: Answers = dataclasses.field(default_factory=Answers)
    """The inference results of the library's functions."""
    fast_math: bool = False
    """True where relaxed rules may be applied."""
    accuracies: dict[str, Accuracy] = dataclasses.field(default_factory=dict)
    """The classes of the rules that the pass has applied, here and in functions: of each the loosest."""
    copied: int = 0
    """The number of copied nodes of functions so far."""
    folding: float = 0.0
    """The seconds of computing that folding took so far."""
    settled: dict[str, Settled] = dataclasses.field(default_factory=dict)
    """The functions that need no second look, by name."""
    calls: CallTable = dataclasses.field(default_factory=CallTable)
    """The calls of the graph and of the functions."""
    is_called_anew: bool = True
    """True where functions may have been removed since the last update of `calls`."""
    impurities: dict[str, str | None] = dataclasses.field(default_factory=dict)
    """The reason why each function is impure, None for a pure function."""

    def forget_impure(self) -> None:
        """Forget impure functions: passes may remove effects, but add none."""
        self.impurities = {name: reason for name, reason in self.impurities.items() if reason is None}

    def update_calls(self, functions: Mapping[str, Function]) -> None:
        """Update the calls of functions added since the last update; of all functions after a pass has begun."""
        (self.calls.update if self.is_called_anew else self.calls.add)(functions)
        self.is_called_anew = False


class PassContext:
    """The shared context of passes: the nodes that must stay, the known shapes, and the record of changes."""

    def __init__(
        self,
        graph: Graph,
        fetches: Sequence[Output | Node],
        feeds: Sequence[Output] = (),
        keep: Iterable[str] = (),
        overridable: Sequence[Output] = (),
        start: Iterable[Node] = (),
        function: str = "",
        specs: Mapping[Output, TensorSpec] | None = None,
        shared: SharedPassState | None = None,
    ) -> None:
        self.graph = graph
        self.shared = shared or SharedPassState()
        self.shared.graph = self.shared.graph or graph
        self.function = function
        """The name of the function with this body, empty for the graph itself."""
        self._specs = dict(specs or {})
        self.fetches = {f.node.name if isinstance(f, Output) else f.name for f in fetches}
        self.fetched_outputs = {f.name for f in fetches if isinstance(f, Output)}
        self.always_fed = {f.name for f in feeds}
        self.feeds = self.always_fed | {f.name for f in overridable}
        """The tensors that are fed in every run, and the tensors that a run may feed or compute."""
        self._fed_nodes = {f.node.name for f in (*feeds, *overridable)}
        self.keep = frozenset(keep)
        self.start = {node.name for node in start} - self.fetches
        """The operations that run once, when a session starts."""
        self.fired: collections.Counter[str] = collections.Counter()
        self.weight_errors: list[WeightError] = []
        """The errors of the constants that the pass stores in fewer bits."""
        self.notes: list[str] = []
        """What the user should know of the pass, in sentences."""
        self.refusals: dict[tuple[str, str], Refusal] = {}
        self.fates: dict[str, str] = {}
        """The fate of each removed node: node name -> description."""
        self._inference: Inference | None = None
        self._inside: set[Node] | None = None
        self._effects: dict[Node, bool] = {}
        self._memory = WrittenMemory()
        self._calls: Mapping[str, int] | None = None
        self._size = len(graph)
        self._order: tuple[int, list[Node]] | None = None

    def begin_pass(self) -> None:
        """Reset the record of the previous pass and the facts about the graph before the pass."""
        has_changed = bool(self.fired) or len(self.graph) != self._size
        self._size = len(self.graph)
        self.fired, self.refusals, self.weight_errors, self.notes = collections.Counter(), {}, [], []
        self._inside, self._effects, self._memory, self._calls = None, {}, WrittenMemory(), None
        if not self.function:
            self.shared.accuracies = {}
            self.shared.impurities.clear()
            self.shared.is_called_anew = True
        elif has_changed:
            self.shared.forget_impure()
        if has_changed and self._inference is not None:
            specs = self._inference.specs
            if any(output not in specs for node in self.graph for output in node.outputs()):
                self._inference = None

    def is_preserved(self, node: Node) -> bool:
        """Return True for nodes that must keep their name and meaning: fetched, fed, named by the user, or run at the
        start.
        """
        return any(node.name in names for names in (self.fetches, self._fed_nodes, self.keep, self.start))

    def is_fed(self, output: Output) -> bool:
        """Return True where a feed replaces the value."""
        return output.name in self.feeds

    def fire(self, rule: str, node: Node | str, fate: str = "", accuracy: Accuracy | None = None) -> None:
        """Record that `rule` changed a node, the fate of the node, and the rule's accuracy class, if any."""
        name = node if isinstance(node, str) else node.name
        self.fired[rule] += 1
        if accuracy is not None:
            self.shared.accuracies[rule] = loosest((accuracy, self.shared.accuracies.get(rule, accuracy)))
        if fate:
            before = self.fates.get(name)
            self.fates[name] = fate if before in (None, fate) else f"{before}, then {fate}"

    def refuse(self, rule: str, node: Node | str, reason: str) -> None:
        """Record that `rule` was not applied at a node; a node in a function is named `function: node`."""
        name = node if isinstance(node, str) else node.name
        self.refusals[name, rule] = Refusal(name, rule, reason)

    def note_error(self, node: Node, exact: Any, stored: Any, bytes_after: int) -> None:
        """Record the error of a constant: its elements, and the elements that a run reads afterwards."""
        error, exact = np.abs(stored - exact).astype(np.float64), exact.astype(np.float64)
        size = float(np.sqrt(np.mean(np.square(exact)))) if exact.size else 0.0
        relative = float(np.sqrt(np.mean(np.square(error)))) / size if size else 0.0
        reader = next(iter(node.uses), None)
        layer = layer_of(node.name, reader.name if reader is not None else "")
        bytes_before = exact.size * node.attrs["dtype"].size
        largest = float(error.max(initial=0.0))
        self.weight_errors.append(WeightError(layer, node.name, bytes_before, bytes_after, largest, relative))

    def forget_inference(self) -> None:
        """Discard the inference: some outputs have other values than before."""
        self._inference = None

    @property
    def inference(self) -> Inference:
        """Return the shapes and constant values of the current graph."""
        if self._inference is None:
            # A feed may have any shape, whatever its node computes; that of a placeholder a session checks.
            specs = {
                output: TensorSpec(output.dtype.base, Shape())
                for name in self.feeds
                if parse_tensor_name(name)[0] in self.graph
                if (output := self.graph.output(name)).dtype is not None and not output.node.is_placeholder
            }
            specs |= self._specs
            self._inference = infer(self.graph, specs, answers=self.shared.answers)
            hidden = self._results_of_effects(self._inference)
            if hidden:  # once more, as values of their readers followed from them
                self._inference = infer(self.graph, specs | hidden, answers=self.shared.answers)
        return self._inference

    def _results_of_effects(self, inference: Inference) -> dict[Output, TensorSpec]:
        """Return the results of calls with effects, without values: a reader of a result makes the call's effects happen."""
        return {
            output: dataclasses.replace(inference.specs[output], value=None)
            for node in self.graph
            if call_kind(self.graph.functions, node) is not None and self.acts(node)
            for output in node.outputs()
            if inference.specs[output].value is not None
        }

    def shape(self, output: Output) -> Shape:
        """Return the inferred shape of an output."""
        return self.inference.specs[output].shape if output in self.inference.specs else Shape()

    def value(self, output: Output) -> Any:
        """Return the value of an output where inference knows the full value, else None."""
        spec = self.inference.specs.get(output)
        is_known = spec is not None and spec.value is not None and spec.value.dtype != object and not self.is_fed(output)
        return spec.value if is_known and spec is not None else None

    def constant_value(self, output: Output) -> Any:
        """Return the array of a Const that no feed replaces, else None; None also for a huge array stored as a single
        element.
        """
        if not output.node.is_constant or self.is_fed(output):
            return None
        value = output.node.constant_value()
        is_there = value.nbytes <= _SPREAD or value.nbytes <= output.node.attrs["value"].stored_bytes
        return value if is_there else None

    def repeated(self, output: Output) -> Output | None:
        """Return the scalar that a Fill repeats; None for another value, and where a feed replaces the value."""
        return output.node.inputs[1] if output.node.op == "Fill" and not self.is_fed(output) else None

    def is_filled(self, output: Output, number: float) -> bool:
        """Return True for a non-empty Const, not fed, whose elements all equal `number`, and for a Fill with such a Const."""
        output = self.repeated(output) or output
        if not output.node.is_constant or self.is_fed(output):
            return False
        output.node.constant_value()
        elements = output.node.attrs["value"].distinct()
        return elements.dtype != object and elements.size > 0 and bool(np.all(elements == number))

    def is_inside(self, node: Node) -> bool:
        """Return True where a node may lie in a loop or on a branch: after an Enter or a Switch."""
        return node in self.inside

    @property
    def inside(self) -> set[Node]:
        """All nodes that come after an Enter or a Switch."""
        if self._inside is None:
            self._inside = descendants(node for node in self.graph if node.op in (*ENTER, *SWITCH))
        return self._inside

    def has_effects(self, node: Node) -> bool:
        """Return True where the node or an ancestor of the node has effects, in any iteration of a loop."""
        known = self._effects
        if not known and any(each.op in NEXT_ITERATION for each in self.graph):
            known |= dict.fromkeys(descendants(each for each in self.graph if self.acts(each)), True)
        if node not in known:
            for each in sources_first(node, lambda each: (s for s in forward_predecessors(each) if s not in known)):
                known[each] = self.acts(each) or any(known.get(source) for source in forward_predecessors(each))
        return known[node]

    def acts(self, node: Node) -> bool:
        """Return True for a node that has effects of its own."""
        if node.is_placeholder or node.is_argument or node.is_variable_read or node.op in (*VARIABLES, *CONTROL_FLOW):
            return False
        return self.impurity(node) is not None

    def impurity(self, node: Node) -> str | None:
        """Return the reason why a node is impure, None for a pure node; functions are analysed once per pass."""
        return impurity(self.graph, node, self.shared.impurities)

    def is_shared(self, function: str) -> bool:
        """Return True where several nodes call a function, at the beginning of the pass."""
        table, own = self._called()
        return table.count(function, but=self.function) + own[function] > 1

    def calls_itself(self, function: str) -> bool:
        """Return True for a recursive function, directly or through other functions, at the beginning of the pass."""
        return self._called()[0].calls_itself(function)

    def _called(self) -> tuple[CallTable, Mapping[str, int]]:
        """Return the calls of the graph and all functions, and this graph's number of calls of each function."""
        table = self.shared.calls
        if self._calls is None:
            self._calls = calls_of(self.graph)
            self.shared.update_calls(self.graph.functions)
            if not self.function:
                table.note("", self.graph)
        return table, self._calls

    def anchors(self, node: Node, values: Sequence[Output] | None = None) -> list[Node]:
        """Return the nodes that a constant in the place of `node` must wait for: effects, and in a loop or on a branch the
        inputs.

        With `values`, only the listed inputs count.
        """
        nodes = list(node.control_inputs)
        for value in node.inputs if values is None else values:
            if value.node.is_constant:
                nodes += value.node.control_inputs
            elif self.is_inside(node) or self.has_effects(value.node):
                nodes.append(self.anchor(value))
        return list(dict.fromkeys(nodes))

    def runs_as_read(self, node: Node) -> bool:
        """Return True where waiting for a node runs less than reading the node.

        A Switch runs whichever branch is taken; of a call or a conditional with effects, only the part runs that leads to a
        result with a reader.
        """
        return node.op in SWITCH or (node.op in PARTLY_READ and self.acts(node))

    def anchor(self, value: Output) -> Node:
        """Return a node that runs where `value` is alive, and reads `value` where reading makes more run."""
        if value.dtype is None or not self.runs_as_read(value.node):
            return value.node
        name = f"{value.node.name}/output_{value.index}"
        return add_identity(self.graph, name, value, value.dtype.base, device=value.node.device)

    def replace(self, node: Node, value: Output, rule: str, fate: str, accuracy: Accuracy | None = None) -> bool:
        """Replace the first output of `node` by `value` and drop the node; the node's control inputs move to the consumers.

        A preserved node stays, as an Identity of `value`. False, and no change, for a node that is such an Identity
        already, and where control edges could not be moved, or would multiply.
        """
        if not self.is_preserved(node) and self._holds_controls(node, value):
            self.refuse(rule, node, "its control edges cannot move to control flow, or to a partially executed call")
            return False
        if not self.is_preserved(node) and _would_multiply(node):
            self.refuse(rule, node, "the number of control edges would grow")
            return False
        if not memory_outputs(node) and self.is_written_memory(value):
            self.refuse(rule, node, "its value is constant, but the memory of the variable behind it is not")
            return False
        if self.is_preserved(node):
            if node.is_identity and node.inputs == (value,):
                return False
            dtype = value.dtype.base if value.dtype is not None else node.attrs["T"]
            become(self.graph, node, "Identity", [value], {"T": dtype}, node.control_inputs)
            self.fire(rule, node, f"an Identity of {value.name} ({fate})", accuracy)
            return True
        for consumer in list(node.uses):
            for control in node.control_inputs:
                self.graph.add_control_input(consumer, control)
        self.graph.replace_all_uses(node.output(), value)
        self.graph.replace_control_uses(node, value.node)
        self.fire(rule, node, fate, accuracy)
        if not node.uses:
            self.graph.remove_node(node)
        return True

    def is_written_memory(self, value: Output) -> bool:
        """Return True for the memory of a variable that some node writes to: the time of the read may matter."""
        return self._memory.holds(value)

    def keep_order(self, node: Node, made: Iterable[Node]) -> None:
        """Let the nodes `made` for a node that read a written variable's memory wait for all that the node waited for.

        For any other value it is enough that the consumers of the replacement wait.
        """
        if node.control_inputs:
            for one in made:
                if one is not node and any(map(self.is_written_memory, one.inputs)):
                    self.graph.set_inputs(one, one.inputs, dict.fromkeys((*one.control_inputs, *node.control_inputs)))

    def _holds_controls(self, node: Node, value: Output) -> bool:
        """Return True where a control edge would move to an op that gives control edges another meaning."""
        if node.control_inputs and any(user.op in CONTROL_FLOW for user in node.uses):
            return True
        return self.runs_as_read(value.node) and bool(self.graph.control_consumers(node))

    def order(self) -> list[Node]:
        """Return the current nodes in topological order."""
        if self._order is None or self._order[0] != self.graph.edits:
            self._order = self.graph.edits, topological_order(self.graph)
        return list(self._order[1])


def _would_multiply(node: Node) -> bool:
    """Return True where bypassing a node would multiply control edges, at the node or at nodes that collect the edges of
    others.
    """
    count = len(node.control_inputs)
    return count > _FEW and count * len(node.uses) > _MANY


_FEW: Final = 16
_MANY: Final = 64

_SPREAD: Final = 10 * 2**20
"""The size, in bytes, up to which a pass expands a constant stored as a single repeated element."""


def identity_of(dtypes: Sequence[DType]) -> tuple[str, dict[str, Any]]:
    """Return the op that passes values of the dtypes on, and the op's attributes: Identity, IdentityN, or NoOp for none."""
    if not dtypes:
        return "NoOp", {}
    return ("Identity", {"T": dtypes[0]}) if len(dtypes) == 1 else ("IdentityN", {"T": list(dtypes)})


def become(
    graph: Graph,
    node: Node,
    op: str,
    inputs: Sequence[Output],
    attrs: Mapping[str, Any],
    control_inputs: Iterable[Node] | None = None,
) -> None:
    """Turn a node into another op under the same name; attributes that start with `_` stay."""
    private = {key: value for key, value in node.attrs.items() if key.startswith("_") and key != "_output_shapes"}
    node.change_op(op, {**attrs, **private})
    graph.set_inputs(node, inputs, control_inputs)
