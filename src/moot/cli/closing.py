"""The end of a debate, as lines of text: the choice of the audience, the verdict, the accidents, the bill."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from moot.cli import drawing, notes, opinions, polling
from moot.cli.page import join
from moot.debate import Debate
from moot.views.accidents import IN_WORDS, accidents
from moot.views.cleaning import line
from moot.views.costs import bill, costs
from moot.views.durations import clock
from moot.views.polled import polled
from moot.views.results import results


def verdict(debate: Debate, width: int) -> Iterator[Text]:
    """The latest one."""
    result = results(debate)[-1]
    yield from drawing.verdict(result, width)
    yield from opinions.brief(debate, result, width)


def audience(debate: Debate, width: int, ending: str = "") -> Iterator[Text]:
    """A server counts the votes by itself: what each was is told to nobody."""
    if not all(vote.choice for vote in debate.votes):
        yield from drawing.paragraph(f"What it came to: moot polls {debate.id}{ending}", width, "dim")
    elif (found := polled(debate)) is not None and found.headline:
        yield from polling.shown(found, width)


def ending(debate: Debate, width: int, style: str = "dim") -> Iterator[Text]:
    yield from drawing.paragraph(notes.ending(debate), width, style)
    for words in mishaps(debate):
        yield from drawing.paragraph(words, width, "dim")
    figures = costs(debate)
    about = "about " if figures.estimated else ""
    seconds = (debate.updated_at - (debate.started_at or debate.created_at)).total_seconds()
    spent = join((clock(seconds), f"{about}{figures.usage.total:,} tokens", bill(figures)))
    yield from drawing.paragraph(spent, width, "dim")


def mishaps(debate: Debate) -> Iterator[str]:
    """What went wrong in the speeches, a sentence for each seat."""
    for seat, found in accidents(debate).by_seat.items():
        told = [f"{IN_WORDS[kind]} ({_speeches(turns)})" for kind, turns in found.items()]
        yield f"{line(debate.seat(seat).name)} {', '.join(told)}."


def _speeches(turns: tuple[int, ...]) -> str:
    numbers = ", ".join(str(turn) for turn in turns)
    return f"speech {numbers}" if len(turns) == 1 else f"speeches {numbers}"
