"""Cases of the bias family."""

import numpy as np

from tests.opcases import case, integers, normal

CASES = [
    case("BiasAdd", normal(2, 3, dtype="double"), normal(3, dtype="double")),
    case("BiasAdd", normal(2, 3, 4, 5), normal(5)),
    case("BiasAdd", normal(2, 3, 4, 5, dtype="double"), normal(3, dtype="double"), data_format="NCHW"),
    case("BiasAdd", normal(2, 3, 4), normal(3), data_format="NCHW"),
    case("BiasAdd", integers(2, 3), integers(3, seed=1)),
    case("BiasAdd", normal(2, 3, dtype="half"), normal(3, dtype="half")),
    case("BiasAdd", np.zeros((0, 3), np.float32), normal(3)),
    case("BiasAdd", normal(3), normal(3)),
    case("BiasAdd", normal(2, 3), normal(2)),
    case("BiasAdd", normal(2, 3), normal(3, 1)),
    case("BiasAddV1", normal(2, 3, dtype="double"), normal(3, dtype="double")),
    case("BiasAddV1", normal(2, 3), normal(2)),
    case("BiasAddGrad", normal(2, 3, 4, dtype="double")),
    case("BiasAddGrad", normal(2, 3, 4, 5), data_format="NCHW"),
    case("BiasAddGrad", normal(2, 3, dtype="half")),
    case("BiasAddGrad", np.zeros((0, 3), np.float32)),
    case("BiasAddGrad", normal(3)),
]
