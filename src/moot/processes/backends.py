"""The premises: which log, bus, commons and placement the settings name.

On one machine all of it is this process and a file. Machines that share a PostgreSQL, and a Redis, hold one
arena together. The libraries for that are read only where they are needed.
"""

from __future__ import annotations

from moot.core.errors import Invalid, StoreError
from moot.core.shared_state import SharedState
from moot.engine.bus import Bus, MemoryBus
from moot.engine.placement import MakeRunner, Placement
from moot.engine.placement_inprocess import InProcessPlacement
from moot.engine.shared_state_memory import MemorySharedState
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
        raise _missing_libraries("MOOT_STORE=postgresql://…") from None
    return await PostgresStore.open(
        address.reveal(), pool=settings.cluster.pool, statement_seconds=settings.cluster.statement_seconds
    )


def is_unreachable(error: StoreError) -> bool:
    """Whether it was a database that may come: a file is there, or it is not."""
    try:
        from moot.store.postgres import connect
    except ModuleNotFoundError:
        return False
    return connect.is_unreachable(error)


def make_bus_and_state(settings: Settings) -> tuple[Bus, SharedState]:
    """How processes hear of each other, and what they know together. Raises Invalid."""
    address = settings.cluster.bus
    if address is None:
        return MemoryBus(), MemorySharedState()
    try:
        from moot.cluster.redis_bus import RedisBus
        from moot.cluster.redis_server import RedisServer
        from moot.cluster.redis_shared_state import RedisSharedState
    except ModuleNotFoundError:
        raise _missing_libraries("MOOT_BUS=redis://…") from None
    reach = RedisServer(address.reveal())
    return RedisBus(reach), RedisSharedState(reach)


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
    return Invalid(f"For {what} some libraries are lacking; `pip install 'moot[cluster]'` brings them.")
