"""Numeric algorithms on arrays, and the threads that compute them: convolution, pooling, reductions, update rules, linear
algebra, matrix products by OpenBLAS, the pool of worker threads, and the points at which a long kernel can be stopped.

Arrays in, arrays out. Knows neither nodes, nor sessions, nor op names.
"""
