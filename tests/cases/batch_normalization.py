"""Cases of the batch_normalization family."""

import numpy as np

from tests.opcases import case, normal, removed, uniform

X, DY = normal(2, 3, 4, 3, dtype="double"), normal(2, 3, 4, 3, dtype="double", seed=1)
M, BETA, GAMMA = (normal(3, dtype="double", seed=i) for i in range(3))
V = uniform(3, low=0.5, high=2.0, dtype="double")
X4 = normal(2, 3, 4, 4)
VECTORS = [*(normal(4, seed=i) for i in range(3)), uniform(4, low=0.5, high=2.0)]
OP = "BatchNormWithGlobalNormalization"

CASES = [
    *(removed(OP, X, M, V, BETA, GAMMA, variance_epsilon=0.01, scale_after_normalization=s) for s in (False, True)),
    *(removed(f"{OP}Grad", X, M, V, GAMMA, DY, variance_epsilon=0.01, scale_after_normalization=s) for s in (False, True)),
    removed(OP, X, M[:2], V, BETA, GAMMA, variance_epsilon=0.01, scale_after_normalization=True),
    case("_FusedBatchNormEx", X4, *VECTORS, [], activation_mode="Relu", is_training=False, num_side_inputs=0),
    # TensorFlow has no kernel for the CPU.
    case("_FusedBatchNormGradEx", X4, X4, *VECTORS[:3], np.zeros(0, np.float32), VECTORS[1], X4[:1], activation_mode="Relu"),
    removed(OP, X[0], M, V, BETA, GAMMA, variance_epsilon=0.01, scale_after_normalization=True),
]
