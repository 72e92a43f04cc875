"""Passes on functions: inlining, specialization, and the other passes inside function bodies."""
