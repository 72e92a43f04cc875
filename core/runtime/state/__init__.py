"""State of sessions and runs: variables, resources, lists, TensorArrays, variants, file access."""
