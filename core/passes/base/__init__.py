"""Foundations of graph passes: the base class, options, costs, accuracy classes, copies of functions."""
