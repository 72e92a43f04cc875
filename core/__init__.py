"""Graphs, and their analyses, execution and rewrites. Independent of protobuf and the terminal."""
