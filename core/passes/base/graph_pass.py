"""The base class of passes, a frozen dataclass whose fields are the pass's options, and the context of a pass.

Passes share ways to write their options as text, to search the descendants of nodes, and to change copies of functions.
"""

from __future__ import annotations

import collections
import heapq
import itertools
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar, Final, dataclass_transform

import numpy as np

from ...explaining.author_scopes import layer_of
from ...graph.call_kinds import PARTLY_READ, call_kind
from ...graph.callers import CallTable, calls_of, reached_functions
from ...graph.deadness import Deadness
from ...graph.frames import ENTER, NEXT_ITERATION, SWITCH
from ...graph.graph import Function, Graph, Node, Output
from ...graph.instantiation import instantiate
from ...graph.node_making import add_argument, add_identity
from ...graph.purity import CONTROL_FLOW, impurity
from ...graph.references import WrittenMemory, any_reference, memory_outputs
from ...graph.traversal import descendants, forward_predecessors, nodes_of_kind, sources_first, topological_order
from ...graph.variable_nodes import VARIABLES
from ...inference.inference import Answers, Inference, infer
from ...planning.reachability import needed_nodes
from ...registry.catalog import ArgDef, OpDef, split_top
from ...registry.op_facts import has_fact
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...support.tensor_names import free_name, parse_tensor_name
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ...types.tensors import FuncRef
from .accuracy import Accuracy, RuleSet, loosest


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """A refused change: the node, the rule, and the reason."""

    node: str
    """The node that stays."""
    rule: str
    """The rule that was not applied."""
    reason: str
    """Why the rule was not applied."""


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
@dataclasses.dataclass(frozen=True)
class Pass:
    """A change of a graph that preserves results.

    All passes are frozen dataclasses: their fields are the options of `--passes "name{option=value}"`. `requires` names the
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

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(frozen=True)(cls)

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
    """True if relaxed rules may be applied."""
    accuracies: dict[str, Accuracy] = dataclasses.field(default_factory=dict)
    """The classes of the rules that the pass has applied, here and in functions: of each the loosest."""
    copied: int = 0
    """The number of copied nodes of functions so far."""
    folding: float = 0.0
    """The seconds of computing that folding took so far."""
    calls: CallTable = dataclasses.field(default_factory=CallTable)
    """The calls of the graph and of the functions."""
    is_called_anew: bool = True
    """True if functions may have been removed since the last update of `calls`."""
    impurities: dict[str, str | None] = dataclasses.field(default_factory=dict)
    """The reason why each function is impure, None for a pure function."""


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
        self.fed_nodes = {f.node.name for f in (*feeds, *overridable)}
        """The names of the nodes of `feeds`."""
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
        self._deadness = Deadness(counts_loops=True)
        self._effects: dict[Node, bool] = {}
        self._has_actors: bool | None = None
        self._memory = WrittenMemory()
        self._calls: Mapping[str, int] | None = None
        self._size = len(graph)
        self._pure: set[str] | None = None
        self._elements: dict[Node, Any] = {}

    def begin_pass(self) -> None:
        """Reset the record of the previous pass and the facts about the graph before the pass."""
        has_changed = bool(self.fired) or len(self.graph) != self._size
        self._size = len(self.graph)
        self.fired, self.refusals, self.weight_errors, self.notes = collections.Counter(), {}, [], []
        # These are facts of the graph as a pass finds it. They are not kept up to date within a pass, since rewrites add
        # neither effects nor writes; rules enter new nodes in `inside` themselves.
        self._inside, self._effects, self._has_actors, self._memory, self._calls = None, {}, None, WrittenMemory(), None
        self._pure, self._elements, self._deadness = None, {}, Deadness(counts_loops=True)
        if not self.function:
            self.shared.accuracies = {}
            self.shared.impurities.clear()
            self.shared.is_called_anew = True
        # A body is optimized inside a pass of the whole graph: the answers about other functions stay, but this body may have
        # lost its effects.
        elif has_changed:
            impurities = self.shared.impurities
            self.shared.impurities = {name: reason for name, reason in impurities.items() if reason is None}
        if has_changed and self._inference is not None:
            specs = self._inference.specs
            # A rewrite keeps the values of the nodes that stay, so the specs of before still hold. Only new nodes need another
            # inference, which is the most expensive part of a pass on a large graph.
            if any(output not in specs for node in self.graph for output in node.outputs()):
                self._inference = None

    def is_preserved(self, node: Node) -> bool:
        """Return True for nodes that must keep name and meaning: fetched, fed, named by the user, or run at the start."""
        name = node.name
        return name in self.fetches or name in self.fed_nodes or name in self.keep or name in self.start

    def is_fed(self, output: Output) -> bool:
        """Return True if a feed replaces the value."""
        # First by the node, whose name need not be put together: rules ask of each input, and hardly any is fed.
        return output.node.name in self.fed_nodes and output.name in self.feeds

    def has_fed_output(self, node: Node) -> bool:
        """Return True if a feed replaces any output of the node."""
        return node.name in self.fed_nodes and any(map(self.is_fed, node.outputs()))

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
        # In float64, since the squares of halves overflow from 256 on.
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
            for node in nodes_of_kind(self.graph, lambda kind: call_kind(self.graph.functions, kind) is not None)
            if self.acts(node)
            for output in node.outputs()
            if inference.specs[output].value is not None
        }

    def shape(self, output: Output) -> Shape:
        """Return the inferred shape of an output."""
        return self.inference.specs[output].shape if output in self.inference.specs else Shape()

    def value(self, output: Output) -> Any:
        """Return the value of an output if inference knows the full value, else None."""
        spec = self.inference.specs.get(output)
        is_known = spec is not None and spec.value is not None and spec.value.dtype != object and not self.is_fed(output)
        return spec.value if is_known and spec is not None else None

    def constant_value(self, output: Output) -> Any:
        """Return the array of a Const that no feed replaces; None for others, and for a huge array of one element."""
        if not output.node.is_constant or self.is_fed(output):
            return None
        value = output.node.constant_value()
        # A few bytes of a file can stand for gigabytes of equal elements. A pass that computed with all of them would run out
        # of memory before any limit of a run applies.
        is_there = value.nbytes <= _SPREAD or value.nbytes <= output.node.stored_bytes()
        return value if is_there else None

    def repeated(self, output: Output) -> Output | None:
        """Return the scalar that a Fill repeats; None for another value, and if a feed replaces the value."""
        return output.node.inputs[1] if output.node.op == "Fill" and not self.is_fed(output) else None

    def is_filled(self, output: Output, number: float) -> bool:
        """Return True for a non-empty Const, not fed, whose elements all equal `number`, and for a Fill with such a Const."""
        output = self.repeated(output) or output
        if not output.node.is_constant or self.is_fed(output):
            return False
        # Kept during a pass, as a thousand nodes may read the same constant, and several rules ask.
        if output.node not in self._elements:
            output.node.constant_value()
            # `constant_value` raises the error of damaged elements with the node's name, and `distinct` without.
            self._elements[output.node] = output.node.attrs["value"].distinct()
        elements = self._elements[output.node]
        if elements.dtype == object or not elements.size:
            return False
        # The first element alone rules out most constants.
        return bool(elements.item(0) == number) and bool(np.all(elements == number))

    def is_inside(self, node: Node) -> bool:
        """Return True if a node may lie in a loop or on a branch: after an Enter or a Switch."""
        return node in self.inside

    @property
    def inside(self) -> set[Node]:
        """All nodes that come after an Enter or a Switch."""
        if self._inside is None:
            self._inside = descendants(node for node in self.graph if node.op in (*ENTER, *SWITCH))
        return self._inside

    def has_effects(self, node: Node) -> bool:
        """Return True if the node or an ancestor of the node has effects, in any iteration of a loop."""
        known = self._effects
        # In most graphs for inference no node acts, and no path has to be searched.
        if self._has_actors is None:
            self._has_actors = any(each.op not in self._pure_ops and self.acts(each) for each in self.graph)
        if not self._has_actors:
            return False
        if not known and any(each.op in NEXT_ITERATION for each in self.graph):
            # In a loop a node also comes after what follows it in the body, by the back edge. Forward edges alone, as below,
            # would miss the effects of the iteration before.
            known |= dict.fromkeys(descendants(each for each in self.graph if self.acts(each)), True)
        if node not in known:
            for each in sources_first(node, lambda each: (s for s in forward_predecessors(each) if s not in known)):
                known[each] = self.acts(each) or any(known.get(source) for source in forward_predecessors(each))
        return known[node]

    def acts(self, node: Node) -> bool:
        """Return True for a node that has effects of its own."""
        # Nearly all nodes are pure, and are spared the other questions.
        if self.impurity(node) is None or node.is_placeholder or node.is_argument or node.is_variable_read:
            return False
        return node.op not in (*VARIABLES, *CONTROL_FLOW)

    def impurity(self, node: Node) -> str | None:
        """Return the reason why a node is impure, None for a pure node; functions are analysed once per pass."""
        return None if node.op in self._pure_ops else impurity(self.graph, node, self.shared.impurities)

    @property
    def _pure_ops(self) -> set[str]:
        """The ops of the graph that make every node pure; none where a node gives a reference, which others may take."""
        if self._pure is None:
            kinds = {node.op: node for node in self.graph}.values()
            has_references = any_reference(self.graph) or any(kind.op_def is None for kind in kinds)
            known = [kind for kind in kinds if kind.op_def is not None and not kind.op_def.takes_functions]
            self._pure = set() if has_references else {kind.op for kind in known if impurity(self.graph, kind) is None}
        return self._pure

    def is_shared(self, function: str) -> bool:
        """Return True if several nodes call a function, at the beginning of the pass."""
        table, own = self._called()
        # The table has the calls of this body as they were when the pass began on the whole graph; earlier rewrites of the
        # body may have removed some, so its own are counted anew.
        return table.count(function, but=self.function) + own[function] > 1

    def calls_itself(self, function: str) -> bool:
        """Return True for a recursive function, directly or through other functions, at the beginning of the pass."""
        return self._called()[0].calls_itself(function)

    def _called(self) -> tuple[CallTable, Mapping[str, int]]:
        """Return the calls of the graph and all functions, and this graph's number of calls of each function."""
        table = self.shared.calls
        if self._calls is None:
            self._calls = calls_of(self.graph)
            # All anew after a pass has begun, and then only the functions that were added.
            (table.update if self.shared.is_called_anew else table.add)(self.graph.functions)
            self.shared.is_called_anew = False
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
                # A constant itself is no node worth waiting for: it would be kept alive by the edge. What it waits for may be.
                nodes += value.node.control_inputs
            elif self.is_inside(node) or self.has_effects(value.node):
                nodes.append(self.anchor(value))
        return list(dict.fromkeys(nodes))

    def runs_as_read(self, node: Node) -> bool:
        """Return True if waiting for a node runs less than reading the node.

        A Switch runs whichever branch is taken; of a call or a conditional with effects, only the part runs that leads to a
        result with a reader.
        """
        # A control edge from a Switch is alive whichever output is, so it says less than an edge from one of the outputs.
        return node.op in SWITCH or (node.op in PARTLY_READ and self.acts(node))

    def anchor(self, value: Output) -> Node:
        """Return a node that runs where `value` is alive, and reads `value` if reading makes more run."""
        if value.dtype is None or not self.runs_as_read(value.node):
            return value.node
        name = f"{value.node.name}/output_{value.index}"
        return add_identity(self.graph, name, value, value.dtype.base, device=value.node.device)

    def keep_branch(self, node: Node, before: Sequence[Output], value: Output) -> None:
        """Let a node with the inputs `before` wait for those that may be dead where its replacement `value` is alive."""
        self._wait(node, self._dead_more_often(node, before, value))

    def _wait(self, node: Node, values: Iterable[Output]) -> None:
        for value in values:
            self.graph.add_control_input(node, self.anchor(value))

    def _dead_more_often(self, node: Node, before: Sequence[Output], value: Output) -> list[Output]:
        """Return those of the inputs `before` of a node that may be dead where its replacement `value` is alive.

        A loop has a value from outside in the last test of its condition, too: in the place of a value of the body, which is
        dead then, it would begin iterations without end.
        """
        others = [v for v in before if v != value]
        if not others or not self.is_inside(node):
            return []
        try:
            # A node that was changed in place has the condition of its new inputs.
            kept = self._deadness.of_values(node.inputs if value.node is node else [value])
            return [v for v in others if not self._deadness.of_value(v) <= kept]
        except InvalidArgumentError:  # nodes wait for each other: the graph has no runs
            return []

    def replace(self, node: Node, value: Output, rule: str, fate: str, accuracy: Accuracy | None = None) -> bool:
        """Replace the first output of `node` by `value` and drop the node; the node's control inputs move to the consumers.

        A preserved node stays, as an Identity of `value`, and so does one that hands `value` to control flow on its branch
        alone. False, and no change, for a node that is such an Identity already, and if control edges could not be moved, or
        would multiply.
        """
        lost = self._dead_more_often(node, node.inputs, value)
        is_gate = bool(lost) and any(user.op in CONTROL_FLOW for user in node.uses)
        stays = is_gate or self.is_preserved(node)
        # The refusals come before the first change: a replacement is made as a whole or not at all.
        if not stays and self._holds_controls(node, value):
            self.refuse(rule, node, "its control edges cannot move to control flow, or to a partially executed call")
            return False
        # At the node, or at nodes that collect the edges of others.
        count = len({*node.control_inputs, *(v.node for v in lost)})
        if not stays and count > _FEW and count * len(node.uses) > _MANY:
            self.refuse(rule, node, "the number of control edges would grow")
            return False
        # A reference to a variable's memory shows later writes, and the node that is replaced had the value of one moment.
        if not memory_outputs(node) and self.is_written_memory(value):
            self.refuse(rule, node, "its value is constant, but the memory of the variable behind it is not")
            return False
        if stays and node.is_identity and node.inputs == (value,):
            return False
        self._wait(node, lost)
        if stays:
            dtype = value.dtype.base if value.dtype is not None else node.attrs["T"]
            # The name of a fetched or fed node must go on to exist, with the edges that the node waited for.
            become(self.graph, node, "Identity", [value], {"T": dtype}, node.control_inputs)
            self.fire(rule, node, f"an Identity of {value.name} ({fate})", accuracy)
            return True
        for consumer in list(node.uses):
            for control in node.control_inputs:
                # Whoever read the node waited, through it, for its control inputs.
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
        """Return True if a control edge would move to an op that gives control edges another meaning."""
        if node.control_inputs and any(user.op in CONTROL_FLOW for user in node.uses):
            return True
        return self.runs_as_read(value.node) and bool(self.graph.control_consumers(node))

    def order(self) -> list[Node]:
        """Return the current nodes in topological order."""
        return topological_order(self.graph)


