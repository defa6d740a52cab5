"""The store in PostgreSQL."""

POOL_SIZE = 10
"""Connections that one process may hold."""
STATEMENT_SECONDS = 10.0
"""How long one statement may take."""
