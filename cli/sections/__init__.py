"""The output of a command: tables, text and JSON."""
