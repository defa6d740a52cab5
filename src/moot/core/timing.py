"""How patient a process is: the defaults, which settings may change."""

from __future__ import annotations

from msgspec import Struct


class RunnerTimings(Struct, frozen=True):
    """How patient a runner is, in seconds."""

    retry_base: float = 1.0
    first_byte: float = 30.0
    between_bytes: float = 30.0
    tick: float = 0.05
    tool: float = 150.0
    """For tools that do not hold their own deadlines."""
