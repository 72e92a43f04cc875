"""Functions of a graph's library: the ways in which nodes call them, calls that are alike, and purity.

Reads graphs. Runs nothing and rewrites nothing.
"""
