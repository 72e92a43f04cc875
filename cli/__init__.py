"""The command line: options, sessions, names of tensors and output that all commands share.

A command lies in `commands`, its work and its output in `jobs`.
"""
