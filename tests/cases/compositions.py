"""Cases of the compositions family."""

from tests.opcases import case, normal, uniform

CASES = [
    *(
        case("_UnaryOpsComposition", normal(2, 3, dtype=t), op_names=["Tanh", "Relu", "Square"])
        for t in ("half", "float32", "double")
    ),
    case("_UnaryOpsComposition", uniform(4), op_names=["Sqrt", "Log", "Neg", "Exp", "Inv"]),
    case("_UnaryOpsComposition", normal(4), op_names=["Elu", "Selu", "Relu6", "Round"]),
    case("_UnaryOpsComposition", normal(4), op_names=["Sigmoid"]),
]
