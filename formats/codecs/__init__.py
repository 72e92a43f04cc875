"""Messages and values of TensorFlow's files: NodeDef, TensorProto and AttrValue to plain values and back.

Below the loaders and writers. Knows no folder layout.
"""
