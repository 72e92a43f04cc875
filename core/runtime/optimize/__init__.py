"""Faster programs: tiers of execution, fusion of steps, programs per input shape, branches in threads.

A plan with kernels in, a faster program with equal results out.
"""
