"""The JSON of the commands: the type of each document."""
