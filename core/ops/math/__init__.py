"""Op families of elementwise arithmetic, reductions, scans and Fourier transforms."""
