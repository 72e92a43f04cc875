"""Op families of sparse and ragged tensors and of sets."""
