"""Networks beside tf_keras.applications, frozen by the interpreter with TensorFlow: engines run parts of the networks.

A network is a TensorFlow function with feeds; the weights are random.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Network = tuple[Callable[..., Any], dict[str, np.ndarray[Any, Any]]]


def variable(*shape: int) -> Any:
    """Return random weights that keep the magnitude of values from layer to layer, as in a trained network."""
    import tensorflow as tf

    scale = math.prod(shape[:-1]) ** -0.5
    return tf.Variable(np.random.default_rng(sum(shape)).normal(0, scale, shape).astype(np.float32))


def recommender() -> Network:
    """Sparse features looked up in tables and summed, and a small perceptron."""
    import tensorflow as tf

    table, hidden, last = variable(20_000, 32), variable(32 * 8, 64), variable(64, 1)

    def run(ids: Any) -> Any:
        rows = tf.gather(table, tf.math.floormod(ids, 20_000))
        mask = tf.cast(ids > 0, tf.float32)[..., None]
        sums = tf.reshape(tf.reduce_sum(rows * mask, axis=2), [-1, 32 * 8])
        return tf.sigmoid(tf.nn.relu(sums @ hidden) @ last)

    return run, {"ids": np.random.default_rng(0).integers(0, 30_000, (64, 8, 10)).astype(np.int32)}


def audio() -> Network:
    """Spectrogram, mel bands, logarithm and cepstrum of a second of sound."""
    import tensorflow as tf

    def run(sound: Any) -> Any:
        spectrum = tf.abs(tf.signal.stft(sound, 400, 160, 512))
        bands = tf.signal.linear_to_mel_weight_matrix(80, 257, 16_000, 20.0, 8_000.0)
        mel = tf.math.log(tf.tensordot(spectrum, bands, 1) + 1e-6)
        return tf.signal.mfccs_from_log_mel_spectrograms(mel)[..., :13]

    return run, {"sound": np.random.default_rng(0).normal(0, 0.1, (1, 16_000)).astype(np.float32)}


def yolo() -> Network:
    """Convolutions over a picture, boxes and scores of them, and the best boxes."""
    import tensorflow as tf

    sizes = (3, 16, 32, 64, 128, 255)
    filters = [variable(3, 3, a, b) for a, b in itertools.pairwise(sizes)]

    def run(image: Any) -> Any:
        for kernel in filters:
            image = tf.nn.leaky_relu(tf.nn.conv2d(image, kernel, 2, "SAME"), 0.1)
        result = tf.reshape(image, [1, -1, 85])
        center, size = tf.sigmoid(result[..., :2]), tf.exp(result[..., 2:4])
        boxes = tf.concat([center - size / 2, center + size / 2], -1)
        scores = tf.sigmoid(result[..., 4:5]) * tf.sigmoid(result[..., 5:])
        return tf.image.combined_non_max_suppression(boxes[:, :, None], scores, 20, 50)[:3]

    return run, {"image": np.random.default_rng(0).random((1, 320, 320, 3), np.float32)}


def bilstm() -> Network:
    """Return two LSTMs over a sentence as loops, the second from the end."""
    import tensorflow as tf

    table, weights = variable(5_000, 64), [variable(64 + 64, 256) for _ in range(2)]
    last = variable(128, 5)

    def swept(values: Any, kernel: Any) -> Any:
        state = (tf.zeros([8, 64]), tf.zeros([8, 64]))

        def step(state: Any, x: Any) -> Any:
            i, f, g, o = tf.split(tf.concat([x, state[0]], 1) @ kernel, 4, 1)
            cell = tf.sigmoid(f) * state[1] + tf.sigmoid(i) * tf.tanh(g)
            return tf.sigmoid(o) * tf.tanh(cell), cell

        return tf.scan(step, values, state)[0]

    def run(words: Any) -> Any:
        values = tf.transpose(tf.gather(table, words), [1, 0, 2])
        forward, backward = swept(values, weights[0]), swept(values[::-1], weights[1])[::-1]
        return tf.nn.softmax(tf.tensordot(tf.concat([forward, backward], -1), last, 1))

    return run, {"words": np.random.default_rng(0).integers(0, 5_000, (8, 40)).astype(np.int32)}


def unet() -> Network:
    """Return convolutions down to small pictures and back up, with skip connections."""
    import tensorflow as tf

    sizes = (3, 16, 32, 64)
    down = [variable(3, 3, a, b) for a, b in itertools.pairwise(sizes)]
    up = [variable(3, 3, a + b, a) for a, b in itertools.pairwise(sizes[1:])]
    last = variable(1, 1, 16, 2)

    def run(image: Any) -> Any:
        seen = []
        for kernel in down:
            image = tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME"))
            seen.append(image)
            image = tf.nn.max_pool2d(image, 2, 2, "SAME")
        image = seen.pop()
        for kernel in reversed(up):
            beside = seen.pop()
            image = tf.image.resize(image, tf.shape(beside)[1:3])
            image = tf.nn.relu(tf.nn.conv2d(tf.concat([image, beside], -1), kernel, 1, "SAME"))
        return tf.nn.softmax(tf.nn.conv2d(image, last, 1, "SAME"))

    return run, {"image": np.random.default_rng(0).random((1, 128, 128, 3), np.float32)}


def bert() -> Network:
    """Four layers of attention of BERT's kind over 64 tokens."""
    import tensorflow as tf

    table = variable(8_000, 256)
    shapes = ((256, 768), (256, 256), (256, 1024), (1024, 256))
    layers = [[variable(*shape) for shape in shapes] for _ in range(4)]

    def normed(x: Any) -> Any:
        mean, var = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(var + 1e-12)

    def heads(x: Any) -> Any:
        return tf.transpose(tf.reshape(x, [1, 64, 4, 64]), [0, 2, 1, 3])

    def run(tokens: Any) -> Any:
        x = normed(tf.gather(table, tokens))
        for qkv, out, wide, narrow in layers:
            q, k, v = map(heads, tf.split(tf.tensordot(x, qkv, 1), 3, -1))
            mixed = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 8.0) @ v
            x = normed(x + tf.tensordot(tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [1, 64, 256]), out, 1))
            inner = tf.tensordot(x, wide, 1)
            gelu = 0.5 * inner * (1.0 + tf.math.erf(inner / 1.41421356))
            x = normed(x + tf.tensordot(gelu, narrow, 1))
        return x

    return run, {"tokens": np.random.default_rng(0).integers(0, 8_000, (1, 64)).astype(np.int32)}


MIXED: dict[str, Callable[[], Network]] = {
    "recommender": recommender,
    "audio front end": audio,
    "YOLO with NMS": yolo,
    "BiLSTM": bilstm,
    "U-Net": unet,
    "BERT, 4 layers": bert,
}
