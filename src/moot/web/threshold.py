"""Before a process that serves for good opens its doors: its log is there, and strangers need a token.

Whoever looks after processes starts them in any order. A database that does not answer yet is waited for, and
told of once; one that answers, and does not let us in, is the operator's move.
"""

from __future__ import annotations

import asyncio
import logging
from itertools import chain, repeat

from moot.errors import Invalid, StoreError
from moot.premises import is_away, open_store
from moot.settings import Settings
from moot.store.contract import Store
from moot.wire.auth import Keeper
from moot.wire.origins import is_loopback

log = logging.getLogger("moot")

PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)


async def open_log(settings: Settings, objection: str = "") -> Store:
    """However long it takes. Raises StoreError where waiting does not help, and Invalid with the objection,
    where there is one, if nobody has a token."""
    pauses, told = chain(PAUSES, repeat(PAUSES[-1])), False
    while True:
        try:
            store = await _opened(settings, objection)
            break
        except StoreError as error:
            if not is_away(error):
                raise
            if not told:
                # The database's own words may name its host and our user: they are for this log alone.
                log.warning("%s Waiting for it. (%s)", error, " ".join(str(error.__cause__).split()))
            told = True
        await asyncio.sleep(next(pauses))
    if told:
        log.info("the database is there")
    return store


def exposure(host: str, otherwise: str) -> str:
    """What is to be said against listening there while nobody has a token."""
    if is_loopback(host):
        return ""
    return (
        f"{host} can be reached from other machines, and then a token is needed: set MOOT_TOKEN, or make "
        f"one with `moot token new NAME`. With --insecure {otherwise}."
    )


async def _opened(settings: Settings, objection: str) -> Store:
    store = await open_store(settings)
    try:
        if objection and not await Keeper(store, settings.service.token).enabled():
            raise Invalid(objection)
    except BaseException:
        await store.close()
        raise
    return store
