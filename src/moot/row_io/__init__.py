"""Rows of tables that are not ours, in PostgreSQL, SQLite and files of JSON lines: read and written."""
