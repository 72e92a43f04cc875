"""Record small checkpoints written by TensorFlow; needs a Python with TensorFlow.

/path/to/tensorflow-venv/bin/python tests/formats/record_checkpoints.py
"""

import pathlib

import numpy as np
import tensorflow as tf

FOLDER = pathlib.Path(__file__).with_name("recorded")
FULL = np.arange(20, dtype=np.float32).reshape(5, 4)
SLICES = ["5 4 0,2:-", "5 4 2,3:-"]


def main():
    tf.compat.v1.disable_eager_execution()
    names = ["p", "p", "s", "n", "h"]
    values = [FULL[:2], FULL[2:], np.array([b"hi", b"", b"long" * 50], object), np.int64(-7), np.zeros((0, 3), np.float16)]
    specs = [*SLICES, "", "", ""]
    with tf.compat.v1.Session() as session:
        constants = [tf.constant(value) for value in values]
        session.run(
            tf.raw_ops.SaveV2(prefix=str(FOLDER / "v2"), tensor_names=names, shape_and_slices=specs, tensors=constants)
        )
        session.run(
            tf.raw_ops.SaveSlices(filename=str(FOLDER / "v1"), tensor_names=names, shapes_and_slices=specs, data=constants)
        )


main()
