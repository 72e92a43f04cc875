"""sample_graphs/skipgram.pbtxt, a graph of the ops that sample_graphs/skipgram_ops.py declares; a part of regenerate.py."""

from __future__ import annotations

import pathlib

import tfg
from tfg.core.op_libraries.library_loading import load_op_library
from tfg.formats import to_text

SAMPLES = pathlib.Path(__file__).parents[1] / "sample_graphs"
WORDS = ["The", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"]


def derived() -> dict[pathlib.Path, str]:
    load_op_library(str(SAMPLES / "skipgram_ops.py"))
    g = tfg.GraphBuilder()
    words = g.constant([word.encode() for word in WORDS], "string", name="words")
    g.SkipPairs(words, batch_size=4, name="word_pairs")
    numbers = g.constant(list(range(len(WORDS))), "int32", name="numbers")
    examples, labels, epoch = g.SkipPairs(numbers, batch_size=4, name="pairs")
    g.Identity(examples, name="examples")
    g.Identity(labels, name="labels")
    g.Identity(epoch, name="epoch")
    w_in, w_out = (g.Fill([len(WORDS), 3], value, name=name) for name, value in (("w_in", 0.5), ("w_out", 2.0)))
    g.PairScores(w_in, w_out, examples, labels, name="scores")
    return {SAMPLES / "skipgram.pbtxt": to_text(g.graph)}
