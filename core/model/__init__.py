"""A model as its author sees it: one signature, its layers by name, without the plumbing of the file.

`model_view` makes the graph of a model, `author_scopes` finds the names that the author gave.
"""
