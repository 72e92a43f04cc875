"""Passes that fuse nodes into TensorFlow's fused ops."""
