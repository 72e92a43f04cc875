"""Commands: a module for each command with its options, imported when the command is called."""
