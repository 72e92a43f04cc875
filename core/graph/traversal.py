"""Walks over a graph: topological order, reachability, descendants, function references."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from ..registry.op_facts import NodeKinds, has_fact
from ..support.errors import InvalidArgumentError
from ..types.tensors import FuncRef
from .graph import Graph, Node, Output

_Item = TypeVar("_Item", bound=Hashable)


def topological_order(
    nodes: Iterable[Node], predecessors: Callable[[Node], Iterable[Node | None]] | None = None
) -> list[Node]:
    """Return `nodes` with every node after its inputs, otherwise in the order given; back edges of V1 loops are not
    followed.

    InvalidArgumentError names a node on a cycle.
    """
    if isinstance(nodes, Graph) and predecessors is None:
        nodes.resolve()  # before, as it may find the nodes in order
        if nodes.ordered[0] != nodes.edits:
            nodes.ordered = nodes.edits, topological_order(iter(nodes))
        return list(nodes.ordered[1] or nodes)
    pool = dict.fromkeys(nodes)
    before = predecessors or forward_predecessors
    # TensorFlow usually writes nodes in order, and the test takes a fraction of the time of the sort.
    if is_in_order(pool, before):
        return list(pool)
    order: list[Node] = []
    # False while a node is on the stack, True when it is done. The stack is a list, since chains in graphs are longer than
    # Python's stack is deep.
    state: dict[Node, bool] = {}
    for root in pool:
        if root in state:
            continue
        stack = [(root, iter(before(root)))]
        state[root] = False
        while stack:
            node, pending = stack[-1]
            for source in pending:
                if source is None or source not in pool or state.get(source):
                    continue
                if source in state:
                    raise InvalidArgumentError("it is part of a cycle", node=source.name, op=source.op)
                state[source] = False
                stack.append((source, iter(before(source))))
                break
            else:
                state[node] = True
                order.append(node)
                stack.pop()
    return order


def is_in_order(pool: Mapping[Node, None], before: Callable[[Node], Iterable[Node | None]]) -> bool:
    """Return True if every node of `pool` already stands after those that are `before` it there, as in most graphs."""
    seen: set[Node | None] = set()
    is_plain = before is forward_predecessors
    for node in pool:
        # Without a call for the nodes of which the sources are those of their inputs, as of most.
        is_usual = is_plain and node._inputs is not None and node._control_inputs == ()
        if is_usual and seen.issuperset([value.node for value in node._inputs or ()]):
            seen.add(node)
            continue
        if not seen.issuperset(before(node)) and any(source not in seen and source in pool for source in before(node)):
            return False
        seen.add(node)
    return True


def nodes_of_kind(nodes: Iterable[Node], holds: Callable[[NodeKinds], bool]) -> list[Node]:
    """Return the nodes of the ops for which a condition holds: asked once for each op, as large graphs have few ops."""
    return nodes_of_kinds(nodes, holds)[0]


def nodes_of_kinds(nodes: Iterable[Node], *conditions: Callable[[NodeKinds], bool]) -> list[list[Node]]:
    """Return the nodes of `nodes_of_kind` for each condition: large graphs are walked through once for all of them."""
    nodes = nodes if isinstance(nodes, Collection) else list(nodes)
    kinds = {node.op: node for node in nodes}  # a node stands for its op in the questions
    chosen = [{op for op, node in kinds.items() if holds(node)} for holds in conditions]
    return [[node for node in nodes if node.op in ops] if ops else [] for ops in chosen]


def strongly_connected(nodes: Iterable[_Item], sources: Callable[[_Item], Iterable[_Item | None]]) -> list[list[_Item]]:
    """Return the strongly connected components, each after its sources (Tarjan's algorithm, without recursion)."""
    number: dict[_Item, int] = {}
    low: dict[_Item, int] = {}
    stack: list[_Item] = []
    components: list[list[_Item]] = []
    place: dict[_Item, int] = {}
    closed: set[_Item] = set()
    for root in nodes:
        work = [] if root in number else [(root, iter(sources(root)))]
        if work:
            number[root] = low[root] = len(number)
            place[root] = len(stack)
            stack.append(root)
        while work:
            node, pending = work[-1]
            for source in pending:
                # A closed component cannot be part of a later one.
                if source is None or source in closed:
                    continue
                if source not in number:
                    number[source] = low[source] = len(number)
                    place[source] = len(stack)
                    stack.append(source)
                    work.append((source, iter(sources(source))))
                    break
                low[node] = min(low[node], number[source])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    members = stack[place[node] :]
                    del stack[-len(members) :]
                    closed.update(members)
                    components.append(members)
    return components


def forward_predecessors(node: Node) -> list[Node]:
    """Return the nodes whose data or control outputs `node` takes, without the back edge NextIteration -> Merge."""
    sources = [value.node for value in node.inputs]
    if has_fact(node.op, "merge"):
        # A Merge at the head of a loop takes the value of the iteration before: only this edge may close a cycle.
        sources = [source for source in sources if not has_fact(source.op, "next_iteration")]
    return [*sources, *node.control_inputs] if node.control_inputs else sources


def closure(roots: Iterable[_Item], following: Callable[[_Item], Iterable[_Item]]) -> set[_Item]:
    """Return the roots, and all items to which `following` leads from a root, in any number of steps."""
    members = set(roots)
    pending = list(members)
    while pending:
        for item in following(pending.pop()):
            if item not in members:
                members.add(item)
                pending.append(item)
    return members


def shortest_path(start: _Item, goals: Container[_Item], following: Callable[[_Item], Iterable[_Item]]) -> list[_Item]:
    """Return the items on a shortest path from `start` to one of `goals`, both included; empty if none can be reached."""
    before: dict[_Item, _Item | None] = {start: None}
    queue = [start]
    # The loop also visits what is appended on the way.
    for item in queue:
        if item in goals:
            path = [item]
            while (previous := before[path[-1]]) is not None:
                path.append(previous)
            return path[::-1]
        for other in following(item):
            if other not in before:
                before[other] = item
                queue.append(other)
    return []


def reachable(
    roots: Iterable[Node], stop: Callable[[Node], bool] = lambda node: False, *, by_control: bool = True
) -> set[Node]:
    """Return every node reachable from the roots against the edges; inputs of nodes for which `stop` holds are not
    followed.

    Without `by_control` only data inputs are followed.
    """

    def sources(node: Node) -> Iterable[Node]:
        return () if stop(node) else predecessors(node) if by_control else [value.node for value in node.inputs]

    return closure(roots, sources)


def predecessors(node: Node) -> list[Node]:
    """Return the nodes whose data or control outputs `node` takes, back edges of loops included."""
    return [*(value.node for value in node.inputs), *node.control_inputs]


def descendants(roots: Iterable[Node]) -> set[Node]:
    """Return the roots and every node downstream of a root."""
    return closure(roots, operator.attrgetter("uses"))


def sources_first(root: _Item, sources: Callable[[_Item], Iterable[_Item]]) -> list[_Item]:
    """Return an item and all items reachable by `sources`, in postorder: each item once and after its sources, apart from
    cycles.
    """
    order: list[_Item] = []
    entered = {root}
    stack = [(root, iter(sources(root)))]
    while stack:
        node, left = stack[-1]
        following = next((source for source in left if source not in entered), None)
        if following is None:
            order.append(node)
            stack.pop()
        else:
            entered.add(following)
            stack.append((following, iter(sources(following))))
    return order


def trail_end(value: Output, before: Callable[[Output], Output | None], ends: dict[Output, Output] | None = None) -> Output:
    """Follow `before` from `value` to the last value before None, or, in a cycle, to the first value met again.

    `ends` caches the ends of all values on the way, so that many trails take time linear in the number of values.
    """
    passed: dict[Output, None] = {}
    end: Output | None = value
    while end is not None and end not in passed and (ends is None or end not in ends):
        passed[end] = None
        value, end = end, before(end)
    if end is not None:
        value = ends[end] if ends is not None and end in ends else end
    if ends is not None:
        ends.update(dict.fromkeys(passed, value))
    return value


def trail_ends(
    value: Output, before: Callable[[Output], Sequence[Output]], ends: dict[Output, Output] | None = None
) -> list[Output]:
    """Follow `before` from `value` along all trails to the values that nothing is before.

    `ends` caches the ends of the stretches on which trails do not part.
    """

    def only(passed: Output) -> Output | None:
        following = before(passed)
        return following[0] if len(following) == 1 else None

    forks = dict.fromkeys([trail_end(value, only, ends)])
    pending = list(forks)
    while pending:
        ends_before = [trail_end(following, only, ends) for following in before(pending.pop())]
        pending += [end for end in dict.fromkeys(ends_before) if end not in forks]
        forks |= dict.fromkeys(ends_before)
    return [end for end in forks if not before(end)]


def copied_from(value: Output) -> Output | None:
    """Return the source of a copy: the input of an Identity without control inputs, otherwise None. A step for `trail_end`."""
    return value.node.inputs[0] if value.node.is_identity and not value.node.control_inputs else None


def groups(nodes: Iterable[Node], is_member: Callable[[Node], bool]) -> list[Node]:
    """Return the NoOps among `nodes` that wait only for members or for other NoOps of the result, in the order given."""
    no_ops = nodes_of_kind(nodes, lambda kind: kind.is_no_op)
    candidates = (node for node in no_ops if not node.inputs and node.control_inputs)
    # The number of control inputs that are no members yet; a NoOp is a member once it is 0.
    left = {node: sum(not is_member(control) for control in node.control_inputs) for node in candidates}
    pending = [node for node, count in left.items() if not count]
    members: set[Node] = set()
    while pending:
        node = pending.pop()
        members.add(node)
        for user in node.uses:
            if user in left:
                left[user] -= 1
                pending += [user] if not left[user] else []
    return [node for node in left if node in members]


def function_names(graph: Graph, node: Node) -> Iterator[str]:
    """Yield the library functions to which a node refers: by its op, or in attributes; none without a library."""
    if not graph.functions:
        return
    if node.op in graph.functions:
        yield node.op
    definition = node.op_def
    # Attributes of a declared op that takes no functions are not decoded for the question: they stay bytes.
    plain = {} if definition is None or definition.takes_functions else definition.attrs
    for name in node.attrs:
        if name in plain:
            continue
        value = node.attrs[name]
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, FuncRef):
                yield item.name
