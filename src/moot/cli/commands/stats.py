"""`moot stats`: who wins, what is debated most, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from moot.cli.render.output import Page
    from moot.views.confidence_intervals import Interval
    from moot.views.statistics_tables import Standing, Statistics, Totals


def stats(
    *,
    json: Annotated[bool, Parameter(negative="", help="All of it in JSON.")] = False,
) -> int:
    """Who wins, what is debated most, and what it cost: of all debates that are here."""
    from moot.cli.follow import run

    async def look() -> Statistics:
        from moot.engine.arena import Arena
        from moot.views.statistics import gathered

        async with Arena.open() as arena:
            return await gathered(arena.store.summaries())

    found = run(look())
    if json:
        _lines(found)
    else:
        _tables(found)
    return 0


def _lines(found: Statistics) -> None:
    import msgspec

    from moot.cli.render.output import Page
    from moot.views.safe_text import clean_json

    written = msgspec.json.format(msgspec.json.encode(found), indent=2)
    Page.out().raw(clean_json(written.decode()) + "\n")


def _tables(found: Statistics) -> None:
    from moot.cli.render.output import Page

    page = Page.out()
    if not found.totals.debates:
        page.line('No debates here yet. Begin with: moot "A motion"')
        return
    page.line(_totals(found.totals))
    if found.formats:
        _standings(page, "model", found.models)
        _pairs(page, found)
        _standings(page, "side", found.sides)
        _formats(page, found)
        _judges(page, found)
    else:
        page.gap()
        page.line("No debate has been judged yet, so nobody has won.")
    _costs(page, found)
    _topics(page, found)


def _totals(totals: Totals) -> str:
    from moot.cli.error_messages import words
    from moot.cli.render.output import join
    from moot.views.costs import dollars

    states = ", ".join(f"{n} {words(status)}" for status, n in totals.statuses.items())
    unknown = f" and an unknown amount for {totals.unpriced} of them" if totals.unpriced else ""
    return join(
        (
            f"{_many(totals.debates, 'debate')} ({states})",
            _many(totals.speeches, "speech", "es"),
            dollars(totals.cost) + unknown,
        )
    )


def _standings(page: Page, what: str, standings: tuple[Standing, ...]) -> None:
    from moot.cli.render.output import row, table

    if not standings:
        return
    page.gap()
    made = table(what, "debates", "won", "lost", "drawn", "")
    for one in standings:
        rate = _rate(one.rate, one.interval) or "only beside or against itself"
        row(made, (one.name, "bold"), str(one.debates), str(one.wins), str(one.losses), str(one.draws), rate)
    page.table(made)


def _formats(page: Page, found: Statistics) -> None:
    from moot.cli.render.output import row, table

    page.gap()
    made = table("format", "debates", "for won", "against won", "drawn", "")
    for one in found.formats:
        counts = (one.debates, one.wins_for, one.wins_against, one.draws)
        row(made, (one.format, "bold"), *map(str, counts), _rate(one.rate, one.interval))
    page.table(made)


def _pairs(page: Page, found: Statistics) -> None:
    from moot.cli.render.output import row, table

    if not found.pairs:
        return
    page.gap()
    made = table("against each other", "", "debates", "won", "lost", "drawn", "")
    for one in found.pairs:
        counts = (one.debates, one.wins_a, one.wins_b, one.draws)
        row(made, (one.a, "bold"), one.b, *map(str, counts), _rate(one.rate, one.interval))
    page.table(made)


def _judges(page: Page, found: Statistics) -> None:
    bench = found.judges
    if not bench.debates:
        return
    page.gap()
    page.line(
        f"Models judged {_many(bench.debates, 'debate')}. {bench.flips} of {bench.judges} judges changed "
        f"their mind with the order: {_rate(bench.flip_rate, bench.flip_interval)}."
    )
    if bench.panels:
        told = _rate(bench.unanimous_rate, bench.unanimous_interval)
        page.line(f"{bench.unanimous} of {_many(bench.panels, 'panel')} were unanimous: {told}.")


def _costs(page: Page, found: Statistics) -> None:
    from moot.cli.render.output import row, table
    from moot.views.costs import dollars

    if not found.costs:
        return
    page.gap()
    made = table("model", "debates", "tokens", "cost")
    for one in found.costs:
        row(made, (one.model, "bold"), str(one.debates), f"{one.tokens:,}", dollars(one.cost))
    page.table(made)


def _rate(rate: float | None, interval: Interval | None) -> str:
    """With the interval in which the true one lies: 3 of 4 may be chance."""
    if rate is None or interval is None:
        return ""
    return f"{rate:.0%} ({interval.low:.0%} to {interval.high:.0%})"


def _topics(page: Page, found: Statistics) -> None:
    from moot.cli.render.output import row, table

    page.gap()
    made = table("topic", "debates")
    for topic in found.topics:
        row(made, topic.motion, str(topic.debates))
    page.table(made)


def _many(n: int, word: str, ending: str = "s") -> str:
    return f"{n:,} {word}{'' if n == 1 else ending}"
