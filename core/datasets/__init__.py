"""Datasets of tf.data: what the variants of an input pipeline hold, and iterators over them."""
