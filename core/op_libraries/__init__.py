"""Op libraries: Python files and packages that declare ops and register kernels, and lists of all ops."""
