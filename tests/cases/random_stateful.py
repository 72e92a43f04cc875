"""Random ops with a variable as the generator."""

from __future__ import annotations

import numpy as np

from tests.cases.variables import handle
from tests.opcases import graph_case
from tfg.core.support.versions import Versions

_STATE = np.array([5, -1, 77])


def steps(op, *inputs, state=_STATE, runs=2, **attrs):
    """Draw before and after the state is there; the state moves on."""

    def build(g):
        if op == "StatefulStandardNormal":
            g.graph.versions = Versions(producer=28)  # newer graphs do not have it
        node = g.add(op, [handle(g, state), *inputs], attrs, "op")
        fetch = "op:0" if node.output_dtypes else "op"
        return [[fetch], ["init_h"], *([fetch] for _ in range(runs)), ["read_h:0"]]

    return build


def drawn(op, *inputs, key="", **options):
    return graph_case(f"{op} {key}", op, steps(op, *inputs, **options))


_ALG, _DIMS = np.int64(1), np.array([5])
_ODDS = (np.float64(20), np.float64(0.6))
_FILLS = ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal")
_INTS = ("int32", "int64", "uint32", "uint64")

CASES = [
    *(drawn(op, _ALG, _DIMS, dtype=dtype, key=dtype) for op in _FILLS for dtype in ("float", "double", "half", "bfloat16")),
    *(drawn("StatefulUniformFullInt", _ALG, _DIMS, dtype=dtype, key=dtype) for dtype in _INTS),
    *(drawn("StatefulUniformInt", _ALG, _DIMS, np.array(-3, d), np.array(9, d), key=d) for d in ("int32", "int64")),
    drawn("StatefulUniformInt", _ALG, _DIMS, np.int32(9), np.int32(9), key="empty range"),
    drawn("StatefulStandardNormal", _DIMS, state=np.array([1, 5, -1, 77]), dtype="float"),
    drawn("StatefulUniform", np.int64(2), _DIMS, dtype="float", key="ThreeFry"),
    drawn("StatefulUniform", np.int64(0), _DIMS, dtype="float", key="no algorithm"),
    drawn("StatefulUniform", _ALG, _DIMS, state=np.zeros(2, np.int64), dtype="float", key="short state"),
    drawn("StatefulUniform", _ALG, _DIMS, state=np.zeros(3, np.float32), dtype="float", key="float state"),
    graph_case(
        "StatefulRandomBinomial",
        "StatefulRandomBinomial",
        lambda g: steps("StatefulRandomBinomial", _ALG, np.array([5], np.int32), *_ODDS, runs=1, dtype="float")(g)[:-1],
    ),
    drawn("RngSkip", _ALG, np.int64(7)),
    drawn("RngReadAndSkip", np.int32(1), np.uint64(7)),
    *(drawn("RngReadAndSkip", np.int32(2), np.uint64(7), state=np.arange(n), key=f"ThreeFry {n}") for n in (2, 3)),
    drawn("StatefulRandomBinomial", np.int64(2), np.array([5], np.int32), *_ODDS, dtype="float", key="ThreeFry"),
    drawn("StatefulUniform", np.int64(2), _DIMS, state=np.arange(2), dtype="float", key="ThreeFry, its state"),
    graph_case(
        "shape of NonDeterministicInts",
        "NonDeterministicInts",
        lambda g: [[g.Shape(g.NonDeterministicInts(np.array([2, 3])), out_type="int32").name]],
    ),
]
