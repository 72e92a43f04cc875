"""The driver that runs passes to a fixpoint, and what it reports: of each pass, of clusters, and of single nodes."""

from __future__ import annotations

import collections
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from ..explaining.default_fetches import default_fetches, guessed_fetches
from ..graph.call_kinds import INLINED, check_calls
from ..graph.callers import all_nodes, called_functions, node_count
from ..graph.graph import Graph, GraphLike, Node, Output, as_graph
from ..graph.purity import impurity
from ..graph.variable_nodes import VARIABLES
from ..inference.error_context import fault
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..runtime.session.function_signatures import as_called
from ..support import dataclasses
from ..support.arguments import checked
from ..support.display import Report, Rows
from ..support.errors import InvalidArgumentError, ResourceExhaustedError, TfgError
from ..support.gc_control import rare_collection
from ..support.log import DEBUG, INFO, tell
from ..support.tensor_names import parse_tensor_name
from ..support.user_signals import pass_on
from ..support.words import counted
from ..transforms.subgraphs import computed_inputs, forget_locations
from .base.accuracy import Accuracy, loosest
from .base.costs import CostMeter, GraphCost
from .base.graph_pass import Pass, PassContext, Refusal, SharedPassState, WeightError, configure, parse_passes
from .base.race_settling import settle_races
from .function_clusters import FunctionClusters
from .inline import Implementations, Inline
from .pass_listing import all_passes, find_pass
from .removals import Prune

if TYPE_CHECKING:
    from ..engines.engine_report import RefusedNodes

Observer: TypeAlias = Callable[[str, Graph], None]
"""A function that is called with the name of a pass and the graph after the pass."""
MAX_ROUNDS = 5
_MAX_COPIED: Final = 1_000_000
"""The number of nodes up to which shared functions are copied if all calls are to be inlined."""


@dataclasses.dataclass(frozen=True, slots=True)
class PassRecord:
    """The record of a single run of a pass; costs are present only if requested from `optimize`."""

    name: str
    """The name of the pass."""
    round: int
    """The round, from 1."""
    nodes_before: int
    """The number of nodes before the pass."""
    nodes_after: int
    """The number of nodes after the pass."""
    seconds: float
    """The seconds that the pass took."""
    fired: Mapping[str, int]
    """How often each rule rewrote the graph."""
    refused: tuple[Refusal, ...]
    """Rewrites that were refused."""
    accuracy: Mapping[str, Accuracy]
    """The accuracy class of each rule that fired: the loosest of several classes."""
    weight_errors: tuple[WeightError, ...] = ()
    """The errors of constants that the pass stores in fewer bits."""
    notes: tuple[str, ...] = ()
    """What the user should know of the run."""
    cost_before: GraphCost | None = None
    """The cost of a run before the pass."""
    cost_after: GraphCost | None = None
    """The cost of a run after the pass."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A function that the pass `cluster` made, and the nodes that XLA does not support."""

    function: str
    """The name of the function."""
    nodes: int
    """The number of nodes, without constants and arguments."""
    refused: tuple[RefusedNodes, ...]
    """The nodes that XLA does not support, by op and reason, the most frequent first."""

    @property
    def supported(self) -> int:
        """Return the number of nodes that XLA supports."""
        return self.nodes - sum(refused.count for refused in self.refused)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class OptimizeReport(Report, main_table="passes"):
    """The report of an optimization: per pass, per removed node, and the op counts before and after."""

    passes: tuple[PassRecord, ...]
    """The runs of passes, round by round."""
    ops_before: Mapping[str, int]
    """The number of nodes of each op before."""
    ops_after: Mapping[str, int]
    """The number of nodes of each op after."""
    fates: Mapping[str, str]
    """The outcome of each removed node, by name."""
    clusters: tuple[ClusterFacts, ...] = ()
    """The functions that the pass `cluster` made, with the nodes that XLA does not support."""
    unportable: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """The number of nodes of each op afterwards that only tfg and TensorFlow on CPUs know."""
    unread: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)
    """The number of nodes of each op afterwards that a program does not read, by program, for a portable graph."""

    def headline(self) -> str:
        return f"{self.nodes_before:,} to {counted(self.nodes_after, 'node')}, {counted(len(self.passes), 'run')} of passes"

    @property
    def accuracy(self) -> Accuracy:
        """The loosest class of all changes."""
        return loosest(one for record in self.passes for one in record.accuracy.values())

    @property
    def tolerance(self) -> float | Accuracy:
        """The tolerance of a comparison with the graph before: the largest that a pass states, or the accuracy class."""
        stated = [find_pass(record.name).tolerance for record in self.passes if record.fired]
        return max((one for one in stated if one is not None), default=self.accuracy)

    @property
    def assuming(self) -> tuple[str, ...]:
        """The passes that changed the graph for the use that they assume, such as inference."""
        return tuple(dict.fromkeys(one.name for one in self.passes if one.fired and find_pass(one.name).assumes))

    @property
    def weight_errors(self) -> tuple[WeightError, ...]:
        """The errors of weights that passes store in fewer bits."""
        return tuple(error for record in self.passes for error in record.weight_errors)

    @property
    def seconds(self) -> float:
        return sum(record.seconds for record in self.passes)

    @property
    def nodes_before(self) -> int:
        return sum(self.ops_before.values())

    @property
    def nodes_after(self) -> int:
        return sum(self.ops_after.values())


