"""`moot watch ID`: follow a debate that runs here, in another process, or on a server."""

from __future__ import annotations

from moot.cli.options import Id, Json, Plain, Reasoning, Server


def watch(
    id: Id = "last",
    /,
    *,
    reasoning: Reasoning = True,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
) -> int:
    """Follow a running debate from its start, wherever it runs. Ctrl-C looks away; the debate goes on."""
    from moot.cli.playing import run

    async def follow() -> int:
        from moot.cli import playing
        from moot.cli.finding import find
        from moot.cli.hall import ending, hall

        async with hall(server) as place:
            debate_id = await find(place, id)
            with playing.screen(json=json, plain=plain, reasoning=reasoning, hint=playing.WATCHING) as view:
                return await playing.watch(place, debate_id, view, ending=ending(server))

    return run(follow())
