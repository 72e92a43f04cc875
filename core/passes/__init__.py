"""Graph passes: rewrites that keep what a graph computes, and the pipeline that runs them."""
