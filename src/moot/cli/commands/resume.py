"""`moot resume ID`: go on with a debate that was paused, failed or left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.cli.options import Id, Json, Output, Plain, Reasoning, Server, Step

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource


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
        export_formats.format_of_file(output)

    async def go_on() -> int:
        from moot.cli import follow
        from moot.cli.debate_source import open_source, server_option
        from moot.cli.find_debate import find_debate
        from moot.cli.render import screens
        from moot.cli.visible_records import all_people

        async with open_source(server) as source:
            debate_id = await find_debate(source, id)
            before = await source.state(debate_id)
            # Who resumes a server's debate in which people sit is one of them, and is asked here.
            elsewhere = await source.is_running(debate_id) and not (server and all_people(before))
            hint = screens.HINT_WATCHING if elsewhere else screens.HINT_PLAYING
            advice = server_option(server)
            with screens.open_screen(
                json=json, plain=plain, reasoning=reasoning, hint=hint, ending=advice
            ) as view:
                await continue_debate(source, debate_id, step)
                if elsewhere:
                    code = await follow.watch(source, debate_id, view, server=server)
                else:
                    code = await follow.show_and_run(source, debate_id, view, begun=before, server=server)
            if output is not None:
                await export_formats.write(source, debate_id, output)
            return code

    return run(go_on())


async def continue_debate(source: DebateSource, debate_id: str, step: Step = None) -> None:
    """Ask for whatever makes this debate go on. Raises Refused where nothing can."""
    from moot.core.errors import Refused
    from moot.rules.commands import JudgeNow, Resume, Retry, Start

    debate = await source.state(debate_id)
    if debate.final and not debate.being_judged:
        raise Refused("The debate is over.", debate.status)
    match debate.status:
        case "created":
            await source.ask(debate_id, Start())
        case "paused":
            await source.ask(debate_id, Resume(step))
        case "error" if debate.failure == "judge_failed":
            await source.ask(debate_id, JudgeNow())
        case "error":
            await source.ask(debate_id, Retry())
        case _:
            source.run(debate_id)