class Optimized(NamedTuple):
    """An optimized graph, and the report of all changes."""

    graph: Graph
    report: OptimizeReport

    def _repr_html_(self) -> str | None:
        return self.report._repr_html_()


@rare_collection()
@checked
def optimize(
    graph: GraphLike,
    fetches: Sequence[str] | str = (),
    feeds: Sequence[str] = (),
    passes: str | Sequence[Pass] | None = None,
    *,
    disable: Iterable[str] = (),
    keep: Iterable[str] = (),
    overridable: Sequence[str] = (),
    rounds: int = MAX_ROUNDS,
    fast_math: bool = False,
    portable: bool = False,
    costs: bool | Literal["total"] = False,
    observe: Observer | None = None,
) -> Optimized:
    """Return a copy of `graph` that gives the same fetches for the same feeds with less work, and a report of all changes.

    `fetches` and `feeds` are names; without fetches, the outputs of all signatures stay the same, or those that `tfg.explain`
    finds. `passes` is a list of passes or a text like "prune,fold{limit=1MB}", by default all that need no decision; `keep`
    names nodes that must stay, `overridable` tensors that a run may feed but need not. Relaxed rules, after which digits may
    cancel or a finite result become infinite or NaN, are applied with `fast_math` only. `portable` leaves out passes that
    make ops which only tfg and TensorFlow on CPUs know, such as _FusedConv2D; other readers, as tf2onnx, OpenCV,
    TensorFlow.js and TensorFlow Lite, do not read them. The report then has the ops that each of these does not read.

    Sessions on the result ignore feeds of nodes that the fetches did not need, as before; a file does not remember the
    nodes. A SavedModel's initializers stay, too. With `costs` the report has a run's cost before and after each pass, with
    "total" only before the first and after the last, which takes less time; if several signatures stay, that of the usual
    one.
    `observe` is called with the graph at the start (stage "load") and after each pass that changed the graph.
    """
    names = (fetches,) if isinstance(fetches, str) else tuple(fetches)
    # Without names the fetches follow from the graph, which for a SavedModel of Python objects is the function that they call.
    graph = as_graph(graph) if names else as_called(as_graph(graph))
    chosen = choose_passes(passes, disable, portable)
    result, mended = _mended(graph, [one for one in chosen if one.mends])
    chosen = [one for one in chosen if not one.mends]
    targets = [result.fetch(name) for name in names or default_fetches(result)]
    start = result.meta.start_steps if result.meta else []
    # Start steps feed tensors, too, as the name of the checkpoint that a SavedModel restores. So do signatures, which may feed
    # what the graph computes in other runs: the name has to stay.
    computed = [name for signature in result.signatures.values() for name in computed_inputs(result, signature)]
    sometimes = dict.fromkeys([*overridable, *(name for _, start_feeds in start for name in start_feeds), *computed])
    fed, maybe_fed = ([result.output(name) for name in listed] for listed in (feeds, sometimes))
    # Before any pass: a rewrite would change which of two racing nodes is ready first, and with it the result.
    settle_races(result, targets, fed, maybe_fed)
    starters = [result.node(name) for name, _ in start]
    if not names:
        # A caller of a signature gives all of its inputs, whether the outputs depend on them or not.
        named = (result.get(tensor.partition(":")[0]) for one in result.signatures.values() for tensor in one.fed.values())
        keep = [*keep, *(node.name for node in named if node is not None and node.must_be_fed)]
    ctx = PassContext(result, targets, fed, keep, maybe_fed, starters, shared=SharedPassState(chosen, fast_math=fast_math))
    needed = {node.name for node in needed_nodes([*targets, *starters, *map(result.node, keep)], fed)}
    # A node that a run may or must feed is not needed to compute: it may go, as long as feeds of it are taken.
    needed -= {output.node.name for output in (*fed, *maybe_fed)} | {node.name for node in graph if node.must_be_fed}
    before = _op_counts(graph)
    seen = _unobserved if observe is None else observe
    seen("load", result)
    steps = _records(chosen, result, ctx, rounds, seen)
    if costs:
        steps = _with_costs(steps, CostMeter(result, _counted(result, targets), fed), of_each=costs != "total")
    records = list(steps)
    # Once at the end: passes remove nodes that others name as their neighbours on a device.
    forget_locations(result)
    # A session accepts feeds of these nodes and ignores them: they had no effect before, either.
    result.needless |= frozenset(node.name for node in graph if node.name not in needed and node.name not in result)
    clusters = tuple(_new_clusters(graph, result))
    after, fates = _op_counts(result), dict(ctx.fates)
    unread: Mapping[str, Mapping[str, int]] = {}
    if portable:
        from ..registry.op_history import unread_ops

        unread = unread_ops(_frozen_counts(result, names))
    report = OptimizeReport((*mended, *records), before, after, fates, clusters, _unportable(result), unread)
    return Optimized(result, report)


