"""`moot watch ID`: follow a debate that runs here or in another process."""

from __future__ import annotations

from moot.cli.options import Id, Json, Plain, Reasoning


def watch(
    id: Id = "last",
    /,
    *,
    reasoning: Reasoning = True,
    plain: Plain = False,
    json: Json = False,
) -> int:
    """Follow a running debate from its start, wherever it runs. Ctrl-C looks away; the debate goes on."""
    from moot.cli.playing import run

    async def follow() -> int:
        from moot.arena import Arena
        from moot.cli import playing
        from moot.cli.finding import find

        async with Arena.open() as arena:
            debate_id = await find(arena, id)
            with playing.screen(json=json, plain=plain, reasoning=reasoning, hint=playing.WATCHING) as view:
                return await playing.watch(arena, debate_id, view)

    return run(follow())
