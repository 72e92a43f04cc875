"""Word2vec: pairs of words near each other in a text, and a training step by negative sampling.

Mikolov et al., "Distributed representations of words and phrases and their compositionality", 2013.
"""

from __future__ import annotations

import collections
import math
from typing import Any, Final

import numpy as np

from ...random.index_draws import FixedUnigramSampler, Words, sample_batch
from ...random.philox import Philox
from ...registry.registry import NOT_DIFFERENTIABLE, Cost, flops, kernel
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...runtime.state.run_context import check_time
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result, object_array
from ...types.shapes import TensorSpec
from ..random._random import new_stream
from ..shared.kernel_files import read_file

_SENTENCE: Final = 1000
_PRECALCULATED: Final = 3000
_UNKNOWN: Final = b"UNK"


class _Corpus(Shared):
    """A text as word numbers by falling frequency, and the position in the text."""

    def __init__(self, text: bytes, window: int, min_count: int, subsample: float) -> None:
        words = text.split()
        if window < 1:
            raise InvalidArgumentError(f"window_size must be at least 1, not {window}")
        if len(words) < window * 10:
            raise InvalidArgumentError(f"The text file contains too little data: {len(words)} words")
        frequent = [item for item in collections.Counter(words).most_common() if item[1] >= min_count]
        numbers = {word: i + 1 for i, (word, _) in enumerate(frequent)}
        self.words = object_array([_UNKNOWN, *numbers], (1 + len(frequent),))
        rest = len(words) - sum(count for _, count in frequent)
        self.counts = np.array([rest, *(count for _, count in frequent)], np.int32)
        self.text = [numbers.get(word, 0) for word in words]
        self.window = window
        self.epoch, self.processed = -1, 0
        self._keep = _keep_probabilities(self.counts, subsample, len(words)) if subsample > 0 else None
        # A fixed key, as in TensorFlow's kernel, which has no seed: each process reads the text the same way.
        self._random = Words(Philox(0, 0))
        self._position = len(words)
        self._sentence: list[int] = []
        # Behind the end of a sentence and of a window, so that the first step reads a sentence.
        self._index, self._label, self._limit = _SENTENCE, len(words), len(words)
        # TensorFlow's kernel computes 3,000 pairs ahead, so the progress that it returns is ahead of the pairs, too.
        self._ready = collections.deque(self._next() for _ in range(_PRECALCULATED))

    def pair(self) -> tuple[int, int]:
        """Return the next (word, neighbour) from a stock, refilled when empty."""
        word_pair = self._ready.popleft()
        if not self._ready:
            self._ready.extend(self._next() for _ in range(_PRECALCULATED))
        return word_pair

    def _next(self) -> tuple[int, int]:
        while True:
            if self._label >= self._limit:
                self._advance()
            # A word is no neighbour of itself.
            if self._label != self._index:
                break
            self._label += 1
        self._label += 1
        return self._sentence[self._index], self._sentence[self._label - 1]

    def _advance(self) -> None:
        """Advance to the next word of the sentence, with a window of random size around the word."""
        self.processed += 1
        self._index += 1
        if self._index >= _SENTENCE:
            check_time()
            self._index = 0
            self._sentence = self._read_sentence()
        # Each size up to the largest is as likely, which gives near words more weight than far ones.
        reach = 1 + self._random.below(self.window, 32)
        self._label, self._limit = max(0, self._index - reach), min(_SENTENCE, self._index + reach + 1)

    def _read_sentence(self) -> list[int]:
        """Return the next words of the text; frequent words are left out at random."""
        sentence: list[int] = []
        while len(sentence) < _SENTENCE:
            if self._position >= len(self.text):
                self.epoch += 1
                self._position = 0
                check_time()
            word = self.text[self._position]
            # A draw for each word, kept or not, so that the stream advances as TensorFlow's.
            if self._keep is not None and self._random.float32() > self._keep[word]:
                self._position += 1
                continue
            sentence.append(word)
            self._position += 1
        return sentence


def _keep_probabilities(counts: Any, subsample: float, size: int) -> list[float]:
    """Equation 5 of the paper, in TensorFlow's form."""
    share = np.float32(subsample) * np.float32(size)
    with np.errstate(divide="ignore", invalid="ignore"):
        probabilities = (np.sqrt(counts / share, dtype=np.float32) + 1) * share / counts
    # A word that never occurs divides 0 by 0; no draw is above infinity.
    return [math.inf if math.isnan(p) else p for p in probabilities.astype(np.float32).tolist()]


