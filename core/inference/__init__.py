"""Shape inference and constant values: the shape, dtype and known value of every tensor of a graph, without a run.

Binds a node's inputs and attributes to the registered functions of its op. Must not start a session.
"""
