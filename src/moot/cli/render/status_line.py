"""The one or two lines under a running debate: the order of speeches, who is up, tokens, money, time."""

from __future__ import annotations

from datetime import datetime

from rich.text import Text

from moot.cli.render.output import join, seat_colour, shorten, styled
from moot.core.audience import Poll
from moot.core.state import Aside, Debate, Judging
from moot.core.word_count import tokens as tokens_of
from moot.extension import loaded
from moot.judging.ballots import orders
from moot.views.costs import costs, dollars
from moot.views.participants import participants
from moot.views.text import clock
from moot.views.transcript import speech_title

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
MAX_MARKS = 24


def status_lines(
    debate: Debate, now: datetime, width: int, frame: int, remarks: int = 0, hint: str = ""
) -> list[Text]:
    first = styled("  ", (SPINNER[frame % len(SPINNER)], "bold"), " ")
    first.append_text(schedule_marks(debate))
    first.append(shorten(_doing(debate, now), max(8, width - first.cell_len - 2)))
    waiting = f"{remarks} remark{'' if remarks == 1 else 's'} waiting" if remarks else ""
    second = join((*_figures(debate, now), waiting, hint))
    return [first, styled(("    " + shorten(second, width - 4), "dim"))]


def schedule_marks(debate: Debate) -> Text:
    """One mark for each speech of the schedule, in its seat's colour, filled as it is given."""
    marks = styled()
    if len(debate.schedule) > MAX_MARKS:
        return marks
    unspent = {slot.index for slot in debate.remaining_slots()}
    live = {turn.slot for turn in debate.live}
    indexes = {seat.id: index for index, seat in enumerate(debate.seats)}
    for slot in debate.schedule:
        colour = seat_colour(indexes[slot.seat])
        if slot.index in live:
            marks.append("╸", style=f"bold {colour}")
        elif slot.index in unspent:
            marks.append("─", style="dim")
        else:
            marks.append("━", style=colour)
    marks.append("  ")
    return marks


def _doing(debate: Debate, now: datetime) -> str:
    if debate.judging and debate.being_judged:
        return _judging(debate, debate.judging)
    if debate.status == "paused":
        return "paused"
    if poll := next((poll for poll in debate.polls if poll.closed_at is None), None):
        return _voting(debate, poll, now)
    if debate.open_asides:
        return _beside(debate, debate.open_asides[0])
    if not debate.live:
        return "getting ready"
    turn = debate.live[0]
    where = f"round {turn.round} of {debate.rounds_planned}"
    who = " and ".join(participants(debate)[turn.seat].shown for turn in debate.live)
    words = len(turn.text.split())
    waited = int((now - turn.started_at).total_seconds())
    doing = f"{words} words" if words else "thinking" if turn.reasoning else f"waiting {waited} s"
    if debate.seat(turn.seat).model.human:
        doing = f"a person types, {clock(debate.person_seconds_left(turn, now) or 0.0)} left"
    return join((where, who, speech_title(debate, turn), doing))


def _judging(debate: Debate, judging: Judging) -> str:
    cast = len(judging.ballots) + len(judging.spoiled)
    expected = sum(len(orders(judge)) for judge in judging.judges)
    models = [judge for judge in judging.judges if not judge.model.human]
    waiting = [
        judge.name for judge in judging.judges if judge.model.human and not judging.has_ballot(judge.id, 0)
    ]
    if waiting and all(judging.has_ballot(judge.id, order) for judge in models for order in orders(judge)):
        return join((f"waiting for the ballot of {' and '.join(waiting)}", f"{cast} of {expected} ballots"))
    return join(("judging in two readings", f"{cast} of {expected} ballots"))


def _beside(debate: Debate, aside: Aside) -> str:
    who = participants(debate)[aside.seat].shown if aside.seat else "the referee"
    match aside.kind:
        case "notes":
            return f"{who} makes notes"
        case "point":
            return f"{who} may rise on a point of information"
        case "leave":
            return f"{who} is offered a point of information"
        case "concession":
            return f"{who} is asked whether it gives way"
        case "referee":
            return "a referee is asked whether that was giving way"
        case _:
            found = loaded().side_questions(aside.kind)
            doing = found[1].doing if found else None
            return doing(debate, aside) if doing else f"{who} is asked a question"


def _voting(debate: Debate, poll: Poll, now: datetime) -> str:
    cast = sum(vote.poll == poll.name for vote in debate.votes)
    left = None if poll.seconds is None else poll.seconds - (now - poll.opened_at).total_seconds()
    until = "until the vote is closed" if left is None else f"{clock(max(0.0, left))} left"
    return join(("the audience votes", f"{cast} {'vote' if cast == 1 else 'votes'}", until))


def _figures(debate: Debate, now: datetime) -> list[str]:
    figures = costs(debate)
    flowing = sum(tokens_of(call.text) + tokens_of(call.reasoning) for call in (*debate.live, *debate.calls))
    tokens = figures.usage.total + flowing
    about = "about " if figures.estimated or flowing else ""
    limit = f" of {dollars(debate.limits.cost_limit)}" if debate.limits.cost_limit else ""
    started = debate.started_at or debate.created_at
    money = dollars(figures.total) + limit
    return [f"{about}{tokens:,} tokens", money, clock((now - started).total_seconds())]
