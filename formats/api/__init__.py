"""The Python library: a function for each command of `tfg`, and tables and pictures for notebooks.

A command parses its options, calls its function here, and prints the result.
"""
