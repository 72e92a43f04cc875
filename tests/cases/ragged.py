"""Cases of the ragged family."""

import numpy as np

from tests.opcases import case, graph_case, i32, i64, integers, normal, strings

SPLITS = i64(0, 2, 2, 3)
OUTER = i64(0, 1, 3)
X = np.array([1.5, 2.5, 3.5])
ROWS = normal(3, 2, dtype="double")
SPLIT_ROWS = ["ROW_SPLITS"]
ROW_IDS = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]


def ranges():
    wide = np.float64
    return [
        case("RaggedRange", i32(0, 5), i32(3, 2), i32(1, -1)),
        case("RaggedRange", 0, i32(3, 2), 2),
        case("RaggedRange", np.int64(0), np.int64(3), np.int64(1), Tsplits="int32"),
        case("RaggedRange", wide(0), wide(1), wide(0.25)),
        case("RaggedRange", np.float32([0.3, 5, 1, -3]), np.float32([20, -5, 0, 3]), np.float32([0.1, -0.7, 1, 0.01])),
        case("RaggedRange", np.float32(0), np.float32(np.inf), np.float32(1)),
        case("RaggedRange", i32(-(2**31), 5), i32(2**31 - 1, 6), i32(2**30, 1)),
        case("RaggedRange", i32(0, 5), i32(3, 6), i32(1, -1)),
        case("RaggedRange", i32(0, 1), i32(3), 1),
        case("RaggedRange", 0, 3, 0),
        case("RaggedRange", i32([0]), 3, 1),
    ]


def conversions():
    zero = np.float64(0)
    tensor = "RaggedTensorToTensor"
    return [
        case("RaggedTensorToSparse", [SPLITS], X),
        case("RaggedTensorToSparse", [SPLITS.astype(np.int32)], strings(b"a", b"b", b"c")),
        case("RaggedTensorToSparse", [OUTER, SPLITS], ROWS),
        case("RaggedTensorToSparse", [i64(0)], X[:0]),
        case("RaggedTensorToSparse", [i64(0, 2, 5)], X),
        case("RaggedTensorToSparse", [i64(1, 3)], X),
        case("RaggedTensorToSparse", [i64(0, 2, 1, 3)], X, key="RaggedTensorToSparse of descending splits"),
        *(case(tensor, i64(*d), X, zero, [SPLITS], row_partition_types=SPLIT_ROWS) for d in ((-1, -1), (4, 1), (2, 5), (-1,))),
        case(tensor, i64(-1, -1), X, zero, [np.int64(4), i64(0, 0, 3)], row_partition_types=ROW_IDS),
        case(tensor, i64(-1, -1), X, zero, [np.int64(2), i64(0, 0, 3)], row_partition_types=ROW_IDS, key="wrong row id"),
        case(tensor, i64(-1, -1, -1), X, zero, [OUTER, SPLITS], row_partition_types=SPLIT_ROWS * 2),
        case(tensor, i64(-1, -1, 2), ROWS, normal(2, dtype="double"), [SPLITS], row_partition_types=SPLIT_ROWS),
        case(tensor, i64(-1, -1, 2), ROWS, normal(1, dtype="double"), [SPLITS], row_partition_types=SPLIT_ROWS),
        case(tensor, i64(-1, -1, 3), ROWS, zero, [SPLITS], row_partition_types=SPLIT_ROWS),
        case(tensor, i64(-1, -1), X[:0], zero, [i64(0, 0, 0)], row_partition_types=SPLIT_ROWS, differentiable=False),
        case(tensor, i64(-1, -1), strings(b"a", b"b", b"c"), "-", [SPLITS], row_partition_types=SPLIT_ROWS),
    ]


def gathers():
    gather = "RaggedGather"
    return [
        case(gather, [SPLITS], X, i32(2, 0, 2), OUTPUT_RAGGED_RANK=1),
        case(gather, [SPLITS], ROWS, i64([2, 0], [1, 0]), OUTPUT_RAGGED_RANK=2),
        case(gather, [OUTER, SPLITS], X, i32(1, 0), OUTPUT_RAGGED_RANK=2),
        case(gather, [OUTER, SPLITS], X, 1, OUTPUT_RAGGED_RANK=1),
        case(gather, [SPLITS], integers(3), np.zeros(0, np.int32), OUTPUT_RAGGED_RANK=1),
        case(gather, [SPLITS], X, i32(3), OUTPUT_RAGGED_RANK=1),
        case(gather, [i64(0, 2, 7)], X, i32(1), OUTPUT_RAGGED_RANK=1),
        case("RaggedFillEmptyRows", i64(0, 0, 2), X, np.int64(4), np.float64(9)),
        case("RaggedFillEmptyRows", i64(2, 0, 0), strings(b"a", b"b", b"c"), np.int64(4), "-"),
        case("RaggedFillEmptyRows", i64(0, 7), X[:2], np.int64(4), np.float64(9)),
        case("RaggedFillEmptyRows", i64(), X[:0], np.int64(0), np.float64(9), differentiable=False),
    ]


def variants():
    def back(key, batched, rank, ids=None, variant_rank=0):
        def build(g):
            encoded = g.RaggedTensorToVariant([OUTER, SPLITS], X, batched_input=batched)
            encoded = encoded if ids is None else g.GatherV2(encoded, np.array(ids, np.int32), 0)
            outputs = g.RaggedTensorFromVariant(
                encoded, input_ragged_rank=rank, output_ragged_rank=rank + variant_rank, Tvalues="double"
            )
            return [[o.name for o in outputs]]

        return graph_case(key, "RaggedTensorFromVariant", build)

    def dense(count):
        """Rows without levels, which a ragged rank of 0 takes however many dimensions the variants have."""

        def build(g):
            rows = g.GatherV2(g.RaggedTensorToVariant([], X, batched_input=True), np.arange(count, dtype=np.int32), 0)
            attrs = {"input_ragged_rank": -1, "output_ragged_rank": 0, "Tvalues": "double", "Tsplits": "int64"}
            return [[g.RaggedTensorFromVariant(rows, **attrs)[0].name]]

        return build

    def gradient(g):
        encoded = g.RaggedTensorToVariant([SPLITS], X, batched_input=True)
        towards = g.RaggedTensorToVariantGradient(encoded, SPLITS, [3], Tvalues="double")
        return [[towards.name]]

    return [
        back("whole", False, 2),
        back("rows", True, 1, variant_rank=1),
        back("rows in another order", True, 1, [1, 0, 1], 1),
        back("a matrix of rows", True, 1, [[1, 0], [1, 1]], 2),
        back("wrong rank", True, 0, variant_rank=1),
        *(graph_case(f"{count} dense", "RaggedTensorFromVariant", dense(count)) for count in (0, 3)),
        graph_case("to variant", "RaggedTensorToVariant", gradient),
        graph_case("gradient", "RaggedTensorToVariantGradient", gradient),
    ]


CASES = [*ranges(), *conversions(), *gathers(), *variants()]