def _new_clusters(before: Graph, after: Graph) -> Iterator[ClusterFacts]:
    """Yield facts about the clusters of a graph that the graph before the passes lacks."""
    names = [name for name in after.functions.keys() - before.functions.keys() if name.startswith(FunctionClusters.name)]
    if names:
        from ..engines.engine_report import refused_nodes  # lazy: few optimizations have the pass
        from ..engines.lowerable import function_refusals

        for name in sorted(names):
            count, refused = function_refusals(after.functions[name])
            yield ClusterFacts(name, count, refused_nodes(refused))


def _unobserved(stage: str, graph: Graph) -> None:
    """Do nothing with the graph after a pass."""


def _counted(graph: Graph, targets: Sequence[Output | Node]) -> Sequence[Output | Node]:
    """Return the targets of the run whose cost is counted: the usual signature's, if all signatures are kept."""
    usual = graph.meta.usual_signature if graph.meta is not None else None
    names = {target.name for target in targets}
    if usual is None or not usual.outputs or not names.issuperset(default_fetches(graph)):
        return targets
    return [graph.fetch(name) for name in usual.fetched.values()]


def _mended(graph: Graph, menders: Sequence[Pass]) -> tuple[Graph, list[PassRecord]]:
    """Return a copy of the graph whose nodes fit their ops, and the records of the mending passes that run before."""
    if not menders:
        graph.check()
    result = graph.copy()
    ctx = PassContext(result, ())
    records = [_run(one, result, ctx, 1) for one in menders]
    if menders:
        result.check()
    check_calls(result)
    return result, records


def rewrite(graph: Graph, passes: Sequence[Pass], keep: Iterable[str]) -> None:
    """Run passes on a graph itself, to a fixed point; the nodes `keep` keep their names and outputs."""
    ctx = PassContext(graph, (), keep=keep, shared=SharedPassState(passes))
    # The passes run while the records are read.
    for _ in _records(passes, graph, ctx, MAX_ROUNDS, _unobserved):
        pass
    forget_locations(graph)


@checked
def inline_functions(graph: GraphLike) -> tuple[Graph, int]:
    """Return a copy with every possible call inlined, and the number of inlined calls.

    The original nodes keep their names, so that fetches and signatures hold; functions without callers are dropped.
    """
    graph = as_graph(graph)
    names = [node.name for node in graph]
    # Without names `optimize` would ask an empty graph for its outputs.
    if not names:
        return graph.copy(), 0
    # All are fetched, so that nothing but functions without callers goes.
    fetched = [output.name for node in graph for output in node.outputs()]
    passes = (Implementations(), Inline(limit=sys.maxsize, copies=_MAX_COPIED), Prune())
    result, report = optimize(graph, [*names, *fetched], passes=passes)
    return result, sum(record.fired.get("call", 0) for record in report.passes)


