"""An op library: pairs of words that stand near each other, drawn from a text one batch after the other.

    tfg run sample_graphs/skipgram.pbtxt --op-library sample_graphs/skipgram_ops.py --fetch examples --fetch labels

Declaring an op and giving it kernels are two acts. `SkipPairs` has state: where in the text the next batch begins, and how
often it has been through. Its kernels differ by the dtype of the numbers that stand for words.
"""

import numpy as np

from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.registry import facts, flops, kernel, multiply_adds, not_differentiable, shape, zero_flops
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.shapes import Shape

CATALOG.register(
    "SkipPairs(corpus: T) -> (examples: T, labels: T, epoch: int64)"
    " {T: {int32, int64, string}, batch_size: int >= 1, window_size: int >= 1 = 2} stateful"
)
CATALOG.register("PairScores(w_in: float, w_out: float, examples: int32, labels: int32) -> (scores: float)")


class Position:
    """Where the next batch begins among the pairs of the text, and how often all were given out."""

    def __init__(self):
        self.next = 0
        self.epoch = 0


def pairs(length, window):
    """(center, context) places of a text of `length` words, at most `window` words apart, in the order of the centers."""
    centers, contexts = np.meshgrid(np.arange(length), np.arange(length), indexing="ij")
    distance = np.abs(centers - contexts)
    return np.argwhere((distance > 0) & (distance <= window))


def take(ctx, corpus, batch_size, window_size):
    """The words of the next `batch_size` pairs."""
    if corpus.ndim != 1 or corpus.size < 2:
        raise InvalidArgumentError(f"corpus must be a vector of at least two words, not of shape {Shape(corpus.shape)}")
    places = pairs(corpus.size, window_size)
    position = ctx.state(Position)
    chosen = places[(position.next + np.arange(batch_size)) % len(places)]
    position.epoch += (position.next + batch_size) // len(places)
    position.next = (position.next + batch_size) % len(places)
    return corpus[chosen[:, 0]], corpus[chosen[:, 1]], np.int64(position.epoch)


@kernel("SkipPairs", T=("int32", "int64"))
def skip_pairs(ctx, corpus, *, batch_size, window_size):
    """The next pairs of numbered words, and how often the text has been gone through."""
    return take(ctx, corpus, batch_size, window_size)


@kernel("SkipPairs", T=("string",))
def skip_pairs_of_words(ctx, corpus, *, batch_size, window_size):
    """The next pairs of words, in lower case."""
    examples, labels, epoch = take(ctx, corpus, batch_size, window_size)
    return lower(examples), lower(labels), epoch


def lower(words):
    """Words in lower case."""
    return np.array([word.lower() for word in words], object)


@shape("SkipPairs")
def skip_pairs_shape(corpus, *, batch_size):
    return Shape([batch_size]), Shape([batch_size]), Shape([])


not_differentiable("SkipPairs")
zero_flops("SkipPairs")
facts("side_effect", of=("SkipPairs",))


@kernel("PairScores")
def pair_scores(w_in, w_out, examples, labels):
    """The dot product of each example's vector with its label's: (words, n), (words, n), (b), (b) -> (b)."""
    if np.ndim(w_in) != 2 or np.ndim(w_out) != 2 or w_in.shape[1] != w_out.shape[1]:
        raise InvalidArgumentError("the vectors must be the rows of matrices, of one length")
    if np.ndim(examples) != 1 or examples.shape != labels.shape:
        raise InvalidArgumentError(f"there must be as many examples as labels, not {examples.shape} and {labels.shape}")
    for words, vectors in ((examples, w_in), (labels, w_out)):
        if np.any((words < 0) | (words >= len(vectors))):
            raise InvalidArgumentError(f"there are {len(vectors)} vectors, and a word has another number")
    return np.einsum("bn,bn->b", w_in[examples], w_out[labels])


@shape("PairScores")
def pair_scores_shape(w_in, w_out, examples, labels):
    return examples.shape


@flops("PairScores")
def pair_scores_flops(w_in, w_out, examples, labels):
    return multiply_adds(examples.shape.num_elements * w_in.shape[1])


not_differentiable("PairScores")
