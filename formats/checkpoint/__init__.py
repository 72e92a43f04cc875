"""Checkpoints: V2 (tensor bundles) and V1 (tables of slices), read and written."""
