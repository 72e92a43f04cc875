"""Op by op beside TensorFlow, on inputs, dtypes, shapes and attributes that hypothesis draws."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.comparison import assert_same
from tests.live.draws import OPS
from tests.opcases import Case, case
from tests.recorded_answers import expected_error
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import TfgError
from tfg.formats.saving import to_bytes

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live
EXAMPLES = 25


def built(drawn):
    """The case's graph; InvalidArgumentError where the builder refuses the inputs or attributes."""
    builder = GraphBuilder()
    (fetches,) = drawn.build(builder)
    return builder.graph, fetches


def of_tensorflow(graph, fetches, feeds):
    """TensorFlow's answers, or the name of its error; it may write to the arrays that it is fed, which are copies."""
    feeds = {name: value.copy() for name, value in feeds.items()}
    with tf.Graph().as_default() as imported:
        try:
            tf.graph_util.import_graph_def(tf.compat.v1.GraphDef.FromString(to_bytes(graph)), name="")
        except ValueError:
            return "InvalidArgumentError"
        with tf.compat.v1.Session(graph=imported) as session:
            try:
                return session.run(fetches, feeds)
            except tf.errors.OpError as error:
                return expected_error(type(error).__name__)


def of_tfg(graph, fetches, feeds):
    try:
        return Session(graph, seed=0, files=FileAccess.everything()).run(fetches, feeds)
    except TfgError as error:
        return type(error).__name__


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", OPS)
def test_op(op):
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def agrees(data):
        drawn = data.draw(OPS[op])
        if not isinstance(drawn, Case):
            inputs, attrs = drawn
            drawn = case(op, *inputs, **attrs)
        try:
            graph, fetches = built(drawn)
        except TfgError:
            return  # the interface says no: the graph cannot be written down
        want, got = of_tensorflow(graph, fetches, drawn.feeds), of_tfg(graph, fetches, drawn.feeds)
        if isinstance(want, str) or isinstance(got, str):
            assert got == want, f"tfg: {got}, TensorFlow: {want}"
            return
        for mine, theirs in zip(got, want, strict=True):
            assert_same(mine, np.array(theirs, object) if isinstance(theirs, bytes) else np.asarray(theirs))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees()
