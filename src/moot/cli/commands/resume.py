"""`moot resume ID`: go on with a debate that was paused, failed or left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.cli.options import Id, Json, Output, Plain, Reasoning, Server, Step

if TYPE_CHECKING:
    from moot.cli.debate_source import Hall


def resume(
    id: Id = "last",
    /,
    *,
    step: Step = None,
    reasoning: Reasoning = True,
    output: Output = None,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
) -> int:
    """Go on with a debate that was paused, failed or left behind by a process that died."""
    from moot.cli import export_formats
    from moot.cli.follow import run

    if output is not None:
        export_formats.kind_of(output)

    async def go_on() -> int:
        from moot.cli import follow
        from moot.cli.debate_source import ending, hall
        from moot.cli.find_debate import find
        from moot.cli.render import screens
        from moot.cli.visible_records import people

        async with hall(server) as place:
            debate_id = await find(place, id)
            before = await place.state(debate_id)
            # Who resumes a server's debate in which people sit is one of them, and is asked here.
            elsewhere = await place.is_running(debate_id) and not (server and people(before))
            hint = screens.WATCHING if elsewhere else screens.PLAYING
            advice = ending(server)
            with screens.screen(
                json=json, plain=plain, reasoning=reasoning, hint=hint, ending=advice
            ) as view:
                await wake(place, debate_id, step)
                if elsewhere:
                    code = await follow.watch(place, debate_id, view, server=server)
                else:
                    code = await follow.perform(place, debate_id, view, begun=before, server=server)
            if output is not None:
                await export_formats.write(place, debate_id, output)
            return code

    return run(go_on())


async def wake(hall: Hall, debate_id: str, step: Step = None) -> None:
    """Ask for whatever makes this debate go on. Raises Refused where nothing can."""
    from moot.core.errors import Refused
    from moot.rules.commands import JudgeNow, Resume, Retry, Start

    debate = await hall.state(debate_id)
    if debate.final and not debate.being_judged:
        raise Refused("The debate is over.", debate.status)
    match debate.status:
        case "created":
            await hall.ask(debate_id, Start())
        case "paused":
            await hall.ask(debate_id, Resume(step))
        case "error" if debate.failure == "judge_failed":
            await hall.ask(debate_id, JudgeNow())
        case "error":
            await hall.ask(debate_id, Retry())
        case _:
            hall.run(debate_id)
