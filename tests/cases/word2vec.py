"""Word2vec. The words have different counts, since TensorFlow leaves the order of equals open."""

from __future__ import annotations

import numpy as np

from tests.opcases import graph_case, normal
from tfg.core.support.versions import Versions

FOLDER = "/tmp/tfg_cases/"
_WORDS = [f"w{i}" for i in range(12) for _ in range(3 * i + 2)]
_TEXT = " \n".join(_WORDS[i * 41 % len(_WORDS)] for i in range(len(_WORDS))).encode()


def skipgram(name, text=_TEXT, runs=2, **attrs):
    path = f"{FOLDER}skipgram {name}"

    def build(g):
        g.graph.versions = Versions(producer=15)  # newer graphs do not have it
        g.WriteFile(g.constant(path.encode()), g.constant(text), name="write")
        g.Skipgram(filename=path, name="op", **attrs)
        return [["write"], *([f"op:{i}" for i in range(7)] for _ in range(runs))]

    return graph_case(name, "Skipgram", build)


def neg_train(name, wrong=False, samples=0):
    """Without noise words nothing is left to chance."""

    def build(g):
        g.graph.versions = Versions(producer=15)
        refs = []
        for i in range(2):
            refs.append(g.VariableV2(dtype="float", shape=(5, 3), name=f"w{i}"))
            g.Assign(refs[-1], normal(5, 3, seed=i), name=f"init{i}")
        counts = [1] * (4 if wrong else 5)
        pairs = np.array([0, 2, 2, 4], np.int32), np.array([1, 3, 3, 0], np.int32)
        g.NegTrain(*refs, *pairs, np.float32(0.1), vocab_count=counts, num_negative_samples=samples, name="op")
        return [["op"], ["init0:0", "init1:0"], ["op"], ["w0:0", "w1:0"]]

    return graph_case(name, "NegTrain", build)


CASES = [
    skipgram("pairs", batch_size=7, window_size=3, min_count=5, subsample=0.0),
    skipgram("subsampled pairs", batch_size=1600, window_size=5, min_count=1, subsample=0.05),
    skipgram("short text", text=b"too short", runs=1, batch_size=3, window_size=3),
    neg_train("without noise"),
    neg_train("fewer noise words than none", samples=-1),
    neg_train("wrong vocabulary", wrong=True),
]
