"""Local algebra: a table of rules, each registered for root op types, and the driver that applies the rules.

A rule is a function (rewriter, node) -> Output | str | None: the replacement of the node's first output, or None if the
rule does not apply. A rule that nearly applies returns the reason why it does not, or gives the reason to `rewriter.refuse`
and tries on. New nodes are made by `rewriter.MatMul(a, b)`.
"""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np

from ...building.builder import GraphBuilder
from ...graph.graph import Graph, Node, Output
from ...graph.purity import CONTROL_FLOW
from ...graph.traversal import closure, predecessors, sources_first, strongly_connected
from ...inference.inference import Inference
from ...registry.catalog import CATALOG
from ...registry.kernel_types import runs_in_tensorflow
from ...registry.op_facts import has_fact
from ...registry.registry import shape_function
from ...support import dataclasses
from ...types import dtypes
from ...types.shapes import Shape
from ..base.accuracy import Accuracy, Rule, RuleSet, numbers_at, rounds
from ..base.graph_pass import PassContext, Waves

# The axes of the weights of convolutions and matrix products that are channels of the result and of the data.

WEIGHTS = 1
"""The index of the weights among the inputs of every product."""


@dataclasses.dataclass(frozen=True)
class _Axes:
    """The weights' axes that make up the channels of the result and of the data, and the index of the data input."""

    outputs: tuple[int, ...] = (-1,)
    inputs: tuple[int, ...] = (-2,)
    data: int = 0


_AXES = {
    "Conv2D": _Axes(),
    "Conv3D": _Axes(),
    "MatMul": _Axes(),
    "DepthwiseConv2dNative": _Axes(outputs=(-2, -1)),
    "Conv2DBackpropInput": _Axes(outputs=(-2,), inputs=(-1,), data=2),
    "Conv3DBackpropInputV2": _Axes(outputs=(-2,), inputs=(-1,), data=2),
}
PRODUCTS = tuple(_AXES)
FORWARD_PRODUCTS = tuple(op for op, axes in _AXES.items() if axes.data == 0)


def is_matrix_product(product: Node) -> bool:
    """Return True for a MatMul: the weights are a matrix, and there are neither windows nor layouts."""
    return product.op == "MatMul"


def output_axes(product: Node) -> tuple[int, ...]:
    """Return the axes of the weights that make up the channels of the result."""
    axes = _AXES[product.op]
    return axes.inputs if is_matrix_product(product) and product.attr("transpose_b") else axes.outputs


def input_axes(product: Node) -> tuple[int, ...]:
    """Return the weights' axis that the channels of the data are summed over, or for a depthwise convolution stay apart in."""
    axes = _AXES[product.op]
    return axes.outputs if is_matrix_product(product) and product.attr("transpose_b") else axes.inputs


def data_index(product: Node) -> int:
    """Return the index of the data among the inputs."""
    return _AXES[product.op].data


def data_input(product: Node) -> Output:
    """Return the data input of a product, multiplied by the weights."""
    return product.inputs[data_index(product)]


def weights_sum(product: Node, weights: Any) -> float:
    """Return the greatest sum of absolute weights of a channel: times the greatest datum, the sum bounds the result."""
    channels = {axis % weights.ndim for axis in output_axes(product) if -weights.ndim <= axis < weights.ndim}
    others = tuple(axis for axis in range(weights.ndim) if axis not in channels)
    summed = np.abs(weights).sum(others, dtype=np.float64)
    return float(np.max(summed, initial=0))


# The driver of rules.

MOST_MADE: Final = 2**20
"""The largest number of elements of a constant that a rule makes of a shape alone."""
_FAST_MATH: Final = "needs fast math"
_WINDOW: Final = 16
"""The largest number of nodes of a tree after the whole tree was refused."""


