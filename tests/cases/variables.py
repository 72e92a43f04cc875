"""Variables by reference and by handle, counters, temporary variables, tensors kept by the session."""

from __future__ import annotations

import numpy as np

from tests.opcases import graph_case, integers, normal
from tfg.core.types.shapes import UNKNOWN


def assigned(g, value, validate_shape=True, **attrs):
    """A V1 variable `v` with the initializer `init`."""
    value = np.asarray(value)
    ref = g.VariableV2(dtype=g.constant(value).dtype, shape=value.shape, name="v", **attrs)
    g.Assign(ref, value, validate_shape=validate_shape, name="init")
    return ref


def handle(g, value, name="h"):
    """A resource variable with the initializer `init_NAME` and a read `read_NAME`."""
    value = np.asarray(value)
    dtype = g.constant(value).dtype
    resource = g.VarHandleOp(dtype=dtype, shape=value.shape, shared_name=name, name=name)
    g.AssignVariableOp(resource, value, dtype=dtype, name=f"init_{name}")
    g.ReadVariableOp(resource, dtype=dtype, name=f"read_{name}")
    return resource


def assign(g):
    ref = assigned(g, normal(2, 3))
    g.IsVariableInitialized(ref, name="is")
    g.AssignAdd(ref, normal(2, 3, seed=1), name="add")
    g.AssignSub(ref, normal(2, 3, seed=2), name="sub")
    g.RefIdentity(ref, name="same")
    return [["is:0"], ["v:0"], ["init:0"], ["is:0"], ["add:0"], ["sub:0"], ["same:0"]]


def assign_wrong_shape(g):
    ref = g.VariableV2(dtype="float", shape=(2,), name="v")
    value = g.PlaceholderWithDefault(normal(3), shape=UNKNOWN)
    g.Assign(ref, value, name="strict")
    g.Assign(ref, value, validate_shape=False, name="loose")
    g.AssignAdd(ref, g.PlaceholderWithDefault(normal(2), shape=UNKNOWN), name="add")
    return [["strict:0"], ["loose:0"], ["strict:0"], ["add:0"]]


def variable_of_other_dtypes(g):
    fetches = []
    for i, value in enumerate([integers(3), np.array([b"a", b"b"], object), np.array([True, False]), normal(0, 2)]):
        ref = g.VariableV2(dtype=g.constant(value).dtype, shape=value.shape, name=f"v{i}")
        g.Assign(ref, value, name=f"init{i}")
        fetches.append([f"init{i}:0"])
    return [*fetches, ["v0:0", "v1:0", "v2:0", "v3:0"]]


def v1_variable(g):
    ref = g.Variable(dtype="float", shape=(2,), name="v")
    g.Assign(ref, normal(2), name="init")
    return [["v:0"], ["init:0"], ["v:0"]]


def shared_name(g):
    one = g.VariableV2(dtype="float", shape=(2,), shared_name="s", name="one")
    g.VariableV2(dtype="float", shape=(2,), shared_name="s", name="two")
    g.Assign(one, normal(2), name="init")
    return [["init:0"], ["two:0"]]


def count_up_to(g):
    ref = assigned(g, np.int32(0))
    g.CountUpTo(ref, limit=2, name="count")
    return [["init:0"], ["count:0"], ["count:0"], ["count:0"], ["v:0"]]


def resource_count_up_to(g):
    resource = handle(g, np.int64(0))
    g.ResourceCountUpTo(resource, limit=2, T="int64", name="count")
    return [["count:0"], ["init_h"], ["count:0"], ["count:0"], ["count:0"]]


def temporary_variable(g):
    ref = g.TemporaryVariable(shape=(2,), dtype="float", var_name="t", name="t")
    filled = g.Assign(ref, normal(2), name="a")
    more = g.AssignAdd(filled, normal(2, seed=1), name="b")
    g.DestroyTemporaryVariable(more, var_name="t", name="last")
    g.DestroyTemporaryVariable(more, var_name="u", name="wrong")
    return [["last:0"], ["last:0"], ["wrong:0"]]


def resource_variable(g):
    resource = handle(g, normal(2, 3))
    g.VarIsInitializedOp(resource, name="is")
    g.VariableShape(resource, name="shape")
    g.VariableShape(resource, out_type="int64", name="shape64")
    g.AssignAddVariableOp(resource, normal(2, 3, seed=1), name="add")
    g.AssignSubVariableOp(resource, normal(2, 3, seed=2), name="sub")
    g.DisableCopyOnRead(resource, name="no_copy")
    g.DestroyResourceOp(resource, name="destroy")
    g.DestroyResourceOp(resource, ignore_lookup_error=False, name="must_destroy")
    before = [["is:0"], ["read_h:0"], ["add"], ["shape:0"]]
    used = [["init_h"], ["is:0", "shape:0", "shape64:0", "read_h:0"], ["add"], ["sub"], ["no_copy"], ["read_h:0"]]
    return [*before, *used, ["destroy"], ["read_h:0"], ["destroy"], ["must_destroy"]]


