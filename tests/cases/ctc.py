"""Cases of the ctc family."""

import numpy as np

from tests.opcases import case, graph_case, i32, i64, normal
from tfg.core.types.shapes import UNKNOWN

LOGITS = normal(6, 3, 5, dtype="double", scale=2)
INDICES, VALUES = i64([0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]), i32(0, 1, 1, 3, 2, 2)
LENGTHS = i32(6, 4, 5)


def losses():
    """The second output is the gradient of the first output, and has no gradient."""
    op = "CTCLoss"
    return [
        case(op, LOGITS, INDICES, VALUES, LENGTHS, tolerance=1e-6, differentiable=False),
        case(op, LOGITS.astype(np.float32), INDICES, VALUES, LENGTHS),
        case(op, LOGITS, INDICES, VALUES, LENGTHS, ctc_merge_repeated=False, tolerance=1e-6, differentiable=False),
        case(op, LOGITS, INDICES, VALUES, LENGTHS, preprocess_collapse_repeated=True, tolerance=1e-6, differentiable=False),
        case(op, LOGITS, INDICES, VALUES, i32(2, 4, 5)),
        case(
            op, LOGITS, INDICES, VALUES, i32(2, 4, 5), ignore_longer_outputs_than_inputs=True,
            tolerance=1e-6, differentiable=False,
        ),
        case(op, LOGITS, INDICES, VALUES, i32(7, 4, 5)),
        case(op, LOGITS, INDICES, i32(0, 1, 9, 3, 2, 2), LENGTHS, tolerance=1e-6, differentiable=False),
        case(op, LOGITS, INDICES, i32(0, 4, 1, 3, 2, 2), LENGTHS),
        case(op, normal(100, 1, 5, scale=5), i64([0, 0], [0, 1]), i32(1, 1), i32(100), tolerance=2e-6, differentiable=False),
        case(op, LOGITS, INDICES[3:], VALUES[3:], LENGTHS),
        case(op, LOGITS, INDICES, VALUES, i32(6, 4)),
    ]  # fmt: skip


def too_few_lengths(g):
    """Two lengths for three sequences, an error at run time only."""
    lengths = g.PlaceholderWithDefault(i32(6, 4), shape=UNKNOWN)
    g.CTCGreedyDecoder(LOGITS, lengths, name="greedy")
    g.CTCBeamSearchDecoder(LOGITS, lengths, beam_width=2, top_paths=1, name="beam")
    return [["greedy:0"], ["beam:0"]]


def decoders():
    greedy, beam = "CTCGreedyDecoder", "CTCBeamSearchDecoder"
    return [
        case(greedy, LOGITS, LENGTHS),
        case(greedy, LOGITS.astype(np.float32), LENGTHS, merge_repeated=True),
        case(greedy, LOGITS, LENGTHS, blank_index=1),
        case(greedy, LOGITS, LENGTHS, blank_index=7),
        case(greedy, LOGITS, i32(7, 4, 5)),
        case(greedy, LOGITS, i32(-1, 4, 5)),
        case(greedy, LOGITS, i32([6, 4, 5])),
        graph_case("too few lengths", greedy, too_few_lengths),
        *(case(beam, LOGITS, LENGTHS, beam_width=w, top_paths=p, tolerance=1e-6) for w, p in ((1, 1), (4, 2), (100, 5))),
        case(beam, LOGITS.astype(np.float32), LENGTHS, beam_width=8, top_paths=3, merge_repeated=False),
        *(
            case(beam, normal(16, 2, c, dtype="double", scale=3), i32(16, 11), beam_width=7, top_paths=4, tolerance=1e-6)
            for c in (3, 12, 140)
        ),
        case(beam, LOGITS, LENGTHS, beam_width=2, top_paths=3),
        case(beam, LOGITS, i32(0, 4, 5), beam_width=3, top_paths=1, tolerance=1e-6),
        case(beam, LOGITS, i32(-1, 4, 5), beam_width=3, top_paths=1, tolerance=1e-6),
    ]  # fmt: skip


CASES = [*losses(), *decoders()]
