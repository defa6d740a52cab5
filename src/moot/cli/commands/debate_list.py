"""`moot list`: the debates that are here; `moot delete ID`: remove one."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, get_args

from cyclopts import Parameter

from moot.cli.error_messages import status_text
from moot.cli.options import Limit, Offset, Server, check_page
from moot.cli.render.output import StyledText, Terminal, add_row, make_table
from moot.cli.run_command import run, run_on_debate
from moot.core.statuses import Status
from moot.core.terms import Money
from moot.views.text import ago, clean_json, single_line

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource
    from moot.store.contract import DebateHead, DebatePage
    from moot.views.summary import StoredSummary

STYLES = {"completed": "", "error": "red", "paused": "yellow", "aborted": "dim", "created": "dim"}
RUNNING_STYLE = "green"
WIDE_TERMINAL = 120


def listing(
    *,
    status: Annotated[
        Status | None,
        Parameter(help=f"Only those in this state: {', '.join(get_args(Status))}.", show_choices=False),
    ] = None,
    search: Annotated[str, Parameter(help="Only those whose motion contains this.")] = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: Annotated[bool, Parameter(negative="", help="One debate a line, in JSON.")] = False,
    server: Server = None,
) -> int:
    """List the debates, newest first."""
    check_page(limit, offset)

    async def look() -> DebatePage:
        from moot.cli.debate_source import open_source

        async with open_source(server) as source:
            return await source.list(
                statuses=(status,) if status else (), search=search, limit=limit, offset=offset
            )

    page = run(look())
    if json:
        _print_json_lines(page)
    else:
        _print_table(page, offset, filtered=bool(status or search))
    return 0


def _print_table(page: DebatePage, offset: int, *, filtered: bool) -> None:
    terminal = Terminal.out()
    if not page.heads:
        terminal.line(
            "No debate fits that."
            if filtered
            else 'No debates here yet. Begin with: moot "This house would ban homework"'
        )
        return
    table = make_table("id", "when", "state", "models", "motion", "result", "cost")
    for column in table.columns:
        column.no_wrap = True
    if terminal.rich:
        table.expand = True
        for column in table.columns[3:6]:
            column.ratio, column.overflow = 1, "ellipsis"
    for head in page.heads:
        add_row(table, *_cells(head, terminal))
    terminal.table(table)
    terminal.next_page(offset + len(page.heads), page.total)


def _cells(head: DebateHead, terminal: Terminal) -> tuple[StyledText, ...]:
    import msgspec

    from moot.cli.lookup import short_id
    from moot.views.costs import dollars
    from moot.views.headlines import summary_headline, summary_models
    from moot.views.summary import StoredSummary

    summary = msgspec.json.decode(head.summary, type=StoredSummary)
    age = (datetime.now(UTC) - head.created_at).total_seconds()
    narrow = terminal.rich and terminal.console.width < WIDE_TERMINAL
    return (
        (short_id(head.id) if narrow else head.id, "bold"),
        (ago(age), "dim"),
        (_state(summary), STYLES.get(head.status, RUNNING_STYLE)),
        summary_models(summary),
        head.motion,
        summary_headline(summary),
        "unknown" if summary.unpriced else dollars(Money(summary.cost)),
    )


def _state(summary: StoredSummary) -> str:
    if summary.status in ("debating", "paused", "awaiting_arguments") and summary.round:
        return f"{status_text(summary.status)} {summary.round}/{summary.rounds}"
    return status_text(summary.status)


def _print_json_lines(page: DebatePage) -> None:
    import msgspec

    for head in page.heads:
        row = {
            **msgspec.json.decode(head.summary),
            "createdAt": head.created_at.isoformat(),
            "updatedAt": head.updated_at.isoformat(),
        }
        sys.stdout.write(clean_json(msgspec.json.encode(row).decode()) + "\n")


def delete(
    id: Annotated[str, Parameter(help="The debate: its id or a unique piece of it.")],
    /,
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"], negative="", help="Do not ask.")] = False,
    server: Server = None,
) -> int:
    """Delete a debate and all its data. Asks first on a terminal."""

    async def remove(source: DebateSource, debate_id: str) -> int:
        head = await source.head(debate_id)
        if not yes and not _agreed(head):
            Terminal.err().line("Nothing was deleted.")
            return 1
        await source.delete(head.id)
        Terminal.out().line(f"Deleted {head.id}.")
        return 0

    return run_on_debate(server, id, remove)


def _agreed(head: DebateHead) -> bool:
    terminal = Terminal.err()
    if not sys.stdin.isatty():
        terminal.line("Not interactive; pass --yes to delete without being asked.")
        return False
    terminal.line(f"Delete {head.id}, “{single_line(head.motion)}”? It cannot be brought back. [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
