"""Passes on layers: nodes are fused into TensorFlow's fused ops, and get a layout, NHWC or NCHW."""
