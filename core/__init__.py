"""The graph, its analyses, its execution and its rewrites. Knows no protobuf and no terminal."""
