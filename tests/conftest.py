"""TensorFlow as the oracle computes with its own kernels: oneDNN's depend on the machine, and some are wrong for halves."""

import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
