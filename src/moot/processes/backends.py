"""The premises: which log, bus, commons and placement the settings name.

On one machine all of it is this process and a file. Machines that share a PostgreSQL, and a Redis, hold one
arena together. The libraries for that are read only where they are needed.
"""

from __future__ import annotations

from moot.core.errors import Invalid, StoreError
from moot.core.shared_state import Commons
from moot.engine.bus import Bus, MemoryBus
from moot.engine.placement import MakeRunner, Placement
from moot.engine.placement_inprocess import InProcess
from moot.engine.shared_state_memory import MemoryCommons
from moot.settings import Settings
from moot.store.contract import Store
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore


async def open_store(settings: Settings) -> Store:
    """Makes or migrates it first. Raises StoreError or NewerSchema."""
    address = settings.cluster.store
    if address is None:
        return SqliteStore.open(settings.database)
    try:
        from moot.store.postgres.store import PostgresStore
    except ModuleNotFoundError:
        raise _lacking("MOOT_STORE=postgresql://…") from None
    return await PostgresStore.open(
        address.reveal(), pool=settings.cluster.pool, statement_seconds=settings.cluster.statement_seconds
    )


def is_away(error: StoreError) -> bool:
    """Whether it was a database that may come: a file is there, or it is not."""
    try:
        from moot.store.postgres import connect
    except ModuleNotFoundError:
        return False
    return connect.is_away(error)


def make_shared(settings: Settings) -> tuple[Bus, Commons]:
    """How processes hear of each other, and what they know together. Raises Invalid."""
    address = settings.cluster.bus
    if address is None:
        return MemoryBus(), MemoryCommons()
    try:
        from moot.cluster.redis_bus import RedisBus
        from moot.cluster.redis_server import Reach
        from moot.cluster.redis_shared_state import RedisCommons
    except ModuleNotFoundError:
        raise _lacking("MOOT_BUS=redis://…") from None
    reach = Reach(address.reveal())
    return RedisBus(reach), RedisCommons(reach)


def make_placement(settings: Settings, store: Store, make_runner: MakeRunner, *, run: bool) -> Placement:
    """Without `run`, debates are left to other processes."""
    address = settings.cluster.store
    if address is None or isinstance(store, MemoryStore | SqliteStore):
        return InProcess(store, make_runner, None if isinstance(store, MemoryStore) else settings.data)
    try:
        from moot.cluster.queue_placement import Queued
    except ModuleNotFoundError:
        raise _lacking("MOOT_STORE=postgresql://…") from None
    return Queued(address.reveal(), store, make_runner, settings.cluster, run=run)


def _lacking(what: str) -> Invalid:
    return Invalid(f"For {what} some libraries are lacking; `pip install 'moot[cluster]'` brings them.")
