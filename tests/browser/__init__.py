"""What only a real browser can show: its own EventSource, and what pages of other origins can do."""