class Rewriter:
    """The interface through which rules inspect and change the graph."""

    def __init__(self, graph: Graph, ctx: PassContext) -> None:
        self.graph = graph
        self.ctx = ctx
        self._builder = GraphBuilder(graph)
        self._inference = ctx.inference
        self._failing = _after_refused(graph, self._inference)
        self._rule = ""
        self._accuracy = Accuracy.EXACT
        self._node: Node | None = None
        self._made: list[Node] = []
        self._alone: set[Node] = set()
        self._again: list[Node] = []
        self._effects = Effects(graph, ctx)
        self._ranges = ValueRanges(ctx)
        self.constant_value = ctx.constant_value
        """A function that returns the array of a Const that no feed replaces, else None."""
        self.is_all = ctx.is_filled
        """A function (value, number) that returns True for a constant or a Fill whose elements all equal the number."""

    def apply(self, *rules: RuleSet) -> None:
        """Apply rules to all nodes, in topological order, and to the nodes that the rules make, until no rule fires."""
        rules_of = functools.cache(lambda op: [rule for one in rules for rule in one.of(op)])
        # A graph has few ops, and few sets of ops that a node reads.
        fitting = functools.cache(
            lambda op, read: [rule for rule in rules_of(op) if not rule.reads or not read.isdisjoint(rule.reads)]
        )
        queue = collections.deque([node for node in self.ctx.order() if rules_of(node.op)])
        waiting = set(queue)
        with np.errstate(all="ignore"):  # constants may overflow where rules compute with them
            while queue:
                node = queue.popleft()
                waiting.discard(node)
                if not rules_of(node.op) or self.graph.get(node.name) is not node:
                    continue
                again = self._apply_at(node, fitting(node.op, frozenset([value.node.op for value in node.inputs])))
                # What changed comes first, so that a chain is rewritten to its end before the rest of the graph is looked at.
                if again:
                    queue.extendleft([one for one in again if one not in waiting])

    def refuse(self, reason: str) -> None:
        """Record the reason why the current rule does not apply although the rule nearly did."""
        if self._node is not None:
            self.ctx.refuse(self._rule, self._node, reason)

    def may_relax(self, reason: str) -> bool:
        """Return True if the rule may be applied though relaxed here, for `reason`; otherwise record a refusal.

        Integer results are exact, so integers are always allowed.
        """
        if self._node is None or not rounds(self._node):
            return True
        if not self.ctx.shared.fast_math:
            self.refuse(f"{reason}: {_FAST_MATH}")
            return False
        self._accuracy = Accuracy.RELAXED
        return True

    def __getattr__(self, op: str) -> Callable[..., Output]:
        if op.startswith("__") or op not in CATALOG:
            raise AttributeError(f"'{op}' is neither a method of Rewriter nor a declared op")
        return functools.partial(self.add, op)

    def add(self, op: str, *inputs: Any, **attrs: Any) -> Output:
        """Add a node beside the node being rewritten, on the same device, with a name derived from the node's."""
        assert self._node is not None
        with self._builder.device(self._node.device):
            node = self._builder.add(op, inputs, attrs, f"{self._node.name}/{self._rule}")
        return self._placed(node).output()

    def _placed(self, node: Node) -> Node:
        """Return a new node, known to lie in a loop or on a branch where the node being rewritten does."""
        assert self._node is not None
        self._made.append(node)
        if self.ctx.is_inside(self._node):
            # The set is that of the pass's beginning and does not follow changes; without the entry the next rule would move
            # the node's effects out of the loop.
            self.ctx.inside.add(node)
            if not node.inputs:
                # A constant without inputs would run outside the loop or branch, and its reader inside would wait for a value
                # of another frame.
                self.graph.set_inputs(node, (), self.ctx.anchors(self._node))
        return node

    def constant(self, value: Any, like: Output) -> Output:
        """Return a new constant of like's dtype."""
        assert like.dtype is not None
        return self.constant_of(value, like.dtype.base)

    def constant_for(self, value: Any, node: Node) -> Output:
        """Return a constant that replaces a node; the node's inputs then run for their effects only."""
        result = self.constant(value, node.output())
        self.graph.set_inputs(result.node, (), self.ctx.anchors(node))
        return result

    def constant_sizes(self, values: int | Sequence[int]) -> Output:
        """Return a new vector of sizes, or a number of a dimension: int32, or int64 if int32 does not hold the sizes."""
        # int32 where possible, as TensorFlow makes sizes: other ops of the graph join them without a Cast.
        is_small = np.size(values) == 0 or holds(dtypes.int32, np.asarray(values, np.int64))
        return self.constant_of(values, dtypes.int32 if is_small else dtypes.int64)

    def constant_of(self, value: Any, dtype: dtypes.DType) -> Output:
        """Return a new constant of that dtype."""
        assert self._node is not None
        constant = self._builder.constant(np.asarray(value, dtype.numpy), dtype, f"{self._node.name}/{self._rule}")
        return self._placed(constant.node).output()

    def shape(self, value: Output) -> Shape:
        """Return the inferred shape; unknown for values made by rules of this run."""
        spec = self._inference.specs.get(value)
        return spec.shape if spec is not None else Shape()

    def range(self, value: Output) -> ValueRange:
        """Return the bounds of a value's elements, NaN aside."""
        return self._ranges.of(value)

    def axis(self, value: Output, rank: int) -> int | None:
        """Return the dimension, of `rank`, that a constant names, counted from the first; None for no valid dimension."""
        array = self.constant_value(value)
        axis = int(array.flat[0]) if array is not None and array.size == 1 else rank
        return axis % rank if -rank <= axis < rank else None

    def permutation(self, value: Output) -> Any:
        """Return the constant permutation of dimensions; None for a non-constant, or for no permutation."""
        array = self.constant_value(value)
        is_order = array is not None and array.ndim == 1 and np.array_equal(np.sort(array), np.arange(array.size))
        return array if is_order else None

    def partial_value(self, value: Output) -> Any:
        """Return a partly known value: an array with a Dim for each element that is only known by a symbol."""
        spec = self._inference.specs.get(value)
        is_known = spec is not None and spec.value is not None and spec.value.dtype == object and not self.ctx.is_fed(value)
        return spec.value if is_known and spec is not None else None

    def is_same(self, a: Output, b: Output) -> bool:
        """Return True for the same value, and for two constants that are equal."""
        first, second = self.constant_value(a), self.constant_value(b)
        if a == b or first is None or second is None:
            return a == b
        # NumPy calls True and 1 equal, and 1 and 1.0.
        return a.dtype is b.dtype and np.array_equal(first, second)

    def is_free(self, node: Node) -> bool:
        """Return True for a node with a single reader and no other need: the node may change or go."""
        uses = node.uses
        # With control inputs, what takes the node's place would have to wait for them, too.
        return len(uses) == 1 and not node.control_inputs and sum(uses.values()) == 1 and not self.ctx.is_preserved(node)

    def is_left_to(self, node: Node, joins: Callable[[Node], bool]) -> bool:
        """Return True if the node's only reader `joins` the node, so that a rule will process both as a tree.

        A tree is processed at the root, at once; after a refusal there, the tree's nodes are processed separately.
        """
        if node in self._alone or not self.is_free(node):
            return False
        reader = next(iter(node.uses))
        return joins(reader) and node.output() in reader.inputs and self.is_open(reader)

    def look_alone(self, nodes: Sequence[Node]) -> None:
        """Queue the nodes of a refused tree again, from the leaves up, as roots of trees of at most `most_nodes`."""
        self._again += [node for node in nodes if node not in self._alone]
        self._alone.update(nodes)

    def most_nodes(self, root: Node) -> int | None:
        """Return the largest number of nodes of the tree at a root; None for any number.

        Parts of a refused tree are small, since each of its nodes is a root: whole subtrees take time in the square of the
        tree.
        """
        return _WINDOW if root in self._alone else None

    def is_open(self, node: Node) -> bool:
        """Return True if rules may inspect a node."""
        if node.name in self._inference.reasons or node in self._failing or self.ctx.has_fed_output(node):
            return False
        # A feed may replace a computed value: its producer does not determine the value.
        fed = self.ctx.fed_nodes
        return not any(self.ctx.is_fed(v) and not v.node.is_placeholder for v in node.inputs if v.node.name in fed)

    def is_only_first_read(self, node: Node) -> bool:
        """Return True if only the first output of a node has readers or fetches."""
        others = node.outputs()[1:]
        return not any(self.graph.consumers(output) or output.name in self.ctx.fetched_outputs for output in others)

    def is_fact(self, node: Node, fact: str) -> bool:
        return has_fact(node.op, fact)

    def same_shape(self, a: Output, b: Output) -> bool:
        """Return True if both are known to have the same shape."""
        first, second = self.shape(a), self.shape(b)
        return first.dims is not None and first == second

    def _apply_at(self, node: Node, rules: Sequence[Rule]) -> list[Node]:
        """Try rules at a node; return the nodes to process (again) after a rule fired.

        A node whose shapes do not fit fails when the node runs, and all descendants with the node; no rule may change the
        failure.
        """
        self._again = []
        if not rules or not self.is_open(node):
            return []
        before, numbers = node.inputs, numbers_at(node)  # rules that do not fire leave them as they are
        for rule in rules:
            # What the rule makes, refuses or relaxes is recorded here, and taken back if it cannot stand.
            self._rule, self._node, self._made, self._accuracy = rule.name, node, [], rule.accuracy_with(numbers)
            value = rule.function(self, node)
            if isinstance(value, str):
                self.refuse(value)
            # A rule that is refused by its result leaves the graph as it was, and the next rule may try.
            if value is None or isinstance(value, str) or self._took_back(before):
                continue
            accuracy = self._accuracy
            # Asked before the replacement, which leaves the node without readers.
            consumers = list(node.uses)
            self._keep_effects(node, before, value)
            self.ctx.keep_order(node, self._made)
            if value.node is node:
                self.ctx.keep_branch(node, before, value)
                self.ctx.fire(rule.name, node, f"rewritten: {rule.algebra}", accuracy)
            elif not self.ctx.replace(node, value, rule.name, f"replaced by {value.name}: {rule.algebra}", accuracy):
                continue
            self._effects.note_users(node, consumers)
            return [value.node, *(c for c in consumers if self.graph.get(c.name) is c)]
        return self._again

    def _took_back(self, before: Sequence[Output]) -> bool:
        """Remove the nodes of a rule if TensorFlow could not run all of them, if they would read a variable's memory
        at another time than the node with the inputs `before`, or if the rule needs fast math.
        """
        lacking = next((node for node in self._made if not runs_in_tensorflow(node.op, node.attrs)), None)
        if lacking is not None:
            self.refuse(f"TensorFlow has no kernel of {lacking.op} for these dtypes")
        elif any(value not in before and self.ctx.is_written_memory(value) for node in self._made for value in node.inputs):
            self.refuse("a write may come between the reads of a variable's memory")
        elif self._accuracy is not Accuracy.RELAXED or self.ctx.shared.fast_math:
            return False
        else:
            self.refuse(f"the rule is relaxed: {_FAST_MATH}")
        self.graph.remove_nodes(self._made)
        return True

    def _keep_effects(self, node: Node, before: Sequence[Output], value: Output) -> None:
        """Let the replacement of a node with inputs `before` wait for effects that nothing reads or waits for any more."""
        self._effects.keep(node, before, value, self._made)


