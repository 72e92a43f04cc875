"""Cases of the linalg_decompositions family, with vectors only if their sign is determined."""

import numpy as np

from tests.opcases import case, normal, removed
from tfg.core.types.dtypes import from_name

LOOSE = {"half": 2e-2, "float32": 1e-3, "complex64": 1e-3}
FLOATS = ("float32", "double", "complex64", "complex128")


def tout(dtype):
    return "complex64" if from_name(dtype).name in ("float", "complex64") else "complex128"


def symmetric(*shape, dtype="double"):
    x = normal(*shape, dtype=dtype)
    return x + np.conj(np.swapaxes(x, -1, -2))


CASES = [
    *(
        case("Qr", normal(*s, dtype=t), full_matrices=full, tolerance=LOOSE.get(t), differentiable=not full)
        for s in ((3, 3), (4, 2), (2, 4), (2, 3, 3))
        for full in (False, True)
        for t in FLOATS
    ),
    *(case("Qr", normal(*s), full_matrices=full) for s in ((0, 3), (3, 0), (2, 0, 0)) for full in (False, True)),
    case("Qr", normal(3)),
    *(case("Lu", normal(2, 3, 3, dtype=t), tolerance=LOOSE.get(t)) for t in FLOATS),
    case("Lu", normal(3, 3), output_idx_type="int64"),
    case("Lu", np.float32([[1, 2], [2, 4]])),
    case("Lu", normal(2, 3)),
    case("Lu", normal(0, 0)),
    case("Lu", normal(0, 2, 2)),
    case("Svd", np.diag([3.0, 2.0, 1.0]), differentiable=False),
    case("Svd", normal(3)),
    case("Svd", normal(2, 0, 3)),
    case("Svd", normal(0, 3), full_matrices=True),
    case("Svd", np.float32([[np.nan, 1], [1, 2]])),
    removed("BatchSvd", np.diag([3.0, 2.0, 1.0]), differentiable=False),
    case("SelfAdjointEigV2", np.diag([1.0, 2.0, 3.0]), differentiable=False),
    *(case("SelfAdjointEigV2", symmetric(*s, dtype=t), tolerance=LOOSE.get(t)) for s in ((3, 3), (2, 2, 2)) for t in FLOATS),
    case("SelfAdjointEigV2", symmetric(5, 5)),
    case("SelfAdjointEigV2", normal(0, 0)),
    case("SelfAdjointEigV2", normal(2, 3)),
    case("SelfAdjointEigV2", np.full((2, 2), np.nan, np.float32)),
    removed("SelfAdjointEig", np.diag([1.0, 2.0, 3.0])),
    removed("BatchSelfAdjointEig", np.diag([1.0, 2.0, 3.0])),
    removed("BatchSelfAdjointEigV2", np.diag([1.0, 2.0, 3.0]), differentiable=False),
    case("Eig", normal(0, 0), Tout="complex64"),
    case("Eig", normal(2, 2), Tout="complex128"),
    case("Eig", normal(2, 2, dtype="complex128"), Tout="complex64"),
    case("Eig", normal(2, 3), Tout="complex64"),
    case("Eig", np.float32([[np.nan, 1], [1, 2]]), Tout="complex64"),
    case("Eig", np.diag([1.0, 2.0, 3.0]), Tout="complex128", differentiable=False),
]
