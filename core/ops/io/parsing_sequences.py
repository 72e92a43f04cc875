"""Serialized SequenceExamples into tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...registry.registry import WITHOUT_GRADIENT, kernel, shape, zero_cost
from ...support import dataclasses
from ...support.errors import DataLossError, InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..shared.argument_checks import require, with_rank
from . import _examples
from ._examples import Feature, FeatureColumn
from .parsing_examples import columns_of, dense_batch, dense_features, encoded, keys_of, sparse_shapes


@dataclasses.dataclass(frozen=True, slots=True)
class _Features:
    """The features of an op's outputs: keys with types, of the context and of the feature lists."""

    context_sparse: Sequence[tuple[bytes, DType]] = ()
    context_dense: Sequence[Any] = ()
    context_ragged: Sequence[tuple[bytes, DType, DType]] = ()
    sparse: Sequence[tuple[bytes, DType]] = ()
    dense: Sequence[tuple[bytes, DType, Shape, bool]] = ()
    ragged: Sequence[tuple[bytes, DType, DType]] = ()

    def check(self) -> None:
        """Raise InvalidArgumentError where two outputs take the same feature."""
        for what, lists in (
            ("Context", (self.context_sparse, [(d.key,) for d in self.context_dense], self.context_ragged)),
            ("Sequence", (self.sparse, self.dense, self.ragged)),
        ):
            keys = [item[0] for items in lists for item in items]
            twice = {key for key in keys if keys.count(key) > 1}
            if twice:
                names = ", ".join(sorted(key.decode("utf-8", "replace") for key in twice))
                raise InvalidArgumentError(f"{what} feature {names} cannot be two of dense, ragged and sparse")


class Types(NamedTuple):
    """The attributes for dtypes and shapes of features, in lists as long as the lists of keys."""

    Ncontext_sparse: int
    Nfeature_list_sparse: int
    context_sparse_types: tuple[DType, ...]
    Tcontext_dense: tuple[DType, ...]
    context_dense_shapes: tuple[Shape, ...]
    feature_list_sparse_types: tuple[DType, ...]
    feature_list_dense_types: tuple[DType, ...]
    feature_list_dense_shapes: tuple[Shape, ...]
    context_ragged_value_types: tuple[DType, ...] = ()
    context_ragged_split_types: tuple[DType, ...] = ()
    feature_list_ragged_value_types: tuple[DType, ...] = ()
    feature_list_ragged_split_types: tuple[DType, ...] = ()


class Keys(NamedTuple):
    """The keys of features, the keys of dense lists that may be missing, and the defaults of dense features."""

    context_sparse: Sequence[bytes]
    context_dense: Sequence[bytes]
    sparse: Sequence[bytes]
    dense: Sequence[bytes]
    may_miss: Sequence[bool]
    defaults: Sequence[Array]
    context_ragged: Sequence[bytes] = ()
    ragged: Sequence[bytes] = ()


class KeyInputs(NamedTuple):
    """The key inputs of ParseSequenceExampleV2, and the dense feature lists that may be missing."""

    context_sparse_keys: Array
    context_dense_keys: Array
    context_ragged_keys: Array
    feature_list_sparse_keys: Array
    feature_list_dense_keys: Array
    feature_list_ragged_keys: Array
    feature_list_dense_missing_assumed_empty: Array


class KeyAttrs(NamedTuple):
    """The keys of ParseSequenceExample, which are attributes; the last field names the keys that may be missing."""

    context_sparse_keys: tuple[str, ...]
    context_dense_keys: tuple[str, ...]
    feature_list_sparse_keys: tuple[str, ...]
    feature_list_dense_keys: tuple[str, ...]
    feature_list_dense_missing_assumed_empty: tuple[str, ...]


class KeyLists(NamedTuple):
    """The same of ParseSingleSequenceExample, lists of scalars."""

    context_sparse_keys: list[Array]
    context_dense_keys: list[Array]
    feature_list_sparse_keys: list[Array]
    feature_list_dense_keys: list[Array]


