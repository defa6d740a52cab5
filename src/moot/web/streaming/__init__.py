"""Live streams: the events of a debate, encoded once per dialect, sent over SSE or a WebSocket."""
