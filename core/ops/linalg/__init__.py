"""Op families of matrix products, decompositions and solvers."""
