"""Graph passes: rewrites that preserve the results of a graph, and the pipeline that runs the passes."""
