"""Whether two graphs compute the same, and the first node where they do not."""
