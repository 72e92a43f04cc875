"""Cases of the sparse_cross family."""

import numpy as np

from tests.opcases import case, i64, strings

INDICES = [i64([0, 0], [0, 1], [1, 0]), i64([0, 0], [1, 0], [1, 1])]
SHAPES = [i64(2, 2), i64(2, 2)]
TEXTS = [strings(b"a", b"b", b"c"), strings(b"x", b"y", b"z")]
NUMBERS = [i64(1, 2, -3), i64(4, 5, 2**40)]
DENSE = strings([b"d"], [b"e"])
INTS = i64([7, 8], [9, 10])


def sparse():
    common = {"num_buckets": 0, "hash_key": 956888297470}
    text = {**common, "hashed_output": False, "internal_type": "string", "out_type": "string"}
    hashed = {**text, "hashed_output": True, "internal_type": "int64", "out_type": "int64"}
    settings = (text, hashed, {**hashed, "num_buckets": 100})
    cases = [case("SparseCross", INDICES, TEXTS, SHAPES, [DENSE], **attrs) for attrs in settings]
    cases += [case("SparseCross", INDICES, [TEXTS[0], NUMBERS[1]], SHAPES, [INTS], **hashed, key="SparseCross of numbers")]
    cases += [case("SparseCross", INDICES, TEXTS, [SHAPES[0], i64(3, 2)], [], **text, key="SparseCross, wrong batch")]
    cases += [case("SparseCross", INDICES, [TEXTS[0], TEXTS[1][:2]], SHAPES, [], **text)]
    sep = strings(b"_Y_").reshape(())
    cases += [case("SparseCrossV2", INDICES, v, SHAPES, [d], sep) for v in (TEXTS, NUMBERS) for d in (DENSE, INTS)]
    salt = i64(137, 173)
    cases += [
        case(
            "SparseCrossHashed",
            *(INDICES, v, SHAPES, [d], np.int64(n), np.bool_(strong), salt),
            key=f"SparseCrossHashed {n} {strong} {v[0][0]} {d[0][0]}",
        )
        for v in (TEXTS, NUMBERS)
        for d in (DENSE, INTS)
        for n in (0, 1000)
        for strong in (False, True)
        if d is DENSE or not strong
    ]
    return cases


def ragged():
    values, splits = [strings(b"a", b"b", b"c"), i64(1, 2)], [i64(0, 2, 3), i64(0, 1, 2)]
    text = {"hashed_output": False, "num_buckets": 0, "hash_key": 5}
    text |= {"out_values_type": "string", "out_row_splits_type": "int64"}
    hashed = {**text, "hashed_output": True, "out_values_type": "int64"}
    inputs = (values, splits, INDICES[:1], TEXTS[:1], SHAPES[:1], [INTS])
    return [
        case("RaggedCross", *inputs, **text, input_order="RSDR"),
        case("RaggedCross", *inputs, **hashed, input_order="DRRS"),
        case("RaggedCross", *inputs, **{**hashed, "num_buckets": 10}, input_order="RRSD"),
        case("RaggedCross", *inputs, **text, input_order="RSD"),
        case("RaggedCross", values, [splits[0], i64(0, 1, 5)], *inputs[2:], **text, input_order="RSDR", key="wrong splits"),
        case("RaggedCross", values[:1], splits[:1], [], [], [], [], **text, input_order="R"),
    ]


def unequal():
    """More indices than values."""
    indices, shape = np.zeros((1, 2), np.int64), i64(1, 1)
    attrs = {"hashed_output": False, "num_buckets": 0, "hash_key": 1, "out_type": "string", "internal_type": "string"}
    return [case("SparseCross", [indices] * 2, [strings(b"a")], [shape] * 2, [], **attrs)]


CASES = [*sparse(), *ragged(), *unequal()]
