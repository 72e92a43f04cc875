"""Cases of the special family."""

import numpy as np

from tests.opcases import case, normal, uniform

NAN, INF = np.nan, np.inf
SPECIAL = np.array([NAN, INF, -INF, 0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 30.0], np.float32)
# op: the interval that its inputs come from, whether it takes bfloat16
UNARY = {
    "Lgamma": (0.3, 5, True),
    "Digamma": (0.3, 5, True),
    "Erf": (-2, 2, True),
    "Erfc": (-2, 2, True),
    "Erfinv": (-0.9, 0.9, False),
    "Ndtri": (0.1, 0.9, False),
    "Dawsn": (-2, 2, False),
    "Expint": (0.3, 4, False),
    "FresnelCos": (-2, 2, False),
    "FresnelSin": (-2, 2, False),
    "Spence": (0.2, 3, False),
    "BesselI0": (-2, 2, False),
    "BesselI0e": (-2, 2, False),
    "BesselI1": (-2, 2, False),
    "BesselI1e": (-2, 2, False),
    "BesselK0": (0.3, 3, False),
    "BesselK0e": (0.3, 3, False),
    "BesselK1": (0.3, 3, False),
    "BesselK1e": (0.3, 3, False),
    "BesselJ0": (-2, 2, False),
    "BesselJ1": (-2, 2, False),
    "BesselY0": (0.3, 3, False),
    "BesselY1": (0.3, 3, False),
}


def unary():
    cases = []
    for op, (low, high, takes_bfloat16) in UNARY.items():
        cases += [case(op, uniform(2, 3, low=low, high=high, dtype=t)) for t in ("float32", "double")]
        cases += [case(op, SPECIAL), case(op, normal(0, 2)), case(op, np.float64((low + high) / 2 + 0.1))]
        if takes_bfloat16:
            cases += [case(op, uniform(2, 3, low=low, high=high, dtype=t), tolerance=2e-2) for t in ("half", "bfloat16")]
    return [*cases, case("Spence", uniform(3, dtype="half"))]


def wide(*shape, low=0.3, high=4.0, seed=0):
    return uniform(*shape, low=low, high=high, dtype="double", seed=seed)


def grid(x, y):
    """All pairs, as two vectors."""
    first, second = np.meshgrid(np.array(x, np.float32), np.array(y, np.float32))
    return first.ravel(), second.ravel()


EDGES = (NAN, INF, -INF, 0.0, 1.0, -1.0, 0.5, 2.0, -2.5)


def binary():
    cases = []
    for op in ("Zeta", "Polygamma", "Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad", "Xlogy", "Xlog1py", "Xdivy"):
        first = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0]]) if op == "Polygamma" else wide(2, 3) + (op == "Zeta")
        part = (1,) if op in ("Zeta", "Polygamma") else True
        cases += [
            case(op, first, wide(2, 3, seed=1), differentiable=part),
            case(op, first[:, :1], wide(3, seed=2), differentiable=part),
            case(op, first.astype(np.float32), np.float32(1.5)),
            case(op, normal(0), normal(1)),
            case(op, normal(2), normal(3)),
        ]
    cases += [case(op, *grid(EDGES, EDGES)) for op in ("Igamma", "Xlogy", "Xlog1py", "Xdivy")]
    cases += [case("Igammac", *grid((0.0, 1.0, -1.0, 0.5, 20.0), (0.0, 1.0, -1.0, 0.5, 20.0)))]
    cases += [case(op, *grid((1.0, 2.0, 3.0, 0.5), (1.0, 0.0, -1.0, -2.0, 0.5))) for op in ("Zeta", "Polygamma")]
    cases += [case("IgammaGradA", *(x.astype(np.float64) for x in grid((0.01, 0.5, 1, 9, 200), (0.001, 0.4, 1, 12, 190))))]
    cases += [case("RandomGammaGrad", *(x.astype(np.float64) for x in grid((0.1, 0.5, 1, 9), (0.05, 0.4, 1, 6))))]
    cases += [case(op, normal(3, dtype="complex64"), normal(3, dtype="complex64")) for op in ("Xlogy", "Xlog1py", "Xdivy")]
    cases += [case(op, wide(3).astype(np.float16), np.float16([0.5, 1, 2])) for op in ("Xlogy", "Xdivy", "Xlog1py")]
    return cases


CASES = [
    *unary(),
    *binary(),
    case("NextAfter", normal(3), normal(2, 1)),
    case("NextAfter", normal(3, dtype="double"), normal(3, dtype="double", seed=1), differentiable=False),
    case("Betainc", wide(3), wide(3, seed=1), wide(3, high=0.9, seed=2), differentiable=(2,)),
    case("Betainc", np.float64(1.5), np.float64(2.0), wide(2, 2, high=0.9), differentiable=(2,)),
    case("Betainc", wide(3), np.float64(2.0), np.float64(0.4), differentiable=False),
    case("Betainc", *(np.float32(v) for v in ([1, 1, 0, 1, 2, 1, NAN], [1, 0, 1, 1, 2, 1, 1], [0, 1, 0.5, -1, 2, 0.5, 0.5]))),
    case("Betainc", normal(2), normal(3), normal(3)),
    *(
        case(op, np.float64([[-1], [0], [1], [NAN]]), np.float64([-1, 0, 1, NAN]), differentiable=False)
        for op in ("IgammaGradA", "RandomGammaGrad", "Polygamma")
    ),
]
