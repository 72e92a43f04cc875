"""`tfg check` accepts the shapes that TensorFlow itself records: as_graph_def(add_shapes=True), as every Saver writes."""

from __future__ import annotations

import pytest

from tfg.core.explaining.problems import find_problems
from tfg.formats import load

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("tf_keras")
pytestmark = pytest.mark.live
v1 = tf.compat.v1


def fed(*shape, dtype=tf.float32):
    return v1.placeholder(dtype, shape, name="x")


def gradient_of(y, x):
    return tf.gradients(tf.reduce_sum(y), [x])


def recurrent(cell, **options):
    def build():
        x = fed(None, 5, 3)
        y, _ = v1.nn.dynamic_rnn(cell(4), x, dtype=tf.float32, **options)
        v1.train.AdamOptimizer().minimize(tf.reduce_mean(y))

    return build


def bidirectional():
    x, lengths = fed(None, None, 3), v1.placeholder(tf.int32, [None], name="lengths")
    cells = [keras.layers.GRUCell(4) for _ in range(2)]
    outputs, _ = v1.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
    gradient_of(tf.concat(outputs, 2), x)


def mapped():
    x = fed(None, 3)
    gradient_of(tf.map_fn(lambda row: tf.tanh(row) * 2, x), x)


def scanned():
    x = fed(None, 3)
    gradient_of(tf.scan(lambda total, row: total * row, x), x)


def folded():
    x = fed(None, 3)
    gradient_of(tf.foldl(lambda total, row: total + row, x), x)


def array_of_tensors():
    x = fed(4, None)
    array = tf.TensorArray(tf.float32, 4, element_shape=[None], clear_after_read=False).unstack(x)
    gradient_of(array.read(1) + array.gather([0, 2])[0] + array.concat()[0], x)


def while_loop_with_stacks():
    x = fed(2)
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.sin(a) * x), [0, x], parallel_iterations=1)
    gradient_of(y, x)


def conditional():
    x = fed(None)
    gradient_of(tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x), lambda: tf.tile(x, [1])), x)


def case():
    x = fed()
    gradient_of(tf.case([(x < 0, lambda: x), (x < 1, lambda: x * x)], default=lambda: tf.exp(x)), x)


def batch_normalization(layout):
    def build():
        shape = [None, 8, 8, 3] if layout == "NHWC" else [None, 3, 8, 8]
        x = fed(*shape)
        y, mean, variance = v1.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]), is_training=True, data_format=layout)
        tf.gradients(tf.reduce_sum(y) + tf.reduce_sum(mean * variance), [x])

    return build


def normalized_by_averages():
    x, training = fed(None, 4, 4, 3), v1.placeholder_with_default(False, [], name="training")
    layer = keras.layers.BatchNormalization()
    y = layer(x, training=training)
    with tf.control_dependencies(layer.updates):
        tf.gradients(tf.reduce_sum(y), [x])


def keras_layers(make, *shape):
    def build():
        x = fed(*shape)
        layer = make()
        y = layer(x, training=True)
        tf.gradients(tf.reduce_sum(y), [x, *layer.trainable_weights])

    return build


def accumulators():
    dense = v1.ConditionalAccumulator(tf.float32, shape=[2], shared_name="dense")
    sparse = v1.SparseConditionalAccumulator(tf.float32, shape=[None, 2], shared_name="sparse")
    dense.apply_grad(fed(2), local_step=0)
    dense.take_grad(1)
    sparse.apply_grad(tf.constant([0], tf.int64), tf.ones([1, 2]), local_step=0)
    sparse.take_grad(1)


def queues():
    queue = v1.FIFOQueue(4, [tf.float32, tf.int32], shapes=[[2], []])
    queue.enqueue_many([tf.ones([3, 2]), tf.range(3)])
    queue.dequeue_many(2)
    v1.PaddingFIFOQueue(4, [tf.float32], shapes=[[None]]).dequeue_up_to(3)
    v1.train.batch([tf.random.uniform([2])], 4)


