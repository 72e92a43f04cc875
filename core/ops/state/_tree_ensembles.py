"""Ensembles of decision trees, from the bytes that a checkpoint of an estimator holds.

https://github.com/tensorflow/tensorflow/tree/v2.8.0/tensorflow/core/kernels/boosted_trees has the names of the fields.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...codecs import wire
from ...support import dataclasses
from ...support.errors import DataLossError, InternalError, InvalidArgumentError

_LEAF, _BUCKETIZED, _CATEGORICAL = 1, 2, 3
_METADATA: Final = 777
_TREES, _WEIGHTS, _TREE_METADATA, _GROWING = 1, 2, 3, 4

Matrices = Sequence[np.ndarray[Any, Any]]
"""The buckets of each feature, (examples, dimensions)."""


@dataclasses.dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of a tree. `kind` is the number of the field that holds the node; `value` are the logits of a leaf, or of the
    leaf that the node was before its split, and None where neither is known.
    """

    kind: int
    value: tuple[float, ...] | None
    feature: int = 0
    threshold: int = 0
    left: int = 0
    right: int = 0
    dimension: int = 0


class TrainingState(NamedTuple):
    """The state of the training of an ensemble."""

    finalized_trees: int
    attempted_layers: int
    last_layer: tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Ensemble:
    """Trees with a weight each."""

    trees: Sequence[Sequence[TreeNode]]
    weights: Sequence[float]
    growth: TrainingState

    def logits(self, features: Matrices, size: int) -> np.ndarray[Any, Any]:
        """Return the weighted sums of the leaves that each example reaches, (examples, size)."""
        result = np.zeros((len(features[0]), size), np.float32)
        for tree, weight in self._weighted():
            leaves = self._leaves(tree, features)
            values = np.zeros((len(tree), size), np.float32)
            for node in np.unique(leaves).tolist():
                values[node] = _value(tree[node], size)
            result += np.float32(weight) * values[leaves]
        return result

    def paths(self, features: Matrices, example: int) -> tuple[list[int], list[float], list[int]]:
        """Return (features that split, logits after each split, leaves) of an example's ways through all trees."""
        if not self.trees:
            raise InvalidArgumentError("the ensemble has no tree")
        bias = np.float32(self.weights[0]) * np.float32(_value(self.trees[0][0], 1)[0])
        splits, logits, leaves = [], [bias], []
        earlier, logit = np.float32(0), bias
        for number, (tree, weight) in enumerate(self._weighted()):
            way = list(_way(tree, features, example))
            for before, after in itertools.pairwise(way):
                logit = np.float32(weight) * np.float32(_value(tree[after], 1)[0])
                splits.append(tree[before].feature)
                logits.append(logit + earlier)
            leaves.append(way[-1])
            # A tree that is a single leaf adds nothing, but for the first, which holds the bias.
            earlier = earlier + logit if number == 0 or way[-1] > 0 else earlier
        return splits, [float(value) for value in logits], leaves

    def _weighted(self) -> Iterator[tuple[Sequence[TreeNode], float]]:
        if len(self.weights) < len(self.trees):
            raise InvalidArgumentError(f"the ensemble has {len(self.trees)} trees, but {len(self.weights)} weights")
        return zip(self.trees, self.weights)

    def _leaves(self, tree: Sequence[TreeNode], features: Matrices) -> np.ndarray[Any, Any]:
        """Return the leaf that each example reaches."""
        places = np.zeros(len(features[0]), np.int64)
        pending = [(0, np.arange(len(places)))]
        for _ in range(len(tree)):
            if not pending:
                return places
            number, examples = pending.pop()
            node = _node(tree, number)
            if node.kind == _LEAF:
                places[examples] = number
                continue
            goes_left = _goes_left(node, features, examples)
            pending += [(node.left, examples[goes_left]), (node.right, examples[~goes_left])]
        if pending:
            raise DataLossError("the nodes of a tree have a cycle")
        return places


def _node(tree: Sequence[TreeNode], number: int) -> TreeNode:
    if not 0 <= number < len(tree):
        raise InvalidArgumentError(f"a tree of {len(tree)} nodes has no node {number}")
    return tree[number]


