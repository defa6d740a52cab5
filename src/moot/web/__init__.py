"""The HTTP application: routes, streams and WebSockets over an arena, behind one chain of middleware."""
