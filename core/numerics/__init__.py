"""Numeric algorithms on arrays: convolution, pooling, reductions, update rules, linear algebra.

Arrays in, arrays out. Knows neither nodes, nor sessions, nor op names.
"""