def holds(dtype: dtypes.DType, numbers: Any) -> bool:
    """Return True if a dtype represents the numbers exactly."""
    with np.errstate(all="ignore"):
        # The cast wraps or rounds what does not fit, and then the comparison fails; NumPy 2 would raise for Python numbers
        # instead.
        return bool(np.all(np.asarray(numbers).astype(dtype.numpy) == numbers))


def _after_refused(graph: Graph, inference: Inference) -> set[Node]:
    """Return the nodes whose inputs their shape functions refuse, and their descendants: the results are unknown."""
    refused = (graph.get(name) for name in inference.reasons)
    failing = (node for node in refused if node is not None and shape_function(node.op) is not None)
    # A Merge passes on its other input if the failing branch is dead.
    return closure(failing, lambda node: (user for user in node.uses if not has_fact(user.op, "merge")))


def attrs_of(node: Node, **changes: Any) -> Mapping[str, Any]:
    """Return a node's attributes, without the annotations of file formats, and with `changes`."""
    # Such annotations describe the old node alone, its shapes and its place among them.
    return {**{k: v for k, v in node.attrs.items() if not k.startswith("_")}, **changes}


def is_map(node: Node) -> bool:
    """Return True for an op that treats each element alike wherever the element stands, and that nothing observes."""
    definition = node.op_def
    if definition is None or len(node.output_dtypes) != 1 or any(attr.type == "shape" for attr in definition.attrs.values()):
        return False
    return has_fact(node.op, "elementwise") and not has_fact(node.op, "debug")


