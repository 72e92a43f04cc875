"""Op families: kernels, shape functions, gradients, FLOPs and lowerings, one file per family."""
