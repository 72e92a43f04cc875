"""Types of values in a graph: dtypes, symbolic dimensions, shapes, constant tensors, resource handles.

Knows neither nodes nor ops.
"""
