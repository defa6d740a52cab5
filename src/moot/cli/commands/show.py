"""`moot show ID`: a debate in the terminal, as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from moot.cli.options import Id, Json, Plain, Reasoning, Server


def show(
    id: Id = "last",
    /,
    *,
    reasoning: Reasoning = True,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
    svg: Annotated[
        Path | None, Parameter(help="Draw the terminal into an SVG file instead.", show=False)
    ] = None,
    dark: Annotated[bool, Parameter(negative="", show=False)] = False,
    columns: Annotated[int, Parameter(show=False)] = 88,
    cut: Annotated[int, Parameter(show=False)] = 0,
) -> int:
    """A debate in the terminal, as it stands."""
    from moot.cli.follow import run

    async def look() -> int:
        from moot.cli.debate_source import open_source, server_option
        from moot.cli.find_debate import find_debate
        from moot.cli.follow import log_of, show_all
        from moot.cli.render import svg as picture
        from moot.cli.render.screens import open_screen

        async with open_source(server) as source:
            debate_id = await find_debate(source, id)
            records = await log_of(source, debate_id)
        if svg is not None:
            picture.draw(records, svg, reasoning=reasoning, dark=dark, columns=columns, cut=cut)
            return 0
        with open_screen(
            json=json, plain=plain, reasoning=reasoning, moving=False, ending=server_option(server)
        ) as view:
            show_all(records, view)
        return 0

    return run(look())
