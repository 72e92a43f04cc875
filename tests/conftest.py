"""TensorFlow, where it is the oracle, computes with its own kernels: oneDNN's depend on the machine, some are wrong for halves."""

import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
