"""Op families of tf.data datasets and iterators."""
