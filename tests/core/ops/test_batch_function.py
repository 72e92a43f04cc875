"""BatchFunction: allowed results of the function."""

from __future__ import annotations

import numpy as np
import pytest

from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import FailedPreconditionError


def test_a_result_without_rows_is_refused():
    """As TensorFlow 2.21 does, in the same words."""
    g = GraphBuilder()
    function = define(g, "one", ["float32"], lambda b, x: [b.constant(np.float32(1))])
    options = {"num_batch_threads": 1, "max_batch_size": 4, "batch_timeout_micros": 0}
    value = g.BatchFunction([g.constant(np.float32([1, 2]))], [], Tout=["float32"], f=function, **options)[0]
    with pytest.raises(FailedPreconditionError, match="Batched output tensor has 0 dimensions"):
        Session(g.graph).run(value.name)
