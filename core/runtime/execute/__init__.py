"""Execution of a plan: the executor, function calls, loops, and the dataflow fallback."""
