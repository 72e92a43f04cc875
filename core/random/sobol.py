"""Sobol sequences by SciPy, whose table of directions is read as soon as this is imported.

A kernel may be interrupted, but not an import: half a table would stay for all draws that follow.
"""

from scipy.stats import qmc


def engine(dim: int) -> qmc.Sobol:
    """The sequence of points in `dim` dimensions, 32 bits a number, from the origin on."""
    return qmc.Sobol(dim, scramble=False, bits=32)


engine(1)