@kernel(
    "Skipgram",
    shape="-> words, words, (), (), (), {batch_size}, {batch_size}",
    facts=("random", "reads_files"),
    arithmetic=False,
)
def skipgram(
    ctx: KernelContext, *, filename: str, batch_size: int, window_size: int, min_count: int, subsample: float
) -> tuple[Result, Result, Result, Result, Result, Result, Result]:
    """Return vocabulary, its counts, words per epoch, epoch, words processed, and a batch of (word, neighbour) numbers."""
    if batch_size < 0:
        raise InvalidArgumentError(f"batch_size must not be negative, but is {batch_size}")
    corpus = ctx.state(lambda: _Corpus(read_file(ctx, filename), window_size, min_count, subsample))
    size = np.int64(len(corpus.text))
    with corpus:
        pairs = np.array([corpus.pair() for _ in range(batch_size)], np.int32).reshape(-1, 2)
        progress = size, np.int32(corpus.epoch), np.int64(corpus.processed)
    return corpus.words, corpus.counts, *progress, pairs[:, 0], pairs[:, 1]


class _Sampler:
    """The state of a NegTrain node: the noise distribution and its stream."""

    def __init__(self, counts: list[int], stream: Philox) -> None:
        # The paper's exponent: frequent words are drawn less often than they occur.
        weights = np.power(np.array(counts, np.float32), np.float32(0.75))
        self.sampler = FixedUnigramSampler(weights.tolist(), float(weights.sum()))
        self.stream = stream


@kernel("NegTrain", gradient=NOT_DIFFERENTIABLE, facts=("random", "side_effect", "training"))
def neg_train(
    ctx: KernelContext,
    w_in: Any,
    w_out: Any,
    examples: Array,
    labels: Array,
    lr: Array,
    *,
    vocab_count: list[int],
    num_negative_samples: int,
) -> None:
    """Train a step: each example word learns to tell its label from words drawn as noise."""
    state = ctx.state(lambda: _Sampler(vocab_count, new_stream(ctx, 0, 0)))
    _check_training(w_in.read(), w_out.read(), examples, labels, lr, len(vocab_count))
    words = Words(state.stream.take(len(examples) * num_negative_samples * 2))
    inner, outer = w_in.writable(), w_out.writable()
    for example, label in zip(examples.tolist(), labels.tolist()):
        noise, _ = sample_batch(state.sampler, words, max(num_negative_samples, 0), False)
        source = inner[example]
        update = _pull(source, outer[label], lr, 1)
        for sample in noise.tolist():
            # Noise that happens to be the label would undo the label's update.
            if sample != label:
                update += _pull(source, outer[sample], lr, -1)
        # Once, after all targets: each gradient is taken at the word's old vector.
        source += update


def _pull(source: Any, target: Any, lr: Any, sign: int) -> Any:
    """Move `target` along the gradient of log sigmoid(sign x), x the dot product; return the update of `source`."""
    x = np.dot(source, target)
    step = np.float32(sign) * lr / (np.exp(np.float32(sign) * x) + np.float32(1))
    update = target * step
    target += source * step
    return update


def _check_training(w_in: Any, w_out: Any, examples: Any, labels: Any, lr: Any, vocabulary: int) -> None:
    if w_in.ndim != 2 or w_in.shape != w_out.shape:
        raise InvalidArgumentError(f"w_in and w_out must be matrices of one shape, not {w_in.shape} and {w_out.shape}")
    if examples.ndim != 1 or examples.shape != labels.shape:
        raise InvalidArgumentError(f"examples and labels must be vectors of one size, not {examples.shape}, {labels.shape}")
    if np.ndim(lr):
        raise InvalidArgumentError(f"lr must be a scalar, not of shape {np.shape(lr)}")
    if len(w_in) != vocabulary:
        raise InvalidArgumentError(f"vocab_size mismatches: {len(w_in)} vs. {vocabulary}")
    for name, values in (("examples", examples), ("labels", labels)):
        if np.any((values < 0) | (values >= vocabulary)):
            raise InvalidArgumentError(f"{name} must be in [0, {vocabulary}): {values.tolist()}")


@flops("NegTrain")
def neg_train_flops(w_in: TensorSpec, w_out: TensorSpec, examples: TensorSpec, *, num_negative_samples: int) -> Cost:
    """For each pair of vectors a dot product, two updates and the slope; noise that is the label itself is counted too."""
    pairs = examples.shape.num_elements * (1 + num_negative_samples)
    return Cost(flops=pairs * (6 * w_in.shape[1] + 4), transcendentals=pairs)
