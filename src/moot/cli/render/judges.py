"""How a debate was judged, on the page: each judge's decision, its reason, and the speeches it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from moot.cli.render import verdict
from moot.cli.render.output import Terminal, join, styled
from moot.cli.render.wrapping import wrap
from moot.core.state import Debate
from moot.views.text import single_line
from moot.views.transcript import speech_title
from moot.views.verdict_views import BallotView, JudgeOpinion, VerdictView, verdict_views

BRIEF_LINES = 2
"""Lines of a reason in sight where several judges have one."""
MARGIN = "    "


def brief_lines(debate: Debate, result: VerdictView, width: int) -> Iterator[Text]:
    """Below a verdict: what it rests on and, where there were several judges, how each of them decided."""
    if result.ranking:
        places = ", ".join(
            f"{place}. {single_line(seat.name)}" for place, seat in enumerate(result.ranking, 1)
        )
        yield from verdict.paragraph(places, width)
    if rests := cited_text(debate, result.cites):
        yield from verdict.paragraph(rests, width, "dim")
    if len(result.opinions) < 2:
        return
    for opinion in result.opinions:
        yield styled("")
        yield from _decision(opinion, width)
        if opinion.ballots:
            yield from _beginning(single_line(opinion.ballots[0].reasoning), width)


def print_verdicts(debate: Debate, terminal: Terminal) -> None:
    """Every verdict with every ballot as it was cast."""
    judged = verdict_views(debate)
    if not judged:
        terminal.line("There is no verdict yet." if not debate.final else "There is no verdict.")
    for place, result in enumerate(judged):
        terminal.blank_line()
        terminal.line(("The verdict" if place == 0 else f"Judged again, {place}", "dim"))
        for one in (
            *verdict.verdict_lines(result, terminal.width),
            *ballot_lines(debate, result, terminal.width),
        ):
            terminal.print(one)


def ballot_lines(debate: Debate, result: VerdictView, width: int) -> Iterator[Text]:
    for opinion in result.opinions:
        yield styled("")
        yield from _decision(opinion, width)
        for paper in opinion.ballots:
            yield from _ballot_lines(debate, paper, width)


def cited_text(debate: Debate, cites: Sequence[int]) -> str:
    turns = [turn for number in cites if (turn := debate.turn(number)) is not None]
    named = [
        f"{single_line(debate.seat(turn.seat).name)}, {single_line(speech_title(debate, turn))}"
        f" (speech {turn.number})"
        for turn in turns
    ]
    return f"It rests on: {'; '.join(named)}." if named else ""


def _decision(opinion: JudgeOpinion, width: int) -> Iterator[Text]:
    spoiled = f"{opinion.spoiled} unreadable" if opinion.spoiled else ""
    yield styled(
        "  ", (single_line(opinion.judge.name), "bold"), (f"  {single_line(opinion.judge.who)}", "dim")
    )
    yield from verdict.paragraph(join((opinion.decision, spoiled)), width, margin=MARGIN)


def _beginning(reason: str, width: int) -> Iterator[Text]:
    lines = [words for _, words in wrap(reason, width - len(MARGIN) - 2)]
    cut = " …" if len(lines) > BRIEF_LINES else ""
    for place, words in enumerate(lines[:BRIEF_LINES], 1):
        yield styled(MARGIN, (words + (cut if place == BRIEF_LINES else ""), "dim"))


def _ballot_lines(debate: Debate, paper: BallotView, width: int) -> Iterator[Text]:
    winner = "" if paper.judge.person else single_line(paper.winner.name) if paper.winner else "a tie"
    points = ", ".join(f"{single_line(score.seat.name)} {score.score:g}" for score in paper.scores)
    order = "" if paper.judge.person else "as seated" if paper.order == 0 else "the other way round"
    if facts := join((winner, points, order)):
        yield styled(MARGIN, (facts, "dim"))
    yield from verdict.paragraph(paper.reasoning, width, margin=MARGIN)
    for row in paper.rubric:
        points = ", ".join(f"{single_line(seat.name)} {value:g}" for seat, value in row.points)
        weight = f", counts {row.weight:g} times" if row.weight != 1 else ""
        yield from verdict.paragraph(
            f"{single_line(row.name)}: {points}{weight}", width, "dim", margin=MARGIN
        )
    if rests := cited_text(debate, paper.cites):
        yield from verdict.paragraph(rests, width, "dim", margin=MARGIN)
