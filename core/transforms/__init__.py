"""Whole-graph changes: freezing, cutting out subgraphs, reducing a graph to a failing core."""
