"""Delays and deadlines of a runner: how long it waits for a model, for a retry, and between two writes.

`settings.py` reads them from the environment. The deadline of a speech or of a person is no delay of the
runner, but a setting of the debate (`core/setup_table.py`).
"""

from __future__ import annotations

from msgspec import Struct


class RunnerTimings(Struct, frozen=True):
    """In seconds."""

    retry_base: float = 1.0
    """Before the first retry: see `retry.py`."""
    first_byte: float = 30.0
    """How long a model may take to begin its reply."""
    between_bytes: float = 30.0
    """How long a reply that has begun may be silent."""
    tick: float = 0.05
    """How often streamed text is read and written: see `engine/text_writer.py`."""
    tool: float = 150.0
    """For tools that do not hold their own deadlines."""
