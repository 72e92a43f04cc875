"""k-means: initial centers and nearest centers."""

from __future__ import annotations

import numpy as np

from ...random import index_draws as numerics
from ...registry.registry import Cost, flops, kernel, multiply_adds, without_gradient
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.shapes import UNKNOWN, TensorSpec
from ..shared.argument_checks import require, require_rank, scalar, with_rank
from ..shared.shape_arguments import scalar_int


@kernel("KMC2ChainInitialization", shape="-> ()", facts=("random",))
def kmc2_chain_initialization(distances: Array, seed: Array) -> Result:
    """The place of the next center, from the distances of candidates to the centers before."""
    require_rank(distances, 1, "distances")
    seed = scalar(seed, "seed")
    require(distances.size, "Expected distances_tensor.size() > 0.")
    return np.int64(numerics.kmc2_chain(distances, seed))


@kernel("KmeansPlusPlusInitialization", shape="_ d, <k> -> k d", facts=("random",))
def kmeans_plus_plus_initialization(points: Array, num_to_sample: Array, seed: Array, num_retries_per_sample: Array) -> Result:
    """(num_to_sample, d) of the points (n, d)."""
    require_rank(points, 2, "points")
    count = scalar(num_to_sample, "num_to_sample")
    seed, retries = scalar(seed, "seed"), scalar(num_retries_per_sample, "num_retries_per_sample")
    require(len(points), "Expected points.rows() > 0.")
    require(count > 0, f"Expected num_to_sample > 0, not {count}.")
    require(count <= len(points), f"Expected num_to_sample <= points.rows(). {count} vs {len(points)}.")
    return numerics.kmeans_plus_plus(points, count, seed, retries)


@kernel("NearestNeighbors", shape="n ... -> n k, n k")
def nearest_neighbors(points: Array, centers: Array, k: Array) -> tuple[Result, Result]:
    """(n, k) places and squared distances of the centers nearest to each point."""
    require_rank(points, 2, "points")
    require_rank(centers, 2, "centers")
    count = scalar(k, "k")
    require(len(points), "Expected points.rows() > 0.")
    require(
        points.shape[1] == centers.shape[1],
        f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs {centers.shape[1]}.",
    )
    require(count >= 0, f"Expected k >= 0, not {count}.")
    # More neighbours than centers are no error: all are returned.
    return numerics.nearest_centers(points, centers, min(count, len(centers)))


# The number of neighbours is known only with the number of centers, so TensorFlow leaves it open.


@flops("KMC2ChainInitialization")
def kmc2_chain_initialization_flops(distances: TensorSpec) -> Cost:
    """A product and a comparison for each but the first."""
    return Cost(2 * (distances.shape.num_elements - 1))


@flops("KmeansPlusPlusInitialization")
def kmeans_plus_plus_initialization_flops(
    points: TensorSpec,
    num_to_sample: TensorSpec,
    seed: TensorSpec,
    num_retries_per_sample: TensorSpec,
    *,
    outputs: list[TensorSpec],
) -> Cost:
    """Each candidate: its distances to all points, the smaller distances and their sum, and a cumulative sum for the draw.

    Halves of squared norms are computed once. Searches for the drawn point and repeated draws are not counted.
    """
    count, (size, depth) = outputs[0].shape[0], with_rank(points.shape, 2)
    tries = _candidates(num_retries_per_sample, count)
    distances = multiply_adds(size * depth) + Cost(4 * size - 1)
    drawn = Cost(size) * ((count - 1) * tries)
    return multiply_adds(size * depth) + distances * (count * tries) + drawn + Cost(count * (tries - 1))


def _candidates(num_retries_per_sample: TensorSpec, count: int) -> DimLike:
    """Return the number of candidates for each center."""
    if num_retries_per_sample.value is None or not isinstance(count, int):
        return UNKNOWN.num_elements
    return 1 + numerics.retries_of(scalar_int(num_retries_per_sample.value, "num_retries_per_sample"), count)


@flops("NearestNeighbors")
def nearest_neighbors_flops(points: TensorSpec, centers: TensorSpec) -> Cost:
    """A matrix product, squared norms, and for each pair two sums, a product and a maximum; not the choice among them."""
    pairs, norms = points.shape[0] * centers.shape[0], points.shape[0] + centers.shape[0]
    return multiply_adds(pairs * points.shape[1]) + Cost(norms * (2 * points.shape[1] - 1) + 4 * pairs)


# Nothing flows to the distances of neighbours either: TensorFlow registers no gradient for a choice.
without_gradient("KMC2ChainInitialization", "KmeansPlusPlusInitialization", "NearestNeighbors")
