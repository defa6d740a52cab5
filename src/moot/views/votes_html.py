"""The audience on an HTML page: both votes as bars, who moved from what to what, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator

from moot.judging.audience_votes import MIN_VOTERS, AudienceTally, ChoiceSwing, PollResult
from moot.judging.bootstrap import SwingInterval
from moot.views.html_escape import escape_line, plural, seat_style
from moot.views.participants import ParticipantView
from moot.views.poll_results import POLLS, PollOption, PollReport

MIN_LABEL_PERCENT = 9.0
"""A piece of a bar with a smaller share than that has no room for its figure."""
SHADES = 4


def votes(report: PollReport, seats: tuple[ParticipantView, ...], *, figures_only: bool) -> Iterator[str]:
    """What the votes came to is `figures_only` above where they are the verdict; here are only the figures
    then.
    """
    tally = report.tally
    yield '<section class="verdict votes">'
    if tally.sealed:
        yield from (
            f'<p class="facts">{POLLS[c.poll]}: {plural(c.votes, "vote")}, sealed</p>' for c in tally.counts
        )
        yield "</section>"
        return
    if report.headline and not figures_only:
        yield f'<p class="over">People’s choice</p><h3 dir="auto">{escape_line(report.headline)}</h3>'
    if report.doubts and not figures_only:
        doubts = "".join(f"<li>{escape_line(doubt)}</li>" for doubt in report.doubts)
        yield f'<ul class="doubts">{doubts}</ul>'
    hues = _hues(report, seats)
    yield from (_bar(count, report.options, hues) for count in tally.counts)
    yield _key(report.options, hues)
    if report.moved:
        yield from _moves(report, hues)
    if not figures_only:
        yield f'<p class="account" dir="auto">{escape_line(report.account)}</p>'
    yield "</section>"


def _hues(heard: PollReport, seats: tuple[ParticipantView, ...]) -> dict[str, str]:
    colours = {seat.id: seat_style(seat) for seat in seats}
    return {option.id: colours.get(option.seat or "", "--seat: #8d877b") for option in heard.options}


def _bar(count: PollResult, options: tuple[PollOption, ...], hues: dict[str, str]) -> str:
    """Undecided stands between the first and the others: it is what they fought for."""
    pieces = "".join(
        f'<b style="{hues[option.id]}; width: {share:.1f}%">'
        f"{f'{share:.0f}%' if share >= MIN_LABEL_PERCENT else ''}</b>"
        for option in _spread(options)
        if (share := count.share(option.id))
    )
    apart = [f"{count.late} late"] if count.late else []
    apart += [f"{count.single} only here"] if count.single else []
    more = f" · {', '.join(apart)}" if apart else ""
    head = f"<p><span>{POLLS[count.poll]}</span><span>{plural(count.votes, 'vote')}{more}</span></p>"
    return f'<div class="poll">{head}<div class="bar">{pieces}</div></div>'


def _key(options: tuple[PollOption, ...], hues: dict[str, str]) -> str:
    named = "".join(
        f'<li style="{hues[option.id]}" dir="auto">{escape_line(option.name)}</li>'
        for option in _spread(options)
    )
    return f'<ul class="key">{named}</ul>'


def _spread(options: tuple[PollOption, ...]) -> tuple[PollOption, ...]:
    first, *others = options
    return (first, others[-1], *others[:-1])


def _moves(heard: PollReport, hues: dict[str, str]) -> Iterator[str]:
    found = heard.tally
    most = max(cell for row in found.table for cell in row)
    heads = "".join(
        f'<th scope="col" style="{hues[option.id]}" dir="auto">{escape_line(option.name)}</th>'
        for option in heard.options
    )
    yield '<table class="figures moves">'
    yield f"<caption>Who moved from what to what: {found.pairs:,} who voted twice</caption>"
    yield f'<tr><th scope="col">from ↓ to →</th>{heads}</tr>'
    for place, (option, row) in enumerate(zip(heard.options, found.table, strict=True)):
        cells = "".join(_cell(number, most, kept=place == column) for column, number in enumerate(row))
        name = escape_line(option.name)
        yield f'<tr><th scope="row" style="{hues[option.id]}" dir="auto">{name}</th>{cells}</tr>'
    yield _row("Change", [f"{_signed(change.points)}" for change in found.changes], "sum")
    yield _row("95 of 100 cases", [_interval(change.interval, found) for change in found.changes], "fine")
    yield _row("Won over", [_won(change) for change in found.changes[:-1]] + ["–"], "fine")
    yield "</table>"


def _cell(number: int, most: int, *, kept: bool) -> str:
    shade = -(-SHADES * number // most)
    return f'<td class="{"kept" if kept else "moved"} d{shade}">{number or "·"}</td>'


def _row(title: str, cells: list[str], kind: str) -> str:
    return f'<tr class="{kind}"><th scope="row">{title}</th>{"".join(f"<td>{c}</td>" for c in cells)}</tr>'


def _signed(points: float) -> str:
    return f"{points:+g}".replace("-", "−") if points else "0"


def _interval(interval: SwingInterval | None, found: AudienceTally) -> str:
    if interval is None:
        return "too few" if found.pairs < MIN_VOTERS else "–"
    return f"{_signed(interval.low)} to {_signed(interval.high)}"


def _won(change: ChoiceSwing) -> str:
    return f"{change.won} of {change.persuadable}"
