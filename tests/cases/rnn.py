"""Cases of the rnn family."""

import numpy as np

from tests.opcases import case, normal

B, N, C, T = 2, 3, 4, 5
X, CS, H = normal(B, N), normal(B, C), normal(B, C, seed=1)
W, PEEPHOLES, BIAS = normal(N + C, 4 * C), [normal(C, seed=i) for i in range(3)], normal(4 * C)
CELL = (X, CS, H, W, *PEEPHOLES, BIAS)
SEQUENCE = (normal(T, B, N), *CELL[1:])
STATES = [normal(B, C, seed=i, scale=0.3) for i in range(2, 10)]
OUTPUTS = [normal(T, B, C, seed=i, scale=0.3) for i in range(2, 11)]


def half(values):
    return [v.astype(np.float16) for v in values]


def cells():
    return [
        *(case("LSTMBlockCell", *CELL, use_peephole=p, cell_clip=clip) for p in (False, True) for clip in (-1.0, 0.5)),
        case("LSTMBlockCell", *half(CELL), forget_bias=0.5),
        *(case("LSTMBlockCellGrad", *CELL, *STATES, use_peephole=p) for p in (False, True)),
        case("GRUBlockCell", X, H, normal(N + C, 2 * C), normal(N + C, C), normal(2 * C), normal(C)),
        case("GRUBlockCellGrad", X, H, normal(N + C, 2 * C), normal(N + C, C), normal(2 * C), normal(C), *STATES[:4]),
        case("GRUBlockCell", X, H, normal(N + C, C), normal(N + C, C), normal(2 * C), normal(C)),
    ]


def sequences():
    results = []
    for op, last in (("BlockLSTM", "BlockLSTMGrad"), ("BlockLSTMV2", "BlockLSTMGradV2")):
        for peephole in (False, True):
            results.append(case(op, np.int64(5), *SEQUENCE, use_peephole=peephole))
        results += [
            case(op, np.int64(5), *SEQUENCE, cell_clip=0.4),
            case(op, np.int64(5), *half(SEQUENCE)),
            case(op, np.int64(5), *SEQUENCE[:3], normal(N + C, C), *SEQUENCE[4:]),
            *(case(last, np.int64(5), *SEQUENCE, *OUTPUTS, use_peephole=p) for p in (False, True)),
        ]
    return results


CASES = [*cells(), *sequences()]
