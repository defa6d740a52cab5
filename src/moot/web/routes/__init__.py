"""The routes: a request is read, something is asked of the arena, and the reply is made from its state."""
