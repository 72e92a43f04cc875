"""Threads and matrix products: the pool of worker threads, BLAS calls, and the points at which a long kernel can be
stopped.

Other numeric rooms share threads only through the functions of this room.
"""
