"""The HTTP server under the application: connections, sockets, deadlines and stalled clients."""