class _Batch:
    """SequenceExamples, parsed as far as names go."""

    def __init__(self, serialized: Array, names: Array) -> None:
        if serialized.ndim > 1:
            raise InvalidArgumentError(f"Expected serialized to be a scalar or vector, got shape: {serialized.shape}")
        if names.size and names.shape != serialized.shape:
            raise InvalidArgumentError(f"Expected debug_name to have the shape {serialized.shape}, not {names.shape}")
        self.names = names.ravel().tolist()
        parsed = [self._parse(text, i) for i, text in enumerate(serialized.ravel().tolist())]
        self.context = FeatureColumn([context for context, _ in parsed], self.names)
        self.lists = [lists for _, lists in parsed]

    def _name(self, index: int) -> str:
        return self.names[index].decode("utf-8", "replace") if self.names else "<unknown>"

    def _parse(self, text: bytes, index: int) -> tuple[dict[Any, Any], ...]:
        try:
            return _examples.parse_sequence_example(text)
        except DataLossError:
            raise InvalidArgumentError(f"Invalid protocol message input, example id: {self._name(index)}") from None

    def check_context(self, features: Sequence[Any]) -> None:
        """Raise InvalidArgumentError for a dense context feature that is empty, or that has neither a default nor an
        example.
        """
        for dense in features:
            size = math.prod(dense.row)
            if size and not dense.default.size and not len(self.context):
                raise InvalidArgumentError(f"Inconsistent max number of elements for feature {dense.key!r}: {size} and 0")
            # TensorFlow distinguishes a feature that is there and empty from one that is missing, which the default
            # replaces.
            if size and self.context.holds_nothing(dense.key):
                raise InvalidArgumentError(f"Unexpected number of elements in feature {dense.key!r}: 0 instead of {size}")

    def steps(self, key: bytes, dtype: DType) -> list[list[Feature] | None]:
        """Return the feature list of each example, None where missing."""
        return [None if key not in lists else self._steps(lists[key], key, dtype, i) for i, lists in enumerate(self.lists)]

    def _steps(self, features: list[bytes], key: bytes, dtype: DType, index: int) -> list[Feature]:
        steps = [_examples.parse_feature(feature) for feature in features]
        for t, feature in enumerate(steps):
            # A feature without a value has no dtype and fits any.
            if feature.dtype not in (None, dtype):
                raise InvalidArgumentError(
                    f"Name: {self._name(index)}, Feature list: {key.decode('utf-8', 'replace')}, Index: {t}.  "
                    f"Data types don't match. Expected type: {dtype}"
                )
        return steps

    def dense(self, key: bytes, dtype: DType, size: Shape, may_miss: bool) -> tuple[Array, Array]:
        """Return a feature list as (batch, time, *shape), padded with zeros, and the lengths."""
        row = size.known()
        rows = []
        for i, steps in enumerate(self.steps(key, dtype)):
            name = key.decode("utf-8", "replace")
            if steps is None and not may_miss:
                raise InvalidArgumentError(
                    f"Name: {self._name(i)}, Feature list '{name}' is required but could not be found.  "
                    "Did you mean to include it in feature_list_dense_missing_assumed_empty?"
                )
            for t, feature in enumerate(steps or ()):
                if len(feature) != math.prod(row):
                    raise InvalidArgumentError(
                        f"Name: {self._name(i)}, Key: {name}, Index: {t}.  Number of values != expected.  "
                        f"values size: {len(feature)} but output shape: {size}"
                    )
            rows.append(_examples.concatenated([f.values for f in steps or ()], dtype).reshape(len(steps or ()), *row))
        lengths = np.array([len(values) for values in rows], np.int64)
        # Short lists are padded with zeros, and texts with empty texts, which zeros of objects are not.
        result = np.zeros((len(rows), lengths.max(initial=0), *row), dtype.numpy)
        if dtype is dtypes.string:
            result[...] = b""
        for target, values in zip(result, rows):
            target[: len(values)] = values
        return result, lengths

    def sparse(self, key: bytes, dtype: DType) -> tuple[Array, Array, Array]:
        """Return a feature list as a SparseTensor of rank 3: example, time, element."""
        steps = [lists or [] for lists in self.steps(key, dtype)]
        times = np.array([len(lists) for lists in steps], np.int64)
        features = [feature for lists in steps for feature in lists]
        lengths = np.array([len(feature) for feature in features], np.int64)
        # First for each time step of an example, then for each element of a step.
        example = np.repeat(np.repeat(np.arange(len(steps)), times), lengths)
        indices = np.stack([example, np.repeat(_examples.positions(times), lengths), _examples.positions(lengths)], axis=1)
        values = _examples.concatenated([feature.values for feature in features], dtype)
        return indices.astype(np.int64), values, np.array([len(steps), times.max(initial=0), lengths.max(initial=0)], np.int64)

    def ragged(self, key: bytes, dtype: DType, splits: DType) -> tuple[Array, Array, Array]:
        """Return a feature list as values, outer and inner row splits."""
        steps = [lists or [] for lists in self.steps(key, dtype)]
        features = [feature for lists in steps for feature in lists]
        outer = np.cumsum([0, *(len(lists) for lists in steps)]).astype(splits.numpy)
        inner = np.cumsum([0, *(len(feature) for feature in features)]).astype(splits.numpy)
        return _examples.concatenated([feature.values for feature in features], dtype), outer, inner


