"""Pictures of graphs: scopes, layers, boxes and edges, as plain values and as text."""
