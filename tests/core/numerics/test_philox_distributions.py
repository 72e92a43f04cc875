"""Random distributions, where TensorFlow has no answer to compare with."""

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.errors import InvalidArgumentError


@pytest.mark.parametrize(("prob", "drawn"), [(0.0, 0), (1.0, np.inf)])
def test_endless_counts_of_what_is_certain(prob, drawn):
    assert _binomial(np.inf, prob).tolist() == [drawn] * 2


def test_endless_counts_are_refused():
    """TensorFlow draws without end."""
    with pytest.raises(InvalidArgumentError, match="counts must be finite"):
        _binomial(np.inf, 0.5)


def _binomial(count, prob):
    g = GraphBuilder()
    g.StatelessRandomBinomial(
        np.int32([2]), np.int64([1, 2]), np.float64(count), np.float64(prob), dtype="double", name="draw"
    )
    return Session(g.graph, timeout=20).run("draw:0")