def is_unary_map(node: Node) -> bool:
    """Return True for a map of a single tensor."""
    return len(node.inputs) == 1 and is_map(node)


# The control inputs of rewritten nodes: effects of former inputs that are no longer read.

FAR: Final = 64
"""The largest number of values searched for effects behind them; beyond the limit the values themselves are waited for."""


class Effects:
    """The effects behind values, and the check that the values' replacements still have the effects behind them."""

    def __init__(self, graph: Graph, ctx: PassContext) -> None:
        self._graph = graph
        self._ctx = ctx
        self._reachability = _Reachability(graph)

    def keep(self, node: Node, before: Sequence[Output], value: Output, made: Iterable[Node]) -> None:
        """Let `node`, which had the inputs `before`, wait for their effects that are not behind the replacement `value`.

        `made` are the nodes made for the replacement.
        """
        taken = {value, *(v for one in (value.node, *made) for v in one.inputs)}
        dropped, waits = self._behind(node, before, taken)
        lost = [self._ctx.anchor(v) for v in dropped if not self._reachability.leads(self._source(v), value.node, node)]
        lost += [control for control in waits if not self._reachability.leads(control, value.node, node)]
        for control in lost:
            self._graph.add_control_input(node, control)

    def note_users(self, node: Node, users: Sequence[Node]) -> None:
        """Record the users of a replaced node."""
        self._reachability.note_users(node, users)

    def _source(self, value: Output) -> Output | Node:
        """Return the output or node that must be reached so that the node of `value` keeps all effects."""
        return value if self._ctx.runs_as_read(value.node) else value.node

    def _behind(self, node: Node, values: Sequence[Output], taken: set[Output]) -> tuple[list[Output], list[Node]]:
        """Return the effects behind `values`, up to the `taken` values, and the control inputs with effects on the way.

        The search ends at control flow: an edge from a branch or a loop would switch the waiting node off, or be illegal. A
        draw that `node` alone reads, perhaps through other nodes, is no effect.
        """
        seen: set[Output] = set()
        readers = {node}
        dropped, waits = [], []
        pending = list(values)
        while pending:
            v = pending.pop()
            if v in taken or v in seen or not self._ctx.has_effects(v.node):
                continue
            seen.add(v)
            # If all its readers go with `node`, nobody misses the result of this node.
            if readers.issuperset(v.node.uses) and not self._ctx.is_preserved(v.node):
                readers.add(v.node)
            is_unseen = v.node in readers and has_fact(v.node.op, "own_stream")
            if (self._ctx.acts(v.node) and not is_unseen) or v.node.op in CONTROL_FLOW:
                dropped.append(v)
            # Waiting for more than needed is right, too; a whole search for each rewrite would be quadratic in the graph.
            elif len(seen) > FAR:
                return [v for v in dict.fromkeys(values) if v not in taken and self._ctx.has_effects(v.node)], []
            else:
                pending += v.node.inputs
                waits += [control for control in v.node.control_inputs if self._ctx.has_effects(control)]
        return dropped, list(dict.fromkeys(waits))


