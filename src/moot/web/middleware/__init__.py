"""ASGI middleware: the checks before every route, and the headers and compression of every reply."""
