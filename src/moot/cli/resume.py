"""`moot resume ID`: go on with a debate that was paused, failed or left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.cli.options import Id, Json, Output, Plain, Reasoning

if TYPE_CHECKING:
    from moot.arena import Arena


def resume(
    id: Id = "last",
    /,
    *,
    reasoning: Reasoning = True,
    output: Output = None,
    plain: Plain = False,
    json: Json = False,
) -> int:
    """Go on with a debate that was paused, failed or left behind by a process that died."""
    from moot.cli import exporting
    from moot.cli.playing import run

    if output is not None:
        exporting.kind_of(output)

    async def go_on() -> int:
        from moot.arena import Arena
        from moot.cli import playing
        from moot.cli.finding import find

        async with Arena.open() as arena:
            debate_id = await find(arena, id)
            elsewhere = await arena.is_running(debate_id)
            hint = playing.WATCHING if elsewhere else playing.PLAYING
            with playing.screen(json=json, plain=plain, reasoning=reasoning, hint=hint) as view:
                before = await arena.head(debate_id)
                await wake(arena, debate_id)
                if elsewhere:
                    code = await playing.watch(arena, debate_id, view)
                else:
                    code = await playing.perform(arena, debate_id, view, after=before.version)
            if output is not None:
                exporting.write(await arena.state(debate_id), output, reasoning=False)
            return code

    return run(go_on())


async def wake(arena: Arena, debate_id: str) -> None:
    """Ask for whatever makes this debate go on. Raises Refused where nothing can."""
    from moot.commands import JudgeNow, Resume, Retry, Start
    from moot.errors import Refused

    debate = await arena.state(debate_id)
    if debate.final:
        raise Refused("The debate is over.", debate.status)
    match debate.status:
        case "created":
            await arena.ask(debate_id, Start())
        case "paused":
            await arena.ask(debate_id, Resume())
        case "error" if debate.failure == "judge_failed":
            await arena.ask(debate_id, JudgeNow())
        case "error":
            await arena.ask(debate_id, Retry())
        case _:
            arena.run(debate_id)
