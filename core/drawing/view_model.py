"""The view model of a graph as plain values: entries of nodes, and pages of views for an interactive viewer.

Overlays are numbers or texts of nodes, by which the boxes of a page are coloured and labelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from ..explaining.author_scopes import passes_weight_on
from ..explaining.node_facts import Explainer
from ..explaining.node_listing import MOST_ALIKE, default_attributes, node_record, own_attributes, value_text
from ..explaining.problems import find_problems
from ..explaining.stages import ORDER
from ..graph.call_kinds import call_kind
from ..graph.callers import called_functions_of, callers_by_function, node_count, nodes_by_path
from ..graph.graph import Function, Graph, Node, Output
from ..graph.metagraph import Signature
from ..graph.traversal import forward_predecessors, nodes_of_kind, predecessors, reachable, trail_end
from ..graph.variable_nodes import VARIABLES, is_frozen_weight
from ..inference.inference import Inference, SpecRecord
from ..registry.catalog import op_sentence
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..support.grouping import grouped
from ..support.keyed_cache import KeyedCache
from ..support.tensor_names import parse_tensor_name
from ..types.dtypes import DType
from ..types.shapes import Shape
from ..types.tensors import FuncRef
from .picture import ConstantTexts, Look, ScopeOps, opened_tree
from .picture_nodes import KINDS, folded, kind_of, links
from .scope_tree import NameScope
from .value_pictures import NodeValue

Values: TypeAlias = Mapping[Node, float] | Mapping[Node, str]


@dataclasses.dataclass(frozen=True, slots=True)
class NodeOverlay:
    """The values of some nodes under a title. `unit` is bytes, seconds or empty.

    The number of a scope is the sum of its nodes' numbers where `adds_up`, otherwise the largest.
    """

    title: str
    values: Values
    unit: str = ""
    adds_up: bool = False
    is_of_both: bool = False
    """True for values that two compared graphs have in common."""


def problem_overlay(graph: Graph, inference: Inference | None = None) -> NodeOverlay | None:
    """Return the kind of each node's first problem, errors before warnings; None where no node has one."""
    problems = find_problems(graph, inference=inference)
    nodes = nodes_by_path(graph) if problems else {}
    kinds: dict[Node, str] = {}
    for problem in problems:
        # Problems name nodes, and nodes of functions may have equal names in several bodies.
        path = f"{problem.function}/{problem.node}" if problem.function else problem.node
        node = nodes.get(path or "")
        if node is not None:
            # Errors come before warnings, so a node keeps the worst of its problems.
            kinds.setdefault(node, f"{problem.severity}: {problem.kind}")
    return NodeOverlay("Problems", kinds) if kinds else None


_FIRST: Final = Look(max_boxes=24, max_layers=12, frame_layers=1, max_width=150)
"""The look of a page at first: small enough to read without zooming."""
CONTROL: Final = -1
"""The output number of a link that is a control edge."""

_NODES_OF_A_REPORT: Final = 1024

Report: TypeAlias = Callable[[int, int], None]
"""A listener to progress: called with the number of finished nodes and the number of all nodes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sheet:
    """A table about the whole graph."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    places: tuple[tuple[str, str], ...] = ()
    """The scopes or nodes of names in the rows that have another name in the graph."""


