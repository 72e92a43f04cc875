"""Limits on runs: time, memory, interruption of kernels, kernels in a separate process, checks for NaN."""
