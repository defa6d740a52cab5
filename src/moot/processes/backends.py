"""Which store, bus, ephemeral store and placement the settings name.

On one machine all of it is this process and a file. Machines that share a PostgreSQL and a Redis form one
arena; the libraries for that are imported only where they are needed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from itertools import chain, repeat
from typing import TypeVar

from moot.core.ephemeral_store import EphemeralStore
from moot.core.errors import Invalid, StoreError
from moot.engine.claim_loop import MakeRunner
from moot.engine.ephemeral_store import MemoryEphemeralStore
from moot.engine.followers import Bus, MemoryBus
from moot.engine.placement import InProcessPlacement, Placement
from moot.installation import install_command
from moot.settings import Settings
from moot.store.contract import Store
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore

T = TypeVar("T")

log = logging.getLogger("moot")

PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds between attempts to reach the database."""


async def open_store(settings: Settings) -> Store:
    """Makes or migrates it first. Raises StoreError or NewerSchema."""
    address = settings.cluster.store
    if address is None:
        return SqliteStore.open(settings.database)
    try:
        from moot.store.postgres.store import PostgresStore
    except ModuleNotFoundError:
        raise _missing_libraries("MOOT_STORE=postgresql://…") from None
    return await PostgresStore.open(
        address.reveal(), pool=settings.cluster.pool, statement_seconds=settings.cluster.statement_seconds
    )


def is_unreachable(error: StoreError) -> bool:
    """Whether a database did not answer, and may do so later. A file is there or not."""
    try:
        from moot.store.postgres import connect
    except ModuleNotFoundError:
        return False
    return connect.is_unreachable(error)


async def when_reachable(settings: Settings, step: Callable[[], Awaitable[T]]) -> T:
    """Run a step of starting up, again from its beginning as long as the database cannot be reached.

    Processes are started in any order. Each outage is logged once. Raises StoreError where waiting does not
    help: the log is a file, or the database refuses us (a wrong password, a newer schema).
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
        log.info("the database can be reached now")
    return result


def make_bus_and_state(settings: Settings) -> tuple[Bus, EphemeralStore]:
    """The bus between processes and the state that they share. Raises Invalid."""
    address = settings.cluster.bus
    if address is None:
        return MemoryBus(), MemoryEphemeralStore()
    try:
        from moot.cluster.redis_bus import RedisBus
        from moot.cluster.redis_client import RedisServer
        from moot.cluster.redis_ephemeral_store import RedisEphemeralStore
    except ModuleNotFoundError:
        raise _missing_libraries("MOOT_BUS=redis://…") from None
    server = RedisServer(address.reveal())
    return RedisBus(server), RedisEphemeralStore(server)


def make_placement(settings: Settings, store: Store, make_runner: MakeRunner, *, run: bool) -> Placement:
    """Without `run`, debates are left to other processes."""
    address = settings.cluster.store
    if address is None or isinstance(store, MemoryStore | SqliteStore):
        return InProcessPlacement(
            store, make_runner, None if isinstance(store, MemoryStore) else settings.data
        )
    try:
        from moot.cluster.queue_placement import QueuePlacement
    except ModuleNotFoundError:
        raise _missing_libraries("MOOT_STORE=postgresql://…") from None
    return QueuePlacement(address.reveal(), store, make_runner, settings.cluster, run=run)


def _missing_libraries(what: str) -> Invalid:
    return Invalid(f"{what} needs further libraries. Install them with: {install_command('cluster')}")