@dataclasses.dataclass(frozen=True, slots=True)
class FirstGraph:
    """A graph that another one, of which a book is, came from; the book's graph has the nodes of both."""

    names: tuple[str, str]
    """The names of the files, before and after."""
    before: Graph
    counterparts: Mapping[Node, Node]
    """The nodes of the book's graph by those of `before` and of its functions."""
    removed: Collection[Node]
    """The nodes of the book's graph that only `before` has."""
    figures: Figures
    """The figures of `before`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Figures:
    """Figures computed from a graph, in addition to the nodes' own fields."""

    inferences: Mapping[str, Inference] = dataclasses.field(default_factory=dict)
    """Inferred shapes by the name of a function; the graph's own have the name ""."""
    flops: Mapping[Node, str] = dataclasses.field(default_factory=dict)
    shares: Mapping[Node, float] = dataclasses.field(default_factory=dict)
    """Each node's part of all FLOPs."""
    sheets: tuple[Sheet, ...] = ()
    notes: tuple[str, ...] = ()
    """Computations that failed, with reasons."""
    values: Mapping[Node, tuple[NodeValue, ...]] = dataclasses.field(default_factory=dict)
    overlays: tuple[NodeOverlay, ...] = ()
    changes: Mapping[Node, tuple[tuple[str, str, str], ...]] = dataclasses.field(default_factory=dict)
    """The fields of nodes that differ from another graph, with their texts before and after."""
    keep: Collection[Node] = ()
    """Nodes that always have a box."""
    layers: Collection[str] = ()
    """The scopes of a model's layers, which are closed at first."""
    origins: Mapping[Node, str] = dataclasses.field(default_factory=dict)
    """The names that the file has for nodes that are called otherwise."""
    signature: Signature | None = None
    """The signature whose model the graph is: it has a page with all nodes, in place of a page of the graph."""
    colour: str = ""
    """The title of the overlay that colours the boxes at first; empty for their kinds."""
    compared: FirstGraph | None = None
    words: Callable[[str], str] = str
    """Puts the steps of a text into words."""


@dataclasses.dataclass(frozen=True, slots=True)
class ColocationGroup:
    """Nodes that must share a device; names that no node has are `missing`."""

    root: str
    members: tuple[int, ...]
    device: str
    conflicts: tuple[str, ...]
    missing: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class CommonEntry:
    """The part of an entry that nodes of the same op, attributes and shapes share: a million nodes have hundreds."""

    op: str
    kind: str
    outputs: tuple[str, ...] = ()
    references: tuple[int, ...] = ()
    """The numbers of the outputs that carry a variable's memory itself."""
    attributes: tuple[tuple[str, str], ...] = ()
    calls: tuple[str, ...] = ()
    passing: tuple[int, ...] = ()
    """The number of the first input that the called functions take, and of the first function whose results are the outputs;
    empty where inputs are not arguments as they stand."""
    dtype: str = ""
    """The dtype of the first output."""
    bytes: int | None = None
    """The bytes of all outputs; None where a shape or dtype is not known."""


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A node. Nodes are numbered by the order of a book's entries; an input is the number of a node and of an output."""

    name: str
    common: CommonEntry
    stage: str
    evidence: str
    role: str
    inputs: tuple[tuple[int, int], ...]
    controls: tuple[int, ...]
    device: str
    chain: tuple[str, ...]
    """The names after `loc:@`, followed from node to node."""
    flops: str
    share: float
    effect: str = ""
    """The effect of the node once run, where other nodes wait for the effect."""
    group: int | None = None
    constants: tuple[str, ...] = ()
    """The texts of constants without a box, for the user's box."""
    values: tuple[NodeValue, ...] = ()
    weights: tuple[int, ...] = ()
    """The nodes that hold the weights that this node reads, or the only reader of its value in the same scope."""
    changes: tuple[tuple[str, str, str], ...] = ()
    """The fields that differ from another graph, with their texts before and after."""
    origin: str = ""
    """The name that the file has for the node, where it is another."""


