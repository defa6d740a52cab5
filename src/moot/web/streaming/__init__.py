"""Live streams: one debate in one dialect, encoded once, sent over SSE or a WebSocket."""
