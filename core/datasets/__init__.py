"""Datasets of tf.data, the values of variants in an input pipeline, and iterators over datasets."""