_FEW: Final = 16
_MANY: Final = 64

_SPREAD: Final = 10 * 2**20
"""The size, in bytes, up to which a pass expands a constant stored as a single repeated element."""


def identity_of(dtypes: Sequence[DType]) -> tuple[str, dict[str, Any]]:
    """Return the op that passes values of the dtypes on, and the op's attributes: Identity, IdentityN, or NoOp for none."""
    if not dtypes:
        # TensorFlow has no IdentityN without values.
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
    # `_class` and the like belong to the node by its name; `_output_shapes` lists the outputs of the op that it was.
    private = {key: value for key, value in node.attrs.items() if key.startswith("_") and key != "_output_shapes"}
    node.change_op(op, {**attrs, **private})
    graph.set_inputs(node, inputs, control_inputs)


# Passes and their options as text: `fold{limit=1MB},cse`.


def parse_passes(text: str) -> list[tuple[str, dict[str, str]]]:
    """Parse `fold{limit=1MB},cse` into names with options; InvalidArgumentError for another form."""
    parsed = []
    for item in split_top(text):
        match = re.fullmatch(r"([\w-]+)(?:\{(.*)\})?", item)
        if match is None:
            raise InvalidArgumentError(f"'{item}' is not of the form NAME or NAME{{OPTION=VALUE,...}}")
        options = dict(_option(match[1], part) for part in split_top(match[2] or ""))
        parsed.append((match[1], options))
    return parsed


