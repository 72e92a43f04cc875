"""Implementations of commands: from the parsed options to the output."""
