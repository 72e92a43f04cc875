"""Cases of the staging family."""

import numpy as np

from tests.opcases import graph_case, normal
from tests.opcases import string_array as strings

TYPES = ["float", "string"]
I64 = np.int64


def area(key, steps, **attrs):
    """A queue of tuples."""

    def build(g):
        options = {"dtypes": TYPES, "shared_name": "area", **attrs}
        for i in range(2):
            g.Stage([g.constant(normal(2, seed=i)), g.constant(strings(str(i)))], name=f"put{i}", shared_name="area", **attrs)
        g.Unstage(name="take", **options)
        g.StagePeek(g.constant(1), name="peek", **options)
        g.StageSize(name="size", **options)
        g.StageClear(name="clear", **options)
        outputs = {"take": ["take:0", "take:1"], "peek": ["peek:0", "peek:1"], "size": ["size:0"]}
        return [outputs.get(step, [step]) for step in steps.split()]

    return graph_case(f"stage {key}", "Stage", build)


def mapped(prefix, key, steps):
    """Tuples by key; `part0` and `part1` bring a component each."""

    def build(g):
        options = {"dtypes": TYPES, "shared_name": "area"}
        both, first, second = (g.constant(np.int32(i)) for i in ([0, 1], [0], [1]))
        components = g.constant(normal(2)), g.constant(strings("x"))

        def op(what):
            return getattr(g, f"{prefix}{what}")

        for number in (7, 3):
            op("Stage")(g.constant(I64(number)), both, components, name=f"put{number}", **options)
        op("Stage")(g.constant(I64(5)), first, components[:1], name="part0", **options)
        op("Stage")(g.constant(I64(5)), second, components[1:], name="part1", **options)
        op("Stage")(g.constant(I64(5)), g.constant(np.int32([2])), components[:1], name="part2", **options)
        op("Unstage")(g.constant(I64(7)), both, name="take", **options)
        op("Unstage")(g.constant(I64(7)), first, dtypes=["float"], shared_name="area", name="take0")
        op("Peek")(g.constant(I64(7)), both, name="peek", **options)
        op("Peek")(g.constant(I64(7)), g.constant(np.int32([1, 1])), name="twice", **options)
        op("Peek")(g.constant(I64([7])), both, name="vector", **options)
        op("UnstageNoKey")(both, name="any", **options)
        op("Size")(name="size", **options)
        op("IncompleteSize")(name="incomplete", **options)
        op("Clear")(name="clear", **options)
        outputs = {n: [f"{n}:0", f"{n}:1"] for n in ("take", "peek")}
        outputs |= {n: [f"{n}:0"] for n in ("size", "incomplete", "take0")} | {"any": ["any:0", "any:1", "any:2"]}
        return [outputs.get(step, [step]) for step in steps.split()]

    return graph_case(f"{prefix} {key}", f"{prefix}Stage", build)


CASES = [
    area("and unstage", "put0 put1 size peek take take size"),
    area("and clear", "put0 put1 clear size"),
    area("too large", "put0", memory_limit=4),
    *[
        mapped(prefix, key, steps)
        for prefix in ("Map", "OrderedMap")
        for key, steps in {
            "whole": "put7 size peek take size",
            "parts": "part0 incomplete size part1 incomplete size",
            "part twice": "part0 part0",
            "part out of bounds": "part2",
            "clear": "put7 part0 clear size incomplete",
            "indices twice": "put7 twice",
            "key in a vector": "put7 vector",
        }.items()
    ],
    mapped("Map", "any", "put7 any size"),
    mapped("OrderedMap", "any", "put7 put3 any any size"),
]