def _goes_left(node: TreeNode, features: Matrices, examples: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if node.kind not in (_BUCKETIZED, _CATEGORICAL):
        raise InvalidArgumentError(f"a node of a tree is neither a leaf nor a split of buckets or categories: {node.kind}")
    if not 0 <= node.feature < len(features) or not 0 <= node.dimension < features[node.feature].shape[1]:
        raise InvalidArgumentError(f"a tree splits dimension {node.dimension} of feature {node.feature}, which is not given")
    buckets = features[node.feature][examples, node.dimension]
    return buckets <= node.threshold if node.kind == _BUCKETIZED else buckets == node.threshold


def _way(tree: Sequence[TreeNode], features: Matrices, example: int) -> Iterator[int]:
    """Yield the nodes from the root to the leaf that an example reaches."""
    number = 0
    for _ in range(len(tree)):
        yield number
        node = _node(tree, number)
        if node.kind == _LEAF:
            return
        number = node.left if _goes_left(node, features, np.array([example]))[0] else node.right
    raise DataLossError("the nodes of a tree have a cycle")


def _value(node: TreeNode, size: int) -> tuple[float, ...]:
    values = node.value or ()
    if len(values) != size:
        raise InternalError(f"Expected leaf_logits.size() == logits_dimension_, got {len(values)} vs {size}")
    return values


def parse_ensemble(data: bytes) -> Ensemble:
    """Return the ensemble in a message; InvalidArgumentError for a damaged message."""
    try:
        parts = list(wire.fields(data))
        trees = [_parse_tree(part.payload) for part in parts if part.number == _TREES]
        weights = np.frombuffer(wire.repeated_fixed((part for part in parts if part.number == _WEIGHTS), 4), "<f4").tolist()
        finalized = [_integers(part.payload).get(3, 0) for part in parts if part.number == _TREE_METADATA]
        growing = _integers(b"".join(part.payload for part in parts if part.number == _GROWING))
    except DataLossError as error:
        raise InvalidArgumentError(f"Unable to parse tree ensemble proto: {error}") from None
    open_trees = 1 if trees and not (finalized[-1:] or [0])[0] else 0
    growth = TrainingState(len(trees) - open_trees, growing.get(2, 0), (growing.get(3, 0), growing.get(4, 0)))
    return Ensemble(trees, weights, growth)


def _parse_tree(data: bytes) -> list[TreeNode]:
    return [_parse_node(part) for part in wire.contents(data, 1)]


def _parse_node(data: bytes) -> TreeNode:
    kind, payload, value = 0, b"", None
    for number, part in wire.parts(data):
        if number == _METADATA:
            value = _original_leaf(part)
        elif number in (_LEAF, _BUCKETIZED, _CATEGORICAL, 4):
            kind, payload = number, payload + part if number == kind else part
    if kind == _LEAF:
        return TreeNode(kind, _parse_leaf(payload))
    split = _integers(payload)
    return TreeNode(kind, value, *(split.get(number, 0) for number in (1, 2, 3, 4, 5)))


def _original_leaf(metadata: bytes) -> tuple[float, ...] | None:
    leaves = wire.contents(metadata, 2)
    return _parse_leaf(b"".join(leaves)) if leaves else None


def _parse_leaf(data: bytes) -> tuple[float, ...]:
    """Return the logits of a leaf: a vector, or a scalar."""
    vectors = wire.contents(data, 1)
    if vectors:
        return _floats(b"".join(vectors), 1)
    return _floats(data, 3)[-1:] or (0.0,)


def _floats(data: bytes, number: int) -> tuple[float, ...]:
    return tuple(np.frombuffer(wire.repeated_fixed((f for f in wire.fields(data) if f.number == number), 4), "<f4").tolist())


def _integers(data: bytes) -> dict[int, int]:
    """Return the last integer of each number."""
    numbers = (field for field in wire.fields(data) if field.wire_type == wire.VARINT)
    return {field.number: wire.repeated_integers([field])[0] for field in numbers}
