"""Record the losses that TensorFlow's own optimizers reach, into losses.json.

    /path/to/tensorflow-venv/bin/python tests/core/training/record_losses.py

The graph: loss = mean((x w + b - y)^2) over four fixed points, from w = [1, -1] and b = 0.5, ten steps.
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

TARGET = pathlib.Path(__file__).with_name("losses.json")
X = np.array([[0.5, 1.0], [1.5, -0.5], [-1.0, 2.0], [2.0, 0.0]], np.float32)
Y = np.array([[1.0], [0.0], [2.0], [-1.0]], np.float32)


def keras_losses(optimizer):
    """Of an optimizer that V1 does not have; eagerly, so before eager execution is switched off."""
    w, b = tf.Variable([[1.0], [-1.0]]), tf.Variable([0.5])
    results = []
    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(X), w) + b - tf.constant(Y)))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
        results.append(float(loss))
    return results


KERAS = {"adamw": keras_losses(tf.keras.optimizers.AdamW(0.1, weight_decay=0.004))}
tf.compat.v1.disable_eager_execution()
train = tf.compat.v1.train
OPTIMIZERS = {
    "sgd": lambda lr: train.GradientDescentOptimizer(lr),
    "momentum": lambda lr: train.MomentumOptimizer(lr, 0.9),
    "nesterov": lambda lr: train.MomentumOptimizer(lr, 0.9, use_nesterov=True),
    "adagrad": lambda lr: train.AdagradOptimizer(lr),
    "adadelta": lambda lr: train.AdadeltaOptimizer(lr, 0.95),
    "rmsprop": lambda lr: train.RMSPropOptimizer(lr),
    "adam": lambda lr: train.AdamOptimizer(lr),
    "ftrl": lambda lr: train.FtrlOptimizer(lr),
}
CLIPS = {
    "none": lambda grads: grads,
    "value": lambda grads: [tf.clip_by_value(g, -0.3, 0.3) for g in grads],
    "norm": lambda grads: [tf.clip_by_norm(g, 0.3) for g in grads],
    "global_norm": lambda grads: tf.clip_by_global_norm(grads, 0.3)[0],
}
SCHEDULES = {
    "constant": lambda step: 0.1,
    "exponential(decay_steps=3,decay_rate=0.5)": lambda step: train.exponential_decay(0.1, step, 3, 0.5),
    "inverse_time(decay_steps=3,decay_rate=0.5)": lambda step: train.inverse_time_decay(0.1, step, 3, 0.5),
    "polynomial(decay_steps=8,end=0.01,power=2)": lambda step: train.polynomial_decay(0.1, step, 8, 0.01, 2.0),
    "cosine(decay_steps=8,alpha=0.1)": lambda step: train.cosine_decay(0.1, step, 8, 0.1),
}


def losses(make, resource, clip, schedule):
    with tf.Graph().as_default() as graph:
        w = tf.compat.v1.Variable([[1.0], [-1.0]], name="w", use_resource=resource)
        b = tf.compat.v1.Variable([0.5], name="b", use_resource=resource)
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(X), w) + b - tf.constant(Y)))
        step = train.get_or_create_global_step()
        optimizer = make(schedule(step))
        pairs = optimizer.compute_gradients(loss, [w, b])
        grads = clip([g for g, _ in pairs])
        update = optimizer.apply_gradients(zip(grads, [v for _, v in pairs]), global_step=step)
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(tf.compat.v1.global_variables_initializer())
            return [float(session.run([loss, update])[0]) for _ in range(10)]


if __name__ == "__main__":
    recorded = {f"{name}/{kind}/none/constant": losses for name, losses in KERAS.items() for kind in ("ref", "resource")}
    for name, make in OPTIMIZERS.items():
        for resource in (False, True):
            recorded[f"{name}/{'resource' if resource else 'ref'}/none/constant"] = losses(
                make, resource, CLIPS["none"], SCHEDULES["constant"]
            )
    for clip in CLIPS:
        recorded[f"momentum/ref/{clip}/constant"] = losses(OPTIMIZERS["momentum"], False, CLIPS[clip], SCHEDULES["constant"])
    for schedule in SCHEDULES:
        recorded[f"sgd/resource/none/{schedule}"] = losses(OPTIMIZERS["sgd"], True, CLIPS["none"], SCHEDULES[schedule])
    TARGET.write_text(json.dumps(recorded, indent=1) + "\n")
