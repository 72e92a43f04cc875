"""Algorithms on text: Unicode encodings and scripts, edit distance, hashes.

Byte strings in, byte strings or numbers out. Knows neither graphs nor ops.
"""
