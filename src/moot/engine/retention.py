"""Deletes debates that ended long ago, in the same way as a user's request does.

One debate at a time, with a pause between them, so that even a store with a year's backlog is cleaned while
debates run. The store is asked again before each, so a failed debate that was resumed meanwhile stays.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from moot.core.errors import StoreError, UnknownDebate
from moot.engine.arena import Arena

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 3600.0
PAUSE_SECONDS = 0.02


async def run_retention(arena: Arena) -> None:
    """Now and every hour, for as long as the task lives."""
    days = arena.settings.service.ttl_days
    while days is not None:
        try:
            deleted = await delete_ended(arena, days, datetime.now(UTC))
            if deleted:
                log.info("deleted debates older than MOOT_TTL_DAYS", extra={"debates": deleted})
        except StoreError as error:
            log.warning("old debates could not be deleted, and are tried again later: %s", error)
        await asyncio.sleep(INTERVAL_SECONDS)


async def delete_ended(arena: Arena, days: float, now: datetime) -> int:
    """Delete what ended more than so many days ago; returns how many debates."""
    before = now - timedelta(days=days)
    deleted = 0
    while oldest := await arena.store.ended_before(before, limit=1):
        # Another process may delete from the same store.
        with suppress(UnknownDebate):
            await arena.delete(oldest[0])
            deleted += 1
        await asyncio.sleep(PAUSE_SECONDS)
    return deleted
