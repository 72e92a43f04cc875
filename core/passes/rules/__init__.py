"""Algebraic rewrite rules, the pass that applies them, and passes on layers: fused ops of TensorFlow, NHWC and NCHW."""
