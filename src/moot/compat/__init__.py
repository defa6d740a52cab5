"""Conversations of older systems: read where they are, kept here, and given back."""
