"""What runs a debate: the arena, the runner and its calls, followers, and who runs what in one process."""