def resource_of_two_dtypes(g):
    resource = handle(g, normal(2), "s")
    other = g.VarHandleOp(dtype="int32", shape=(2,), shared_name="s", name="other")
    g.AssignVariableOp(other, integers(2), dtype="int32", name="init_other")
    g.ReadVariableOp(other, dtype="int32", name="read_other")
    value = g.PlaceholderWithDefault(normal(3), shape=UNKNOWN)
    free = g.VarHandleOp(dtype="float", shape=UNKNOWN, shared_name="s", name="free")
    g.AssignVariableOp(free, value, dtype="float", validate_shape=True, name="strict")
    g.AssignAddVariableOp(free, value, name="add")
    del resource
    return [["init_s"], ["read_other:0"], ["init_other"], ["strict"], ["add"], ["read_s:0"]]


def resource_without_name(g):
    one = g.VarHandleOp(dtype="float", shape=(2,), name="one")
    two = g.VarHandleOp(dtype="float", shape=(2,), name="two")
    g.AssignVariableOp(one, normal(2), dtype="float", name="init")
    g.ReadVariableOp(two, dtype="float", name="read")
    return [["init"], ["read:0"]]


def several_handles(g):
    kinds = {"dtypes": ["float", "int32"], "shapes": [(2,), ()]}
    handles = g.apply("_VarHandlesOp", containers=["", ""], shared_names=["a", "b"], N=2, name="handles", **kinds)
    g.AssignVariableOp(handles[0], normal(2), dtype="float", name="init_a")
    g.AssignVariableOp(handles[1], np.int32(3), dtype="int32", name="init_b")
    g.apply("_ReadVariablesOp", list(handles), dtypes=["float", "int32"], name="read")
    return [["init_a"], ["read:0", "read:1"], ["init_b"], ["read:0", "read:1"]]


def kept_tensor(g):
    """TensorFlow keeps a tensor only if the handle itself is fetched, and then returns a Python object."""
    handle = g.constant("keep;0;/job:localhost/replica:0/task:0/device:CPU:0")
    g.Identity(g.GetSessionHandle(normal(3), name="keep"), name="kept")
    g.GetSessionTensor(handle, dtype="float", name="get")
    g.DeleteSessionTensor(handle, name="delete")
    g.Shape(g.GetSessionHandleV2(normal(3)), out_type="int32", name="rank")
    return [["get:0"], ["delete"], ["rank:0"], ["kept:0"]]


CASES = [
    graph_case("assign", "Assign", assign),
    graph_case("assign wrong shape", "AssignAdd", assign_wrong_shape),
    graph_case("subtract", "AssignSub", assign),
    graph_case("is initialized", "IsVariableInitialized", assign),
    graph_case("ref identity", "RefIdentity", assign),
    graph_case("other dtypes", "VariableV2", variable_of_other_dtypes),
    graph_case("v1 variable", "Variable", v1_variable),
    graph_case("shared name", "VariableV2", shared_name),
    graph_case("count", "CountUpTo", count_up_to),
    graph_case("resource count", "ResourceCountUpTo", resource_count_up_to),
    graph_case("temporary", "TemporaryVariable", temporary_variable),
    graph_case("destroy temporary", "DestroyTemporaryVariable", temporary_variable),
    graph_case("resource dtypes", "VarHandleOp", resource_of_two_dtypes),
    graph_case("resource without name", "VarHandleOp", resource_without_name),
    graph_case("several handles", "_VarHandlesOp", several_handles),
    graph_case("several reads", "_ReadVariablesOp", several_handles),
    *(
        graph_case(f"resource {op}", op, resource_variable)
        for op in (
            "ReadVariableOp",
            "AssignVariableOp",
            "AssignAddVariableOp",
            "AssignSubVariableOp",
            "VarIsInitializedOp",
            "VariableShape",
            "DisableCopyOnRead",
            "DestroyResourceOp",
        )
    ),
    *(
        graph_case(f"kept {op}", op, kept_tensor)
        for op in ("GetSessionHandle", "GetSessionHandleV2", "GetSessionTensor", "DeleteSessionTensor")
    ),
]
