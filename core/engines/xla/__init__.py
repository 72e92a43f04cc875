"""XLA as an engine, through JAX. The only modules that import JAX."""
