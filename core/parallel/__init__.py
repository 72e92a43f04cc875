"""Threads and matrix products: the pool of worker threads, BLAS calls, and the points at which a long kernel can be stopped.

The only room whose functions other numeric rooms share threads through.
"""
