"""`moot watch ID`: follow a debate that runs here, in another process, or on a server."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from moot.cli.options import Id, Json, Plain, Reasoning, Server


def watch(
    id: Id = "last",
    /,
    *,
    sit: Annotated[
        str | None,
        Parameter(
            name="--as",
            metavar="SEAT",
            help="Your seat, or your place as a judge: you are asked when it is your turn, and read nobody's"
            " mind.",
        ),
    ] = None,
    reasoning: Reasoning = True,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
) -> int:
    """Follow a running debate from its start, wherever it runs. Ctrl-C looks away; the debate goes on."""
    from moot.cli.follow import run

    async def follow() -> int:
        from moot.cli import follow as playing
        from moot.cli.debate_source import open_source, server_option
        from moot.cli.find_debate import find_debate
        from moot.cli.render import screens
        from moot.cli.visible_records import person_at

        async with open_source(server) as source:
            debate_id = await find_debate(source, id)
            who = person_at(await source.state(debate_id), sit) if sit else None
            shown = screens.open_screen(
                json=json,
                plain=plain,
                reasoning=reasoning,
                hint=screens.HINT_WATCHING,
                ending=server_option(server),
            )
            with shown as view:
                return await playing.watch(source, debate_id, view, people_here=who, server=server)

    return run(follow())
