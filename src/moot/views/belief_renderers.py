"""Private beliefs in the exports: as Markdown, and as HTML with a picture.

The picture shows one figure: how likely the first party is to win, from 0 to 100 %, after each speech, as
each debater and the judge saw it. The line of a debater who is sure of winning is near its own edge, so that
two sure debaters are far apart. A table below it has every number.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from moot.views.beliefs import BeliefMark, BeliefPoint, BeliefReport, percent
from moot.views.participants import ParticipantView, seat_style
from moot.views.text import escape_line

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 600, 240, 44, 12, 12, 34
TITLE = "Private beliefs"
ABOUT = "Asked privately. No speaker and no judge was told, and the verdict was not affected."


def belief_rows(report: BeliefReport) -> Iterator[tuple[str, ...]]:
    """For each point: the speech, the speaker's own chance before and after, the judge's of each party."""
    for point in report.points:
        judged = [percent(point.judge.get(party.party)) for party in report.parties]
        yield (
            _speech_name(point),
            percent(point.before),
            percent(point.after),
            *(judged if report.judge else ()),
        )


def belief_heads(report: BeliefReport) -> tuple[str, ...]:
    judged = [f"Judge: {party.name}" for party in report.parties] if report.judge else []
    return "After", "Speaker before", "Speaker after", *judged


def _speech_name(point: BeliefPoint) -> str:
    if point.speaker is None:
        return point.title
    return f"S{point.turn} {point.speaker.shown}, {point.title}"


def beliefs_html(report: BeliefReport, seats: tuple[ParticipantView, ...]) -> Iterator[str]:
    yield f'<section class="verdict"><p class="facts">{ABOUT}</p>'
    if report.marks:
        yield belief_svg(report, seats)
    yield from (f'<p class="account" dir="auto">{escape_line(sentence)}</p>' for sentence in report.sentences)
    heads = "".join(f'<th scope="col">{escape_line(head)}</th>' for head in belief_heads(report))
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{escape_line(first)}</th>'
        + "".join(f"<td>{cell}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in belief_rows(report)
    )
    table = f'<table class="figures"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    yield f"<details><summary>As a table</summary>{table}</details></section>"


def belief_svg(report: BeliefReport, seats: tuple[ParticipantView, ...]) -> str:
    first = report.parties[0].name
    last = max(1, len(report.points) - 1)

    def x(at: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * max(0, at) / last

    def y(chance: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - chance)

    drawn = [
        f'<line class="{"zero" if share == 0.5 else "rule"}" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
        f'y1="{y(share):.1f}" y2="{y(share):.1f}"/>'
        f'<text x="{LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>'
        for share in (0, 0.5, 1)
    ]
    drawn += [
        f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
        f"{'start' if point.turn is None else f'S{point.turn}'}</text>"
        for at, point in enumerate(report.points)
    ]
    colours = {seat.id: seat_style(seat) for seat in seats}
    for name, marks in report.marks.items():
        paths = "".join(
            f'<polyline points="{" ".join(f"{x(mark.at):.1f},{y(mark.chance):.1f}" for mark in line)}"/>'
            for line in unbroken_lines(marks)
        )
        dots = "".join(_dot(name, x(mark.at), y(mark.chance)) for mark in marks)
        style = f' style="{colours[name]}"' if name in colours else ""
        kind = "judge" if name == "judge" else "party"
        drawn.append(f'<g class="{kind}"{style}>{paths}{dots}</g>')
    label = escape_line(f"How likely {first} is to win, after each speech. {chart_words(report)}")
    return (
        f'<svg class="axis beliefs" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f"{''.join(drawn)}</svg>{_legend(report, colours)}"
    )


def unbroken_lines(marks: tuple[BeliefMark, ...]) -> Iterator[tuple[BeliefMark, ...]]:
    """The marks that one line connects: a new line begins after an answer that is missing."""
    starts = [0, *(index for index, mark in enumerate(marks) if index and not mark.joined), len(marks)]
    yield from (marks[start:end] for start, end in pairwise(starts))


def _dot(name: str, x: float, y: float) -> str:
    if name != "judge":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    return f'<path d="M{x:.1f} {y - 6:.1f} l6 6 l-6 6 l-6 -6z"/>'


def _legend(report: BeliefReport, colours: dict[str, str]) -> str:
    first = escape_line(report.parties[0].name)
    items = [
        f'<li style="{colours.get(party.party, "")}" dir="auto">{escape_line(party.name)}</li>'
        for party in report.parties
        if party.party in report.marks
    ]
    if "judge" in report.marks:
        items.append(f'<li dir="auto">the judge ({escape_line(report.judge)})</li>')
    return (
        f'<p class="facts" dir="auto">How likely {first} is to win, as each saw it</p>'
        f'<ul class="key">{"".join(items)}</ul>'
    )


def chart_words(report: BeliefReport) -> str:
    """The lines of the picture in words."""
    names = {party.party: party.name for party in report.parties} | {"judge": "the judge"}
    return ". ".join(f"{names[name]}: {_way(marks)}" for name, marks in report.marks.items()) + "."


def _way(marks: tuple[BeliefMark, ...]) -> str:
    return ", ".join(percent(mark.chance) for mark in marks)
