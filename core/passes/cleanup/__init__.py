"""Passes that remove or merge nodes: dead nodes, common subexpressions, constants, control edges, debug nodes."""
