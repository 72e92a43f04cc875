"""Op families of quantized integers."""
