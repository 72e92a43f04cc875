"""Passes on functions and loops: inlining, specialization, hoisting, and the other passes inside function bodies."""
