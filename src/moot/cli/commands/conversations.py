"""`moot conversations`: what was imported from elsewhere, to read."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from moot.cli.help_examples import EXAMPLES, example_lines
from moot.cli.options import Server
from moot.cli.render.help import HelpColumns

app = App(
    name="conversations",
    help="Conversations that were imported: they are read here, and never changed.",
    help_format="plaintext",
    help_formatter=HelpColumns(example_lines(EXAMPLES.get("conversations", ()))),
)


@app.default
def every(
    *,
    search: Annotated[str, Parameter(help="Only those whose source has this in it.")] = "",
    limit: Annotated[int, Parameter(help="How many at most. [default: 20]")] = 20,
    offset: Annotated[int, Parameter(help="How many to leave out first.")] = 0,
    server: Server = None,
) -> int:
    """Those that came last first."""
    from moot.cli.conversation_source import open_conversations
    from moot.cli.follow import run
    from moot.cli.render.output import Terminal, add_row, make_table

    async def look() -> int:
        from moot.core.errors import Invalid

        if limit < 1 or offset < 0:
            raise Invalid("--limit must be 1 or more, --offset 0 or more.")
        async with open_conversations(server) as conversations:
            shelf = await conversations.imported_page(search=search, limit=limit, offset=offset)
        terminal = Terminal.out()
        if not shelf.conversations:
            terminal.line("No conversation fits that." if search else "Nothing was imported yet.")
            return 0
        made = make_table("id", "last", "events", "from")
        for one in shelf.conversations:
            add_row(made, (one.id, "bold"), (_when(one.last_ts), "dim"), f"{one.events:,}", one.source)
        terminal.table(made)
        end = offset + len(shelf.conversations)
        if end < shelf.total:
            terminal.line((f"{end} of {shelf.total}; the next ones: --offset {end}", "dim"))
        return 0

    return run(look())


@app.command
def show(
    id: Annotated[str, Parameter(help="The conversation's id, or a debate's.")],
    /,
    *,
    reasoning: Annotated[bool, Parameter(help="Show what was thought, dimmed.")] = True,
    json: Annotated[bool, Parameter(negative="", help="One event a line, with unified segments.")] = False,
    server: Server = None,
) -> int:
    """A conversation from its beginning."""
    from moot.cli.follow import run

    async def look() -> int:
        from moot.cli.conversation_source import open_conversations
        from moot.cli.render.conversation_text import print_conversation

        async with open_conversations(server) as conversations:
            await print_conversation(conversations.events(id), reasoning=reasoning, json=json)
        return 0

    return run(look())


def _when(ts: int) -> str:
    """Whatever stands in an old table may be no time at all."""
    from datetime import UTC, datetime

    try:
        return f"{datetime.fromtimestamp(ts / 1000, UTC):%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError, OSError):
        return "unknown"
