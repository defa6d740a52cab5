"""What happens beside the speeches, in words."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from moot.cli.render import verdict
from moot.cli.render.wrapping import wrap
from moot.core.events import (
    BallotCast,
    BallotSpoiled,
    BudgetExhausted,
    BudgetWarned,
    CallFailed,
    ConcessionMade,
    DebatePaused,
    DebateResumed,
    DebateStopped,
    Event,
    JudgingFailed,
    PointRaised,
    PollClosed,
    PollOpened,
    RemarkInjected,
    RoundsAdded,
    SeatFilled,
    SeatLeft,
    SeatTaken,
    StalemateFound,
    TurnExtended,
    TurnRetried,
    TurnSkipped,
)
from moot.core.state import Debate
from moot.judging.ballots import reasoning_so_far, with_names
from moot.judging.parties import vote_choices
from moot.views.costs import dollars
from moot.views.outcome import ending as how_it_ended
from moot.views.text import clock, single_line
from moot.views.transcript import author_name

REASONING_LINES = 3
"""Lines of a judge's reasoning in sight while it is being written."""


def event_note(debate: Debate, event: Event, ending: str = "") -> str:
    """One sentence, or nothing where the page says enough; `ending_note` as in `screens`."""
    match event:
        case CallFailed():
            beside = not (debate.live or debate.being_judged)
            return "" if beside else _call_failed(event)
        case DebatePaused(by="step"):
            return "A step: it pauses after this speech." if debate.live else "A step: it pauses here."
        case DebatePaused():
            return f"Paused{_by(event.by)}."
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
            costs = "The costs and what is reserved" if event.reserved else "The costs"
            return f"{costs} have passed {dollars(event.threshold)}."
        case BudgetExhausted():
            return f"The cost limit of {dollars(event.limit)} leaves no room for another speech."
        case StalemateFound():
            return "The last speeches are nearly the same: the debate goes in circles."
        case ConcessionMade():
            agreed = f" The referee: {single_line(event.referee)}" if event.referee else ""
            return f"{_name(debate, event.seat)} gives way: “{single_line(event.words)}”{agreed}"
        case BallotSpoiled():
            judge = single_line(debate.judge(event.judge).name)
            return f"{judge} gave no usable ballot. {single_line(event.message)}"
        case _:
            return _in_the_room(debate, event, ending)


def _in_the_room(debate: Debate, event: Event, ending: str) -> str:
    """What people do, and what is done for them."""
    match event:
        case SeatTaken():
            sits = (
                f"{single_line(author_name(event.by)) or 'A person'} sits down as {_name(debate, event.seat)}"
            )
            return f"{sits}; {single_line(_stand_in(debate, event.seat))} stands in."
        case SeatLeft():
            gone = "did not speak in time" if event.by == "clock" else "leaves"
            speaks = single_line(_stand_in(debate, event.seat))
            return f"The person in the seat of {_name(debate, event.seat)} {gone}: {speaks} speaks instead."
        case SeatFilled():
            return f"{single_line(event.model.label)} speaks as {_name(debate, event.seat)}."
        case TurnExtended():
            turn = debate.turn(event.turn)
            who = _name(debate, turn.seat) if turn else "The speaker"
            return f"{who} has {clock(event.seconds)} minutes more."
        case RoundsAdded():
            more = "One more round" if event.rounds == 1 else f"{event.rounds} more rounds"
            return f"{more}: {debate.rounds_planned} in all."
        case PointRaised() if event.accepted:
            return f"{_name(debate, event.seat)}, on a point of information: “{single_line(event.text)}”"
        case PointRaised():
            return f"{_name(debate, event.seat)} rises on a point of information, which is declined."
        case PollOpened():
            when = f" for {clock(event.seconds)} minutes" if event.seconds is not None else ""
            how = f"moot vote {debate.id} CHOICE{ending}"
            return f"The audience votes{when}: {', '.join(vote_choices(debate))}. ({how})"
        case PollClosed():
            cast = sum(vote.poll == event.poll for vote in debate.votes)
            return f"The vote is closed: {cast} {'vote' if cast == 1 else 'votes'}."
        case BallotCast() if debate.judge(event.ballot.judge).model.human:
            return f"{single_line(debate.judge(event.ballot.judge).name)} has cast a ballot."
        case JudgingFailed():
            return f"It was judged again without a result. {single_line(event.message)}"
        case _:
            return ""


def remark_note(debate: Debate | None, event: RemarkInjected) -> str:
    to = f" to {_name(debate, event.to)}" if debate and event.to else ""
    what = "A question" if event.question else "A remark"
    return f"{what} from the floor{_by(event.by)}{to}: “{single_line(event.text)}”"


def _by(name: str) -> str:
    return f" by {single_line(author_name(name))}" if author_name(name) else ""


def _stand_in(debate: Debate, seat_id: str) -> str:
    seat = debate.seat(seat_id)
    return seat.stand_in.label if seat.stand_in else "nobody"


def _call_failed(event: CallFailed) -> str:
    if event.retry_in_ms is None:
        return ""
    wait = event.retry_in_ms / 1000
    when = f" in {wait:.0f} s" if wait >= 1 else ""
    return f"{single_line(event.message)} It is asked again{when}."


def ending_note(debate: Debate) -> str:
    reason = how_it_ended(debate)
    if debate.status == "completed" and debate.verdict is None:
        return f"{reason} There is no verdict."
    return reason


def judge_lines(debate: Debate, width: int) -> Iterator[Text]:
    """The end of what a judge has written so far."""
    for call in debate.calls:
        if call.judge is None:
            continue
        reasoning = with_names(reasoning_so_far(call.text), debate, call.order)
        lines = [words for _, words in wrap(single_line(reasoning), width - 6)]
        yield from (
            one for words in lines[-REASONING_LINES:] for one in verdict.paragraph(words, width, "dim italic")
        )
        return


def _name(debate: Debate, seat_id: str) -> str:
    return single_line(debate.seat(seat_id).name)
