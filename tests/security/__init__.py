"""What a stranger's graph, an unlucky moment or a full disk must not bring about."""
