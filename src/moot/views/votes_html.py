"""The audience on an HTML page: both votes as bars, who moved from what to what, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator

from moot.judging.audience_votes import FEW, Change, Count, Tally
from moot.judging.bootstrap import Interval
from moot.views.html_escape import hue, one, plural
from moot.views.participants import Participant
from moot.views.poll_results import POLLS, Option, Polled

ROOM = 9.0
"""A piece of a bar with a smaller share than that has no room for its figure."""
SHADES = 4


def votes(heard: Polled, seats: tuple[Participant, ...], *, told: bool) -> Iterator[str]:
    """What the votes came to is `told` above where they are the verdict; here are only the figures then."""
    found = heard.tally
    yield '<section class="verdict votes">'
    if found.sealed:
        yield from (
            f'<p class="facts">{POLLS[c.poll]}: {plural(c.votes, "vote")}, sealed</p>' for c in found.counts
        )
        yield "</section>"
        return
    if heard.headline and not told:
        yield f'<p class="over">People’s choice</p><h3 dir="auto">{one(heard.headline)}</h3>'
    if heard.doubts and not told:
        yield f'<ul class="doubts">{"".join(f"<li>{one(doubt)}</li>" for doubt in heard.doubts)}</ul>'
    hues = _hues(heard, seats)
    yield from (_bar(count, heard.options, hues) for count in found.counts)
    yield _key(heard.options, hues)
    if heard.moved:
        yield from _moves(heard, hues)
    if not told:
        yield f'<p class="account" dir="auto">{one(heard.account)}</p>'
    yield "</section>"


def _hues(heard: Polled, seats: tuple[Participant, ...]) -> dict[str, str]:
    colours = {seat.id: hue(seat) for seat in seats}
    return {option.id: colours.get(option.seat or "", "--seat: #8d877b") for option in heard.options}


def _bar(count: Count, options: tuple[Option, ...], hues: dict[str, str]) -> str:
    """Undecided stands between the first and the others: it is what they fought for."""
    pieces = "".join(
        f'<b style="{hues[option.id]}; width: {share:.1f}%">{f"{share:.0f}%" if share >= ROOM else ""}</b>'
        for option in _spread(options)
        if (share := count.share(option.id))
    )
    apart = [f"{count.late} late"] if count.late else []
    apart += [f"{count.single} only here"] if count.single else []
    more = f" · {', '.join(apart)}" if apart else ""
    head = f"<p><span>{POLLS[count.poll]}</span><span>{plural(count.votes, 'vote')}{more}</span></p>"
    return f'<div class="poll">{head}<div class="bar">{pieces}</div></div>'


def _key(options: tuple[Option, ...], hues: dict[str, str]) -> str:
    named = "".join(
        f'<li style="{hues[option.id]}" dir="auto">{one(option.name)}</li>' for option in _spread(options)
    )
    return f'<ul class="key">{named}</ul>'


def _spread(options: tuple[Option, ...]) -> tuple[Option, ...]:
    first, *others = options
    return (first, others[-1], *others[:-1])


def _moves(heard: Polled, hues: dict[str, str]) -> Iterator[str]:
    found = heard.tally
    most = max(cell for row in found.table for cell in row)
    heads = "".join(
        f'<th scope="col" style="{hues[option.id]}" dir="auto">{one(option.name)}</th>'
        for option in heard.options
    )
    yield '<table class="figures moves">'
    yield f"<caption>Who moved from what to what: {found.pairs:,} who voted twice</caption>"
    yield f'<tr><th scope="col">from ↓ to →</th>{heads}</tr>'
    for place, (option, row) in enumerate(zip(heard.options, found.table, strict=True)):
        cells = "".join(_cell(number, most, kept=place == column) for column, number in enumerate(row))
        yield f'<tr><th scope="row" style="{hues[option.id]}" dir="auto">{one(option.name)}</th>{cells}</tr>'
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


def _interval(interval: Interval | None, found: Tally) -> str:
    if interval is None:
        return "too few" if found.pairs < FEW else "–"
    return f"{_signed(interval.low)} to {_signed(interval.high)}"


def _won(change: Change) -> str:
    return f"{change.won} of {change.persuadable}"
