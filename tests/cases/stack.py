"""Stacks by reference and by resource handle."""

import numpy as np

from tests.opcases import graph_case, normal, strings

X = normal(2, 3)


def pushed_and_popped(kind):
    """Two elements pushed, both popped: last in, first out."""

    def build(g):
        handle, push_on, pop_off, close = kind(g)
        a = push_on(handle, g.constant(X))
        with g.control_dependencies([a]):
            b = push_on(handle, g.constant(X[0]))
        with g.control_dependencies([b]):
            first = pop_off(handle)
        with g.control_dependencies([first]):
            second = pop_off(handle)
        with g.control_dependencies([second]):
            closed = close(handle)
        return [[a.name, b.name, first.name, second.name, closed.name]]

    return build


def by_reference(g):
    handle = g.Stack(elem_type="float32", stack_name="s")
    return handle, g.StackPush, lambda h: g.StackPop(h, elem_type="float32"), g.StackClose


def by_resource(g):
    handle = g.StackV2(-1, elem_type="float32", stack_name="s")
    return handle, g.StackPushV2, lambda h: g.StackPopV2(h, elem_type="float32"), g.StackCloseV2


def empty(g):
    return [[g.StackPopV2(g.StackV2(-1, elem_type="float32"), elem_type="float32").name]]


def popped_after(g, handle, pushed):
    """TensorFlow optimizes pushes away where nothing pops."""
    with g.control_dependencies([pushed]):
        return [[g.StackPopV2(handle, elem_type="float32").name]]


def overflow(g):
    handle = g.StackV2(1, elem_type="float32")
    with g.control_dependencies([g.StackPushV2(handle, X)]):
        return popped_after(g, handle, g.StackPushV2(handle, X))


def wrong_dtype(g):
    handle = g.StackV2(-1, elem_type="float32")
    return popped_after(g, handle, g.StackPushV2(handle, np.int32(1)))


def closed(g):
    handle = g.StackV2(-1, elem_type="float32")
    with g.control_dependencies([g.StackCloseV2(handle)]):
        return popped_after(g, handle, g.StackPushV2(handle, X))


def one_step_only(g):
    """A stack lives as long as a run."""
    handle = g.StackV2(-1, elem_type="string")
    pushed = g.StackPushV2(handle, g.constant(strings("a", "b")))
    return [[pushed.name], [g.StackPopV2(handle, elem_type="string").name]]


def size_of_rank_one(g):
    return [[g.StackPushV2(g.StackV2([1], elem_type="float32"), X).name]]


CASES = [
    graph_case("by reference", "Stack", pushed_and_popped(by_reference)),
    graph_case("by resource", "StackV2", pushed_and_popped(by_resource)),
    graph_case("push", "StackPush", pushed_and_popped(by_reference)),
    graph_case("push by resource", "StackPushV2", pushed_and_popped(by_resource)),
    graph_case("pop", "StackPop", pushed_and_popped(by_reference)),
    graph_case("pop by resource", "StackPopV2", pushed_and_popped(by_resource)),
    graph_case("close", "StackClose", pushed_and_popped(by_reference)),
    graph_case("close by resource", "StackCloseV2", pushed_and_popped(by_resource)),
    graph_case("pop from an empty stack", "StackPopV2", empty),
    graph_case("overflow", "StackPushV2", overflow),
    graph_case("wrong dtype", "StackPushV2", wrong_dtype),
    graph_case("closed", "StackCloseV2", closed),
    graph_case("strings, one step only", "StackPushV2", one_step_only),
    graph_case("size of rank one", "StackV2", size_of_rank_one),
]
