"""Stochastic dual coordinate ascent."""

from __future__ import annotations

import numpy as np

from tests.opcases import case, graph_case, normal, strings


def shrink(l1, l2):
    def build(g):
        refs = []
        for i in range(2):
            refs.append(g.VariableV2(dtype="float", shape=(3,), name=f"v{i}"))
            g.Assign(refs[-1], normal(3, seed=i), name=f"init{i}")
        g.SdcaShrinkL1(refs, l1=l1, l2=l2, name="op")
        return [["op"], ["init0:0", "init1:0"], ["op"], ["v0:0", "v1:0"]]

    return graph_case(f"shrink {l1} {l2}", "SdcaShrinkL1", build)


def optimizer(op, loss, label, dual, dense=3, **attrs):
    """A single example, because TensorFlow shuffles several examples at random."""
    switch = {"adaptive" if op.endswith("V2") else "adaptative": attrs.pop("adaptive", False)}
    sparse = [
        [np.array([0, 0]), np.array([0])],
        [np.array([5, 9]), np.array([4])],
        [normal(2)],
        [normal(1, dense)],
        np.array([1.5], np.float32),
        np.array([label], np.float32),
        [np.array([5, 7, 9]), np.array([4, 2])],
        [normal(3, seed=1), normal(2, seed=2)],
        [normal(3, seed=3)],
        np.array([[dual, 0, 0, 0]], np.float32),
    ]
    sizes = {"num_sparse_features": 2, "num_sparse_features_with_values": 1, "num_dense_features": 1}
    fixed = {"l1": 0.1, "l2": 0.7, "num_loss_partitions": 2, "num_inner_iterations": 1}
    return case(op, *sparse, key=f"{op} {loss} {label} {dual} {dense} {switch}", loss_type=loss, **sizes, **fixed, **switch)


_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")

CASES = [
    *(
        optimizer(op, loss, label, dual)
        for op in ("SdcaOptimizer", "SdcaOptimizerV2")
        for loss in _LOSSES
        for label, dual in ((0.0, 0.0), (1.0, 0.3), (2.0, -0.4))
    ),
    *(optimizer("SdcaOptimizerV2", loss, 1.0, 0.2, adaptive=True) for loss in _LOSSES),
    optimizer("SdcaOptimizer", "squared_loss", 1.0, 0.0, dense=4),
    case("SdcaFprint", strings(*("x" * n for n in (0, 1, 3, 4, 8, 16, 17, 40, 127, 128, 300)))),
    case("SdcaFprint", strings([["a"]])),
    case("SdcaFprint", strings()),
    shrink(0.5, 1.0),
    shrink(0.0, 1.0),
    shrink(0.5, 0.25),
]
