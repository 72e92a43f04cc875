"""The Python library: a function for each command of `tfg`, and tables and pictures for notebooks.

Each function returns the dataclass that its command prints. The command line calls these functions.
"""
