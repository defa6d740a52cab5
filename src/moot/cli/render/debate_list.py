"""How a list of debates looks."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import msgspec

from moot.cli.error_messages import status_text
from moot.cli.find_debate import short_id
from moot.cli.render.output import StyledText, Terminal, add_row, make_table
from moot.core.terms import Money
from moot.store.contract import DebateHead
from moot.store.contract import DebatePage as Heads
from moot.views.costs import dollars
from moot.views.summary import StoredSummary
from moot.views.text import ago, clean_json

STYLES = {"completed": "", "error": "red", "paused": "yellow", "aborted": "dim", "created": "dim"}
RUNNING = "green"


def print_table(heads: Heads, offset: int, *, filtered: bool) -> None:
    terminal = Terminal.out()
    if not heads.heads:
        terminal.line(
            "No debate fits that." if filtered else 'No debates here yet. Begin with: moot "A motion"'
        )
        return
    made = make_table("id", "when", "state", "motion", "result", "cost")
    for column in made.columns:
        column.no_wrap = True
    if terminal.rich:
        made.expand = True
        made.columns[3].ratio, made.columns[3].overflow = 1, "ellipsis"
    for head in heads.heads:
        add_row(made, *_cells(head, terminal))
    terminal.table(made)
    last = offset + len(heads.heads)
    if last < heads.total:
        terminal.line((f"{last} of {heads.total}; the next ones: --offset {last}", "dim"))


def _cells(head: DebateHead, page: Terminal) -> tuple[StyledText, ...]:
    summary = msgspec.json.decode(head.summary, type=StoredSummary)
    age = (datetime.now(UTC) - head.created_at).total_seconds()
    name = short_id(head.id) if page.rich and page.console.width < 120 else head.id
    return (
        (name, "bold"),
        (ago(age), "dim"),
        (_state(summary), STYLES.get(head.status, RUNNING)),
        head.motion,
        _result(summary),
        "unknown" if summary.unpriced else dollars(Money(summary.cost)),
    )


def _state(summary: StoredSummary) -> str:
    if summary.status in ("debating", "paused", "awaiting_arguments") and summary.round:
        return f"{status_text(summary.status)} {summary.round}/{summary.rounds}"
    return status_text(summary.status)


def _result(summary: StoredSummary) -> str:
    if summary.winner:
        return f"{summary.winner} wins"
    return {"too-close": "too close to call", "draw": "a draw"}.get(summary.outcome, "")


def print_json_lines(heads: Heads) -> None:
    for head in heads.heads:
        whole = {
            **msgspec.json.decode(head.summary),
            "createdAt": head.created_at.isoformat(),
            "updatedAt": head.updated_at.isoformat(),
        }
        sys.stdout.write(clean_json(msgspec.json.encode(whole).decode()) + "\n")
