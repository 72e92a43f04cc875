"""The oracle computes with TensorFlow's own kernels: oneDNN's depend on the machine and are wrong for some half products."""

import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