def _records(chosen: Sequence[Pass], graph: Graph, ctx: PassContext, rounds: int, observe: Observer) -> Iterator[PassRecord]:
    """Run the passes to a fixed point, then the final passes; a pass is skipped while the graph is as after its run."""
    unchanged_since: dict[Pass, int] = {}
    changes = number = 0
    waiting = {name for one in chosen for name in one.precedes}
    for number in range(1, rounds + 1):
        # A pass that changed nothing would change nothing again, until another pass has changed the graph.
        pending = [p for p in chosen if not (p.is_final or p.name in waiting) and unchanged_since.get(p) != changes]
        for one in pending:
            record = _run(one, graph, ctx, number)
            changes += bool(record.fired)
            unchanged_since[one] = changes
            if record.fired:
                observe(one.name, graph)
            yield record
        if not pending:
            break
    finals = [one for one in chosen if one.is_final]
    # Fused kernels take fewer dtypes than the ops that they replace, so a pass that changes dtypes precedes `fuse`. Behind the
    # passes that wait, what they leave is removed.
    later = [*(p for p in chosen if p.name in waiting), *(p for p in chosen if waiting and isinstance(p, Prune))]
    # A waiting pass comes right after the last final pass that it waits for, and before the other final passes.
    place = max((number for number, one in enumerate(finals, 1) if one.precedes), default=0)
    for one in (*finals[:place], *later, *finals[place:]):
        yield _run(one, graph, ctx, number + 1)
        observe(one.name, graph)


def _with_costs(records: Iterator[PassRecord], meter: CostMeter, *, of_each: bool) -> Iterator[PassRecord]:
    """Yield the records with a run's cost before and after each pass, or else before the first and after the last; a pass
    runs when the iterator advances.
    """
    cost = meter.read()
    for part in ([record] for record in records) if of_each else filter(None, [list(records)]):
        # A count takes as long as a pass, so it is made only if the cost may have changed.
        is_same = all(not record.fired or find_pass(record.name).keeps_cost for record in part)
        before, cost = cost, cost if is_same else meter.read()
        part[0] = dataclasses.replace(part[0], cost_before=before)
        part[-1] = dataclasses.replace(part[-1], cost_after=cost)
        yield from part


@checked
def optimization_stages(
    graph: GraphLike, fetches: Sequence[str] = (), feeds: Sequence[str] = (), passes: str | None = None
) -> list[tuple[str, Graph]]:
    """Return the graph as a session would see the graph when loaded and after each pass that changed the graph.

    `fetches` are by default the outputs and training operations.
    """
    graph = as_graph(graph)
    stages: list[tuple[str, Graph]] = []
    targets = fetches or guessed_fetches(graph)
    # Copies, as the next pass changes the graph again.
    optimize(graph, targets, feeds, passes, observe=lambda stage, now: stages.append((stage, now.copy())))
    return stages


def choose_passes(passes: str | Sequence[Pass] | None, disable: Iterable[str] = (), portable: bool = False) -> list[Pass]:
    """Return the passes to run, preceded by their required passes; InvalidArgumentError for unknown names and options.

    In a text `default` stands for the passes that need no decision; other passes beside `default` take their usual places,
    or replace the default pass of the same name with other options. Where the result must be `portable`, `default` is
    without the passes that make other ops, and these must not be named.
    """
    disabled = set(disable)
    for name in disabled:
        find_pass(name)
    requested = _parsed("default" if passes is None else passes) if passes is None or isinstance(passes, str) else passes
    chosen: list[Pass] = []
    for one in requested:
        if not isinstance(one, Pass):
            raise TypeError(f"{one!r} is not a pass")
        present = {p.name for p in chosen}
        # With default options, unless the caller has configured the required pass before.
        chosen += [find_pass(name)() for name in one.requires if name not in present]
        chosen.append(one)
    named = () if passes is None else [name for name, _ in parse_passes(passes)] if isinstance(passes, str) else chosen
    left_out = [one for one in chosen if portable and not one.is_portable]
    for one in left_out:
        if one in named or one.name in named:
            raise InvalidArgumentError(f"pass {one.name} makes ops that are not portable", hint=f"leave out {one.name}")
    return [one for one in chosen if one.name not in disabled and one not in left_out]


def _parsed(text: str) -> list[Pass]:
    items = parse_passes(text)
    configured = [configure(find_pass(name), options) for name, options in items if name != "default"]
    if len(configured) == len(items):
        return configured
    # A configured pass takes the place of the default pass of its kind.
    chosen = {kind: kind() for kind in all_passes() if kind.in_default_pipeline} | {type(one): one for one in configured}
    return sorted(chosen.values(), key=lambda one: all_passes().index(type(one)))


