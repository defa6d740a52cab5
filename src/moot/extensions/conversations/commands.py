"""`moot conversations`: what was imported from elsewhere, to read."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from moot.cli.options import Limit, Offset, Server, check_page, command_group
from moot.cli.render.output import Terminal, add_row, make_table, shorten
from moot.cli.run_command import run
from moot.views.text import clean_json

if TYPE_CHECKING:
    from moot.extensions.conversations.archive import ConversationPage

app = command_group(
    "conversations", "Conversations that were imported: they are read here, and never changed."
)
STYLES = {"system": "dim", "user": "bold cyan", "assistant": "bold", "tool": "dim"}


@app.default
def list_conversations(
    *,
    search: Annotated[str, Parameter(help="Only those whose source has this in it.")] = "",
    limit: Limit = 20,
    offset: Offset = 0,
    server: Server = None,
) -> int:
    """Those that came last first."""
    check_page(limit, offset)

    async def look() -> ConversationPage:
        from moot.extensions.conversations.sources import open_conversations

        async with open_conversations(server) as source:
            return await source.listed(search=search, limit=limit, offset=offset)

    page, terminal = run(look()), Terminal.out()
    if not page.conversations:
        terminal.line("No conversation fits that." if search else "Nothing was imported yet.")
        return 0
    table = make_table("id", "last", "events", "from")
    for one in page.conversations:
        add_row(table, (one.id, "bold"), (_when(one.last_ts), "dim"), f"{one.events:,}", one.source)
    terminal.table(table)
    terminal.next_page(offset + len(page.conversations), page.total)
    return 0


@app.command
def show(
    id: Annotated[str, Parameter(help="The conversation's id, or a debate's.")],
    /,
    *,
    reasoning: Annotated[bool, Parameter(help="Show what was thought, dimmed.")] = True,
    json: Annotated[bool, Parameter(negative="", help="One event a line, with unified segments.")] = False,
    server: Server = None,
) -> int:
    """Show a conversation from its beginning."""

    async def look() -> int:
        import msgspec

        from moot.extensions.conversations.sources import open_conversations

        terminal = Terminal.out()
        async with open_conversations(server) as source:
            async for event in source.events(id):
                if json:
                    sys.stdout.write(clean_json(msgspec.json.encode(event).decode()) + "\n")
                else:
                    _print_event(terminal, event, reasoning=reasoning)
        return 0

    return run(look())


def _when(ts: int) -> str:
    """What an old table has in place of a time may be none."""
    try:
        return f"{datetime.fromtimestamp(ts / 1000, UTC):%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError, OSError):
        return "unknown"


def _print_event(terminal: Terminal, event: dict[str, Any], *, reasoning: bool) -> None:
    terminal.line((event.get("name") or event["role"], STYLES.get(event["role"], "")))
    for segment in event["segments"]:
        _print_segment(terminal, segment, reasoning=reasoning)
    terminal.blank_line()


def _print_segment(terminal: Terminal, segment: dict[str, Any], *, reasoning: bool) -> None:
    match segment.get("type"):
        case "text":
            terminal.line(str(segment.get("text", "")))
        case "reasoning":
            if reasoning:
                from moot.extensions.conversations.legacy_rows import reasoning_text

                terminal.line((reasoning_text(segment), "dim italic"))
        case "tool_call":
            terminal.line((_short(terminal, f"→ {segment.get('name', '')} ", segment.get("args")), "yellow"))
        case "tool_result":
            terminal.line((_short(terminal, "← ", segment.get("error") or segment.get("output")), "yellow"))
        case "unknown_item":
            label = f"Unknown item: {segment.get('item_type', '')} "
            terminal.line((_short(terminal, label, segment.get("item")), "dim"))
        case other:
            # Of a type that was not known when this was written.
            terminal.line((_short(terminal, f"[{other}] ", segment), "dim"))


def _short(terminal: Terminal, label: str, value: Any) -> str:
    import msgspec

    return shorten(label + msgspec.json.encode(value).decode(), terminal.width)
