"""A worker: it runs debates that others ask for, and answers nobody.

Where its debates come from and who takes them over is the placement's affair. On the first signal it takes no
more, parks the turns, leaves the debates to the other workers and goes with 0; a second signal ends it at
once. With a port it tells whoever looks after processes that it lives, and gives the operator its figures.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from moot.arena import Arena
from moot.errors import Invalid
from moot.leaving import Leaving
from moot.settings import Settings
from moot.web import logs
from moot.web.listening import Ready, Server, bind, url_of

LAST_SECONDS = 9.0


async def work(
    settings: Settings, *, host: str = "127.0.0.1", port: int | None = None, ready: Ready | None = None
) -> None:
    """Work until a signal comes. Raises Invalid where the log is a file, which only this machine has."""
    if settings.cluster.store is None:
        raise Invalid(
            "A worker needs a log that machines share: set MOOT_STORE=postgresql://…. On a machine of its "
            "own, `moot serve` runs its debates itself."
        )
    logs.heed(asyncio.get_running_loop())
    leaving = Leaving(LAST_SECONDS)
    with ExitStack() as held:
        listeners = [] if port is None else [held.enter_context(at) for at in bind(host, port)]
        held.enter_context(leaving.heeded())
        async with Arena.open(settings, recover=True) as arena:
            arena.appear("worker", lambda: 0)
            if not listeners:
                if ready is not None:
                    ready("")
                await _asked(leaving)
                return
            url = url_of(host, listeners[0].getsockname()[1])
            server = _server(arena, url, ready)
            leaving.tell(server.leave)
            await server.serve(listeners)


async def _asked(leaving: Leaving) -> None:
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    # A signal may come while the loop waits for something: it has to be woken up.
    leaving.tell(lambda: loop.call_soon_threadsafe(asked.set) and None)
    await asked.wait()


def _server(arena: Arena, url: str, ready: Ready | None) -> Server:
    from moot.web.figures import make_app

    return Server(
        make_app(arena),
        arena.settings.service,
        end_streams=arena.hub.close,
        ready=lambda: ready(url) if ready else None,
    )
