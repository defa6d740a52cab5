"""`moot list`: the debates that are here."""

from __future__ import annotations

from typing import Annotated, get_args

from cyclopts import Parameter

from moot.cli.options import Server
from moot.core.terms import Status


def listing(
    *,
    status: Annotated[
        Status | None,
        Parameter(help=f"Only those in this state: {', '.join(get_args(Status))}.", show_choices=False),
    ] = None,
    search: Annotated[str, Parameter(help="Only those whose motion contains this.")] = "",
    limit: Annotated[int, Parameter(help="How many at most. [default: 20]")] = 20,
    offset: Annotated[int, Parameter(help="How many to leave out first.")] = 0,
    json: Annotated[bool, Parameter(negative="", help="One debate a line, in JSON.")] = False,
    server: Server = None,
) -> int:
    """The debates that are here, newest first."""
    from moot.cli.follow import run

    async def look() -> int:
        from moot.cli.debate_source import open_source
        from moot.cli.render import debate_list
        from moot.core.errors import Invalid

        if limit < 1 or offset < 0:
            raise Invalid("--limit must be 1 or more, --offset 0 or more.")
        async with open_source(server) as source:
            page = await source.list(
                statuses=(status,) if status else (), search=search, limit=limit, offset=offset
            )
        if json:
            debate_list.print_json_lines(page)
        else:
            debate_list.print_table(page, offset, filtered=bool(status or search))
        return 0

    return run(look())
