"""How a debate was judged, on the page: each judge's decision, its reason, and the speeches it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from moot.cli.render import verdict
from moot.cli.render.output import Page, join, text
from moot.cli.render.wrapping import fold
from moot.core.state import Debate
from moot.views.safe_text import line
from moot.views.transcript import speech_title
from moot.views.verdict_views import Opinion, Paper, Result, results

BRIEF = 2
"""Lines of a reason in sight where several judges have one."""
MARGIN = "    "


def brief(debate: Debate, result: Result, width: int) -> Iterator[Text]:
    """Below a verdict: what it rests on and, where there were several judges, how each of them decided."""
    if result.ranking:
        places = ", ".join(f"{place}. {line(seat.name)}" for place, seat in enumerate(result.ranking, 1))
        yield from verdict.paragraph(places, width)
    if rests := rests_on(debate, result.cites):
        yield from verdict.paragraph(rests, width, "dim")
    if len(result.opinions) < 2:
        return
    for opinion in result.opinions:
        yield text("")
        yield from _decision(opinion, width)
        if opinion.papers:
            yield from _beginning(line(opinion.papers[0].reasoning), width)


def show(debate: Debate, page: Page) -> None:
    """Every verdict with every ballot as it was cast."""
    judged = results(debate)
    if not judged:
        page.line("There is no verdict yet." if not debate.final else "There is no verdict.")
    for place, result in enumerate(judged):
        page.gap()
        page.line(("The verdict" if place == 0 else f"Judged again, {place}", "dim"))
        for one in (*verdict.verdict(result, page.width), *ballots(debate, result, page.width)):
            page.print(one)


def ballots(debate: Debate, result: Result, width: int) -> Iterator[Text]:
    for opinion in result.opinions:
        yield text("")
        yield from _decision(opinion, width)
        for paper in opinion.papers:
            yield from _paper(debate, paper, width)


def rests_on(debate: Debate, cites: Sequence[int]) -> str:
    turns = [turn for number in cites if (turn := debate.turn(number)) is not None]
    named = [
        f"{line(debate.seat(turn.seat).name)}, {line(speech_title(debate, turn))} (speech {turn.number})"
        for turn in turns
    ]
    return f"It rests on: {'; '.join(named)}." if named else ""


def _decision(opinion: Opinion, width: int) -> Iterator[Text]:
    spoiled = f"{opinion.spoiled} unreadable" if opinion.spoiled else ""
    yield text("  ", (line(opinion.judge.name), "bold"), (f"  {line(opinion.judge.who)}", "dim"))
    yield from verdict.paragraph(join((opinion.decision, spoiled)), width, margin=MARGIN)


def _beginning(reason: str, width: int) -> Iterator[Text]:
    lines = [words for _, words in fold(reason, width - len(MARGIN) - 2)]
    cut = " …" if len(lines) > BRIEF else ""
    for place, words in enumerate(lines[:BRIEF], 1):
        yield text(MARGIN, (words + (cut if place == BRIEF else ""), "dim"))


def _paper(debate: Debate, paper: Paper, width: int) -> Iterator[Text]:
    winner = "" if paper.judge.person else line(paper.winner.name) if paper.winner else "a tie"
    points = ", ".join(f"{line(score.seat.name)} {score.score:g}" for score in paper.scores)
    order = "" if paper.judge.person else "as seated" if paper.order == 0 else "the other way round"
    if facts := join((winner, points, order)):
        yield text(MARGIN, (facts, "dim"))
    yield from verdict.paragraph(paper.reasoning, width, margin=MARGIN)
    for row in paper.rubric:
        points = ", ".join(f"{line(seat.name)} {value:g}" for seat, value in row.points)
        weight = f", counts {row.weight:g} times" if row.weight != 1 else ""
        yield from verdict.paragraph(f"{line(row.name)}: {points}{weight}", width, "dim", margin=MARGIN)
    if rests := rests_on(debate, paper.cites):
        yield from verdict.paragraph(rests, width, "dim", margin=MARGIN)
