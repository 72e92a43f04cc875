"""Engines: the protocol of an engine, and the division of a plan into groups that an engine compiles."""
