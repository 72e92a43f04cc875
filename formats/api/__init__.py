"""The Python library: a function for each command of `tfg`, and tables and pictures for notebooks.

A function and its command share the functions of `core` and the loaders; `tfg view` also calls its function here.
"""