def _parse(serialized: Array, names: Array, features: _Features) -> tuple[list[Array], ...]:
    """Return all outputs of ParseSequenceExampleV2 in their order."""
    features.check()
    batch = _Batch(serialized, names)
    try:
        batch.check_context(features.context_dense)
        context_sparse = [_examples.sparse(batch.context.column(key, dtype)) for key, dtype in features.context_sparse]
        context_dense = [dense_batch(batch.context, dense) for dense in features.context_dense]
        context_ragged = [_examples.ragged(batch.context.column(k, d), s) for k, d, s in features.context_ragged]
        sparse = [batch.sparse(*item) for item in features.sparse]
        dense = [batch.dense(*item) for item in features.dense]
        ragged = [batch.ragged(*item) for item in features.ragged]
    except DataLossError as error:
        raise InvalidArgumentError(f"Invalid protocol message input: {error}") from None
    if serialized.ndim == 0:
        context_sparse = [(i[:, 1:], v, s[1:]) for i, v, s in context_sparse]
        context_dense = [part[0] for part in context_dense]
        # A single example has no outer splits: TensorFlow returns a scalar 0 in their place.
        context_ragged = [(v, np.zeros((), s.dtype)) for v, s in context_ragged]
        sparse = [(i[:, 1:], v, s[1:]) for i, v, s in sparse]
        dense = [(v[0], lengths[0]) for v, lengths in dense]
        ragged = [(v, np.zeros((), outer.dtype), inner) for v, outer, inner in ragged]
    return (
        *columns_of(context_sparse, 3),
        context_dense,
        *columns_of(context_ragged, 2),
        *columns_of(sparse, 3),
        *columns_of(dense, 2),
        *columns_of(ragged, 3),
    )


def _features_of(keys: Keys, types: Types) -> _Features:
    """Pair keys with types; InvalidArgumentError where the numbers differ."""
    for size in (*types.context_dense_shapes, *types.feature_list_dense_shapes):
        if not size.is_known:
            raise InvalidArgumentError(f"Shape {size} is not fully defined")
    return _Features(
        _pairs(keys.context_sparse, types.context_sparse_types),
        dense_features(keys.context_dense, types.Tcontext_dense, types.context_dense_shapes, keys.defaults),
        _pairs(keys.context_ragged, types.context_ragged_value_types, types.context_ragged_split_types),
        _pairs(keys.sparse, types.feature_list_sparse_types),
        _pairs(keys.dense, types.feature_list_dense_types, types.feature_list_dense_shapes, keys.may_miss),
        _pairs(keys.ragged, types.feature_list_ragged_value_types, types.feature_list_ragged_split_types),
    )


