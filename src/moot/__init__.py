"""Moot: language models argue a motion; people watch, steer and judge."""

__version__ = "0.1.0"
