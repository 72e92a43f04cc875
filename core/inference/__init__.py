"""Shape inference and constant values: from a graph to the shape, dtype and known value of every tensor, without a run.

Binds a node's inputs and attributes to the registered functions of its op. Must not start a session.
"""
