"""The work of a command between its options and its output."""
