"""Boosted trees, as the estimators of TensorFlow 1.8 to 2.8 export them: buckets, ensembles and their predictions.

TensorFlow 2.21 declares the ops, but has no kernels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...codecs import wire
from ...codecs.wire import varint
from ...registry.registry import NOT_DIFFERENTIABLE, ZERO, Cost, arrays, flops, kernel, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.resources import Shared
from ...support import dataclasses
from ...support.errors import DataLossError, InternalError, InvalidArgumentError, NotFoundError, UnimplementedError
from ...support.hints import Hint, option
from ...types.arrays import Array, Result, object_array
from ...types.shapes import Shape, TensorSpec, merge_dims
from ..shared.argument_checks import require, scalar
from ..shared.resource_access import creates_handle, resource
from ..shared.string_functions import bounded

_REMEDY = Hint("restore it with ", option("state"), ", or run its initializer with ", option("init"))


# https://github.com/tensorflow/tensorflow/tree/v2.8.0/tensorflow/core/kernels/boosted_trees names the fields of the bytes
# that a checkpoint of an estimator holds.
_LEAF, _BUCKETIZED, _CATEGORICAL = 1, 2, 3
# The number of the field `metadata` of a node in TensorFlow's boosted_trees.proto.
_METADATA: Final = 777
_TREES, _WEIGHTS, _TREE_METADATA, _GROWING = 1, 2, 3, 4

_Matrices = Sequence[np.ndarray[Any, Any]]
"""The buckets of each feature, (examples, dimensions)."""


@dataclasses.dataclass(frozen=True, slots=True)
class _TreeNode:
    """A node of a tree. `kind` is the number of the field that holds the node; `value` are the logits of a leaf, or of the
    leaf that the node was before its split, and None if neither is known.
    """

    kind: int
    value: tuple[float, ...] | None
    feature: int = 0
    threshold: int = 0
    left: int = 0
    right: int = 0
    dimension: int = 0


class _TrainingState(NamedTuple):
    """The state of the training of an ensemble."""

    finalized_trees: int
    attempted_layers: int
    last_layer: tuple[int, int]


@dataclasses.dataclass(frozen=True)
class _Ensemble:
    """Trees with a weight each."""

    trees: Sequence[Sequence[_TreeNode]]
    weights: Sequence[float]
    growth: _TrainingState

    def logits(self, features: _Matrices, size: int) -> np.ndarray[Any, Any]:
        """Return the weighted sums of the leaves that each example reaches, (examples, size)."""
        result = np.zeros((len(features[0]), size), np.float32)
        for tree, weight in self._weighted():
            leaves = self._leaves(tree, features)
            values = np.zeros((len(tree), size), np.float32)
            # Only leaves that are reached need a value: a damaged leaf elsewhere is no error.
            for node in np.unique(leaves).tolist():
                values[node] = _value(tree[node], size)
            result += np.float32(weight) * values[leaves]
        return result

    def paths(self, features: _Matrices, example: int) -> tuple[list[int], list[float], list[int]]:
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

    def _weighted(self) -> Iterator[tuple[Sequence[_TreeNode], float]]:
        if len(self.weights) < len(self.trees):
            raise InvalidArgumentError(f"the ensemble has {len(self.trees)} trees, but {len(self.weights)} weights")
        return zip(self.trees, self.weights)

    def _leaves(self, tree: Sequence[_TreeNode], features: _Matrices) -> np.ndarray[Any, Any]:
        """Return the leaf that each example reaches."""
        places = np.zeros(len(features[0]), np.int64)
        # All examples together, node by node: a tree has far fewer nodes than a batch has examples.
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


def _node(tree: Sequence[_TreeNode], number: int) -> _TreeNode:
    if not 0 <= number < len(tree):
        raise InvalidArgumentError(f"a tree of {len(tree)} nodes has no node {number}")
    return tree[number]


def _goes_left(node: _TreeNode, features: _Matrices, examples: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if node.kind not in (_BUCKETIZED, _CATEGORICAL):
        raise InvalidArgumentError(f"a node of a tree is neither a leaf nor a split of buckets or categories: {node.kind}")
    if not 0 <= node.feature < len(features) or not 0 <= node.dimension < features[node.feature].shape[1]:
        raise InvalidArgumentError(f"a tree splits dimension {node.dimension} of feature {node.feature}, which is not given")
    buckets = features[node.feature][examples, node.dimension]
    return buckets <= node.threshold if node.kind == _BUCKETIZED else buckets == node.threshold


def _way(tree: Sequence[_TreeNode], features: _Matrices, example: int) -> Iterator[int]:
    """Yield the nodes from the root to the leaf that an example reaches."""
    number = 0
    for _ in range(len(tree)):
        yield number
        node = _node(tree, number)
        if node.kind == _LEAF:
            return
        number = node.left if _goes_left(node, features, np.array([example]))[0] else node.right
    raise DataLossError("the nodes of a tree have a cycle")


def _value(node: _TreeNode, size: int) -> tuple[float, ...]:
    values = node.value or ()
    if len(values) != size:
        raise InternalError(f"Expected leaf_logits.size() == logits_dimension_, got {len(values)} vs {size}")
    return values


def _parse_ensemble(data: bytes) -> _Ensemble:
    """Return the ensemble in a message; InvalidArgumentError for a damaged message."""
    try:
        parts = list(wire.fields(data))
        trees = [list(map(_parse_node, wire.contents(part.payload, 1))) for part in parts if part.number == _TREES]
        weights = np.frombuffer(wire.repeated_fixed((part for part in parts if part.number == _WEIGHTS), 4), "<f4").tolist()
        finalized = [_integers(part.payload).get(3, 0) for part in parts if part.number == _TREE_METADATA]
        # A message that stands several times is merged, which joining its bytes does.
        growing = _integers(b"".join(part.payload for part in parts if part.number == _GROWING))
    except DataLossError as error:
        raise InvalidArgumentError(f"Unable to parse tree ensemble proto: {error}") from None
    # Only the last tree may still grow.
    open_trees = 1 if trees and not (finalized[-1:] or [0])[0] else 0
    growth = _TrainingState(len(trees) - open_trees, growing.get(2, 0), (growing.get(3, 0), growing.get(4, 0)))
    return _Ensemble(trees, weights, growth)


def _parse_node(data: bytes) -> _TreeNode:
    kind, payload, value = 0, b"", None
    for number, part in wire.parts(data):
        if number == _METADATA:
            value = _original_leaf(part)
        elif number in (_LEAF, _BUCKETIZED, _CATEGORICAL, 4):
            # By the rules of protobuf: parts of one message are merged, and another field of the oneof takes the place of the
            # first.
            kind, payload = number, payload + part if number == kind else part
    if kind == _LEAF:
        return _TreeNode(kind, _parse_leaf(payload))
    split = _integers(payload)
    return _TreeNode(kind, value, *(split.get(number, 0) for number in (1, 2, 3, 4, 5)))


def _original_leaf(metadata: bytes) -> tuple[float, ...] | None:
    leaves = wire.contents(metadata, 2)
    return _parse_leaf(b"".join(leaves)) if leaves else None


def _parse_leaf(data: bytes) -> tuple[float, ...]:
    """Return the logits of a leaf: a vector, or a scalar."""
    vectors = wire.contents(data, 1)
    if vectors:
        return _floats(b"".join(vectors), 1)
    # Protobuf writes no field whose value is 0.
    return _floats(data, 3)[-1:] or (0.0,)


def _floats(data: bytes, number: int) -> tuple[float, ...]:
    return tuple(np.frombuffer(wire.repeated_fixed((f for f in wire.fields(data) if f.number == number), 4), "<f4").tolist())


def _integers(data: bytes) -> dict[int, int]:
    """Return the last integer of each number."""
    numbers = (field for field in wire.fields(data) if field.wire_type == wire.VARINT)
    return {field.number: wire.repeated_integers([field])[0] for field in numbers}


class TreeEnsemble(Shared):
    """An ensemble of trees, once it is created."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stamp = -1
        self.serialized: bytes | None = None
        self._ensemble: _Ensemble | None = None

    def set(self, stamp: int, serialized: bytes, ensemble: _Ensemble) -> None:
        """Replace the trees by those of a message."""
        self._ensemble, self.stamp, self.serialized = ensemble, stamp, serialized

    @property
    def ensemble(self) -> _Ensemble:
        """The trees; NotFoundError for an ensemble that is not created."""
        if self._ensemble is None:
            raise NotFoundError(f"the tree ensemble '{self.name}' does not exist", hint=_REMEDY)
        return self._ensemble


