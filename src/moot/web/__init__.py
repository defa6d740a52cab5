"""The HTTP application: routes, streams and sockets over the arena, behind one border."""