def _run(one: Pass, graph: Graph, ctx: PassContext, number: int) -> PassRecord:
    ctx.begin_pass()
    nodes, start = node_count(graph), time.perf_counter()
    try:
        one.run(graph, ctx)
    # An error about the graph is told as it is; any other is a fault of the pass.
    except TfgError:
        raise
    except MemoryError as error:
        raise ResourceExhaustedError(f"out of memory in pass {one.name}") from error
    except RecursionError as error:
        raise ResourceExhaustedError("the graph's functions are nested too deeply") from error
    except Exception as error:
        pass_on(error)
        raise fault(f"pass {one.name} failed: {type(error).__name__}: {error}") from error
    seconds = time.perf_counter() - start
    # A check of all nodes after each change finds the pass that broke the graph, not a later victim.
    if ctx.fired:
        _check(graph, one)
    after = node_count(graph) if ctx.fired else nodes
    level = INFO if ctx.fired else DEBUG
    tell("pass %s, round %d: %d nodes, then %d, in %.3f s", one.name, number, nodes, after, seconds, level=level)
    accuracy = {rule: ctx.shared.accuracies.get(rule, one.accuracy) for rule in ctx.fired}
    refused, errors, notes = tuple(ctx.refusals.values()), tuple(ctx.weight_errors), tuple(ctx.notes)
    return PassRecord(one.name, number, nodes, after, seconds, dict(ctx.fired), refused, accuracy, errors, notes)


def _check(graph: Graph, after: Pass) -> None:
    try:
        graph.check()
    except TfgError as error:
        error.add_note(f"after pass {after.name}")
        raise


def _op_counts(graph: Graph) -> dict[str, int]:
    """Count the nodes of each type in the graph and the functions, the most frequent type first."""
    return dict(collections.Counter(node.op for node in all_nodes(graph)).most_common())


def _frozen_counts(graph: Graph, fetches: Sequence[str]) -> dict[str, int]:
    """Count the nodes of each type that are left when the graph is frozen: no variables, reads, arguments and calls."""
    needed = list(needed_nodes([graph.fetch(name) for name in fetches]))
    bodies = [graph.functions[name].pattern.body for name in called_functions(graph, needed)]
    left = itertools.chain(needed, *bodies)
    nodes = (node for node in left if not (node.is_argument or node.is_variable_read or node.is_no_op))
    ops = (node.op for node in nodes if node.op not in VARIABLES and node.op not in INLINED and node.op not in graph.functions)
    return dict(collections.Counter(ops).most_common())


def _unportable(graph: Graph) -> dict[str, int]:
    """Count the nodes of each internal op, and of each op of fused kernels."""
    # An argument's op begins with an underscore, too, but every reader knows it.
    ops = (node.op for node in all_nodes(graph) if not node.is_argument)
    return dict(collections.Counter(op for op in ops if op.startswith("_") or has_fact(op, "fused_kernel")).most_common())


@dataclasses.dataclass(frozen=True, slots=True)
class NodeFate:
    """The fate of a node; `refused` lists refused rewrites of the node, each with the pass's rule and the reason."""

    name: str
    """The name of the node."""
    op: str
    """The op before the passes."""
    op_after: str | None
    """The op after the passes; None if the node is gone."""
    fate: str
    """What became of the node, in words."""
    refused: tuple[str, ...]
    """Rewrites that were refused, with the reasons."""


@checked
def node_fates(
    graph: GraphLike, names: Sequence[str], fetches: Sequence[str] = (), feeds: Sequence[str] = (), *, fast_math: bool = False
) -> Rows[NodeFate]:
    """Optimize for the fetches, by default the outputs and training operations, and tell of each node how the node went
    (folded, merged, fused, removed ...) or why the node stayed.
    """
    graph = as_graph(graph)
    fetches = fetches or guessed_fetches(graph)
    nodes = [graph.node_of(name) for name in names]
    after, report = optimize(graph, fetches, feeds, fast_math=fast_math)
    fetched = {parse_tensor_name(name)[0] for name in fetches}
    return Rows(_fate(graph, node, after, report, fetched) for node in nodes)


def _fate(graph: Graph, node: Node, after: Graph, report: OptimizeReport, fetched: set[str]) -> NodeFate:
    left = after.get(node.name)
    fate = report.fates.get(node.name, "")
    if left is not None and not fate:
        fate = f"kept: {_reason(graph, node, fetched)}"
    refused = dict.fromkeys(
        f"{record.name}: {refusal.rule}: {refusal.reason}"
        for record in report.passes
        for refusal in record.refused
        if refusal.node == node.name
    )
    return NodeFate(node.name, node.op, left.op if left is not None else None, fate, tuple(refused))


def _reason(graph: Graph, node: Node, fetched: set[str]) -> str:
    if node.name in fetched:
        return "it is fetched"
    if node.is_placeholder:
        return "it is an input"
    if node.is_constant:
        return "it is a needed constant"
    reason = impurity(graph, node)
    return reason if reason is not None else "its value is needed and known only at run time, and no rule applies"
