"""Builders: nodes, variables, savers and names as TensorFlow's Python front end makes them."""
