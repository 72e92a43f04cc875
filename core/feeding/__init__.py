"""Values for the placeholders of a graph: drawn arrays that the graph can run on, and texts of examples to type."""
