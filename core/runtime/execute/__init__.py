"""Execution of a plan: instructions of steps, function calls and loops, faster programs for hot plans, the dataflow fallback.

A plan in, a program out. The tiers of a program (`tiers`) fuse steps and specialize them for shapes; the results are equal.
Limits on a run: time, memory, interruption of kernels, kernels in a separate process, checks for NaN.
"""
