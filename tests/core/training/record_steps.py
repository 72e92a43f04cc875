"""Record twenty steps of TensorFlow's own optimizers on small nets, into steps.json; and graphs with their steps.

    /path/to/tensorflow-venv/bin/python -m tests.core.training.record_steps

The nets: two layers; an embedding whose rows occur several times; one weight in two layers, which the loss also decays.
TF1's optimizers run in V1 graphs, for reference and resource variables. Keras has no V1 form: its optimizers run eagerly.
Nadam of TF1 lay in contrib, and was TensorFlow's update op with two powers: the op is called so here.

own_steps.npz has the graphs of all optimizers of TF1 and of Keras on a net with an embedding and a weight in two layers.
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from tests.core.training.nets import IDS, RATE, ROWS, STEPS, VARIABLES, X, Y, numbers

TARGET = pathlib.Path(__file__).with_name("steps.json")
OWN = pathlib.Path(__file__).with_name("own_steps.npz")


def two_layers(ids, w0, b0, w1):
    return tf.reduce_mean(tf.square(tf.tanh(tf.matmul(X, w0) + b0) @ w1 - Y))


def embedding(ids, e, w):
    rows = tf.reduce_sum(tf.nn.embedding_lookup(e, ids), 1)
    return tf.reduce_mean(tf.square(tf.tanh(rows) @ w - Y))


def shared(ids, w, v):
    hidden = tf.tanh(tf.tanh(X @ w) @ w)
    return tf.reduce_mean(tf.square(hidden @ v - Y)) + 0.1 * tf.nn.l2_loss(w)


def whole(ids, e, w, b, v):
    """An embedding, two layers of one weight that the loss decays, and a third layer."""
    rows = tf.reduce_sum(tf.nn.embedding_lookup(e, ids), 1)
    hidden = tf.tanh(tf.tanh(rows @ w + b) @ w)
    return tf.reduce_mean(tf.square(hidden @ v - Y)) + 0.1 * tf.nn.l2_loss(w)


NETS = {"two_layers": two_layers, "embedding": embedding, "shared": shared}


def ids_of(step):
    """The rows of the embedding in a step."""
    return np.roll(IDS, -ROWS * step, 0)[:ROWS]


def eager_steps(net, update):
    """Return the losses of the steps, and the values afterwards, of `update(variables, gradients)`."""
    variables = [tf.Variable(value) for value in VARIABLES[net].values()]
    losses = []
    for step in range(STEPS):
        with tf.GradientTape() as tape:
            loss = NETS[net](ids_of(step), *variables)
        update(variables, [tf.convert_to_tensor(grad) for grad in tape.gradient(loss, variables)])
        losses.append(loss.numpy())
    return numbers(losses, [variable.numpy() for variable in variables])


def nadam():
    """Return an update of TensorFlow's op ApplyAdam with `use_nesterov`."""
    slots, powers = {}, [0.9, 0.999]

    def update(variables, grads):
        for variable, grad in zip(variables, grads):
            m, v = slots.setdefault(variable.ref(), [tf.Variable(tf.zeros_like(variable)) for _ in range(2)])
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle, m=m.handle, v=v.handle, beta1_power=np.float32(powers[0]),
                beta2_power=np.float32(powers[1]), lr=RATE, beta1=0.9, beta2=0.999, epsilon=1e-8, grad=grad, use_nesterov=True,
            )  # fmt: skip
        powers[0], powers[1] = np.float32(powers[0]) * np.float32(0.9), np.float32(powers[1]) * np.float32(0.999)

    return update


def keras(make):
    """Return the update of a Keras optimizer."""
    optimizer = make()
    return lambda variables, grads: optimizer.apply_gradients(zip(grads, variables))


EAGER = {
    "adamw": lambda: keras(lambda: tf.keras.optimizers.AdamW(RATE, weight_decay=0.004)),
    "adamax": lambda: keras(lambda: tf.keras.optimizers.Adamax(RATE, epsilon=1e-8)),
    "nadam": nadam,
}
train = tf.compat.v1.train
OPTIMIZERS = {
    "sgd": lambda: train.GradientDescentOptimizer(RATE),
    "momentum": lambda: train.MomentumOptimizer(RATE, 0.9),
    "nesterov": lambda: train.MomentumOptimizer(RATE, 0.9, use_nesterov=True),
    "adagrad": lambda: train.AdagradOptimizer(RATE),
    "adadelta": lambda: train.AdadeltaOptimizer(RATE, 0.95),
    "rmsprop": lambda: train.RMSPropOptimizer(RATE),
    "adam": lambda: train.AdamOptimizer(RATE),
    "ftrl": lambda: train.FtrlOptimizer(RATE),
}


RARE = {
    "centered_rmsprop": lambda: train.RMSPropOptimizer(RATE, momentum=0.5, centered=True),
    "adagrad_da": lambda: train.AdagradDAOptimizer(RATE, train.get_or_create_global_step(), 0.1, 0.001, 0.001),
    "proximal_adagrad": lambda: train.ProximalAdagradOptimizer(RATE, 0.1, 0.001, 0.001),
    "proximal_sgd": lambda: train.ProximalGradientDescentOptimizer(RATE, 0.001, 0.001),
    "ftrl_shrinkage": lambda: train.FtrlOptimizer(RATE, -0.5, 0.1, 0.001, 0.001, l2_shrinkage_regularization_strength=0.01),
}
"""The other optimizers of TF1, and the other ops of those above."""
KERAS = {
    "SGD": {"momentum": 0.9, "nesterov": True},
    "RMSprop": {"momentum": 0.5, "centered": True},
    "Adam": {"amsgrad": True},
    **{name: {} for name in ("AdamW", "Adadelta", "Adagrad", "Adamax", "Nadam", "Ftrl", "Lion", "Adafactor")},
}


