"""FLOPs formulas of CTC, scans, searches, sorting and edit distance against naive definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions, definitions_sequences
from tests.core.flops.counting import counted, normal
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, hold, holds
from tfg.core.numerics import sequences

HELD: Cases = {}


def _labels(draw, batch, classes, most):
    return [draw(st.lists(st.integers(0, classes - 2), max_size=most)) for _ in range(batch)]


@holds(HELD, "CTCLoss", "CTCLossV2")
def ctc_loss(draw, tally):
    time, batch, classes = draw(st.integers(5, 7)), draw(SMALL), draw(st.integers(2, 4))
    logits = normal(tally, time, batch, classes)
    labels = _labels(draw, batch, classes, 3)
    expected, gradient = sequences.loss_and_gradient(np.asarray(logits), labels, np.full(batch, time), classes - 1, True)
    for i, row in enumerate(labels):
        loss, slope = definitions_sequences.ctc_loss(logits[:, i], row, classes - 1)
        assert np.allclose(np.asarray(loss), expected[i])
        # The kernel adds probabilities in single precision, as TensorFlow does.
        assert np.allclose(np.asarray(slope), gradient[:, i], rtol=1e-4, atol=1e-6)
    indices = np.int64([(i, j) for i, row in enumerate(labels) for j in range(len(row))]).reshape(-1, 2)
    values = np.int32([label for row in labels for label in row])
    return Node([logits.shape, indices, values, np.full(batch, time, np.int32)])


@holds(HELD, "CTCGreedyDecoder")
def ctc_greedy_decoder(draw, tally):
    time, batch = draw(SMALL), draw(SMALL)
    logits = normal(tally, time, batch, draw(SMALL))
    for i in range(batch):
        definitions_sequences.greedy_path(logits[:, i])
    return Node([logits.shape, np.full(batch, time, np.int32)])


@holds(HELD, "CTCBeamSearchDecoder")
def ctc_beam_search_decoder(draw, tally):
    """As if the beams were full from the first step on."""
    time, batch, width = draw(SMALL), draw(SMALL), draw(SMALL)
    logits = normal(tally, time, batch, draw(SMALL))
    for row in definitions.log_softmax(logits).reshape(time * batch, -1):
        definitions_sequences.beam_step(normal(tally, width, 3), row)
    return Node([logits.shape, np.full(batch, time, np.int32)], {"beam_width": width, "top_paths": 1})


def scan(op, combine, expected):
    @holds(HELD, op)
    def case(draw, tally):
        x, axis = normal(tally, draw(SMALL), draw(SMALL), draw(SMALL)), draw(st.integers(-3, 2))
        result = definitions_sequences.scan(combine, np.moveaxis(x, axis, 0))
        assert np.allclose(np.asarray(result), expected(np.moveaxis(np.asarray(x), axis, 0)))
        return Node([x.shape, np.int32(axis)])


scan("Cumsum", np.add, lambda x: np.cumsum(x, 0))
scan("Cumprod", np.multiply, lambda x: np.cumprod(x, 0))
scan("CumulativeLogsumexp", definitions_sequences.log_sum, lambda x: np.logaddexp.accumulate(x, 0))


def selection(op, *inputs, **attrs):
    """On numbers that fall already, where the least is to do."""

    @holds(HELD, op)
    def case(draw, tally):
        rows, classes = draw(SMALL), draw(SMALL)
        for _ in range(rows):
            definitions_sequences.insertions(counted(-np.arange(classes), tally))
        return Node([(rows, classes), *inputs], attrs)


selection("TopK", k=1)
selection("TopKV2", np.int32(1))
selection("NthElement", np.int32(0))
selection("ApproxTopK", k=1)


@holds(HELD, "InTopKV2")
def in_top_k_v2(draw, tally):
    rows, classes = draw(SMALL), draw(SMALL)
    predictions, targets = normal(tally, rows, classes), np.full(rows, draw(st.integers(0, classes - 1)), np.int32)
    _ = predictions > np.asarray(predictions)[np.arange(rows), targets, None], np.isfinite(predictions)
    return Node([predictions.shape, targets, np.int32(1)])


@holds(HELD, "InTopK")
def in_top_k(draw, tally):
    return Node(in_top_k_v2(draw, tally).inputs[:2], {"k": 1})


def search(op, before):
    @holds(HELD, op)
    def case(draw, tally):
        """Of values before all others, which halve the row most often."""
        rows, size, count = draw(SMALL), draw(st.integers(1, 9)), draw(SMALL)
        for _ in range(rows * count):
            assert definitions_sequences.binary_search(counted(np.arange(size), tally), -1.0, before) == 0
        return Node([(rows, size), (rows, count)])


search("LowerBound", lambda item, value: item < value)
search("UpperBound", lambda item, value: item <= value)


@holds(HELD, "EditDistance")
def edit_distance(draw, tally):
    """Of one pair of sequences."""
    pair = [np.int64(draw(st.lists(st.integers(0, 2), min_size=1, max_size=5))) for _ in range(2)]
    result = definitions_sequences.edit_distance(*(counted(row, tally) for row in pair))
    sizes = [np.array([len(row)]) for row in pair]
    assert np.asarray(result) == sequences.edit_distances(pair[0], sizes[0], pair[1], sizes[1])
    inputs = [(np.int64([(0, i) for i in range(len(row))]), row, np.int64([1, len(row)])) for row in pair]
    return Node([*inputs[0], *inputs[1]])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
