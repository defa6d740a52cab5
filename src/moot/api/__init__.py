"""How Moot speaks to those who ask: one dialect a file, bodies in and frames out, pure."""
