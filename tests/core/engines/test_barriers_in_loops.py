"""TensorFlow's gradients of loops with a node that ends gradients."""

from __future__ import annotations

import pytest

from tests.core.engines.gradients_of_loops import GRADIENTS


@pytest.mark.live
@pytest.mark.parametrize("place", GRADIENTS)
def test_tensorflows_gradients(place):
    """TensorFlow differentiates the V1 and V2 loops of while_loop, with the node at the same place."""
    tf = pytest.importorskip("tensorflow")
    for switch in (tf.compat.v1.disable_control_flow_v2, tf.compat.v1.enable_control_flow_v2):
        switch()
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            x, w = (tf.compat.v1.placeholder(tf.float32, []) for _ in range(2))

            def ended(value, here):
                return tf.stop_gradient(value) if here == place else value

            factor = ended(w, "invariant")
            results = tf.while_loop(
                lambda i, y, z: i < 2,
                lambda i, y, z: (i + 1, ended(y * factor, "next"), ended(tf.identity(z), "same")),  # noqa: B023
                (0, ended(x, "enter"), x),
            )
            y = ended(results[1], "exit") + results[2]
            expected = tf.gradients(y, [x, w], unconnected_gradients="zero")
            assert tuple(map(float, session.run(expected, {x: 3, w: 2}))) == GRADIENTS[place]
