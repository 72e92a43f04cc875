"""Algebraic rewrite rules and the pass that applies them."""
