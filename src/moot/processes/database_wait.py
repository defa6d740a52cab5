"""Steps of starting up that need the database: each waits for it, however often it goes away meanwhile.

Processes are started in any order. A database that cannot be reached is waited for, and each outage is logged
once; one that can be reached and refuses us (a wrong password, a newer schema) is an error at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from itertools import chain, repeat
from typing import TypeVar

from moot.core.errors import StoreError
from moot.processes.backends import is_unreachable
from moot.settings import Settings

T = TypeVar("T")

log = logging.getLogger("moot")

PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)


async def when_reachable(settings: Settings, step: Callable[[], Awaitable[T]]) -> T:
    """What the step returns, once the database lets it come through: it is tried again from its beginning.

    Raises StoreError where waiting does not help: where the log is a file, it never does.
    """
    pauses, logged = chain(PAUSES, repeat(PAUSES[-1])), False
    while True:
        try:
            result = await step()
            break
        except StoreError as error:
            if settings.cluster.store is None or not is_unreachable(error):
                raise
            if not logged:
                # The database's own words may name its host and our user: they are for this log alone.
                log.warning("%s Waiting for it. (%s)", error, " ".join(str(error.__cause__).split()))
            logged = True
        await asyncio.sleep(next(pauses))
    if logged:
        log.info("the database is there")
    return result
