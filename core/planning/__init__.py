"""Plans: from fetches and feeds to the steps of a run, their order, and the slots that hold their values.

A graph in, a plan out. The order keeps TensorFlow's effects: reads and writes of state, and the races between them. Knows no
kernel and no array.
"""
