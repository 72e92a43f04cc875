"""Op families of neural networks: convolution, pooling, normalization, cells, losses and training ops."""