class QuantileStream(Shared):
    """The bucket boundaries of several features, once the stream is created."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._boundaries: list[Array] | None = None

    @property
    def is_created(self) -> bool:
        """True once the stream has boundaries, of which each may be empty."""
        return self._boundaries is not None

    def create(self, count: int) -> None:
        """Create streams without boundaries."""
        self._boundaries = [np.zeros(0, np.float32)] * count

    @property
    def boundaries(self) -> list[Array]:
        """The boundaries of each feature; NotFoundError for a stream that is not created."""
        if self._boundaries is None:
            raise NotFoundError(f"the quantile stream '{self.name}' does not exist", hint=_REMEDY)
        return self._boundaries


@kernel("BoostedTreesBucketize", shape="n -> n [num_features]", gradient=NOT_DIFFERENTIABLE)
def boosted_trees_bucketize(float_values: list[Array], bucket_boundaries: list[Array]) -> list[Result]:
    """The bucket of each value: the first of the ascending boundaries that is not below the value, else the last boundary."""
    for boundaries in bucket_boundaries[:1]:
        require(boundaries.ndim == 1, "Buckets should be flat vectors.")
    return [_buckets(np.asarray(v), np.ravel(b)) for v, b in zip(float_values, bucket_boundaries)]


def _buckets(values: Array, boundaries: Array) -> Array:
    places = np.searchsorted(boundaries, values)
    places[values != values] = 0  # no boundary is below NaN
    return np.clip(places, 0, max(len(boundaries) - 1, 0)).astype(np.int32)


@arrays("BoostedTreesBucketize")
def boosted_trees_bucketize_arrays(xp: Any, values: list[Any], boundaries: list[Any]) -> list[Any]:
    """Count the boundaries below each value, at most all but one."""
    return [_counted(xp, x, limits) for x, limits in zip(values, boundaries)]


def _counted(xp: Any, values: Any, boundaries: Any) -> Any:
    # Counted and not searched: ONNX has no binary search, and a feature has few boundaries.
    limits = xp.reshape(boundaries, (1, -1))
    below = xp.sum(xp.asarray(limits < xp.reshape(values, (-1, 1)), np.int32), 1)
    last = xp.asarray(boundaries.shape[0], np.int32) - 1
    return xp.maximum(xp.minimum(below, last), 0)


@flops("BoostedTreesBucketize")
def boosted_trees_bucketize_flops(float_values: list[TensorSpec], bucket_boundaries: list[TensorSpec]) -> Cost:
    """At most: the comparisons of a binary search."""
    return sum((_search(v, b) for v, b in zip(float_values, bucket_boundaries)), ZERO)


def _search(values: TensorSpec, boundaries: TensorSpec) -> Cost:
    size = boundaries.shape.num_elements
    return Cost(values.shape.num_elements * (size.bit_length() if isinstance(size, int) else 1))


# Both are still to be created.
creates_handle("BoostedTreesEnsembleResourceHandleOp", kind=TreeEnsemble, facts=("owns_state",))
creates_handle("BoostedTreesQuantileStreamResourceHandleOp", kind=QuantileStream, facts=("owns_state",))


@kernel("IsBoostedTreesEnsembleInitialized", shape="-> ()", arithmetic=False)
def is_boosted_trees_ensemble_initialized(tree_ensemble_handle: Array) -> Result:
    """True once the ensemble is created."""
    return np.bool_(resource(tree_ensemble_handle, TreeEnsemble).serialized is not None)


@kernel("IsBoostedTreesQuantileStreamResourceInitialized", shape="-> ()", arithmetic=False)
def is_boosted_trees_quantile_initialized(quantile_stream_resource_handle: Array) -> Result:
    """True once the streams are created."""
    return np.bool_(resource(quantile_stream_resource_handle, QuantileStream).is_created)


@kernel("BoostedTreesCreateEnsemble", shape="(), (), () ->", arithmetic=False)
def boosted_trees_create_ensemble(tree_ensemble_handle: Array, stamp_token: Array, tree_ensemble_serialized: Array) -> None:
    """Create an ensemble, unless it exists."""
    message = _parsed(stamp_token, tree_ensemble_serialized)
    target = resource(tree_ensemble_handle, TreeEnsemble)
    if target.serialized is None:
        target.set(*message)


@kernel("BoostedTreesDeserializeEnsemble", shape="(), (), () ->", facts=("restores_resource",), arithmetic=False)
def boosted_trees_deserialize_ensemble(
    tree_ensemble_handle: Array, stamp_token: Array, tree_ensemble_serialized: Array
) -> None:
    """Replace the trees of an ensemble."""
    target = resource(tree_ensemble_handle, TreeEnsemble)
    target.ensemble  # noqa: B018  only an ensemble that exists can be restored
    target.set(*_parsed(stamp_token, tree_ensemble_serialized))


def _parsed(stamp_token: Array, tree_ensemble_serialized: Array) -> tuple[int, bytes, _Ensemble]:
    """Return the stamp, the message and its trees; InvalidArgumentError for a damaged message."""
    stamp, serialized = int(scalar(stamp_token, "stamp_token")), scalar(tree_ensemble_serialized, "tree_ensemble_serialized")
    return stamp, serialized, _parse_ensemble(serialized)


@kernel("BoostedTreesSerializeEnsemble", shape="-> (), ()", arithmetic=False)
def boosted_trees_serialize_ensemble(tree_ensemble_handle: Array) -> tuple[Result, Result]:
    """The stamp and the message of an ensemble."""
    target = resource(tree_ensemble_handle, TreeEnsemble)
    target.ensemble  # noqa: B018  only an ensemble that exists has a message
    return np.int64(target.stamp), scalar_object(target.serialized)


@kernel("BoostedTreesGetEnsembleStates", shape="-> (), (), (), (), 2", arithmetic=False)
def boosted_trees_get_ensemble_states(tree_ensemble_handle: Array) -> tuple[Result, ...]:
    """The stamp, the trees, the finished trees, the attempted layers, and the range of the last layer's nodes."""
    target = resource(tree_ensemble_handle, TreeEnsemble)
    growth, count = target.ensemble.growth, len(target.ensemble.trees)
    start, end = growth.last_layer
    numbers = (count, growth.finalized_trees, growth.attempted_layers)
    # At least one node: an ensemble without trees would have the empty range (0, 0).
    return (np.int64(target.stamp), *map(np.int32, numbers), np.array([start, max(1, end)], np.int32))


