"""Sobol sequences by SciPy; the table of directions is read when this module is imported.

A kernel may be interrupted, but not an import: an interrupted read would leave half a table for all later draws. The file is
separate because no other draw needs SciPy's statistics, which take long to import.
"""

from scipy.stats import qmc


def engine(dim: int) -> qmc.Sobol:
    """Return the sequence of points in `dim` dimensions, 32 bits a number, from the origin on."""
    return qmc.Sobol(dim, scramble=False, bits=32)


engine(1)
