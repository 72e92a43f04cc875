"""Op interfaces and op implementations: the catalog of TensorFlow's ops, and the kernels, shape functions,
gradients, FLOPs formulas and facts that op families and op libraries register.

Finds the family of an op without importing the family. Knows no graph.
"""
