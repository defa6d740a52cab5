"""Clients that others generate from the description of the API."""
