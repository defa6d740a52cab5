"""`moot stats`: who wins, what is debated most, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.error_messages import status_text
from moot.cli.render.output import Terminal, add_row, join, make_table
from moot.cli.run_command import run
from moot.views.text import clean_json, plural

if TYPE_CHECKING:
    from moot.judging.audience_votes import ConfidenceInterval
    from moot.views.statistics_tables import DebateTotals, Statistics, WinRecord


def stats(
    *,
    json: Annotated[bool, Parameter(negative="", help="Print everything as JSON.")] = False,
) -> int:
    """Who wins, what is debated most, and what it cost: of all debates that are here."""

    async def look() -> Statistics:
        from moot.engine.arena import Arena
        from moot.views.statistics import statistics_from_pages

        async with Arena.open() as arena:
            return await statistics_from_pages(arena.store.summaries())

    statistics = run(look())
    if json:
        _lines(statistics)
    else:
        _tables(statistics)
    return 0


def _lines(statistics: Statistics) -> None:
    import msgspec

    written = msgspec.json.format(msgspec.json.encode(statistics), indent=2)
    Terminal.out().raw(clean_json(written.decode()) + "\n")


def _tables(statistics: Statistics) -> None:
    terminal = Terminal.out()
    if not statistics.totals.debates:
        terminal.line('No debates here yet. Begin with: moot "This house would ban homework"')
        return
    terminal.line(_totals(statistics.totals))
    if statistics.formats:
        _standings(terminal, "model", statistics.models)
        _pairs(terminal, statistics)
        _standings(terminal, "side", statistics.sides)
        _formats(terminal, statistics)
        _judges(terminal, statistics)
    else:
        terminal.blank_line()
        terminal.line("No debate has been judged yet.")
    _costs(terminal, statistics)
    _topics(terminal, statistics)


def _totals(totals: DebateTotals) -> str:
    from moot.views.costs import dollars

    states = ", ".join(f"{n} {status_text(status)}" for status, n in totals.statuses.items())
    unknown = f" and an unknown amount for {totals.unpriced} of them" if totals.unpriced else ""
    return join(
        (
            f"{plural(totals.debates, 'debate')} ({states})",
            plural(totals.speeches, "speech", "es"),
            dollars(totals.cost) + unknown,
        )
    )


def _standings(terminal: Terminal, what: str, standings: tuple[WinRecord, ...]) -> None:
    if not standings:
        return
    terminal.blank_line()
    table = make_table(what, "debates", "won", "lost", "drawn", "")
    for one in standings:
        rate = _rate(one.rate, one.interval)
        # A model that only met itself has neither won nor lost nor drawn.
        counts = map(str, (one.wins, one.losses, one.draws)) if rate else ("–", "–", "–")
        add_row(
            table,
            (one.name, "bold"),
            str(one.debates),
            *counts,
            rate or "only beside or against itself: not counted",
        )
    terminal.table(table)


def _formats(terminal: Terminal, statistics: Statistics) -> None:
    terminal.blank_line()
    table = make_table("format", "debates", "for won", "against won", "drawn", "")
    for one in statistics.formats:
        counts = (one.debates, one.wins_for, one.wins_against, one.draws)
        add_row(table, (one.format, "bold"), *map(str, counts), _rate(one.rate, one.interval))
    terminal.table(table)


def _pairs(terminal: Terminal, statistics: Statistics) -> None:
    if not statistics.pairs:
        return
    terminal.blank_line()
    table = make_table("against each other", "", "debates", "won", "lost", "drawn", "")
    for one in statistics.pairs:
        counts = (one.debates, one.wins_a, one.wins_b, one.draws)
        add_row(table, (one.a, "bold"), one.b, *map(str, counts), _rate(one.rate, one.interval))
    terminal.table(table)


def _judges(terminal: Terminal, statistics: Statistics) -> None:
    judges = statistics.judges
    if not judges.debates:
        return
    terminal.blank_line()
    terminal.line(
        f"Models judged {plural(judges.debates, 'debate')}. {judges.flips} of {judges.judges} judges changed "
        f"their mind in the second reading: {_rate(judges.flip_rate, judges.flip_interval)}."
    )
    if judges.panels:
        share = _rate(judges.unanimous_rate, judges.unanimous_interval)
        terminal.line(f"{judges.unanimous} of {plural(judges.panels, 'panel')} were unanimous: {share}.")


def _costs(terminal: Terminal, statistics: Statistics) -> None:
    from moot.views.costs import dollars

    if not statistics.costs:
        return
    terminal.blank_line()
    table = make_table("model", "debates", "tokens", "cost")
    for one in statistics.costs:
        add_row(table, (one.model, "bold"), str(one.debates), f"{one.tokens:,}", dollars(one.cost))
    terminal.table(table)


def _rate(rate: float | None, interval: ConfidenceInterval | None) -> str:
    """With the interval in which the true one lies: 3 of 4 may be chance."""
    if rate is None or interval is None:
        return ""
    from moot.views.statistics_tables import whole_percent

    low, high = whole_percent(interval.low), whole_percent(interval.high)
    return f"{whole_percent(rate)} ({low} to {high})"


def _topics(terminal: Terminal, statistics: Statistics) -> None:
    terminal.blank_line()
    table = make_table("topic", "debates")
    for topic in statistics.topics:
        add_row(table, topic.motion, str(topic.debates))
    terminal.table(table)
