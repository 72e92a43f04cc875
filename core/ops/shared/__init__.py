"""Helpers that several op families share. Registers no op."""
