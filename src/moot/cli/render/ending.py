"""The end of a debate, as lines of text: the choice of the audience, the verdict, the accidents, the bill."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from moot.cli.render import event_notes, judges, polls
from moot.cli.render import verdict as drawing
from moot.cli.render.output import join
from moot.core.state import Debate
from moot.views.costs import bill, costs
from moot.views.poll_results import poll_report
from moot.views.speech_issues import ISSUE_WORDS, find_issues
from moot.views.text import clock, single_line
from moot.views.verdict_views import verdict_views


def verdict_lines(debate: Debate, width: int) -> Iterator[Text]:
    """The latest one."""
    result = verdict_views(debate)[-1]
    yield from drawing.verdict_lines(result, width)
    yield from judges.brief_lines(debate, result, width)


def audience_lines(debate: Debate, width: int, ending: str = "") -> Iterator[Text]:
    """A server counts the votes by itself: what each was is told to nobody."""
    if not all(vote.choice for vote in debate.votes):
        yield from drawing.paragraph(f"What it came to: moot polls {debate.id}{ending}", width, "dim")
    elif (results := poll_report(debate)) is not None and results.headline:
        yield from polls.poll_lines(results, width)


def ending_lines(debate: Debate, width: int, style: str = "dim") -> Iterator[Text]:
    yield from drawing.paragraph(event_notes.ending_note(debate), width, style)
    for words in issue_sentences(debate):
        yield from drawing.paragraph(words, width, "dim")
    figures = costs(debate)
    about = "about " if figures.estimated else ""
    seconds = (debate.updated_at - (debate.started_at or debate.created_at)).total_seconds()
    spent = join((clock(seconds), f"{about}{figures.usage.total:,} tokens", bill(figures)))
    yield from drawing.paragraph(spent, width, "dim")


def issue_sentences(debate: Debate) -> Iterator[str]:
    """What went wrong in the speeches, a sentence for each seat."""
    for seat, issues in find_issues(debate).by_seat.items():
        texts = [f"{ISSUE_WORDS[kind]} ({_speeches(turns)})" for kind, turns in issues.items()]
        yield f"{single_line(debate.seat(seat).name)} {', '.join(texts)}."


def _speeches(turns: tuple[int, ...]) -> str:
    numbers = ", ".join(str(turn) for turn in turns)
    return f"speech {numbers}" if len(turns) == 1 else f"speeches {numbers}"