@kernel("BoostedTreesPredict", gradient=NOT_DIFFERENTIABLE)
def boosted_trees_predict(tree_ensemble_handle: Array, bucketized_features: list[Array], *, logits_dimension: int) -> Result:
    """The logits (batch, logits_dimension) of examples, whose features are buckets (batch) or (batch, dimensions)."""
    ensemble = resource(tree_ensemble_handle, TreeEnsemble).ensemble
    return ensemble.logits(_matrices(bucketized_features), logits_dimension)


def _matrices(features: list[Array]) -> list[Array]:
    for feature in features:
        require(feature.ndim in (1, 2), f"a feature must be a vector or a matrix, not of shape {feature.shape}")
        require(len(feature) == len(features[0]), f"features of {len(feature)} and {len(features[0])} examples do not fit")
    return [feature[:, None] if feature.ndim == 1 else feature for feature in features]


@kernel("BoostedTreesExampleDebugOutputs", gradient=NOT_DIFFERENTIABLE)
def boosted_trees_example_debug_outputs(
    tree_ensemble_handle: Array, bucketized_features: list[Array], *, logits_dimension: int
) -> Result:
    """A message for each example: the features that split, the logits after each split, and the leaves."""
    if logits_dimension != 1:
        raise InvalidArgumentError("Currently only one dimensional outputs are supported.")
    ensemble = resource(tree_ensemble_handle, TreeEnsemble).ensemble
    features = _matrices(bucketized_features)
    return object_array(bounded(_debug_output(*ensemble.paths(features, i)) for i in range(len(features[0]))))