def _pairs(keys: Sequence[bytes], *lists: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Keys with their types; InvalidArgumentError where their numbers differ."""
    if any(len(items) != len(keys) for items in lists):
        raise InvalidArgumentError(f"{len(keys)} keys do not fit {[len(items) for items in lists]} types or shapes")
    return list(zip(keys, *lists))


@kernel("ParseSequenceExampleV2", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def parse_sequence_example_v2(
    serialized: Array, debug_name: Array, keys: KeyInputs, context_dense_defaults: list[Array], *, types: Types
) -> Any:
    """Parse SequenceExamples, a scalar or a batch (vector), into sparse, dense and ragged tensors."""
    context_sparse, context_dense, context_ragged, sparse, dense, ragged = map(keys_of, keys[:-1])
    may_miss = np.ravel(keys.feature_list_dense_missing_assumed_empty).tolist()
    all_keys = Keys(context_sparse, context_dense, sparse, dense, may_miss, context_dense_defaults, context_ragged, ragged)
    return _parse(serialized, debug_name, _features_of(all_keys, types))


def _without_ragged(outputs: tuple[list[Array], ...]) -> tuple[list[Array], ...]:
    """Return the outputs of V2 that the older ops have too."""
    # Ragged outputs lie between the others.
    return (*outputs[:4], *outputs[6:11])


@kernel("ParseSequenceExample", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def parse_sequence_example(
    serialized: Array, debug_name: Array, context_dense_defaults: list[Array], *, keys: KeyAttrs, types: Types
) -> Any:
    """A batch of SequenceExamples into sparse and dense tensors."""
    if serialized.ndim != 1:
        raise InvalidArgumentError(f"Expected serialized to be a vector, got shape: {serialized.shape}")
    context_sparse, context_dense, sparse, dense, empty = map(encoded, keys)
    all_keys = Keys(context_sparse, context_dense, sparse, dense, [key in empty for key in dense], context_dense_defaults)
    return _without_ragged(_parse(serialized, debug_name, _features_of(all_keys, types)))


@kernel("ParseSingleSequenceExample", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def parse_single_sequence_example(
    serialized: Array, empty: Array, keys: KeyLists, context_dense_defaults: list[Array], debug_name: Array, *, types: Types
) -> Any:
    """Parse a SequenceExample (scalar) into tensors without a batch dimension; lists of the keys in `empty` may be missing."""
    if serialized.ndim:
        raise InvalidArgumentError(f"Expected serialized to be a scalar, got shape: {serialized.shape}")
    require(not any(key.ndim for scalars in keys for key in scalars), "Expected each key to be a scalar")
    context_sparse, context_dense, sparse, dense = ([key.item() for key in scalars] for scalars in keys)
    may_miss = [key in keys_of(empty) for key in dense]
    all_keys = Keys(context_sparse, context_dense, sparse, dense, may_miss, context_dense_defaults)
    names = debug_name if debug_name.ndim == 0 else np.empty(0, object)
    # The op for a single example does not return the lengths of the dense lists, which are the lengths of its outputs.
    return _without_ragged(_parse(serialized, names, _features_of(all_keys, types)))[:8]


def _shapes(serialized: TensorSpec, types: Types) -> tuple[list[Shape], ...]:
    """Return the output shapes except the shapes of ragged features."""
    rank = serialized.rank
    batch = UNKNOWN if rank is None else serialized.shape
    return (
        *sparse_shapes(types.Ncontext_sparse, None if rank is None else rank + 1),
        [batch + size for size in types.context_dense_shapes],
        *sparse_shapes(types.Nfeature_list_sparse, None if rank is None else rank + 2),
        [batch + Shape([None]) + size for size in types.feature_list_dense_shapes],
        [batch] * len(types.feature_list_dense_shapes),
    )


@shape("ParseSequenceExampleV2")
def parse_sequence_example_v2_shape(serialized: TensorSpec, *inputs: Any, types: Types) -> tuple[list[Shape], ...]:
    rank = serialized.rank
    shapes = _shapes(serialized, types)
    splits = UNKNOWN if rank is None else serialized.shape if rank == 0 else Shape((serialized.shape[0] + 1,))
    context, lists = len(types.context_ragged_value_types), len(types.feature_list_ragged_value_types)
    of_lists = (_vectors(lists), [splits] * lists, _vectors(lists))
    return (*shapes[:4], _vectors(context), [splits] * context, *shapes[4:], *of_lists)


def _vectors(count: int) -> list[Shape]:
    """Return the shapes of vectors, each of its own length."""
    return [Shape([None]) for _ in range(count)]


@shape("ParseSequenceExample")
def parse_sequence_example_shape(serialized: TensorSpec, *inputs: Any, types: Types) -> tuple[list[Shape], ...]:
    return _shapes(TensorSpec(serialized.dtype, Shape(with_rank(serialized.shape, 1))), types)


@shape("ParseSingleSequenceExample")
def parse_single_sequence_example_shape(serialized: TensorSpec, *inputs: Any, types: Types) -> tuple[list[Shape], ...]:
    return _shapes(TensorSpec(serialized.dtype, Shape(with_rank(serialized.shape, 0))), types)[:8]
