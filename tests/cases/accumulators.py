"""Cases of the accumulators family."""

import numpy as np

from tests.opcases import graph_case, normal
from tfg.core.types.shapes import UNKNOWN

I64 = np.int64


def dense(key, op, steps, reduction_type="MEAN", shape=(2,), dtype="float"):
    """Gradients of steps 0 (`a`, `b`) and 2 (`c`); `take` requires two gradients, `take1` a single gradient."""
    prefix = "Resource" if op.startswith("Resource") else ""

    def build(g):
        result = getattr(g, op)(dtype=dtype, shape=shape, reduction_type=reduction_type)

        def use(what, *inputs, name, **attrs):
            getattr(g, f"{prefix}Accumulator{what}")(result, *inputs, name=name, **attrs)

        for name, step, size, seed in (("a", 0, 2, 0), ("b", 0, 2, 1), ("c", 2, 2, 2), ("bad", 0, 3, 0)):
            value = normal(size, seed=seed, dtype=dtype)
            use("ApplyGradient", g.constant(I64(step)), g.constant(value), name=name)
        use("TakeGradient", g.constant(2), dtype=dtype, name="take")
        use("TakeGradient", g.constant(1), dtype=dtype, name="take1")
        use("TakeGradient", g.constant(0), dtype=dtype, name="take0")
        use("NumAccumulated", name="count")
        use("SetGlobalStep", g.constant(I64(2)), name="step")
        return [[f"{s}:0"] if s.startswith(("take", "count")) else [s] for s in steps.split()]

    return graph_case(f"{op} {key}", op, build)


def sparse(key, steps, reduction_type="MEAN", shape=(4, 2)):
    def build(g):
        node = g.SparseConditionalAccumulator(dtype="float", shape=shape, reduction_type=reduction_type)

        def apply(name, indices, rows, size=(4, 2), known=True):
            values = g.constant(normal(len(indices), rows))
            inputs = (g.constant(I64(0)), g.constant(I64(indices)), values, g.constant(I64(size)))
            g.SparseAccumulatorApplyGradient(node, *inputs, has_known_shape=known, name=name)

        apply("a", [0, 2], 2)
        apply("b", [2, 3], 2)
        apply("unknown", [1], 2, (), False)
        apply("wide", [1], 3, (4, 3))
        apply("other", [1], 2, (5, 2))
        apply("unsorted", [2, 0], 2)
        apply("twice", [0, 0, 1], 2)
        apply("beyond", [0, 4], 2)
        apply("longer", [1], 2, (4, 2, 7))
        g.SparseAccumulatorTakeGradient(node, g.constant(2), dtype="float", name="take")
        g.AccumulatorNumAccumulated(node, name="count")
        g.AccumulatorSetGlobalStep(node, g.constant(I64(1)), name="step")
        outputs = {"take": ["take:0", "take:1", "take:2"], "count": ["count:0"]}
        return [outputs.get(step, [step]) for step in steps.split()]

    return graph_case(f"sparse {key}", "SparseConditionalAccumulator", build)


OPS = ("ConditionalAccumulator", "ResourceConditionalAccumulator")
CASES = [
    *[dense("mean", op, "a count b count take count a c take1") for op in OPS],
    dense("sum", "ConditionalAccumulator", "a b take", "SUM"),
    dense("double", "ResourceConditionalAccumulator", "a b take", dtype="double"),
    dense("stale", "ResourceConditionalAccumulator", "step a count c count take1"),
    dense("wrong shape", "ConditionalAccumulator", "bad a count"),
    dense("unknown shape", "ConditionalAccumulator", "a bad count take1", shape=UNKNOWN),
    dense("none required", "ConditionalAccumulator", "a take0"),
    sparse("mean", "a b count take"),
    sparse("sum", "a b take", "SUM"),
    sparse("unknown size", "a unknown take", shape=(None, 2)),
    sparse("wrong rows", "wide other count"),
    sparse("stale", "step a count"),
    sparse("indices out of order", "unsorted a take"),
    sparse("indices that come twice", "twice a take"),
    sparse("no shape at all", "longer other a beyond count take", shape=()),
    sparse("rows of unknown size", "a wide take", shape=(None, None)),
    sparse("checked by the declared shape", "beyond longer count take", shape=(4, None)),
]
