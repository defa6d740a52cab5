"""`moot delete ID`: remove a debate and all that belongs to it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Server

if TYPE_CHECKING:
    from moot.store.contract import DebateHead


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
        from moot.cli.debate_source import open_source
        from moot.cli.find_debate import find_debate
        from moot.cli.render.output import Terminal

        async with open_source(server) as source:
            head = await source.head(await find_debate(source, id))
            if not yes and not _agreed(head):
                Terminal.err().line("Nothing was deleted.")
                return 1
            await source.delete(head.id)
        Terminal.out().line(f"Deleted {head.id}.")
        return 0

    return run(remove())


def _agreed(head: DebateHead) -> bool:
    from moot.cli.render.output import Terminal
    from moot.views.text import single_line

    terminal = Terminal.err()
    if not sys.stdin.isatty():
        terminal.line("Nobody can be asked here; --yes deletes without asking.")
        return False
    terminal.line(f"Delete {head.id}, “{single_line(head.motion)}”? It cannot be brought back. [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
