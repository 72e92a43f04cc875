"""Runs of graphs as a user orders a run: names, values, sessions and result files, and batches of many inputs.

`tfg run` and `tfg.run_batch` order runs here. A batch runs in this process, in local processes, or on a Dask cluster.
"""
