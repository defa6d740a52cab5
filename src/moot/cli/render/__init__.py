"""What the terminal shows: the only place that prints."""
