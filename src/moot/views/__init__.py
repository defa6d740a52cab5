"""Projections of the log for people: each a pure function of the state."""
