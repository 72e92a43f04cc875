"""Op families of files, checkpoints, summaries and parsed records."""
