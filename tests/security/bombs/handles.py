"""What handles hold: lists in lists, variables, queues, stacks and tables of more than there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.functions import define
from tests.security.bombs.building import HUGE, MOST, Bomb, ints, texts, view
from tfg import GraphBuilder
from tfg.core.graph.graph import Output
from tfg.core.types.tensors import FuncRef


def _list(g: GraphBuilder, dtype: str) -> Output:
    return g.EmptyTensorList(ints(g), g.constant(np.int32(-1)), element_dtype=dtype)


def _nested_list(g: GraphBuilder, depth: int, times: int) -> Output:
    """A list that holds a list `times`, which holds one `times`, and so on."""
    node = g.TensorListPushBack(_list(g, "float32"), g.constant(np.float32(1)), element_dtype="float32")
    for _ in range(depth):
        outer = _list(g, "variant")
        for _ in range(times):
            outer = g.TensorListPushBack(outer, node, element_dtype="variant")
        node = outer
    return node


def _grown_list(g: GraphBuilder) -> Output:
    """A list that is put behind itself again and again."""
    result = _nested_list(g, 0, 1)
    for _ in range(60):
        result = g.TensorListConcatLists(result, result, element_dtype="float32")
    return g.TensorListLength(result)


def _optionals(g: GraphBuilder) -> Output:
    node = g.OptionalFromValue([g.constant(np.float32(1))])
    for _ in range(3000):
        node = g.OptionalFromValue([node])
    return g.OptionalHasValue(g.ZerosLike(node))


def _variable(g: GraphBuilder, shape: tuple[int, ...]) -> Output:
    handle = g.VarHandleOp(dtype="float32", shape=list(shape), shared_name="v")
    assigned = g.AssignVariableOp(handle, view(g, *shape))
    with g.control_dependencies([assigned]):
        added = g.AssignAddVariableOp(handle, view(g, *shape))
    with g.control_dependencies([added]):
        return g.ReadVariableOp(handle, dtype="float32")


def _forever(g: GraphBuilder, keep: Callable[[GraphBuilder, Output], Any], state: Output) -> Output:
    """A loop that hands `keep` its state, a handle, for ever."""
    define(g, "holds", [state.dtype], lambda b, a: [b.constant(True)])

    def body(b: GraphBuilder, a: Output) -> list[Output]:
        kept = keep(b, a)
        with b.control_dependencies([kept.node if isinstance(kept, Output) else kept]):
            return [b.Identity(a)]

    define(g, "keep", [state.dtype], body, stateful=True)
    return g.While([state], cond=FuncRef("holds"), body=FuncRef("keep"), output_shapes=[[]])[0]


def _queue(g: GraphBuilder) -> Output:
    handle = g.FIFOQueueV2(component_types=["float32"], shapes=[[1 << 20]])
    return _forever(g, lambda b, a: b.QueueEnqueueV2(a, [view(b, 1 << 20)]), handle)


def _stack(g: GraphBuilder) -> Output:
    handle = g.StackV2(g.constant(np.int32(-1)), elem_type="float32")
    return _forever(g, lambda b, a: b.StackPushV2(a, b.Exp(view(b, 1 << 20))), handle)


def _staged(g: GraphBuilder) -> Output:
    """A staging area that fills up in a loop."""
    start = g.constant(np.float32(0))
    return _forever(g, lambda b, a: b.Stage([b.Exp(view(b, 1 << 20))], shared_name="area"), start)


def _table(g: GraphBuilder) -> Output:
    """A table that gets a million keys in each turn of a loop."""
    handle = g.MutableHashTableV2(key_dtype="int64", value_dtype="float32")

    def insert(b: GraphBuilder, a: Output) -> Any:
        with b.control_dependencies([]):
            start = b.Cast(b.LookupTableSizeV2(a), DstT="int64")
        keys = b.AddV2(b.Range(*(b.constant(np.int64(n)) for n in (0, 1 << 20, 1))), start)
        return b.LookupTableInsertV2(a, keys, view(b, 1 << 20))

    return _forever(g, insert, handle)


def _dense_table(g: GraphBuilder) -> Output:
    empty, deleted = (g.constant(np.int64(n)) for n in (-1, -2))
    attrs = {"value_dtype": "float32", "value_shape": [1 << 20], "initial_num_buckets": 1 << 40}
    return g.LookupTableSizeV2(g.MutableDenseHashTableV2(empty, deleted, **attrs))


def _map(g: GraphBuilder) -> Output:
    node = g.EmptyTensorMap()
    for i in range(1000):
        node = g.TensorMapInsert(node, g.constant(np.int64(i)), view(g, 1 << 30))
    return g.TensorMapSize(g.ZerosLike(node))


def _gradients(g: GraphBuilder) -> Output:
    """A quantile stream, or an accumulator, as wide as it says."""
    handle = g.ConditionalAccumulator(dtype="float32", shape=[HUGE])
    applied = g.AccumulatorApplyGradient(handle, g.constant(np.int64(0)), view(g, HUGE))
    with g.control_dependencies([applied]):
        return g.AccumulatorTakeGradient(handle, g.constant(np.int32(1)), dtype="float32")


def _temporary(g: GraphBuilder) -> Output:
    ref = g.TemporaryVariable(shape=[HUGE], dtype="float32", var_name="t")
    return g.DestroyTemporaryVariable(g.Assign(ref, view(g, HUGE)), var_name="t")


HANDLES: dict[str, Bomb] = {
    "list of lists of lists": lambda g: g.TensorListLength(g.ZerosLike(_nested_list(g, 40, 2))),
    "sum of lists of lists": lambda g: g.TensorListLength(g.AddN([_nested_list(g, 40, 2)] * 2)),
    "3,000 lists in each other": lambda g: g.TensorListLength(g.ZerosLike(_nested_list(g, 3000, 1))),
    "list that doubles": _grown_list,
    "3,000 optionals in each other": _optionals,
    "variable": lambda g: _variable(g, (HUGE,)),
    "temporary variable": _temporary,
    "VariableV2": lambda g: g.Assign(g.VariableV2(shape=[HUGE], dtype="float32"), view(g, HUGE)),
    "queue": _queue,
    "stack": _stack,
    "staging area": _staged,
    "table that grows": _table,
    "table of so many buckets": _dense_table,
    "map of views": _map,
    "accumulator": _gradients,
    "ResourceGather": lambda g: g.ResourceGather(_initialized(g), view(g, 1 << 34, value=np.int32(0)), dtype="float32"),
    "queue of many": lambda g: _many_in_queue(g),
    "session handle": lambda g: g.GetSessionTensor(g.GetSessionHandle(view(g, HUGE)), dtype="float32"),
}


def _initialized(g: GraphBuilder) -> Output:
    handle = g.VarHandleOp(dtype="float32", shape=[4], shared_name="w")
    with g.control_dependencies([g.AssignVariableOp(handle, view(g, 4))]):
        return g.Identity(handle)


def _many_in_queue(g: GraphBuilder) -> Output:
    handle = g.FIFOQueueV2(component_types=["string"])
    with g.control_dependencies([g.QueueEnqueueManyV2(handle, [texts(g, MOST, b"a")])]):
        return g.QueueSizeV2(handle)
