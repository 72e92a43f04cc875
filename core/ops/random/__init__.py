"""Op families of random numbers."""
