"""Control flow of V1 graphs: loop frames, conditions, and references to variables.

Reads graphs. Knows neither plans nor kernels.
"""