def _debug_output(splits: list[int], logits: list[float], leaves: list[int]) -> bytes:
    numbers = wire.string_field(1, b"".join(map(varint, splits)))
    floats = wire.string_field(2, np.array(logits, "<f4").tobytes())
    return numbers + floats + wire.string_field(3, b"".join(map(varint, leaves)))


@kernel("BoostedTreesCreateQuantileStreamResource", shape="(), (), () ->", arithmetic=False)
def boosted_trees_create_quantile_stream(quantile_stream_resource_handle: Array, epsilon: Array, num_streams: Array) -> None:
    """Create streams for features, unless they exist."""
    require(scalar(epsilon, "epsilon") > 0, "An epsilon value of zero is not allowed.")
    count = int(scalar(num_streams, "num_streams"))
    require(0 <= count < 1 << 31, "Num_streams input cannot be a negative integer")
    target = resource(quantile_stream_resource_handle, QuantileStream)
    if not target.is_created:
        target.create(count)


@kernel("BoostedTreesQuantileStreamResourceDeserialize", shape="() ->", facts=("restores_resource",), arithmetic=False)
def boosted_trees_quantile_deserialize(quantile_stream_resource_handle: Array, bucket_boundaries: list[Array]) -> None:
    """Replace the boundaries of the features."""
    known = resource(quantile_stream_resource_handle, QuantileStream).boundaries
    require(len(bucket_boundaries) <= len(known), f"{len(bucket_boundaries)} lists of boundaries for {len(known)} streams")
    require(all(limits.ndim == 1 for limits in bucket_boundaries), "bucket boundaries should be flat vectors")
    known[: len(bucket_boundaries)] = bucket_boundaries


