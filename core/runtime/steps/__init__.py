"""Parts of a compiled step: instructions, locks, cached and constant values, variables of an engine's group."""
