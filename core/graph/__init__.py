"""The graph: nodes, edges, functions and how nodes call them, walks, frames of V1 loops, and the variables that nodes own.

Takes decoded nodes from `formats` and hands them to every other room. Knows no protobuf and no kernel.
"""
