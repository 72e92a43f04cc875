"""Sessions: fetches and feeds from the user, runs, results, and variables restored from checkpoints.

Also values for feeds: drawn arrays that a graph can run on, examples to type, and inputs of several parts.
"""
