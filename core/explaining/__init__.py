"""Explanations in plain words: roles of nodes, problems, stages, devices, memory and races of a graph."""
