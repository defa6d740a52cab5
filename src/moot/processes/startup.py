"""How a server or worker starts: it waits for its database, other machines need a token, and garbage is
collected less often.
"""

from __future__ import annotations

import gc
from contextlib import AsyncExitStack
from functools import partial

from moot.api.auth import Authenticator
from moot.api.origins import is_loopback
from moot.core.errors import Invalid
from moot.engine.arena import Arena
from moot.processes.backends import open_store, when_reachable
from moot.settings import Settings
from moot.store.contract import Store

GC_THRESHOLDS = (20_000, 20, 50)


async def open_arena(
    settings: Settings, held: AsyncExitStack, objection: str = "", *, run: bool = True
) -> Arena:
    """Open an arena that is closed with `held`. A database that cannot be reached is waited for.

    Raises StoreError where waiting does not help, and Invalid with the objection, if there is one and no
    token exists.
    """
    store = await when_reachable(settings, partial(_open_checked, settings, objection))
    tune_garbage_collection()
    arena = await held.enter_async_context(Arena.open(settings, store=store, recover=run, run=run, wait=True))
    # The bus connects when there is something to send. A Redis that cannot be used is logged now instead.
    await arena.shared_state.get("health")
    return arena


def tune_garbage_collection() -> None:
    """Leave out of every collection what was loaded at the start, and collect less often.

    With a thousand viewers a collection takes 100 ms, in which all of them wait; states, events and records
    are no garbage for it to find, since they have no cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def exposure_problem(host: str, otherwise: str) -> str:
    """The message against listening on this host while no token exists; empty for a loopback address."""
    if is_loopback(host):
        return ""
    return (
        f"{host} can be reached from other machines, and then a token is needed: set MOOT_TOKEN, or make "
        f"one with `moot token new NAME`. With --insecure {otherwise}."
    )


async def _open_checked(settings: Settings, objection: str) -> Store:
    store = await open_store(settings)
    try:
        if objection and not await Authenticator(store, settings.service.token).needs_token():
            raise Invalid(objection)
    except BaseException:
        await store.close()
        raise
    return store
