"""Every training op: reference and resource, dense and sparse, with the values of all switches."""

from __future__ import annotations

import numpy as np

from tests.opcases import graph_case, normal
from tfg.core.ops.nn.training import UPDATE_RULES
from tfg.core.registry.catalog import CATALOG
from tfg.core.types.dtypes import from_name
from tfg.core.types.shapes import UNKNOWN

_INDICES = np.array([1, 0, 1, 3], np.int32)
_SCALARS = {"lr": 0.1, "alpha": 0.1, "lr_power": -0.4, "l1": 0.05, "l2": 0.02, "global_step": 3}
_SWITCHES = ("use_nesterov", "update_slots", "multiply_linear_by_lr")


def step(op, dtype="float", shape=(4, 3), indices=_INDICES, attrs=None, is_refused=False, **given):
    """Initialize the variables, apply the op twice, read the variables; a refused op may have written some rows."""

    def build(g):
        inits, reads, inputs = [], [], []
        kind = from_name(dtype).numpy
        for i, arg in enumerate(CATALOG[op].inputs):
            if arg.is_ref or (arg.dtype is not None and arg.dtype.name == "resource"):
                value = given.get(arg.name, np.abs(normal(*shape, seed=i)) + 0.1).astype(kind)
                inputs.append(_variable(g, arg.is_ref, value, dtype, inits, reads))
            elif arg.name == "indices":
                inputs.append(g.PlaceholderWithDefault(indices, shape=UNKNOWN))
            elif arg.name in ("grad", "delta"):
                rows = (np.size(indices), *shape[1:]) if "Sparse" in op else shape
                inputs.append(g.PlaceholderWithDefault(given.get(arg.name, normal(*rows, seed=9)).astype(kind), shape=UNKNOWN))
            else:
                value = given.get(arg.name, _SCALARS.get(arg.name, 0.3))
                number = np.asarray(value, np.int64 if arg.name == "global_step" else kind)
                inputs.append(g.PlaceholderWithDefault(number, shape=UNKNOWN))
        node = g.add(op, inputs, attrs or {}, "op")
        fetch = "op:0" if node.output_dtypes else "op"
        return [[fetch], inits, [fetch]] if is_refused else [[fetch], inits, [fetch], [fetch], reads]

    return build


def _variable(g, is_ref, value, dtype, inits, reads):
    name = f"v{len(inits)}"
    if is_ref:
        variable = g.VariableV2(dtype=dtype, shape=value.shape, name=name)
        g.Assign(variable, value, name=f"init_{name}")
        inits.append(f"init_{name}:0")
        reads.append(f"{name}:0")
    else:
        variable = g.VarHandleOp(dtype=dtype, shape=value.shape, shared_name=name, name=name)
        g.AssignVariableOp(variable, value, dtype=dtype, name=f"init_{name}")
        g.ReadVariableOp(variable, dtype=dtype, name=f"read_{name}")
        inits.append(f"init_{name}")
        reads.append(f"read_{name}:0")
    return variable


def cases_of(op):
    yield graph_case(op, op, step(op))
    yield graph_case(f"{op} double", op, step(op, "double"))
    for switch in _SWITCHES:
        if switch in CATALOG[op].attrs:
            flipped = not CATALOG[op].attrs[switch].default
            yield graph_case(f"{op} {switch}", op, step(op, attrs={switch: flipped}))
    if "Sparse" in op:
        yield graph_case(f"{op} out of range", op, step(op, indices=_INDICES + 1, is_refused=True))
        yield graph_case(f"{op} no rows", op, step(op, indices=_INDICES[:0]))
    else:
        yield graph_case(f"{op} wrong gradient", op, step(op, grad=normal(4, 2), delta=normal(4, 2)))
        yield graph_case(f"{op} scalar", op, step(op, shape=()))
    for scalar in ("lr", "l1", "l2", "lr_power", "rho", "beta1"):
        if scalar in [arg.name for arg in CATALOG[op].inputs]:
            yield graph_case(f"{op} {scalar} vector", op, step(op, **{scalar: np.array([0.1])}))
    if "Ftrl" in op:
        yield graph_case(f"{op} square root", op, step(op, lr_power=-0.5))
        yield graph_case(f"{op} l1 negative", op, step(op, l1=-0.5))
        nothing = dict.fromkeys(("accum", "linear", "grad"), np.zeros((4, 3)))
        yield graph_case(f"{op} nothing accumulated", op, step(op, l2=0.0, l2_shrinkage=0.0, **nothing))
    if "Proximal" in op or "AdagradDA" in op:
        yield graph_case(f"{op} without l1", op, step(op, l1=0.0))


_PREFIXES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_OPS = [prefix + rule for rule, _, _ in UPDATE_RULES for prefix in _PREFIXES if prefix + rule in CATALOG]
CASES = [case for op in _OPS for case in cases_of(op)]
