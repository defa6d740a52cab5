"""`moot delete ID`: remove a debate and all that belongs to it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Server

if TYPE_CHECKING:
    from moot.store.contract import Head


def delete(
    id: Annotated[str, Parameter(help="The debate: its id or a unique piece of it.")],
    /,
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"], negative="", help="Do not ask.")] = False,
    server: Server = None,
) -> int:
    """Remove a debate and all that belongs to it. Asks first on a terminal."""
    from moot.cli.follow import run

    async def remove() -> int:
        from moot.cli.debate_source import hall
        from moot.cli.find_debate import find
        from moot.cli.render.output import Page

        async with hall(server) as place:
            head = await place.head(await find(place, id))
            if not yes and not _agreed(head):
                Page.err().line("Nothing was deleted.")
                return 1
            await place.delete(head.id)
        Page.out().line(f"Deleted {head.id}.")
        return 0

    return run(remove())


def _agreed(head: Head) -> bool:
    from moot.cli.render.output import Page
    from moot.views.safe_text import line

    page = Page.err()
    if not sys.stdin.isatty():
        page.line("Nobody can be asked here; --yes deletes without asking.")
        return False
    page.line(f"Delete {head.id}, “{line(head.motion)}”? It cannot be brought back. [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
