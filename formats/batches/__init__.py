"""Many inputs: a graph run once for each file, row of a table or setting of a sweep.

`tfg run --each`, `tfg.run_each`, `tfg.run_batch` and `tfg.map_batches` run here: in this process, in local processes, or on a
Dask cluster.
"""
