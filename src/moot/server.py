"""The server: an arena behind a port, from the first request to the last.

To stop is part of its work. On the first signal it accepts nobody any more, ends the streams (viewers come
back to the next process and lose nothing), answers what is being asked, parks the turns and leaves with 0. A
second signal ends it at once: the log bears that, as it bears a power cut.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from types import FrameType

from msgspec.structs import replace

from moot.arena import Arena
from moot.errors import Invalid
from moot.housekeeping import keep_house
from moot.settings import Settings
from moot.store.sqlite import SqliteStore
from moot.web import logs
from moot.web.app import make_app
from moot.web.listening import Ready, Server, bind, url_of
from moot.wire.auth import Keeper
from moot.wire.origins import is_loopback

LAST_SECONDS = 9.0

log = logging.getLogger(__name__)


async def serve(
    settings: Settings, host: str, port: int, *, insecure: bool = False, ready: Ready | None = None
) -> None:
    """Serve until a signal comes. Raises Invalid where nobody but us should be served without a token."""
    logs.heed(asyncio.get_running_loop())
    leaving = Leaving()
    with ExitStack() as held:
        listeners = [held.enter_context(listener) for listener in bind(host, port)]
        url = url_of(host, listeners[0].getsockname()[1])
        store = await _open(settings, exposed=not (insecure or is_loopback(host)), host=host)
        held.enter_context(leaving.heeded())
        async with Arena.open(_named(settings, host), store=store, recover=True) as arena, _kept(arena):
            server = Server(
                make_app(arena),
                arena.settings.service,
                end_streams=arena.hub.close,
                ready=lambda: ready(url) if ready else None,
            )
            leaving.tell(server)
            await server.serve(listeners)


async def _open(settings: Settings, *, exposed: bool, host: str) -> SqliteStore:
    store = SqliteStore.open(settings.database)
    if exposed and not await Keeper(store, settings.service.token).enabled():
        await store.close()
        raise Invalid(
            f"{host} can be reached from other machines, and then a token is needed: set MOOT_TOKEN, or make "
            "one with `moot token new NAME`. With --insecure whoever reaches it may do everything."
        )
    return store


@asynccontextmanager
async def _kept(arena: Arena) -> AsyncGenerator[None, None]:
    """What has ended long ago is deleted meanwhile."""
    keeping = asyncio.create_task(keep_house(arena), name="housekeeping")
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def _named(settings: Settings, host: str) -> Settings:
    """The name under which we listen is one of ours."""
    return replace(settings, service=replace(settings.service, hosts=(*settings.service.hosts, host)))


class Leaving:
    """Heeds the signals that ask to leave, until all is put away."""

    def __init__(self) -> None:
        self._server: Server | None = None
        self._asked = False

    def tell(self, server: Server) -> None:
        self._server = server
        server.should_exit = self._asked

    @contextmanager
    def heeded(self) -> Generator[None, None, None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ask(self, number: int, _: FrameType | None) -> None:
        if self._asked:
            os._exit(128 + number)
        self._asked = True
        if self._server is not None:
            self._server.should_exit = True
        # A thread, because what hangs may be the event loop.
        last = threading.Timer(LAST_SECONDS, _give_up)
        last.daemon = True
        last.start()


def _give_up() -> None:
    log.critical("could not stop in time; what was acknowledged is in the log")
    os._exit(1)