def lists():
    handle = tf.raw_ops.TensorListReserve(element_shape=[2, -1], num_elements=3, element_dtype=tf.float32)
    handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=0, item=tf.ones([2, 5]))
    tf.raw_ops.TensorListGetItem(input_handle=handle, index=0, element_shape=[2, -1], element_dtype=tf.float32)
    tf.raw_ops.TensorListStack(input_handle=handle, element_shape=[2, -1], element_dtype=tf.float32, num_elements=3)
    empty = tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=4, element_dtype=tf.float32)
    pushed = tf.raw_ops.TensorListPushBack(input_handle=empty, tensor=tf.ones([3]))
    tf.raw_ops.TensorListPopBack(input_handle=pushed, element_shape=-1, element_dtype=tf.float32)
    split = tf.raw_ops.TensorListFromTensor(tensor=tf.ones([3, 2]), element_shape=[2])
    tf.raw_ops.TensorListConcatV2(
        input_handle=split, element_shape=[-1], leading_dims=tf.zeros([0], tf.int64), element_dtype=tf.float32
    )
    tf.raw_ops.TensorListElementShape(input_handle=split, shape_type=tf.int32)


def tables():
    initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    tf.lookup.StaticHashTable(initializer, -1).lookup(fed(None, dtype=tf.string))
    tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0]).export()
    tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2).size()


def pipeline():
    data = tf.data.Dataset.from_tensor_slices(tf.ones([4, 3])).map(lambda row: row * 2).batch(2)
    v1.data.make_initializable_iterator(data).get_next()


def embeddings():
    rows = fed(None, None, dtype=tf.int64)
    for is_resource in (True, False):
        table = v1.get_variable(f"table_{is_resource}", [7, 3], use_resource=is_resource)
        v1.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_mean(tf.nn.embedding_lookup(table, rows)), var_list=[table])


def sparse_and_ragged():
    sparse = v1.sparse_placeholder(tf.float32, [None, 5])
    tf.sparse.sparse_dense_matmul(sparse, tf.ones([5, 2]))
    v1.ragged.placeholder(tf.float32, 1).to_tensor()
    tf.raw_ops.SparseSegmentSum(data=tf.ones([4, 2]), indices=tf.constant([0, 1]), segment_ids=tf.constant([0, 1]))


def pictures():
    x = fed(None, None, None, 3)
    gradient_of(v1.image.resize_bilinear(x, [4, 4]), x)
    gradient_of(tf.nn.fractional_max_pool(fed(1, 8, 8, 3), 1.5, seed=1)[0], x)
    tf.image.decode_png(v1.placeholder(tf.string, []))
    tf.image.non_max_suppression(tf.ones([3, 4]), tf.ones([3]), 2)


def functions():
    @tf.function
    def twice(value):
        return tf.cond(tf.reduce_sum(value) > 0, lambda: value * 2, lambda: value)

    x = fed(None)
    gradient_of(twice(x), x)


def saver():
    v1.get_variable("v", [2, 3])
    v1.get_variable("w", [4], use_resource=True)
    v1.train.Saver(sharded=True)
    v1.global_variables_initializer()


PROGRAMS = {
    "lstm": recurrent(keras.layers.LSTMCell), "gru": recurrent(keras.layers.GRUCell),
    "rnn of a sequence": recurrent(keras.layers.SimpleRNNCell, sequence_length=[2, 3]),
    "batch normalization": batch_normalization("NHWC"), "batch normalization NCHW": batch_normalization("NCHW"),
    "keras lstm": keras_layers(lambda: keras.layers.LSTM(4), 2, 5, 3),
    "keras gru": keras_layers(lambda: keras.layers.GRU(4), 2, 5, 3),
    **{program.__name__: program for program in (
        bidirectional, mapped, scanned, folded, array_of_tensors, while_loop_with_stacks, conditional, case, accumulators,
        queues, lists, tables, pipeline, embeddings, sparse_and_ragged, pictures, functions, saver, normalized_by_averages,
    )},
}  # fmt: skip


@pytest.mark.parametrize("is_lowered", [True, False], ids=["v1", "v2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_shapes_that_tensorflow_records_are_right(name, is_lowered):
    """With V1 control flow, and with functions."""
    switch = v1.disable_control_flow_v2 if is_lowered else v1.enable_control_flow_v2
    switch()
    try:
        with tf.Graph().as_default() as graph:
            PROGRAMS[name]()
    finally:
        v1.enable_control_flow_v2()
    recorded = load(graph.as_graph_def(add_shapes=True).SerializeToString())
    assert any("_output_shapes" in node.attrs for node in recorded)
    assert [str(problem) for problem in find_problems(recorded)] == []