class _Reachability:
    """Reachability in a changing graph, where nodes are replaced by nodes with the same ancestors.

    False may be wrong after changes, or after too many queries; True always holds.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._places: Mapping[Node, int] = {}
        self._waves: Waves | None = None
        self._gone: dict[Node, Sequence[Node]] = {}

    def leads(self, source: Output | Node, node: Node, changed: Node) -> bool:
        """Return True if `node` is a descendant of `source`, as `changed` was before the change; the answer is recorded."""
        if self._waves is None:
            components = strongly_connected(self._graph, predecessors)
            self._places = {one: place for place, component in enumerate(components) for one in component}
            self._waves = Waves(self._places, self._users)
        waves = self._waves
        if source not in waves:
            waves.begin(source, (source,) if isinstance(source, Node) else self._graph.consumers(source))
        leads = self._is_after(source, waves, node, changed)
        for one in (changed, node) if leads else (changed,):
            waves.meet(source, one)
        return leads

    def note_users(self, node: Node, users: Sequence[Node]) -> None:
        """Record the users of a removed node."""
        if self._waves is not None:
            self._gone[node] = users

    def _users(self, node: Node) -> Iterable[Node]:
        return node.uses if self._graph.get(node.name) is node else self._gone.get(node, ())

    def _is_after(self, source: Output | Node, waves: Waves, node: Node, changed: Node) -> bool:
        """Return True if the changed node, or a new node, is a descendant of the source by the current inputs."""
        pending, passed = [node], {node}
        while pending:
            current = pending.pop()
            if current is source or source in current.inputs:
                return True
            if current is not changed and waves.meets(source, {current}, waves.place(current)):
                return True
            if current is changed or current not in self._places:
                before = [one for one in predecessors(current) if one not in passed]
                passed.update(before)
                # A new node has no place among the waves, so its inputs are searched directly. They are few: a rule makes a
                # handful.
                pending += before
        return False


# Range analysis: bounds of the values that a graph computes, for all feeds.


class ValueRange(NamedTuple):
    """The least and the greatest of the elements that are numbers. NaN may be among them too."""

    low: float
    high: float

    @property
    def magnitude(self) -> float:
        """The greatest absolute value."""
        return max(-self.low, self.high)


UNKNOWN: Final = ValueRange(-math.inf, math.inf)


def _between(ranges: Sequence[ValueRange]) -> ValueRange:
    # With 0, since padding and windows past the edge bring zeros in.
    return ValueRange(min(0.0, *(one.low for one in ranges)), max(0.0, *(one.high for one in ranges)))


def _sum(ranges: Sequence[ValueRange]) -> ValueRange:
    return ValueRange(sum(one.low for one in ranges), sum(one.high for one in ranges))


def _product(ranges: Sequence[ValueRange]) -> ValueRange:
    """Return the range of a product: the ends are products of ends; a product of positive numbers may round to 0."""
    corners = [a * b for a in ranges[0] for b in ranges[1]]
    # 0 times infinity: an end at 0 beside an end that is unbounded.
    if any(map(math.isnan, corners)):
        return UNKNOWN
    return ValueRange(min(0.0, *corners), max(0.0, *corners))


def _of_results(op: str, ranges: Sequence[ValueRange]) -> ValueRange:
    """Return the range of an op's results from the ranges of the op's floating-point inputs."""
    if has_fact(op, "unit_range"):
        bounds = ValueRange(-1, 1)
    elif op == "Relu6":
        bounds = ValueRange(0, 6)
    elif op == "Mul":
        bounds = _product(ranges)
    elif has_fact(op, "sum_of_inputs"):
        bounds = _sum(ranges)
    elif has_fact(op, "bounded_by_inputs") or has_fact(op, "forwarding") or has_fact(op, "view"):
        bounds = _between(ranges)
    else:
        bounds = UNKNOWN
    low = max(bounds.low, 0) if has_fact(op, "not_negative") else bounds.low
    return UNKNOWN if math.isnan(low) or math.isnan(bounds.high) else ValueRange(low, bounds.high)


class ValueRanges:
    """The ranges of a graph's values, computed at first use."""

    def __init__(self, ctx: PassContext) -> None:
        self._ctx = ctx
        self._ranges: dict[Output, ValueRange] = {}

    def of(self, value: Output) -> ValueRange:
        """Return the range of a value: all numbers if nothing is known, as in a loop."""
        known = self._ranges
        if value not in known:
            for each in sources_first(value, lambda each: (v for v in self._operands(each) if v not in known)):
                known[each] = self._computed(each)
        return known[value]

    def _operands(self, value: Output) -> list[Output]:
        """Return the inputs whose ranges determine the range of a value."""
        node = value.node
        if self._ctx.is_fed(value):
            return []
        if node.op in PRODUCTS:
            return [data_input(node)]
        return [v for v in node.inputs if v.dtype is not None and v.dtype.is_floating]

    def _computed(self, value: Output) -> ValueRange:
        node = value.node
        if self._ctx.is_fed(value) or value.dtype is None or not value.dtype.is_floating:
            return UNKNOWN
        if node.is_constant:
            array = self._ctx.constant_value(value)
            # NaN compares false with everything, so `min` and `max` would say nothing of it.
            is_known = array is not None and array.size and np.all(np.isfinite(array))
            return ValueRange(float(array.min()), float(array.max())) if is_known else UNKNOWN
        if node.op == "Cast":
            return _of_integers(node.inputs[0])
        ranges = [self._ranges.get(operand, UNKNOWN) for operand in self._operands(value)]
        if node.op in PRODUCTS:
            return self._of_product(node, ranges[0])
        return _of_results(node.op, ranges) if ranges else UNKNOWN

    def _of_product(self, node: Node, data: ValueRange) -> ValueRange:
        """Bound a product by the greatest datum times the greatest sum of the absolute weights of a channel."""
        weights = self._ctx.constant_value(node.inputs[1])
        most = data.magnitude * weights_sum(node, weights) if weights is not None else math.inf
        return ValueRange(-most, most) if math.isfinite(most) else UNKNOWN


def _of_integers(source: Output) -> ValueRange:
    """Return the range of numbers that are cast from integers, by their dtype."""
    if source.dtype is None or not source.dtype.is_integer:
        return UNKNOWN
    # np.iinfo does not know the integers of 2 and 4 bits.
    limits = ml_dtypes.iinfo(source.dtype.base.numpy)
    return ValueRange(float(limits.min), float(limits.max))
