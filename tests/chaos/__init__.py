"""Runs that break things on purpose: kill -9, named crash points, and what must hold afterwards."""