class EntryColumns:
    """The entries of a book by columns, one for each field: a million objects of as many fields would fill the memory."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {field: [] for field in Entry.__dataclass_fields__}

    def __len__(self) -> int:
        return len(self.columns["name"])

    def __iter__(self) -> Iterator[Entry]:
        return map(Entry, *self.columns.values())

    def __getitem__(self, number: int) -> Entry:
        return Entry(*[column[number] for column in self.columns.values()])

    def add(self, **columns: list[Any]) -> None:
        """Append entries, a list for each field."""
        for field, column in self.columns.items():
            column += columns[field]


@dataclasses.dataclass(frozen=True, slots=True)
class Overlay:
    """The numbers or texts of nodes by number; otherwise as NodeOverlay. The page itself has those of dtypes and bytes."""

    title: str
    unit: str
    adds_up: bool
    values: tuple[tuple[int, float | str], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Branch:
    """A scope: `parts` are numbers of nodes and nested scopes."""

    label: str
    path: str
    contents: str
    is_open: bool
    parts: tuple[int | Branch, ...]
    is_made: bool = False
    """True for a scope made by division, whose nodes have the names of the scope around it."""


@dataclasses.dataclass(frozen=True, slots=True)
class PageView:
    """A way to draw the nodes of a page: the tree of the drawn nodes, and links as (node, node, output)."""

    root: Branch
    links: tuple[tuple[int, int, int], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """The graph, the nodes of a signature, or the body of a function: briefly, without constants and identities, and whole.

    `whole` is None where the brief view has all nodes, and otherwise their tree: its links are the edges of the entries.
    `inputs` and `outputs` are (name, tensor, dtype and shape); `holders` are (node, node whose box holds the first).
    """

    kind: str
    name: str
    nodes: tuple[int, ...]
    brief: PageView
    whole: Branch | None
    holders: tuple[tuple[int, int], ...]
    inputs: tuple[tuple[str, str, str], ...] = ()
    outputs: tuple[tuple[str, str, str], ...] = ()
    callers: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Panes:
    """Two compared graphs side by side: the pages of each, the graph first, then the functions.

    The nodes of the first graph have entries of their own, from the number `start` on; `pairs` are (node of the first graph,
    node of the book's graph).
    """

    names: tuple[str, str]
    before: tuple[Page, ...]
    after: tuple[Page, ...]
    start: int
    pairs: tuple[tuple[int, int], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Book:
    """Everything that `tfg view` shows."""

    title: str
    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...]
    kinds: tuple[str, ...]
    stages: tuple[str, ...]
    entries: EntryColumns
    groups: tuple[ColocationGroup, ...]
    pages: tuple[Page, ...]
    ops: tuple[tuple[str, str], ...] = ()
    """The op types with a sentence on each."""
    defaults: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    """The attributes that the op types have by default."""
    start: int = 0
    """The number of the page that is shown first: the default signature, else the graph."""
    overlays: tuple[Overlay, ...] = ()
    colour: str = ""
    """The title of the overlay that colours the boxes at first; empty for their kinds."""
    panes: Panes | None = None


def make_book(title: str, graph: Graph, figures: Figures, report: Report = lambda done, total: None) -> Book:
    """Return the book of a graph: a page for the graph and each signature, or for the model, and for each function.

    `report` is called with the number of described nodes and the number of all nodes, those of functions and of a first graph
    included.
    """
    binder = _Binder(graph, figures, report)
    if figures.signature is not None:
        pages = [binder.signature_page(figures.signature, list(graph))]
    else:
        pages = [binder.page("graph", "", list(graph)), *map(binder.needed_page, graph.signatures.values())]
    functions = binder.function_pages()
    pages += functions
    beside = None if figures.compared is None else binder.panes(figures.compared, [pages[0], *functions])
    # Gathered last: the pages of functions and the first of two graphs write entries of their own.
    entries, groups = binder.entries, tuple(binder.groups)
    overlays = tuple(overlay for overlay in binder.overlays(figures.overlays) if overlay.values)
    start = 0 if figures.signature is not None else _start(graph)
    ops = dict.fromkeys(common.op for common in entries.columns["common"])
    more = tuple(pages), _sentences(ops), tuple(_defaults(ops)), start, overlays, figures.colour, beside
    return Book(title, figures.sheets, figures.notes, KINDS, ORDER, entries, groups, *more)


def _sentences(ops: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return op types with a sentence on each, without op types that TensorFlow does not document."""
    return tuple((op, op_sentence(op)) for op in ops if op_sentence(op))


def _defaults(ops: Iterable[str]) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield op types with their attributes by default."""
    for op in ops:
        if attributes := default_attributes(op):
            yield op, tuple((name, value_text(value)) for name, value in attributes.items())


def _start(graph: Graph) -> int:
    """Return the number of the page of the chosen or default signature, or of the graph."""
    if graph.meta is None:
        return 0
    usual = graph.meta.usual_signature
    name = graph.meta.chosen or (usual.name if usual else "")
    names = [signature.name for signature in graph.meta.signatures.values()]
    return 1 + names.index(name) if name in names else 0  # the page of the whole graph is before those of the signatures


class _Alike(NamedTuple):
    """What the entries of nodes have in common that have the same shapes, attributes and stage."""

    record: SpecRecord | None
    """Kept, so that the identity in the key stays."""
    common: CommonEntry
    place: tuple[str, str]
    role: str
    chain: tuple[str, ...]


class _Binder:
    """Writes entries, each with the next number, and pages of them; entries and groups of `others` come first."""

    def __init__(self, graph: Graph, figures: Figures, report: Report, others: _Binder | None = None) -> None:
        self._graph = graph
        self._figures = figures
        self._report = report
        graphs = [graph] if figures.compared is None else [graph, figures.compared.before]
        self._total: int = sum(map(node_count, graphs)) if others is None else others._total
        self._numbers: dict[Node, int] = {}
        # The nodes of two compared graphs are numbered in a row: entries, groups and overlays hold for both.
        self.entries: EntryColumns = EntryColumns() if others is None else others.entries
        self.groups: list[ColocationGroup] = [] if others is None else others.groups
        self._common: KeyedCache[tuple[Any, ...], tuple[object, CommonEntry]] = KeyedCache(MOST_ALIKE)
        """By op and the identities of attributes and specs, which are kept so that these stay."""
        self._alike: dict[tuple[int, int], _Alike] = {}
        """By the identities of the record of a node's shapes, and of the place among the stages."""
        self._more: dict[Node, int] = {}
        """The numbers of the nodes of the first of two compared graphs, by the nodes of both as one."""
        self._write(graph, "")

    def _write(self, graph: Graph, function: str) -> None:
        """Write an entry for each node of the graph, or of a function's body."""
        # Numbers come before entries: the back edges of a loop name nodes that stand further down.
        numbers = self._numbers
        numbers.update({node: len(self.entries) + i for i, node in enumerate(graph)})
        explainer = Explainer(graph, self._figures.inferences.get(function))
        groups = self._add_groups(explainer)
        # The text on an effect stands at control edges alone, so that no other node needs it.
        waited_for = {control for node in graph for control in node.control_inputs}
        texts = ConstantTexts(folded(graph, self._figures.keep))
        weights = _NearWeights(graph)
        nodes, inference = list(graph), explainer.inference
        records = [None] * len(nodes) if inference is None else inference.records_of(graph, nodes)
        # Part by part: the nodes of a part stay in the processor's cache from column to column.
        for start in range(0, len(nodes), _NODES_OF_A_REPORT):
            end = start + _NODES_OF_A_REPORT
            part = nodes[start:end]
            alike = [self._about(node, record, explainer) for node, record in zip(part, records[start:end])]
            self.entries.add(
                name=[node.name for node in part],
                common=[each.common for each in alike],
                stage=[each.place[0] for each in alike],
                evidence=[each.place[1] for each in alike],
                role=[each.role for each in alike],
                inputs=[tuple([(numbers[value.node], value.index) for value in node.inputs]) for node in part],
                controls=[tuple([numbers[control] for control in node.control_inputs]) for node in part],
                device=[node.device for node in part],
                chain=[each.chain for each in alike],
                effect=[explainer.effect(node) if node in waited_for else "" for node in part],
                group=[groups.get(node.name) for node in part],
                constants=[texts.of(node) for node in part],
                weights=[tuple([numbers[weight] for weight in weights.near(node)]) for node in part],
                **self._figures_of(part),
            )
            self._report(len(self.entries), self._total)

    def _add_groups(self, explainer: Explainer) -> dict[str, int]:
        """Add the colocation groups; return the number of the group of each member."""
        group_of = {}
        for group in explainer.placement.groups():
            members = [node for node in map(explainer.graph.get, group.members) if node is not None]
            group_of.update(dict.fromkeys(group.members, len(self.groups)))
            numbers = tuple(self._numbers[node] for node in members)
            self.groups.append(ColocationGroup(group.root, numbers, group.device, group.conflicts, group.missing))
        return group_of

    def _figures_of(self, nodes: Sequence[Node]) -> dict[str, list[Any]]:
        """Return the columns of what was computed apart from the nodes."""
        figures = self._figures
        return {
            "flops": [figures.flops.get(node, "") for node in nodes],
            "share": [figures.shares.get(node, 0.0) for node in nodes],
            "values": [figures.values.get(node, ()) for node in nodes],
            "changes": [figures.changes.get(node, ()) for node in nodes],
            "origin": [figures.origins.get(node, "") for node in nodes],
        }

    def _about(self, node: Node, record: SpecRecord | None, explainer: Explainer) -> _Alike:
        """Return what a node shares with nodes of the same op, attributes, shapes and stage."""
        place = explainer.placed[node]
        # The records of shapes stand for op, attributes and shapes; a node around a variable has a role of its own.
        key = None if record is None or node in explainer.particular else (id(record), id(place))
        known = None if key is None else self._alike.get(key)
        if known is not None:
            return known
        role, chain = self._figures.words(explainer.role(node)), explainer.placement.chain(node)
        known = _Alike(record, self._common_of(node, explainer.inference), place, role, chain)
        if key is not None and not chain and explainer.has_plain_role(node):
            self._alike[key] = known
        return known

    def _common_of(self, node: Node, inference: Inference | None) -> CommonEntry:
        """Return what a node shares with nodes of the same op, attributes and shapes."""
        try:
            outputs = node.outputs()
        except InvalidArgumentError:  # a required type attribute is missing, as in a polymorphic function body
            outputs = []
        specs = () if inference is None else tuple([inference.specs[output] for output in outputs])
        key = node.op, id(node.attrs), *map(id, specs)
        if (known := self._common.get(key)) is not None:
            return known[1]
        common = self._new_common(node, inference, outputs)
        # A node without inputs may have a value of its own: a million constants would drive out the others.
        if node.inputs:
            self._common[key] = (node.attrs, specs), common
        return common

    def _new_common(self, node: Node, inference: Inference | None, outputs: Sequence[Output]) -> CommonEntry:
        record = node_record(node, inference)
        dtypes = [output.dtype for output in outputs]
        return CommonEntry(
            node.op,
            kind_of(node),
            tuple(map(str, record.outputs)),
            tuple(i for i, dtype in enumerate(dtypes) if dtype is not None and dtype.is_ref),
            tuple((name, value_text(value)) for name, value in own_attributes(record).items()),
            _calls(self._graph, node),
            _passing(self._graph, node),
            *_sizes([output.shape for output in record.outputs], dtypes),
        )

    def overlays(self, overlays: Sequence[NodeOverlay]) -> Iterator[Overlay]:
        """Yield the overlays by the numbers of nodes."""
        for overlay in overlays:
            numbered = (
                (numbers[node], value)
                for node, value in overlay.values.items()
                for numbers in (self._numbers, self._more if overlay.is_of_both else {})
                if node in numbers
            )
            yield Overlay(overlay.title, overlay.unit, overlay.adds_up, tuple(numbered))

    def page(self, kind: str, name: str, nodes: Sequence[Node], **more: Any) -> Page:
        """Return a page of nodes that have entries."""
        left_out = folded(nodes, self._figures.keep)
        place, pool = self._numbers, dict.fromkeys(nodes)
        edges = list(links(pool, left_out))
        linked = [(place[source], place[target], CONTROL if value is None else value.index) for source, target, value in edges]
        drawn = [node for node in nodes if node not in left_out]
        brief = PageView(self._tree(drawn, grouped((target, source) for source, target, _ in edges)), tuple(linked))
        # Where no node is left out, both views are equal, and the page holds one.
        before = {node: [source for source in predecessors(node) if source in pool] for node in nodes if left_out}
        whole = self._tree(nodes, before) if left_out else None
        numbers = tuple([place[node] for node in nodes])
        return Page(kind, name, numbers, brief, whole, tuple(self._holders(nodes, left_out)), **more)

    def needed_page(self, signature: Signature) -> Page:
        """Return the page of the nodes that a signature runs."""
        # A signature may name a tensor that a broken graph lacks: then its page has no nodes.
        nodes = {tensor: self._graph.get(parse_tensor_name(tensor)[0]) for tensor in signature.fetched.values()}
        needed = reachable(node for node in nodes.values() if node is not None)
        return self.signature_page(signature, [node for node in self._graph if node in needed])

    def signature_page(self, signature: Signature, nodes: Sequence[Node]) -> Page:
        """Return the page of a signature with its arguments."""
        return self.page(
            "signature",
            signature.name,
            nodes,
            inputs=self._arguments(self._graph, signature.fed),
            outputs=self._arguments(self._graph, signature.fetched),
        )

    def function_pages(self) -> list[Page]:
        """Return a page for each function of the graph."""
        callers = callers_by_function(self._graph)
        return [self._function_page(function, callers[name]) for name, function in self._graph.functions.items()]

    def panes(self, compared: FirstGraph, pages: Sequence[Page]) -> Panes:
        """Return the graph that this one came from, and this one without the nodes of the other, page by page."""
        start = len(self.entries)
        first = _Binder(compared.before, compared.figures, self._report, others=self)
        before = [first.page("graph", "", list(compared.before)), *first.function_pages()]
        pairs = {node: compared.counterparts.get(node, node) for node in first._numbers}
        self._more = {other: first._numbers[node] for node, other in pairs.items()}
        known = [(first._numbers[node], self._numbers[other]) for node, other in pairs.items() if other in self._numbers]
        after = tuple(self._without(page, compared.removed) for page in pages)
        return Panes(compared.names, tuple(before), after, start, tuple(known))

    def _without(self, page: Page, removed: Collection[Node]) -> Page:
        """Return a page without some nodes."""
        lost = {self._numbers[node] for node in removed if node in self._numbers}
        if lost.isdisjoint(page.nodes):
            return page
        nodes = {number: node for node, number in self._numbers.items()}
        # The book's graph has the nodes of both graphs; its own pane shows the page without those of the first.
        kept = [nodes[number] for number in page.nodes if number not in lost]
        return self.page(page.kind, page.name, kept, inputs=page.inputs, outputs=page.outputs, callers=page.callers)

    def _function_page(self, function: Function, callers: tuple[str, ...]) -> Page:
        """Write the body of a function, and return its page."""
        self._write(function.body, function.name)
        declared = [output.name for output in function.signature.outputs]
        # A damaged function may return other results than it declares: then numbers stand for their names.
        names = declared if len(declared) == len(function.results) else map(str, range(len(function.results)))
        results = {name: value.name for name, value in zip(names, function.results, strict=True)}
        return self.page(
            "function",
            function.name,
            list(function.body),
            inputs=self._arguments(function.body, {node.name: f"{node.name}:0" for node in function.args}),
            outputs=self._arguments(function.body, results),
            callers=callers,
        )

    def _arguments(self, graph: Graph, tensors: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
        """Return the names of arguments with tensors, dtypes and shapes."""
        return tuple((name, tensor, self._spec(graph, tensor)) for name, tensor in tensors.items())

    def _spec(self, graph: Graph, tensor: str) -> str:
        name, index, _ = parse_tensor_name(tensor)
        node = graph.get(name)
        if node is None:
            return "not in the graph"
        outputs = self.entries[self._numbers[node]].common.outputs
        return outputs[index] if index < len(outputs) else ""

    def _tree(self, nodes: Sequence[Node], sources: Mapping[Node, Sequence[Node]]) -> Branch:
        """Return the tree of nodes with edges from `sources`."""
        root, opened = opened_tree(nodes, sources, dataclasses.replace(_FIRST, layers=self._figures.layers))
        return self._branch(root, opened, ScopeOps(root))

    def _branch(self, scope: NameScope, opened: set[NameScope], ops: ScopeOps) -> Branch:
        numbers = self._numbers
        return Branch(
            scope.label,
            scope.path,
            ops.text(scope, self._figures.layers),
            scope in opened,
            tuple([self._branch(part, opened, ops) if isinstance(part, NameScope) else numbers[part] for part in scope.parts]),
            not scope.is_name_scope,
        )

    def _holders(self, nodes: Sequence[Node], left_out: Collection[Node]) -> Iterator[tuple[int, int]]:
        """Yield each node without a box with the nearest boxed node, along forwarded values."""
        nearest = _nearest_drawn(left_out)
        return ((self._numbers[node], self._numbers[nearest[node]]) for node in nodes if node in nearest)


def _sizes(shapes: Sequence[Shape], dtypes: Sequence[DType | None]) -> tuple[str, int | None]:
    """Return the dtype of the first output, and the bytes of all outputs where their shapes and dtypes are known."""
    first = dtypes[0].base.name if dtypes and isinstance(dtypes[0], DType) else ""
    known = [dtype for dtype in dtypes if isinstance(dtype, DType)]  # a caller of a function leaves others open
    if not shapes or len(known) < len(dtypes) or not all(shape.is_known for shape in shapes):
        return first, None
    return first, sum(math.prod(shape.known()) * dtype.size for shape, dtype in zip(shapes, known, strict=True))


class _NearWeights:
    """The weights near the nodes of a graph; what is behind a value is searched for once for each value."""

    def __init__(self, graph: Graph) -> None:
        ops = {node.op: node for node in graph}
        # Weights are handed on in another shape or dtype too.
        self._passing = {op for op, node in ops.items() if passes_weight_on(node) or has_fact(op, "view")}
        self._silent = self._passing | {op for op, node in ops.items() if node.is_constant}
        weights: dict[Node, Node] = {}
        """The variables and constants behind the nodes that hold weights or hand them on."""
        ends: dict[Output, Output] = {}
        for node in nodes_of_kind(graph, lambda kind: kind.is_constant or kind.op in self._passing or kind.op in VARIABLES):
            end = trail_end(node.output(), self._before, ends).node
            if end.op in VARIABLES or is_frozen_weight(end):
                weights[node] = end
        read = ((node, [weights[v.node] for v in node.inputs if v.node in weights]) for node in (graph if weights else ()))
        self._read = {node: tuple(dict.fromkeys(each)) for node, each in read if each}
        """The weights that nodes read, each once."""

    def _before(self, value: Output) -> Output | None:
        """Return the value that a node hands on."""
        return value.node.inputs[0] if value.node.op in self._passing and value.node.inputs else None

    def near(self, node: Node) -> Iterable[Node]:
        """Return the weights that a node reads, as a kernel; then those of the only reader, as a bias, in the same scope."""
        if not self._read or node.op in self._silent or not node.output_dtypes:
            return ()
        own, reader = self._read.get(node, ()), _only_reader(node)
        others = () if reader is None else self._read.get(reader, ())
        # The scopes last, as they take the longest to compare.
        return dict.fromkeys((*own, *others)) if others not in ((), own) and _are_beside(node, reader) else own


def _are_beside(node: Node, reader: Node | None) -> bool:
    """Return True for nodes of the same scope: Keras puts the kernel's product and the bias's sum into the scope of their
    layer, and the page shows both weights at either.
    """
    scope = node.name.rpartition("/")[0]
    return reader is not None and scope != "" and reader.name.rpartition("/")[0] == scope


def _only_reader(node: Node) -> Node | None:
    """Return the only node that reads a node's outputs."""
    readers = []
    for user, times in node.uses.items():
        # By the number of uses: a search through the inputs of a node that reads all others would take the square.
        if not user.control_inputs or times > user.waits_for(node):
            readers.append(user)
            if len(readers) > 1:
                return None
    return readers[0] if readers else None


def _calls(graph: Graph, node: Node) -> tuple[str, ...]:
    """Return the library functions that a node calls, the functions of a loop in the order of `CallKind.functions`."""
    kind = call_kind(graph.functions, node)
    values = [node.attrs.get(name) for name in (kind.functions if kind else ())]
    first = [value.name for value in values if isinstance(value, FuncRef) and value.name in graph.functions]
    return tuple(dict.fromkeys([*first, *called_functions_of(graph, node)]))


def _passing(graph: Graph, node: Node) -> tuple[int, ...]:
    """Return how a node passes inputs to functions and takes their results, as `Entry.passing` says."""
    kind = call_kind(graph.functions, node)
    # A loop that counts hands its body a counter that no input stands for.
    if kind is None or kind.counters:
        return ()
    return kind.before, len(kind.functions) - 1 if kind.is_loop else 0  # a loop's condition is before the body


def _nearest_drawn(left_out: Collection[Node]) -> dict[Node, Node]:
    """Return for each node left out the nearest drawn user, the first among equals, by a search from the drawn nodes back."""
    first_users = ((node, next((user for user in node.uses if user not in left_out), None)) for node in left_out)
    nearest = {node: user for node, user in first_users if user is not None}
    # A breadth-first search backwards from the boxes: each hidden node gets the box that is the fewest steps away.
    edge = list(nearest)
    while edge:
        before = (source for node in edge for source in forward_predecessors(node))
        edge = [source for source in dict.fromkeys(before) if source in left_out and source not in nearest]
        nearest |= {node: nearest[next(user for user in node.uses if user in nearest)] for node in edge}
    return nearest
