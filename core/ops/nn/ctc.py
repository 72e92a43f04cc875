"""Connectionist temporal classification: losses and decoders."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import sequences as numerics
from ...registry.registry import NOT_DIFFERENTIABLE, Cost, flops, gradient, kernel, onnx, shape
from ...support.errors import FailedPreconditionError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.shapes import Shape, TensorSpec, merge_dims
from ..shared.argument_checks import require, require_rank, require_shape, with_rank
from ..shared.elementwise_tables import unary_flops
from ..shared.onnx_lowerings import along


def _check_inputs(inputs: Array) -> None:
    require_rank(inputs, 3, "inputs")
    require(min(inputs.shape[1:]) > 0, f"inputs must not be empty: {inputs.shape}")


def _check_sequences(inputs: Array, sequence_length: Array) -> None:
    """A length for each sequence, within the time there is."""
    _check_inputs(inputs)
    time, batch, _ = inputs.shape
    require_shape(sequence_length, (batch,), "sequence_length")
    # The losses refuse what the decoders below take for 0.
    in_time = np.all((sequence_length >= 0) & (sequence_length <= time))
    require(in_time, f"sequence_length must be in [0, {time}]: {sequence_length.tolist()}")


def _decoded_lengths(inputs: Array, sequence_length: Array) -> Array:
    """Return the number of steps that a decoder reads in each sequence: none for a negative length."""
    _check_inputs(inputs)
    time, batch, _ = inputs.shape
    require_rank(sequence_length, 1, "sequence_length")
    if len(sequence_length) != batch:
        raise FailedPreconditionError(f"{len(sequence_length)} sequence lengths for a batch of {batch}")
    if np.any(sequence_length > time):
        raise FailedPreconditionError(f"sequence_length must not exceed {time}: {sequence_length.tolist()}")
    return np.maximum(sequence_length, 0)


def _label_rows(labels_indices: Array, labels_values: Array, batch: int) -> list[list[int]]:
    """Return the labels of each sequence, in the order of their places."""
    require_rank(labels_indices, 2, "labels_indices")
    require_rank(labels_values, 1, "labels_values")
    require(labels_indices.shape[0] == len(labels_values), "labels_indices and labels_values differ in length")
    require(
        labels_indices.shape[1] == 2 or not len(labels_values),
        f"labels_indices {labels_indices.shape} does not have shape (n, 2)",
    )
    rows: list[list[int]] = [[] for _ in range(batch)]
    previous = (-1, -1)
    # Python numbers: a batch has few labels, and each needs comparisons, not arithmetic.
    for (row, column), value in zip(labels_indices.tolist(), labels_values.tolist()):
        require(0 <= row < batch, f"labels_indices names sequence {row} of {batch}")
        require((row, column) > previous, "labels_indices must be in order and without repeats")
        previous = (row, column)
        rows[row].append(value)
    return rows


def _check_labels(rows: list[list[int]], classes: int, blank: int, collapse: bool) -> list[list[int]]:
    """Check labels and return the labels before the first blank; runs of a label are collapsed if asked."""
    checked = []
    for number, row in enumerate(rows):
        labels: list[int] = []
        ended = False
        for label in row:
            require(label >= 0, f"label {label} of sequence {number} is negative")
            # TensorFlow takes labels beyond the classes for blanks, which end a sequence.
            is_blank = label == blank or label >= classes
            require(not ended or is_blank, f"sequence {number} has a label after a blank")
            ended = ended or is_blank
            if not ended and not (collapse and labels and labels[-1] == label):
                labels.append(label)
        # TensorFlow refuses it, although such a sequence, all blanks, has a loss.
        require(row, f"sequence {number} has no labels")
        checked.append(labels)
    return checked


class Merging(NamedTuple):
    """The attributes of a loss: the treatment of repeated labels, and of sequences with more labels than steps."""

    preprocess_collapse_repeated: bool
    ctc_merge_repeated: bool
    ignore_longer_outputs_than_inputs: bool


def _ctc_loss(
    inputs: Array, indices: Array, values: Array, lengths: Array, blank: int, merging: Merging
) -> tuple[Array, Array]:
    collapse, merge_repeated, ignore_longer = merging
    _check_sequences(inputs, lengths)
    targets = _label_rows(indices, values, inputs.shape[1])
    rows = _check_labels(targets, inputs.shape[2], blank, collapse)
    lengths = lengths.astype(np.int64)
    # As in TensorFlow, collapsed labels still count.
    too_long = np.array([len(row) for row in targets]) > lengths
    if not ignore_longer:
        for number in np.flatnonzero(too_long):
            require(False, f"sequence {number} has {len(targets[number])} labels, but only {lengths[number]} time steps")
    # A sequence that cannot fit its labels has loss 0 and no gradient, by a length of 0.
    used = np.where(too_long, 0, lengths)
    rows = [[] if skip else row for row, skip in zip(rows, too_long)]
    loss, grad = numerics.loss_and_gradient(inputs, rows, used, blank, merge_repeated)
    return loss.astype(inputs.dtype), grad.astype(inputs.dtype)


@kernel("CTCLoss", shape="t b c, _ _, _, b -> b, t b c")
def ctc_loss(
    inputs: Array, labels_indices: Array, labels_values: Array, sequence_length: Array, *, merging: Merging
) -> tuple[Result, Result]:
    """Return the loss of each sequence of logits (time, batch, classes), blank last, and its gradient."""
    require_rank(inputs, 3, "inputs")
    return _ctc_loss(inputs, labels_indices, labels_values, sequence_length, inputs.shape[2] - 1, merging)


@kernel("CTCLossV2", shape="t b c, _ _, _, b -> b, t b c")
def ctc_loss_v2(
    inputs: Array, labels_indices: Array, labels_values: Array, sequence_length: Array, *, merging: Merging
) -> tuple[Result, Result]:
    """As CTCLoss, the blank being class 0."""
    return _ctc_loss(inputs, labels_indices, labels_values, sequence_length, 0, merging)


@gradient("CTCLoss", "CTCLossV2")
def ctc_loss_gradient(g: GradientBuilder, node: Node, grad_loss: Output, _grad_gradient: Output) -> Gradients:
    """The op's own second output, scaled by each sequence's gradient."""
    scale = g.ExpandDims(g.ExpandDims(grad_loss, -1), 0)
    return [g.Mul(scale, g.PreventGradient(node.output(1), message="CTCLoss has no second derivative")), None, None, None]


@flops("CTCLoss", "CTCLossV2")
def ctc_loss_flops(inputs: TensorSpec, labels_indices: TensorSpec, labels_values: TensorSpec) -> Cost:
    """The logarithm of the softmax and its exponential; forward and backward variables of each state; the gradient.

    A sequence of n labels has 2 n + 1 states. A state takes two sums by logarithms a step in either direction, each a
    maximum, a minimum, a difference, an exponential, a logarithm and a sum. All sequences are counted at full length.
    """
    time, batch, _ = with_rank(inputs.shape, 3)
    elements, labels = inputs.shape.num_elements, labels_values.shape.num_elements
    states = 2 * labels + batch
    softmax = Cost(4, transcendentals=2) * elements + Cost(-2, transcendentals=1) * (time * batch)
    variables = Cost(18, transcendentals=8) * ((time - 1) * states)
    return softmax + variables + Cost(3, transcendentals=1) * (time * states) + Cost(5, transcendentals=2) * batch


def _sparse(rows: list[list[int]]) -> tuple[Array, Array, Array]:
    """Rows of labels as a sparse tensor: indices, values, dense shape."""
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = [label for row in rows for label in row]
    dense = [len(rows), max(map(len, rows), default=0)]
    return (
        np.array(indices, np.int64).reshape(-1, 2),
        np.array(values, np.int64),
        np.array(dense, np.int64),
    )


def _collapsed(row: list[int]) -> list[int]:
    return [label for i, label in enumerate(row) if i == 0 or label != row[i - 1]]


@kernel("CTCGreedyDecoder", shape="t b c, b -> k 2, k, 2, b 1", gradient=NOT_DIFFERENTIABLE)
def ctc_greedy_decoder(
    inputs: Array, sequence_length: Array, *, merge_repeated: bool, blank_index: int
) -> tuple[Result, Result, Result, Result]:
    """Return the most probable class of each step without blanks: a sparse tensor, and the negative sum of its logits."""
    lengths = _decoded_lengths(inputs, sequence_length)
    classes = inputs.shape[2]
    blank = blank_index + classes if blank_index < 0 else blank_index
    require(0 <= blank < classes, f"blank_index {blank_index} is not in [-{classes}, {classes})")
    # Of equal logits the first class counts, as in TensorFlow.
    best = np.argmax(inputs, 2)
    live = np.arange(inputs.shape[0])[:, None] < lengths
    is_emitted = live & (best != blank)
    if merge_repeated:
        is_emitted[1:] &= best[1:] != best[:-1]
    rows = [best[is_emitted[:, b], b].tolist() for b in range(inputs.shape[1])]
    # Logits, not probabilities: TensorFlow's score of the greedy decoder is no logarithm of a probability.
    largest = np.where(live, np.max(inputs, 2), 0).sum(0, dtype=inputs.dtype)
    return (*_sparse(rows), -largest[:, None])


@kernel("CTCBeamSearchDecoder", gradient=NOT_DIFFERENTIABLE)
def ctc_beam_search_decoder(
    inputs: Array, sequence_length: Array, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> Any:
    """The `top_paths` most probable label sequences as sparse tensors, and their log probabilities (batch, top_paths)."""
    lengths = _decoded_lengths(inputs, sequence_length)
    require(top_paths <= beam_width, f"top_paths {top_paths} exceeds beam_width {beam_width}")
    beams = [
        numerics.beam_search(inputs[: int(length), b].astype(np.float64), beam_width, top_paths)
        for b, length in enumerate(lengths)
    ]
    for paths in beams:
        require(len(paths) == top_paths, f"fewer than {top_paths} paths were found")
    decoded = [
        _sparse([_collapsed(paths[k][0]) if merge_repeated else paths[k][0] for paths in beams]) for k in range(top_paths)
    ]
    probabilities = np.array([[score for _, score in paths] for paths in beams], inputs.dtype)
    return (*(list(part) for part in zip(*decoded)), probabilities)


@shape("CTCBeamSearchDecoder")
def ctc_beam_search_decoder_shape(
    inputs: TensorSpec, sequence_length: TensorSpec, *, top_paths: int
) -> list[Shape | list[Shape]]:
    batch = merge_dims(with_rank(inputs.shape, 3)[1], with_rank(sequence_length.shape, 1)[0])
    counts = [Dim.unknown() for _ in range(top_paths)]
    indices, values = [Shape([count, 2]) for count in counts], [Shape([count]) for count in counts]
    return [indices, values, [Shape([2])] * top_paths, Shape([batch, top_paths])]


# One comparison less than logits at each step, and a sum.
flops("CTCGreedyDecoder")(unary_flops(1))


@flops("CTCBeamSearchDecoder")
def ctc_beam_search_decoder_flops(inputs: TensorSpec, *, beam_width: int) -> Cost:
    """At each step the softmax; for each beam two sums by logarithms and two more, and for each label a sum and a
    comparison.

    An upper bound: the number of beams reaches beam_width only after some steps.
    """
    elements, rows = inputs.shape.num_elements, inputs.shape[:-1].num_elements
    softmax = Cost(4, transcendentals=1) * elements + Cost(-2, transcendentals=1) * rows
    return softmax + (Cost(10, transcendentals=4) * rows + Cost(2) * (elements - rows)) * beam_width


@onnx("CTCGreedyDecoder")
def _greedy_decoder_onnx(g: Any, x: Any, lengths: Any, *, merge_repeated: bool, blank_index: int) -> tuple[Any, ...]:
    """Find the steps that emit a class, in the order of the sequences."""
    blank = g.Add(g.dim(x, 2), blank_index) if blank_index < 0 else blank_index
    steps = along(g, x, 0)
    is_live = g.Less(g.unsqueeze(steps, 1), g.cast(lengths, dtypes.int64))
    best = g.ArgMax(x, axis=2, keepdims=0)
    is_emitted = g.And(is_live, g.Not(g.Equal(best, blank)))
    if merge_repeated:
        # The class of the step before; -1, which is no class, before the first.
        earlier = g.slice(g.Pad(best, [1, 0, 0, 0], g.constant(np.int64(-1))), 0, -1)
        is_emitted = g.And(is_emitted, g.Not(g.Equal(best, earlier)))
    emitted, classes = (g.Transpose(value, perm=[1, 0]) for value in (is_emitted, best))
    places = g.Transpose(g.NonZero(emitted), perm=[1, 0])
    numbers = g.CumSum(g.cast(emitted, dtypes.int64), g.constant(np.int64(1)), exclusive=1)
    indices = g.Concat(g.slice(places, 0, 1, 1), g.unsqueeze(g.GatherND(numbers, places), 1), axis=1)
    counts = g.ReduceSum(g.cast(emitted, dtypes.int64), [1], keepdims=0)
    # The 0 answers for an empty batch, whose maximum ONNX leaves undefined.
    longest = g.ReduceMax(g.Concat(counts, [0], axis=0), [0], keepdims=1)
    sums = g.ReduceSum(g.Where(is_live, g.ReduceMax(x, [2], keepdims=0), 0), [0], keepdims=0)
    return indices, g.GatherND(classes, places), g.joined(g.dim(x, 1), longest), g.unsqueeze(g.Neg(sums), 1)
