"""The runtime: sessions that run plans with kernels or engines."""
