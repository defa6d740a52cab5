"""The end of a debate, as lines of text: the choice of the audience, the verdict, the accidents, the bill."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from moot.cli.render import event_notes, judges, polls
from moot.cli.render import verdict as drawing
from moot.cli.render.output import join
from moot.core.state import Debate
from moot.views.costs import bill, costs
from moot.views.durations import clock
from moot.views.poll_results import polled
from moot.views.safe_text import line
from moot.views.speech_issues import IN_WORDS, accidents
from moot.views.verdict_views import results


def verdict(debate: Debate, width: int) -> Iterator[Text]:
    """The latest one."""
    result = results(debate)[-1]
    yield from drawing.verdict(result, width)
    yield from judges.brief(debate, result, width)


def audience(debate: Debate, width: int, ending: str = "") -> Iterator[Text]:
    """A server counts the votes by itself: what each was is told to nobody."""
    if not all(vote.choice for vote in debate.votes):
        yield from drawing.paragraph(f"What it came to: moot polls {debate.id}{ending}", width, "dim")
    elif (found := polled(debate)) is not None and found.headline:
        yield from polls.shown(found, width)


def ending(debate: Debate, width: int, style: str = "dim") -> Iterator[Text]:
    yield from drawing.paragraph(event_notes.ending(debate), width, style)
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