def _option(name: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InvalidArgumentError(f"option '{text}' of pass {name} is not of the form NAME=VALUE")
    return key.strip(), value.strip()


def configure(kind: type[Pass], options: Mapping[str, str]) -> Pass:
    """Configure a pass with options in text, converted to the fields' types; InvalidArgumentError for a wrong option."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    settings: dict[str, Any] = {}
    for key, text in options.items():
        if key not in fields:
            existing = f"; its options are {', '.join(fields)}" if fields else ", and no other"
            raise InvalidArgumentError(f"pass {kind.name} has no option '{key}'{existing}")
        settings[key] = _converted(kind.name, key, fields[key].default, text)
    return kind(**settings)


def _converted(name: str, key: str, default: Any, text: str) -> Any:
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(default, int):
            return parse_size(text)
        if isinstance(default, float):
            return float(text)
        if isinstance(default, tuple):
            return tuple(part for part in text.strip("()").split("+") if part)
    except (KeyError, ValueError):
        raise InvalidArgumentError(f"option {key}={text} of pass {name} is not {_FORMS[type(default)]}") from None
    return text


_FORMS = {bool: "true or false", int: "a whole number such as 4096, 64KB or 1MB", float: "a number such as 0.5"}
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def parse_size(text: str) -> int:
    """Parse a number of bytes or elements: `4096`, `64KB`, `1MB`; ValueError for any other text."""
    match = re.fullmatch(r"(\d+)\s*([KMG]?)I?B?", text.strip().upper())
    if match is None:
        raise ValueError(text)
    return int(match[1]) * _UNITS[match[2]]


# The descendants of nodes: searched lazily in order, and each search shared by all queries.

_WAVE_STEPS: Final = 200
"""The number of steps of all waves for each node of the graph; then the waves stop."""


class Waves:
    """Waves through a graph in the order of places, each from a source to all descendants of the source.

    `places` numbers nodes in topological order; nodes of a loop may share a place, and a node without a place counts as the
    first. `users` returns the nodes directly after a node. A wave has met a node only if the node is a descendant of the
    source; the reverse may fail for a node that became a descendant later, and once all waves together have used up their
    steps.
    """

    def __init__(self, places: Mapping[Node, int], users: Callable[[Node], Iterable[Node]]) -> None:
        self._places = places
        self._users = users
        self._met: dict[Hashable, set[Node]] = {}
        self._borders: dict[Hashable, list[tuple[float, int, Node]]] = {}
        self._serial: Iterator[int] = itertools.count()
        self._left = _WAVE_STEPS * len(places)

    def __contains__(self, source: object) -> bool:
        return source in self._met

    def begin(self, source: Hashable, starts: Iterable[Node]) -> None:
        """Begin a wave that has met `starts`."""
        self._met[source], self._borders[source] = set(), []
        for node in starts:
            self.meet(source, node)

    def meet(self, source: Hashable, node: Node) -> None:
        """Let a wave meet a node now; the wave continues from the node."""
        if node not in self._met[source]:
            self._met[source].add(node)
            # The serial number decides between equal places: nodes themselves have no order.
            heapq.heappush(self._borders[source], (self.place(node), next(self._serial), node))

    def meets(self, source: Hashable, targets: Set[Node], place: float) -> bool:
        """Return True if a wave meets a node of `targets` before the wave passes `place`, the last place of the nodes."""
        met, border = self._met[source], self._borders[source]
        is_met = not met.isdisjoint(targets)
        # A wave goes no further than the query needs, and the next query goes on from its border. So many queries from one
        # source cost one walk together.
        while not is_met and border and border[0][0] <= place and self._left > 0:
            for user in self._users(heapq.heappop(border)[2]):
                self._left -= 1
                self.meet(source, user)
                is_met = is_met or user in targets
        return is_met

    def place(self, node: Node) -> float:
        """Return the place of a node."""
        return self._places.get(node, -math.inf)


# Copies of functions on their way to becoming functions of their own.


def copy_blocker(ctx: PassContext, function: Function) -> str | None:
    """Return the reason why a changed copy cannot replace a function at a single caller, or None."""
    functions = ctx.graph.functions
    reached = reached_functions(ctx.graph.functions, function.body)
    if function.name in reached:
        return f"function '{function.name}' calls itself"
    bodies = [function.body, *(functions[name].body for name in reached)]
    if ctx.is_shared(function.name) and any(has_fact(n.op, "random") for body in bodies for n in body):
        # All calls of a function share the streams of its draws; a copy would begin streams of its own.
        return f"function '{function.name}' draws random numbers and is called from several places"
    return None


class Draft:
    """A copy of a function, to be changed and added to the library of `graph` under a new name."""

    def __init__(self, graph: Graph, reference: FuncRef) -> None:
        self._functions = graph.functions
        self._reference = reference
        origin = graph.functions[reference.name]
        instance = instantiate(origin, {})
        self.body = instance.body
        self.body.functions = graph.functions
        self.args, self.results, self.control_results = instance.args, instance.results, instance.control_results
        self._inputs, self._outputs = list(origin.signature.inputs), list(origin.signature.outputs)
        self._flags = origin.signature.flags

    def add_variable(self, dtype: DType, name: str, is_result: bool) -> Output:
        """Add a last argument, and if `is_result` a last result that returns the argument."""
        name = self.body.unique_name(name)
        node = add_argument(self.body, name, dtype, len(self.args))
        self.args.append(node)
        self._inputs.append(ArgDef(name, dtype))
        if is_result:
            self.results.append(node.output())
            self._outputs.append(ArgDef(f"{name}_out", dtype))
        return node.output()

    def make_constant(self, index: int, constant: Node) -> None:
        """Replace an argument by a copy of a constant."""
        arg = self.args[index]
        # `_class` names nodes of the graph around, which TensorFlow does not find inside a function.
        attrs = {key: value for key, value in constant.attrs.items() if key != "_class"}
        copy = self.body.add_node(self.body.unique_name(f"{arg.name}/constant"), constant.op, (), (), attrs, constant.device)
        self.replace(arg.output(), copy.output())
        self.body.replace_control_uses(arg, copy)

    def keep_args(self, indices: Sequence[int]) -> None:
        """Drop all other arguments; nothing uses them."""
        doomed = [arg for i, arg in enumerate(self.args) if i not in indices]
        self.body.remove_nodes(doomed)
        self.args, self._inputs = [self.args[i] for i in indices], [self._inputs[i] for i in indices]
        for i, arg in enumerate(self.args):
            arg.set_attr("index", i)

    def keep_results(self, indices: Sequence[int]) -> None:
        """Drop the other results."""
        self.results, self._outputs = [self.results[i] for i in indices], [self._outputs[i] for i in indices]

    def replace(self, old: Output, new: Output) -> None:
        """Replace `old` by `new` in all uses and results."""
        self.body.replace_all_uses(old, new)
        self.results = [new if value == old else value for value in self.results]

    def prune(self, ctx: PassContext) -> None:
        """Remove dead code: nodes that neither results nor effects need, except arguments."""
        acting = [node for node in self.body if ctx.acts(node)]
        needed = needed_nodes([*self.results, *self.control_results, *acting, *self.args])
        self.body.remove_nodes([node for node in self.body if node not in needed])

    def add(self) -> FuncRef:
        """Add the function to the library; return a reference with the origin's attributes."""
        # Without the cut, each round would append another `_specialized` to the name.
        base = re.sub(r"_specialized(_\d+)?$", "", self._reference.name) + "_specialized"
        name = free_name(base, self._functions)
        signature = OpDef(name, tuple(self._inputs), tuple(self._outputs), {}, self._flags)
        self._functions[name] = Function(signature, self.body, self.args, self.results, self.control_results)
        return FuncRef(name, self._reference.attrs)
