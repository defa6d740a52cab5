"""What only a real browser can show: its own EventSource, and that it protects nobody whom we forgot."""
