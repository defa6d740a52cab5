"""HTTP routes: each reads a request, asks the arena, and builds the reply from its state."""
