"""A worker: it runs debates that others ask for, and answers nobody.

Where its debates come from and who takes them over is the placement's affair. On the first signal it takes no
more, parks the turns, leaves the debates to the other workers and goes with 0; a second signal ends it at
once. With a port it tells whoever looks after processes that it lives, and gives the operator its figures.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from moot.core.errors import Invalid
from moot.engine.arena import Arena
from moot.processes.memory_trim import trimmed
from moot.processes.shutdown import Leaving
from moot.processes.startup import exposure, open_arena
from moot.settings import Settings
from moot.web import logging_setup
from moot.web.server.listener import Ready, Server, bind, url_of

LAST_SECONDS = 9.0


async def work(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    insecure: bool = False,
    ready: Ready | None = None,
) -> None:
    """Work until a signal comes.

    Raises Invalid where the log is a file, which only this machine has, or where strangers could read its
    figures without a token.
    """
    if settings.cluster.store is None:
        raise Invalid(
            "A worker needs a log that machines share: set MOOT_STORE=postgresql://…. On a machine of its "
            "own, `moot serve` runs its debates itself."
        )
    logging_setup.heed(asyncio.get_running_loop())
    leaving = Leaving(LAST_SECONDS)
    async with AsyncExitStack() as held:
        listeners = [] if port is None else [held.enter_context(at) for at in bind(host, port)]
        held.enter_context(leaving.heeded())
        shown = port is not None and not insecure
        objection = exposure(host, "whoever reaches it may read its figures") if shown else ""
        arena = await leaving.unless_asked(open_arena(settings, held, objection))
        if arena is None:
            return
        await held.enter_async_context(trimmed())
        arena.appear("worker", lambda: 0)
        if not listeners:
            if ready is not None:
                ready("")
            await leaving.asked()
            return
        url = url_of(host, listeners[0].getsockname()[1])
        server = _server(arena, url, ready)
        leaving.tell(server.leave)
        await server.serve(listeners)


def _server(arena: Arena, url: str, ready: Ready | None) -> Server:
    from moot.processes.worker_app import make_app

    return Server(
        make_app(arena),
        arena.settings.service,
        end_streams=arena.hub.close,
        ready=lambda: ready(url) if ready else None,
    )
