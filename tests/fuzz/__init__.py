"""Fuzzers: whatever a graph, a file or an argument holds, tfg answers with a result or a TfgError that is no InternalError."""
