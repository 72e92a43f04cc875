"""Einstein summation of 1 or 2 operands: equations of TensorFlow's Einsum, contracted by a single matrix product.

An axis is labelled by a character; the broadcast axes of `...` are labelled by numbers, counted from the last. Unlike
NumPy's einsum an output may repeat a label (its diagonal is filled) and named axes must agree exactly.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..types.arrays import Array
from .gemm import matmul

Label: TypeAlias = str | int
ELLIPSIS = "..."


class Equation(NamedTuple):
    """The subscripts of each input and of the output, before `...` is expanded."""

    inputs: tuple[str, ...]
    output: str


@functools.cache
def parse(equation: str) -> Equation:
    """Parse an Equation from text (`ij,jk->ik`); ValueError names the fault."""
    parts = equation.split("->")
    if len(parts) != 2:
        raise ValueError(f"Expecting exactly one '->' in einsum equation: {equation}")
    inputs = tuple(parts[0].split(","))
    if len(inputs) > 2:
        raise ValueError(f"Expecting 1 or 2 input subscripts in equation '{equation}' but got: {len(inputs)}")
    for subscripts in (*inputs, parts[1]):
        if "." in subscripts.replace(ELLIPSIS, "", 1):
            raise ValueError(f"Invalid einsum subscripts, with more than one ellipsis or a lone period: {subscripts}")
    input_labels = set("".join(inputs)) | {"."}
    if "," in parts[1] or not input_labels >= set(parts[1]):
        raise ValueError(f"the output of '{equation}' has labels that no input has")
    return Equation(inputs, parts[1])


def expand(subscripts: str, rank: int) -> tuple[Label, ...]:
    """Return the label of each axis of a tensor of this rank; ValueError if the rank and the subscripts disagree."""
    if ELLIPSIS not in subscripts:
        if len(subscripts) != rank:
            raise ValueError(f"Expected an input of rank {len(subscripts)} for '{subscripts}' but got: {rank}")
        return tuple(subscripts)
    head, tail = subscripts.split(ELLIPSIS)
    count = rank - len(head) - len(tail)
    if count < 0:
        raise ValueError(f"Expected an input of rank at least {len(head) + len(tail)} for '{subscripts}' but got: {rank}")
    # Numbers count from the last axis, so that equal numbers of two inputs stand for axes that broadcast against each other.
    return (*head, *reversed(range(count)), *tail)


def output_labels(equation: Equation, inputs: Sequence[Sequence[Label]]) -> tuple[Label, ...]:
    """Return the label of each axis of the output."""
    broadcast = max((label for labels in inputs for label in labels if isinstance(label, int)), default=-1) + 1
    if ELLIPSIS not in equation.output:
        if broadcast:
            raise ValueError(f"Output contains {broadcast} broadcasting dimension(s) but no ellipsis")
        return tuple(equation.output)
    head, tail = equation.output.split(ELLIPSIS)
    return (*head, *reversed(range(broadcast)), *tail)


def einsum(equation: str, operands: Sequence[Array]) -> Array:
    """Compute the sum of products of an equation; ValueError if the equation does not fit the operands."""
    parsed = parse(equation)
    if len(parsed.inputs) != len(operands):
        raise ValueError(f"Expected {len(parsed.inputs)} inputs but got: {len(operands)}")
    labels = [expand(s, x.ndim) for s, x in zip(parsed.inputs, operands)]
    out = output_labels(parsed, labels)
    _check_sizes(labels, operands)
    output = [*dict.fromkeys(out)]
    if len(operands) == 1:
        result, result_labels = _simplified(operands[0], labels[0], output)
    else:
        x, first = _simplified(operands[0], labels[0], {*output, *labels[1]})
        y, second = _simplified(operands[1], labels[1], {*output, *labels[0]})
        sides = (x, first), (y, second)
        if output and output[-1] not in second:  # the second operand gives the last axis: no transposed copy
            sides = sides[::-1]
        result, result_labels = _contracted(*sides[0], *sides[1], set(output))
    return _inflated(result.transpose([result_labels.index(label) for label in output]), output, out)


def _check_sizes(labels: Sequence[Sequence[Label]], operands: Sequence[Array]) -> None:
    sizes: dict[Label, int] = {}
    for names, x in zip(labels, operands):
        for label, size in zip(names, x.shape):
            before = sizes.setdefault(label, size)
            is_broadcast = isinstance(label, int) and 1 in (before, size)
            if before != size and not is_broadcast:
                raise ValueError(f"Expected dimension {before} for label '{label}' of shape {x.shape} but got {size}")
            # A 1 was broadcast, so that later axes of this label are held to the other size.
            sizes[label] = size if before == 1 else before


def _simplified(x: Array, labels: Sequence[Label], output: Iterable[Label]) -> tuple[Array, list[Label]]:
    """Take diagonals of repeated labels, and sum over axes whose label is not in `output`."""
    names = list(labels)
    for label in dict.fromkeys(labels):
        while names.count(label) > 1:
            first = names.index(label)
            second = names.index(label, first + 1)
            # np.diagonal moves the diagonal to the last axis, hence the new order of the names.
            x = np.diagonal(x, axis1=first, axis2=second)
            names = [n for i, n in enumerate(names) if i not in (first, second)] + [label]
    summed = tuple(i for i, label in enumerate(names) if label not in output)
    if summed:
        # Integers are summed in their own dtype and wrap around, as in TensorFlow; NumPy would widen them.
        x = np.asarray(x.sum(summed, dtype=x.dtype))
        names = [label for label in names if label in output]
    return x, names


def _contracted(x: Array, first: list[Label], y: Array, second: list[Label], output: set[Label]) -> tuple[Array, list[Label]]:
    """Contract two operands by a (batched) matrix product: shared labels in `output` are the batch, other shared labels are
    contracted.
    """
    batch = [label for label in first if label in second and label in output]
    inner = [label for label in first if label in second and label not in output]
    rows = [label for label in first if label not in second]
    columns = [label for label in second if label not in first]
    x = x.transpose([first.index(label) for label in (*batch, *rows, *inner)])
    y = y.transpose([second.index(label) for label in (*batch, *inner, *columns)])
    b = len(batch)
    row_sizes, column_sizes = x.shape[b : b + len(rows)], y.shape[b + len(inner) :]
    size = math.prod(y.shape[b : b + len(inner)])
    left = x.reshape(*x.shape[:b], math.prod(row_sizes), size)
    right = y.reshape(*y.shape[:b], size, math.prod(column_sizes))
    # Without a sum the product is an outer one, which broadcasting computes without the copies that BLAS may need.
    product = np.asarray(left * right if size == 1 else matmul(left, right))
    return product.reshape((*product.shape[:b], *row_sizes, *column_sizes)), [*batch, *rows, *columns]


def _inflated(x: Array, labels: Sequence[Label], out: Sequence[Label]) -> Array:
    """Return `x` on the diagonals of the labels that the output repeats."""
    if len(labels) == len(out):
        return x
    sizes = dict(zip(labels, x.shape))
    result = np.zeros([sizes[label] for label in out], x.dtype)
    # A step along the sum of two axes' strides goes down their diagonal.
    strides = [sum(s for s, name in zip(result.strides, out) if name == label) for label in labels]
    np.lib.stride_tricks.as_strided(result, x.shape, strides)[...] = x
    return result
