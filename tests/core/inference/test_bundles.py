"""Bundled arguments reach a registered function as a NamedTuple."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import pytest

import tfg
from tfg.core.inference.binding import attr_bundles, bind_kernel, bundled, input_bundles
from tfg.core.inference.node_calls import call_flops_function, call_shape_function, spec_of
from tfg.core.op_libraries.library_loading import load_op_library
from tfg.core.registry import registry
from tfg.core.registry.catalog import CATALOG
from tfg.core.support.errors import InvalidArgumentError


class Clip(NamedTuple):
    clip_value_min: Any
    clip_value_max: Any


class Window(NamedTuple):
    ksize: tuple[int, ...]
    padding: str
    dilations: tuple[int, ...] = (7,)


def clip(t, limits: Clip):
    return np.clip(t, limits.clip_value_min, limits.clip_value_max)


def node_of(op, *inputs, **attrs):
    g = tfg.GraphBuilder()
    return g.apply(op, *map(g.constant, inputs), **attrs, name="node").node


def bound(node, function, ctx=None):
    return bind_kernel(node, registry.Kernel(node.op, function, {}, "numpy", is_own=True), ctx)


CLIPPED = node_of("ClipByValue", np.float32([1, 5, 9]), np.float32(2), np.float32(6))
POOLED = node_of("MaxPool", np.zeros((1, 4, 4, 1), np.float32), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
VALUES = (np.float32([1, 5, 9]), np.float32(2), np.float32(6))


def test_a_bundle_takes_as_many_inputs_as_it_has_fields():
    assert bound(CLIPPED, clip)(*VALUES).tolist() == [2, 5, 6]


def test_a_bundle_may_follow_the_context():
    def stateful(ctx, t: np.ndarray, limits: Clip):
        return ctx, limits._fields, limits.clip_value_max

    assert bound(CLIPPED, stateful, "ctx")(*VALUES) == ("ctx", ("clip_value_min", "clip_value_max"), 6)


def test_inputs_behind_a_bundle_are_as_before():
    node = node_of("ClipByValue", *VALUES)

    def first_two(pair: Clip, last):
        return pair[0].tolist(), pair[1].item(), last.item()

    assert bound(node, first_two)(*VALUES) == ([1, 5, 9], 2, 6)


def test_lists_in_a_bundle_stay_lists():
    class Joined(NamedTuple):
        values: list[np.ndarray]
        axis: np.ndarray

    def join(joined):
        return np.concatenate(joined.values, int(joined.axis))

    join.__annotations__["joined"] = Joined
    g = tfg.GraphBuilder()
    node = g.apply("ConcatV2", [g.constant([1]), g.constant([2])], g.constant(0)).node
    assert bound(node, join)(np.array([1]), np.array([2]), np.array(0)).tolist() == [1, 2]


def test_attributes_are_bound_once_as_a_hashable_tuple():
    seen = []

    def pool(x, *, window: Window, data_format):
        seen.append(window)
        return data_format

    call = bound(POOLED, pool)
    assert call(None) == call(None) == "NHWC"
    assert seen[0] is seen[1]
    assert seen[0] == Window((1, 2, 2, 1), "SAME")  # MaxPool has no dilations: the default stays
    assert hash(seen[0]) == hash(seen[1])


def test_an_attribute_that_the_op_lacks_needs_a_default():
    class Missing(NamedTuple):
        dilations: tuple[int, ...]

    def pool(x, *, window):
        return x

    pool.__annotations__["window"] = Missing
    with pytest.raises(InvalidArgumentError, match=r"'node'.*dilations"):
        bound(POOLED, pool)


def test_shape_and_flops_functions_take_bundles():
    def shape(t, limits: Clip):
        return limits.clip_value_max.shape

    def flops(t, limits: Clip, *, outputs):
        return registry.Cost(t.shape.num_elements + outputs[0].shape.num_elements + len(limits))

    specs = [spec_of(value) for value in VALUES]
    assert [result.rank for result in call_shape_function(CLIPPED, shape, specs)] == [0]
    assert call_flops_function(CLIPPED, flops, specs, specs[:1]) == registry.Cost(8)


def test_annotations_are_found_behind_wrappers_and_generic_names():
    def generic(t, limits: Clip[Any]):  # type: ignore[type-arg]
        return t

    @functools.wraps(generic)
    def wrapper(*values):
        return values

    for function in (generic, wrapper):
        assert input_bundles(function) == (None, Clip)
    assert input_bundles(functools.partial(generic, 1)) == (Clip,)
    assert input_bundles(np.add) == () == tuple(attr_bundles(np.add))


def test_plain_functions_are_called_as_before():
    def plain(t, low, high):
        return t

    assert input_bundles(plain) == ()
    assert bundled(VALUES, ()) is VALUES
    assert bound(CLIPPED, plain) is plain


LIBRARY = """
from typing import NamedTuple
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.registry import kernel

class Limits(NamedTuple):
    low: object
    high: object

class Kind(NamedTuple):
    label: str
    sizes: tuple = ()

CATALOG.register("Bundled{0}(x: float, low: float, high: float) -> (y: float) {{label: string, sizes: list(int)}}")

@kernel("Bundled{0}")
def bundled({1}):
    return limits.high * len(kind.sizes)
"""


def loaded(tmp_path, name, parameters):
    path = tmp_path / "library.py"
    path.write_text(LIBRARY.format(name, parameters))
    load_op_library(str(path))


def test_op_libraries_may_bundle(tmp_path):
    loaded(tmp_path, "One", "x, limits: Limits, *, kind: Kind")
    g = tfg.GraphBuilder()
    y = g.apply("BundledOne", g.constant(1.0), g.constant(2.0), g.constant(3.0), label="kind", sizes=[4, 5])
    assert tfg.Session(g.graph).run(y.name) == 6
    CATALOG.unregister("BundledOne")


@pytest.mark.parametrize(
    "parameters", ["limits: Limits, *, kind: Kind", "x, y, z, limits: Limits", "x, limits: Limits, *, sort: Limits"]
)
def test_a_bundle_that_does_not_fit_is_an_error_of_the_library(tmp_path, parameters):
    with pytest.raises(InvalidArgumentError):
        loaded(tmp_path, "Two", parameters)
    assert "BundledTwo" not in CATALOG
