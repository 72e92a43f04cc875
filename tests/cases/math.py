"""Cases of the math family."""

import numpy as np

from tests.opcases import case, integers, normal, uniform

NAN, INF = np.nan, np.inf
FLOATS = ("half", "bfloat16", "float32", "double")
SIGNED = ("int8", "int16", "int32", "int64")
SPECIAL = np.array([NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 100.0, -100.0], np.float32)
# op: the interval that its inputs come from
REAL = {
    "Abs": (-2, 2),
    "Acos": (-0.9, 0.9),
    "Acosh": (1.2, 4),
    "Asin": (-0.9, 0.9),
    "Asinh": (-3, 3),
    "Atan": (-3, 3),
    "Atanh": (-0.9, 0.9),
    "Ceil": (-3, 3),
    "Cos": (-4, 4),
    "Cosh": (-3, 3),
    "Exp": (-4, 4),
    "Expm1": (-2, 2),
    "Floor": (-3, 3),
    "Inv": (0.3, 3),
    "Log": (0.2, 5),
    "Log1p": (-0.8, 3),
    "Neg": (-2, 2),
    "Reciprocal": (0.3, 3),
    "Round": (-3, 3),
    "Rsqrt": (0.3, 3),
    "Sigmoid": (-5, 5),
    "Sign": (-2, 2),
    "Sin": (-4, 4),
    "Sinh": (-3, 3),
    "Sqrt": (0.3, 3),
    "Square": (-2, 2),
    "Tan": (-1.2, 1.2),
    "Tanh": (-3, 3),
}
COMPLEX = tuple(op for op in REAL if op not in ("Abs", "Ceil", "Floor", "Round"))
INTEGER = {"Abs": SIGNED, "Neg": SIGNED, "Sign": SIGNED, "Round": ("int32", "int64")}
INTEGER["Square"] = (*SIGNED, "uint8", "uint16", "uint32", "uint64")
OF_VALUE = ("InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad")


def unary():
    cases = []
    for op, (low, high) in REAL.items():
        cases += [case(op, uniform(2, 3, low=low, high=high, dtype=t)) for t in FLOATS]
        cases += [case(op, SPECIAL), case(op, normal(0, 2)), case(op, np.float32((low + high) / 2 + 0.1))]
    cases += [case(op, normal(2, 3, dtype=t)) for op in COMPLEX for t in ("complex64", "complex128")]
    cases += [case(op, integers(7, low=-100, high=100, dtype=t)) for op, types in INTEGER.items() for t in types]
    return cases


def tests():
    cases = [case(op, SPECIAL.astype(t)) for op in ("IsNan", "IsInf", "IsFinite") for t in ("float16", "float32", "float64")]
    return [
        *cases,
        case("Rint", SPECIAL * 1.5),
        case("Rint", uniform(9, low=-3, high=3, dtype="double")),
        case("Round", np.array([0.5, 1.5, 2.5, -0.5, -1.5], np.float32)),
        case("LogicalNot", np.array([[True], [False]])),
        case("Sign", np.zeros(2, np.complex64)),
        case("Neg", np.array([-128], np.int8)),
    ]


def of_value():
    cases = []
    for op in OF_VALUE:
        cases += [case(op, uniform(2, 3, low=0.3, dtype=t), normal(2, 3, dtype=t)) for t in FLOATS]
        cases += [case(op, normal(4, dtype=t), normal(4, dtype=t, seed=1)) for t in ("complex64", "complex128")]
        cases += [
            case(op, SPECIAL, np.ones(11, np.float32)),
            case(op, SPECIAL, np.zeros(11, np.float32)),
            case(op, uniform(2, 3), normal(6)),
            case(op, uniform(2, 3), normal(3)),
        ]
    return cases


CASES = [*unary(), *tests(), *of_value()]
