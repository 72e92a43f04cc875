"""Rules that move work past splits, concatenations, transposes and casts, so that the work is done once, or on fewer bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ..base.accuracy import Accuracy, RuleSet
from .rewrite import Rewriter, attrs_of, is_unary_map

RULES = RuleSet()
rule = RULES.rule


@rule("Split", "SplitV", algebra="f(split(x)[i]) for all i -> split(f(x))[i]", accuracy=Accuracy.EXACT)
def unary_before_split(r: Rewriter, node: Node) -> Output | None:
    users = _alike_users(r, node)
    if users is None or not is_unary_map(users[0]):
        return None
    position = _data_input(node)
    first = users[0]
    moved = r.add(first.op, node.inputs[position], **attrs_of(first))
    node.set_attr("T", first.output_dtypes[0])
    return _over_split(r, node, users, position, moved)


@rule(
    "Split",
    "SplitV",
    algebra="transpose(split(x, a)[i], p) for all i -> split(transpose(x, p), p.index(a))[i]",
    accuracy=Accuracy.EXACT,
)
def transpose_before_split(r: Rewriter, node: Node) -> Output | None:
    users = _alike_users(r, node)
    if users is None or users[0].op != "Transpose":
        return None
    order = _common_order(r, users)
    axis_at = 0 if node.op == "Split" else 2
    axis = None if order is None else r.axis(node.inputs[axis_at], len(order))
    if axis is None:
        return None
    position = _data_input(node)
    moved = r.Transpose(node.inputs[position], users[0].inputs[1])
    place = int(np.flatnonzero(order == axis)[0])
    r.graph.set_input(node, axis_at, r.constant(place, node.inputs[axis_at]))
    return _over_split(r, node, users, position, moved)


def _data_input(node: Node) -> int:
    return 1 if node.op == "Split" else 0


def _alike_users(r: Rewriter, node: Node) -> list[Node] | None:
    """Return the readers of a node's outputs if each output has a single reader, all with equal op and attributes; else
    None.
    """
    readers = [r.graph.consumers(output) for output in node.outputs()]
    if len(readers) < 2 or any(len(consumers) != 1 for consumers in readers) or r.ctx.is_preserved(node):
        return None
    users = [consumers[0] for consumers in readers]
    first = users[0]
    for output, user in zip(node.outputs(), users):
        is_alike = user.op == first.op and attrs_of(user) == attrs_of(first) and user.inputs[0] == output
        if not is_alike or user.control_inputs or r.ctx.is_preserved(user) or not r.is_open(user):
            return None
    return users if len(set(users)) == len(users) else None


def _over_split(r: Rewriter, node: Node, users: list[Node], position: int, moved: Output) -> Output:
    """Split `moved` instead; the outputs replace the results of their readers."""
    r.graph.set_input(node, position, moved)
    for output, user in zip(node.outputs(), users):
        r.ctx.replace(user, output, "split", f"moved before {node.name}")
    return node.output()


@rule(
    "ConcatV2",
    algebra="concat(transpose(x, p), transpose(y, p), a) -> transpose(concat(x, y, p[a]), p)",
    accuracy=Accuracy.EXACT,
)
def transpose_after_concat(r: Rewriter, node: Node) -> Output | None:
    nodes = [value.node for value in node.inputs[:-1]]
    if len(nodes) < 2 or any(n.op != "Transpose" or not r.is_free(n) for n in nodes):
        return None
    order = _common_order(r, nodes)
    if order is None:
        r.refuse("the transposes differ")
        return None
    axis = r.axis(node.inputs[-1], len(order))
    if axis is None:
        return None
    place = r.constant(order[axis], node.inputs[-1])
    joined = r.ConcatV2([n.inputs[0] for n in nodes], place)
    return r.Transpose(joined, nodes[0].inputs[1])


def _common_order(r: Rewriter, transposes: Iterable[Node]) -> Any:
    """Return the constant permutation of all transposes, None where the permutations differ or are unknown."""
    orders = [r.permutation(node.inputs[1]) for node in transposes]
    return orders[0] if all(o is not None and np.array_equal(o, orders[0]) for o in orders) else None


@rule("Transpose", algebra="transpose(f(transpose(x, p)), q) -> transpose(f(x), p[q]) or f(x)", accuracy=Accuracy.EXACT)
def transposes_around_unary(r: Rewriter, node: Node) -> Output | None:
    outer, chain = r.permutation(node.inputs[1]), []
    inner = node.inputs[0].node
    while is_unary_map(inner) and r.is_free(inner):
        chain.append(inner)
        inner = inner.inputs[0].node
    order = r.permutation(inner.inputs[1]) if inner.op == "Transpose" else None
    if not chain or outer is None or order is None or len(order) != len(outer):
        return None
    value = inner.inputs[0]
    merged = order[outer]
    if not r.is_free(inner) and not np.array_equal(merged, np.arange(len(merged))):
        r.refuse("other nodes also read the inner transpose")
        return None
    for one in reversed(chain):
        value = r.add(one.op, value, **attrs_of(one))
    return r.Transpose(value, r.constant(merged, node.inputs[1]))


@rule("Cast", algebra="cast(transpose(x)) -> transpose(cast(x)) where the cast narrows", accuracy=Accuracy.EXACT)
def narrow_before_moving(r: Rewriter, node: Node) -> Output | None:
    moved = node.inputs[0].node
    if moved.op != "Transpose" or not r.is_free(moved) or node.attrs["DstT"].size >= node.attrs["SrcT"].size:
        return None
    return r.Transpose(r.Cast(moved.inputs[0], **attrs_of(node)), moved.inputs[1])


@rule("Transpose", algebra="transpose(cast(x)) -> cast(transpose(x)) where the cast widens", accuracy=Accuracy.EXACT)
def widen_after_moving(r: Rewriter, node: Node) -> Output | None:
    cast = node.inputs[0].node
    if cast.op != "Cast" or not r.is_free(cast) or cast.attrs["DstT"].size <= cast.attrs["SrcT"].size:
        return None
    return r.Cast(r.Transpose(cast.inputs[0], node.inputs[1]), **attrs_of(cast))


@rule("ConcatV2", algebra="concat(x, c1, c2) -> concat(x, c)", accuracy=Accuracy.EXACT)
def join_neighbouring_constants(r: Rewriter, node: Node) -> Output | None:
    values = [(value, r.constant_value(value)) for value in node.inputs[:-1]]
    are_constant = [array is not None for _, array in values]
    axis = next((r.axis(node.inputs[-1], array.ndim) for _, array in values if array is not None), None)
    if axis is None or all(are_constant) or not any(a and b for a, b in itertools.pairwise(are_constant)):
        return None
    runs: list[Output | list[Any]] = []
    for value, array in values:
        last = runs[-1] if runs else None
        if array is not None and isinstance(last, list):
            last.append(array)
        else:
            runs.append(value if array is None else [array])
    like = node.inputs[0]
    joined = [run if isinstance(run, Output) else r.constant(np.concatenate(run, axis), like) for run in runs]
    return r.ConcatV2(joined, node.inputs[-1])
