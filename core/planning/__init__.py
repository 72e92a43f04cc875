"""Plans: from fetches and feeds to the steps of a run, their order, and the slots that hold their values.

A graph in, a plan out. Knows no kernel and no array.
"""
