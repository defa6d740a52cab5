"""`moot stats`: who wins, what is debated most, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from moot.cli.page import Page
    from moot.views.statistics import Standing, Statistics, Totals


def stats(
    *,
    json: Annotated[bool, Parameter(negative="", help="All of it in JSON.")] = False,
) -> int:
    """Who wins, what is debated most, and what it cost: of all debates that are here."""
    from moot.cli.playing import run

    async def look() -> Statistics:
        from moot.arena import Arena
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

    from moot.cli.page import Page
    from moot.views.cleaning import clean_json

    written = msgspec.json.format(msgspec.json.encode(found), indent=2)
    Page.out().raw(clean_json(written.decode()) + "\n")


def _tables(found: Statistics) -> None:
    from moot.cli.page import Page

    page = Page.out()
    if not found.totals.debates:
        page.line('No debates here yet. Begin with: moot "A motion"')
        return
    page.line(_totals(found.totals))
    if found.formats:
        _standings(page, "model", found.models)
        _standings(page, "side", found.sides)
        _formats(page, found)
    else:
        page.gap()
        page.line("No debate has been judged yet, so nobody has won.")
    _topics(page, found)


def _totals(totals: Totals) -> str:
    from moot.cli.failing import words
    from moot.cli.page import join
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
    from moot.cli.page import row, table

    if not standings:
        return
    page.gap()
    made = table(what, "debates", "won", "lost", "drawn", "")
    for one in standings:
        rate = f"{one.rate:.0%}" if one.rate is not None else "only beside or against itself"
        row(made, (one.name, "bold"), str(one.debates), str(one.wins), str(one.losses), str(one.draws), rate)
    page.table(made)


def _formats(page: Page, found: Statistics) -> None:
    from moot.cli.page import row, table

    page.gap()
    made = table("format", "debates", "for won", "against won", "drawn")
    for one in found.formats:
        counts = (one.debates, one.wins_for, one.wins_against, one.draws)
        row(made, (one.format, "bold"), *map(str, counts))
    page.table(made)


def _topics(page: Page, found: Statistics) -> None:
    from moot.cli.page import row, table

    page.gap()
    made = table("topic", "debates")
    for topic in found.topics:
        row(made, topic.motion, str(topic.debates))
    page.table(made)


def _many(n: int, word: str, ending: str = "s") -> str:
    return f"{n:,} {word}{'' if n == 1 else ending}"
