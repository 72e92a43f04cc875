"""Small nets whose training is recorded: the variables' values, the inputs, and the number of steps."""

import numpy as np

STEPS = 20
RATE = 0.05


def waves(*shape, start=0):
    """The constants of the nets: sines of consecutive numbers."""
    return np.sin(np.arange(start, start + np.prod(shape)), dtype=np.float64).astype(np.float32).reshape(shape)


X, Y = waves(4, 3, start=1), waves(4, 2, start=20)
IDS = np.int32([[0, 2], [2, 5], [1, 0], [5, 5], [3, 2], [2, 3], [4, 4], [0, 5]])
"""The rows of two steps, in turn: each step leaves other rows of the embedding alone."""
ROWS = len(X)
VARIABLES = {
    "two_layers": {"w0": waves(3, 4), "b0": waves(4, start=3), "w1": waves(4, 2, start=5)},
    "embedding": {"e": waves(6, 3), "w": waves(3, 2, start=7)},
    "shared": {"w": waves(3, 3), "v": waves(3, 2, start=2)},
    "whole": {"e": waves(6, 3), "w": waves(3, 3, start=7), "b": waves(3, start=3), "v": waves(3, 2, start=5)},
}


def numbers(losses, values):
    """Return the numbers to record: the losses, and the sum and the sum of squares of each variable."""
    ends = [[value.sum(dtype=np.float64), np.square(value, dtype=np.float64).sum()] for value in values]
    return {"losses": [float(f"{loss:.9g}") for loss in losses], "ends": [[float(f"{x:.9g}") for x in end] for end in ends]}


def tf1_feeds(step):
    """Return the feeds of a step of the recorded TF1 programs: the predicate alternates in pairs of steps."""
    return {"x:0": waves(4, 3, start=1 + step), "y:0": waves(4, 2, start=20), "p:0": step % 4 < 2}
