"""Op families with state: variables, tables, queues, barriers, staging areas, readers, TensorArrays."""
