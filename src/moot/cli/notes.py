"""What happens beside the speeches, in words."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from moot.cli import drawing
from moot.cli.flow import fold
from moot.debate import Debate
from moot.events import (
    BallotSpoiled,
    BudgetExhausted,
    BudgetWarned,
    CallFailed,
    ConcessionMade,
    DebatePaused,
    DebateResumed,
    DebateStopped,
    Event,
    StalemateFound,
    TurnRetried,
    TurnSkipped,
)
from moot.judging.ballots import named, reasoning_so_far
from moot.views.cleaning import line
from moot.views.costs import dollars
from moot.views.outcome import ending as how_it_ended

SHOWN = 3
"""Lines of a judge's reasoning in sight while it is being written."""


def note(debate: Debate, event: Event) -> str:
    """One sentence, or nothing where the page says enough."""
    match event:
        case CallFailed():
            return _call_failed(event)
        case DebatePaused():
            return f"Paused{' by ' + line(event.by) if event.by else ''}."
        case DebateResumed():
            return "It goes on."
        case DebateStopped():
            return "Stopped early; what was said is judged."
        case TurnSkipped():
            return f"{_name(debate, event.seat)}'s speech was skipped."
        case TurnRetried():
            turn = debate.turn(event.turn)
            whose = f"{_name(debate, turn.seat)}'s speech" if turn else "A speech"
            return f"{whose} is struck and will be given again."
        case BudgetWarned():
            return f"The costs have passed {dollars(event.threshold)}."
        case BudgetExhausted():
            return f"The cost limit of {dollars(event.limit)} leaves no room for another speech."
        case StalemateFound():
            return "The last speeches are nearly the same: the debate goes in circles."
        case ConcessionMade():
            return f"{_name(debate, event.seat)} gives way: “{line(event.words)}”"
        case BallotSpoiled():
            judge = line(debate.judge(event.judge).name)
            return f"{judge} gave no usable ballot. {line(event.message)}"
        case _:
            return ""


def _call_failed(event: CallFailed) -> str:
    if event.retry_in_ms is None:
        return ""
    wait = event.retry_in_ms / 1000
    when = f" in {wait:.0f} s" if wait >= 1 else ""
    return f"{line(event.message)} It is asked again{when}."


def ending(debate: Debate) -> str:
    said = how_it_ended(debate)
    if debate.status == "completed" and debate.verdict is None:
        return f"{said} There is no verdict."
    return said


def weighing(debate: Debate, width: int) -> Iterator[Text]:
    """The end of what a judge has written so far."""
    for call in debate.calls:
        if call.judge is None:
            continue
        reasoning = named(reasoning_so_far(call.text), debate, call.order)
        lines = [words for _, words in fold(line(reasoning), width - 6)]
        yield from (one for words in lines[-SHOWN:] for one in drawing.paragraph(words, width, "dim italic"))
        return


def _name(debate: Debate, seat_id: str) -> str:
    return line(debate.seat(seat_id).name)
