"""Graph passes: rewrites that preserve the results of a graph, and the pipeline that runs the passes.

Passes remove and merge nodes, compute constants, repair graphs, and inline, specialize and hoist in functions and loops.
"""