def own_graph_steps(make, is_resource):
    """Return the graph, with `loss`, `init` and `step`, its losses and its variables of an optimizer of TF1."""
    with tf.Graph().as_default() as graph:
        items = VARIABLES["whole"].items()
        variables = [tf.compat.v1.Variable(value, name=name, use_resource=is_resource) for name, value in items]
        ids = tf.compat.v1.placeholder(tf.int32, [None, 2], "ids")
        loss = tf.identity(whole(ids, *variables), "loss")
        optimizer = make()
        count = train.get_or_create_global_step()
        pairs = optimizer.compute_gradients(loss, variables, gate_gradients=optimizer.GATE_GRAPH)
        tf.group(optimizer.apply_gradients(pairs, count), name="step")
        tf.group(tf.compat.v1.global_variables_initializer(), name="init")
        return recorded_own(graph, variables)


def own_keras_steps(name, options):
    """Return the same of an optimizer of Keras, whose step is a function."""
    variables = [tf.Variable(value, name=key) for key, value in VARIABLES["whole"].items()]
    optimizer = getattr(tf.keras.optimizers, name)(RATE, **options)
    optimizer.build(variables)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32)], autograph=False)
    def step(ids):
        with tf.GradientTape() as tape:
            loss = whole(ids, *variables)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    function = step.get_concrete_function()
    slots = [slot.value for slot in optimizer.variables]
    values = {id(variable.handle): variable for variable in (*variables, *slots)}
    captured = [values[id(handle)] for handle, _ in function.graph.captures]
    start = [variable.numpy() for variable in captured]
    with tf.Graph().as_default() as graph:
        function.add_to_graph(graph)
        ids = tf.compat.v1.placeholder(tf.int32, [None, 2], "ids")
        handles = [raw_handle(variable.dtype, variable.shape, f"v{place}") for place, variable in enumerate(captured)]
        initial = [tf.raw_ops.AssignVariableOp(resource=h, value=value) for h, value in zip(handles, start)]
        tf.group(*initial, name="init")
        called = tf.raw_ops.StatefulPartitionedCall(args=[ids, *handles], Tout=[tf.float32], f=function)
        tf.identity(called[0], "loss")
        tf.group(called[0].op, name="step")
        reads = {id(v): tf.raw_ops.ReadVariableOp(resource=h, dtype=v.dtype) for h, v in zip(handles, captured)}
        return recorded_own(graph, [reads[id(variable)] for variable in variables], is_step_fetched=True)


def raw_handle(dtype, shape, name):
    return tf.raw_ops.VarHandleOp(dtype=dtype, shape=shape, shared_name=name, name=name)


def recorded_own(graph, variables, is_step_fetched=False):
    """Return the graph, the losses of its steps and the values afterwards; a step of Keras returns the loss itself."""
    ends = [tf.identity(variable, f"end_{place}") for place, variable in enumerate(variables)]
    with tf.compat.v1.Session(graph=graph) as session:
        session.run("init")
        losses = []
        for number in range(STEPS):
            feeds = {"ids:0": ids_of(number)}
            losses.append(session.run("loss:0", feeds))
            if not is_step_fetched:
                session.run("step", feeds)
        return np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8), numbers(losses, session.run(ends))


def record_own():
    made = {f"{name}/{kind}": own_graph_steps(make, kind == "resource")
            for name, make in (OPTIMIZERS | RARE).items() for kind in ("ref", "resource")}  # fmt: skip
    made |= {f"Keras {name}": own_keras_steps(name, options) for name, options in KERAS.items()}
    contents = {f"{key}/graph": graph for key, (graph, _) in made.items()}
    contents |= {f"{key}/{part}": np.array(value) for key, (_, told) in made.items() for part, value in told.items()}
    np.savez_compressed(OWN, **contents)


def graph_steps(net, make, is_resource):
    """Return the losses of the steps, and the values afterwards, of an optimizer of TF1."""
    with tf.Graph().as_default() as graph:
        values = VARIABLES[net].items()
        variables = [tf.compat.v1.Variable(value, name=name, use_resource=is_resource) for name, value in values]
        ids = tf.compat.v1.placeholder(tf.int32, [None, 2])
        loss = NETS[net](ids, *variables)
        optimizer = make()
        update = optimizer.apply_gradients(optimizer.compute_gradients(loss, gate_gradients=optimizer.GATE_GRAPH))
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(tf.compat.v1.global_variables_initializer())
            losses = []
            for step in range(STEPS):
                losses.append(session.run(loss, {ids: ids_of(step)}))
                session.run(update, {ids: ids_of(step)})
            return numbers(losses, session.run(variables))


if __name__ == "__main__":
    recorded = {}
    for net in NETS:
        for name, make in EAGER.items():
            recorded[f"{name}/ref/{net}"] = recorded[f"{name}/resource/{net}"] = eager_steps(net, make())
        for name, make in OPTIMIZERS.items():
            for is_resource in (False, True):
                recorded[f"{name}/{'resource' if is_resource else 'ref'}/{net}"] = graph_steps(net, make, is_resource)
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(recorded.items())]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    record_own()