@kernel("BoostedTreesQuantileStreamResourceGetBucketBoundaries", shape="-> _ [num_features]", arithmetic=False)
def boosted_trees_quantile_boundaries(quantile_stream_resource_handle: Array, *, num_features: int) -> list[Result]:
    """The boundaries of each feature."""
    boundaries = resource(quantile_stream_resource_handle, QuantileStream).boundaries
    require(len(boundaries) == num_features, f"the stream has {len(boundaries)} features, not {num_features}")
    return list(boundaries)


@shape("BoostedTreesPredict")
def boosted_trees_predict_shape(handle: TensorSpec, bucketized_features: list[TensorSpec], *, logits_dimension: int) -> Shape:
    return _batch(bucketized_features) + (logits_dimension,)


def _batch(features: list[TensorSpec]) -> Shape:
    """Return the number of examples, equal in all features."""
    size: Any = Shape([None])[0]
    for feature in features:
        if feature.rank not in (None, 1, 2):
            raise InvalidArgumentError(f"Shape must be at most rank 2 but is rank {feature.rank}")
        size = size if feature.rank is None else merge_dims(feature.shape[0], size)
    return Shape([size])


@shape("BoostedTreesExampleDebugOutputs")
def boosted_trees_example_debug_outputs_shape(handle: TensorSpec, bucketized_features: list[TensorSpec]) -> Shape:
    return _batch(bucketized_features)


@flops("BoostedTreesPredict", "BoostedTreesExampleDebugOutputs")
def boosted_trees_predict_flops(handle: TensorSpec, bucketized_features: list[TensorSpec]) -> Cost:
    """An addition for each example, tree and logit; the trees are known in a run only."""
    raise UnimplementedError("the number of its trees is known in a run only")
