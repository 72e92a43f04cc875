"""Passes on loops: hoisting of loop-invariant nodes, removal of loops that never run."""
