"""What libraries are told before tests import them.

TensorFlow as the oracle computes with its own kernels: oneDNN's depend on the machine, and some are wrong for halves. gRPC is
quiet: its threads write into the standard error of programs that tests start.
"""

import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["GRPC_VERBOSITY"] = "NONE"
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
