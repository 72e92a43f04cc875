"""Sessions: fetches and feeds from the user, runs, results, and variables restored from checkpoints."""
