"""Functions of a graph's library: how nodes call them, which calls are alike, and which functions only compute.

Reads graphs. Runs nothing and rewrites nothing.
"""
