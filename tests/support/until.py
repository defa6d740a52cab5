from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE = 60.0
"""Ends a test that hangs; nothing takes that long."""


async def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds. Raises TimeoutError if it never does."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)
