"""Graphs as their author sees them, and explanations in plain words: the model of a signature with its layers, roles of nodes,
problems, stages, devices, memory and races.
"""
