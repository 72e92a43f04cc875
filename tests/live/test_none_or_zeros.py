"""First and second gradients by variables that loops, branches and calls use: None just where TensorFlow has None.

TensorFlow's rule, found by this walk: a gradient is None where no path of tensors that carry gradients leads from the loss to
the variable, zeros where one does. Handles carry gradients, and lists, but for those of integers. Loops and calls hand all
that enters them to all that their gradients read of them.
"""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live
v1 = tf.compat.v1

from tests.core.gradients.programs import CONTEXTS, UNOPTIMIZED, control_flow  # noqa: E402 - needs TensorFlow

FAILING_IN_V1 = ("loop", "mapped", "scanned", "folded", "array")
"""Contexts of whose V1 form TensorFlow takes no second gradient."""
NESTED = [
    *(("call", "call"), ("call", "loop"), ("loop", "call"), ("loop", "loop"), ("loop", "taken"), ("loop", "case")),
    *(("taken", "mapped"), ("mapped", "taken"), ("mapped", "loop"), ("case", "loop"), ("scanned", "call")),
    ("loop", "scanned"),
]
NESTED_USES = ("rows added", "rows by coordinates", "added", "written with what is computed")


def written(v, amount, h):
    with tf.control_dependencies([v.assign_add(amount)]):
        return tf.identity(h)


def value(v):
    return tf.convert_to_tensor(v)


USES = {
    "rows added": lambda v, h: h + tf.gather(v, [0, 2])[:1],
    "rows scaled": lambda v, h: h * tf.gather(v, [0, 2])[:1],
    "a row by value": lambda v, h: h + tf.gather(v, tf.cast(tf.reduce_sum(h) > 0, tf.int32)),
    "squares of rows": lambda v, h: h * 0.1 + tf.gather(v, [0, 2])[:1] ** 2,
    "rows beside a square": lambda v, h: h * h + tf.gather(v, [0, 2])[:1],
    "rows by coordinates": lambda v, h: h + tf.gather_nd(v, [[0], [2]])[:1],
    "added": lambda v, h: h + value(v)[0],
    "scaled": lambda v, h: h * value(v)[0],
    "squared": lambda v, h: h + value(v)[0] ** 2,
    "multiplied": lambda v, h: tf.tanh(h @ value(v)),
    "rows and all": lambda v, h: h + tf.gather(v, [0, 2])[:1] + value(v)[1] * h,
    "only its shape": lambda v, h: h * tf.cast(tf.shape(v)[0], tf.float32),
    "stopped": lambda v, h: h * tf.stop_gradient(value(v))[0],
    "chosen by": lambda v, h: h * tf.cast(tf.argmax(value(v)[0]), tf.float32),
    "unused": lambda v, h: h * 2.0,
}
WRITES = {
    "only written": lambda v, h: written(v, tf.zeros([3, 3]), h * 2.0),
    "written with what is computed": lambda v, h: written(v, h[0] * tf.zeros([3, 3]), h * 2.0),
    "written and read": lambda v, h: written(v, tf.zeros([3, 3]), h * value(v)[0]),
}


PARTS = {1: 6, 2: 11}
"""How many items the uses in a context are divided into, by the version of control flow."""


def every_part(parts):
    """The versions and the places of parts: the first part of each context runs with the live tests, the others are slow."""
    return pytest.mark.parametrize(
        ("version", "part"),
        [pytest.param(v, i, marks=[pytest.mark.slow] * (i > 0)) for v, count in parts.items() for i in range(count)],
    )


def uses_of_part(uses, context, version, part):
    """The first parts of all contexts together have every use, and in each context there are others."""
    return list(uses.items())[(list(CONTEXTS).index(context) + part) % PARTS[version] :: PARTS[version]]


@pytest.mark.parametrize("context", CONTEXTS)
@every_part(PARTS)
def test_resource_variables(context, version, part):
    for use in uses_of_part({**USES, **WRITES}, context, version, part):
        check(use, (context,), version, is_resource=True)


@pytest.mark.parametrize("context", CONTEXTS)
@every_part(PARTS)
def test_reference_variables(context, version, part):
    for use in uses_of_part(USES, context, version, part):
        check(use, (context,), version, is_resource=False)


@pytest.mark.parametrize("contexts", NESTED)
@every_part({2: 2})
def test_nested(contexts, version, part):
    uses = {**USES, **WRITES}
    for name in NESTED_USES[(NESTED.index(contexts) + part) % 2 :: 2]:
        check((name, uses[name]), contexts, version, is_resource=True)


def check(use, contexts, version, is_resource):
    name, function = use
    what = f"{name} in {contexts}"
    definition, sources, want = theirs(function, contexts, version, is_resource)
    graph, first = gradients(tfg.load(definition), "y:0", sources, name="first")
    second = []
    if len(want) > len(first):
        g = GraphBuilder(graph)
        squares = [g.L2Loss(graph.output(grad)).name for grad in first if grad is not None]
        graph, second = gradients(graph, squares, sources, name="second")
    grads = [*first, *second]
    assert [grad is None for grad in grads] == [expected is None for expected in want], what
    session = tfg.Session(graph)
    session.run("init")
    got = session.run([grad for grad in grads if grad is not None])
    for mine, expected in zip(got, (expected for expected in want if expected is not None), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-5, err_msg=what)


def theirs(use, contexts, version, is_resource):
    """The graph of a program, what to differentiate by, and TensorFlow's first and second gradients."""
    with control_flow(version), tf.Graph().as_default() as graph:
        start = np.arange(1, 10, dtype=np.float32).reshape(3, 3) / 10
        v = v1.get_variable("v", initializer=start, use_resource=is_resource)
        x = v1.placeholder_with_default(np.float32([[0.3, 0.4, 0.1], [0.2, -0.5, 0.6]]), [2, 3], name="x")
        y = tf.identity(applied(lambda h: use(v, h), contexts, x), name="y")
        tf.group(v.initializer, name="init")
        definition = graph.as_graph_def().SerializeToString()
        sources = [v.handle if is_resource else v.op.outputs[0], x]
        grads = tf.gradients(y, sources)
        if version == 2 or not set(contexts) & set(FAILING_IN_V1):
            squares = [tf.nn.l2_loss(tf.convert_to_tensor(grad)) for grad in grads if grad is not None]
            grads = [*grads, *tf.gradients(squares, sources)]
        grads = [None if grad is None else tf.convert_to_tensor(grad) for grad in grads]
        return definition, [source.name for source in sources], values(graph, grads)


def applied(function, contexts, x):
    if not contexts:
        return function(x)
    return CONTEXTS[contexts[0]](lambda h: applied(function, contexts[1:], h), x)


def values(graph, grads):
    """All in one run: what is written into the variables leaves their values as they were."""
    with v1.Session(graph=graph, config=UNOPTIMIZED) as session:
        session.run("init")
        elements = iter(session.run([grad for grad in grads if grad is not None]))
        return [None if grad is None else next(elements) for grad in grads]
