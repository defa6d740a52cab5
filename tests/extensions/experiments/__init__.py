"""Experiments: `python -m tests.extensions.experiments` measures the intervals of ratings at length."""
