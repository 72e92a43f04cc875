"""Op families that make, reshape, slice, join, gather and sort tensors."""
