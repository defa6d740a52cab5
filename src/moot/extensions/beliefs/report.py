"""What is told of private beliefs and of the model audience: as blocks, as JSON, and for the page.

The picture shows one figure: how likely the first party is to win, from 0 to 100 %, after each speech, as
each debater and the judge saw it. The line of a debater who is sure of winning is near its own edge, so that
two sure debaters are far apart. A table below it has every number.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from moot.core.json_types import to_members
from moot.core.state import Debate
from moot.core.visibility import OWNER, Viewer
from moot.extension import DebateReport
from moot.extensions.beliefs.measures import (
    BeliefMark,
    BeliefPoint,
    BeliefReport,
    belief_report,
    percent,
)
from moot.extensions.beliefs.shapes import (
    BeliefAfterSpeech,
    Beliefs,
    JudgeTurningPoint,
    PartyConfidence,
)
from moot.views.participants import ParticipantView, participants, seat_style
from moot.views.report_blocks import (
    Bullet,
    Bullets,
    DebateBlock,
    Folded,
    Note,
    Picture,
    ReportSection,
    ReportTable,
    VoteCount,
)
from moot.views.text import escape_line
from moot.views.transcript_json import votes

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 600, 240, 44, 12, 12, 34
TITLE = "Private beliefs"
ABOUT = "Asked privately. No speaker and no judge was told, and the verdict was not affected."


def sections(debate: Debate, viewer: Viewer) -> Iterator[ReportSection]:
    report = belief_report(debate, viewer)
    if report and report.points:
        yield ReportSection(TITLE, tuple(_blocks(report, tuple(participants(debate).values()))))
    if report and report.audience:
        yield ReportSection("Model audience", (VoteCount(report.audience),), called="The model audience")


def _blocks(report: BeliefReport, seats: tuple[ParticipantView, ...]) -> Iterator[DebateBlock]:
    yield Note(ABOUT)
    if report.marks:
        yield Picture(belief_svg(report, seats))
    yield Bullets(tuple(map(Bullet, report.sentences)))
    yield Folded("As a table", ReportTable("", belief_heads(report), tuple(belief_rows(report))))


def members(debate: Debate, viewer: Viewer = OWNER) -> Beliefs | None:
    """The member of the JSON export."""
    report = belief_report(debate, viewer)
    if report is None:
        return None
    turning = report.turning
    return Beliefs(
        speeches=tuple(
            BeliefAfterSpeech(
                turn=point.turn,
                speaker=point.speaker.id if point.speaker else None,
                before=point.before,
                after=point.after,
                judge=point.judge,
            )
            for point in report.points
        ),
        parties=tuple(
            PartyConfidence(party=party.party, opening=party.opening, closing=party.closing)
            for party in report.parties
        ),
        turning_point=JudgeTurningPoint(
            turn=turning.turn, party=turning.party_id, before=turning.before, after=turning.after
        )
        if turning
        else None,
        account=report.sentences,
        model_audience=votes(report.audience) if report.audience else None,
    )


def page(debate: Debate, viewer: Viewer) -> dict[str, Any]:
    """What debaters, a judge and the model audience believed; empty for viewers who may not know."""
    report = belief_report(debate, viewer)
    if report is None:
        return {}
    return {
        "heads": list(belief_heads(report)),
        "rows": [
            {"turn": point.turn, "cells": list(row)}
            for point, row in zip(report.points, belief_rows(report), strict=True)
        ],
        "marks": {
            name: [{"at": mark.at, "chance": mark.chance, "joined": mark.joined} for mark in marks]
            for name, marks in report.marks.items()
        },
        "judge": report.judge,
        "words": chart_words(report) if report.marks else "",
        "sentences": list(report.sentences),
        "turning": report.turning.turn if report.turning else None,
        "audience": to_members(votes(report.audience)) if report.audience else None,
    }


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


REPORT = DebateReport(
    TITLE,
    sections,
    reads=("asides", "turns", "setup"),
    members=members,
    shape=Beliefs,
    page=page,
    description="What was believed in private, for viewers who may read reasoning.",
    page_description="What was believed in private; empty where it was not asked or may not be read.",
)
