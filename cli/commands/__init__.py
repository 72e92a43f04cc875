"""The commands: one module per command, with its options; imported when the command is called."""
