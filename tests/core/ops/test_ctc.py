"""CTC losses of labels that collapse."""

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError


def loss(steps, ignored):
    """Return the loss of the labels 0 0 0, which collapse into a single 0, for a sequence of `steps` steps of two equal
    classes.
    """
    g = GraphBuilder()
    labels = g.constant([[0, i] for i in range(3)], "int64"), g.constant([0, 0, 0])
    node = g.CTCLoss(
        g.constant(np.zeros((4, 1, 2), np.float32)), *labels, g.constant([steps]),
        preprocess_collapse_repeated=True, ignore_longer_outputs_than_inputs=ignored,
    )  # fmt: skip
    return Session(g.graph).run(node[0].name)


def test_labels_count_before_they_collapse():
    """TensorFlow 2.21 takes the three labels for longer than two steps."""
    assert loss(2, True) == [0]
    with pytest.raises(InvalidArgumentError, match="3 labels, but only 2 time steps"):
        loss(2, False)
    np.testing.assert_allclose(loss(3, False), [-np.log(6 / 8)], rtol=1e-6)
