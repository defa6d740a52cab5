"""Local models: which there are, fetching them, and what else on this machine can argue."""
