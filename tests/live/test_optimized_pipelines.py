"""TensorFlow runs optimized input pipelines, and they give the elements that it gives without."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.drawn_pipelines import elements, pipelines
from tfg.core.passes.pipeline import optimize
from tfg.formats import to_bytes

tf = pytest.importorskip("tensorflow")
pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]


def in_tensorflow(graph):
    with tf.Graph().as_default() as made:
        tf.import_graph_def(tf.compat.v1.GraphDef.FromString(to_bytes(graph)), name="")
        with tf.compat.v1.Session(graph=made) as session:
            return elements(session.run, tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError, passes=1)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(pipelines())
def test_drawn_pipelines_give_the_same_elements(graph):
    after, report = optimize(graph, ["start", "next:0"])
    if any(record.name == "pipelines" and record.fired for record in report.passes):
        shown = [f"{node.op} {node.attrs.get('f', '')}" for node in graph]
        assert in_tensorflow(after) == in_tensorflow(graph), shown
