"""How a list of debates looks."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import msgspec

from moot.cli.error_messages import words
from moot.cli.find_debate import short
from moot.cli.render.output import Page, Part, row, table
from moot.core.terms import Money
from moot.store.contract import Head
from moot.store.contract import Page as Heads
from moot.views.costs import dollars
from moot.views.durations import ago
from moot.views.safe_text import clean_json
from moot.views.summary import Summary

STYLES = {"completed": "", "error": "red", "paused": "yellow", "aborted": "dim", "created": "dim"}
RUNNING = "green"


def table_of(heads: Heads, offset: int, *, filtered: bool) -> None:
    page = Page.out()
    if not heads.heads:
        page.line("No debate fits that." if filtered else 'No debates here yet. Begin with: moot "A motion"')
        return
    made = table("id", "when", "state", "motion", "result", "cost")
    for column in made.columns:
        column.no_wrap = True
    if page.rich:
        made.expand = True
        made.columns[3].ratio, made.columns[3].overflow = 1, "ellipsis"
    for head in heads.heads:
        row(made, *_cells(head, page))
    page.table(made)
    last = offset + len(heads.heads)
    if last < heads.total:
        page.line((f"{last} of {heads.total}; the next ones: --offset {last}", "dim"))


def _cells(head: Head, page: Page) -> tuple[Part, ...]:
    summary = msgspec.json.decode(head.summary, type=Summary)
    age = (datetime.now(UTC) - head.created_at).total_seconds()
    name = short(head.id) if page.rich and page.console.width < 120 else head.id
    return (
        (name, "bold"),
        (ago(age), "dim"),
        (_state(summary), STYLES.get(head.status, RUNNING)),
        head.motion,
        _result(summary),
        "unknown" if summary.unpriced else dollars(Money(summary.cost)),
    )


def _state(summary: Summary) -> str:
    if summary.status in ("debating", "paused", "awaiting_arguments") and summary.round:
        return f"{words(summary.status)} {summary.round}/{summary.rounds}"
    return words(summary.status)


def _result(summary: Summary) -> str:
    if summary.winner:
        return f"{summary.winner} wins"
    return {"too-close": "too close to call", "draw": "a draw"}.get(summary.outcome, "")


def lines(heads: Heads) -> None:
    for head in heads.heads:
        whole = {
            **msgspec.json.decode(head.summary),
            "createdAt": head.created_at.isoformat(),
            "updatedAt": head.updated_at.isoformat(),
        }
        sys.stdout.write(clean_json(msgspec.json.encode(whole).decode()) + "\n")
