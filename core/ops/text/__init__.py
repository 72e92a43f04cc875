"""Op families of strings."""
