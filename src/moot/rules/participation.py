"""Commands of people who take part: take and leave a seat, write and speak, offer a point, judge, and vote.

As with all commands, everything is decided on the head of the log. Whether the caller may act for a seat is
checked before (`api/rights.py`); here it is only checked whether the debate is ready for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from moot.core import events as ev
from moot.core.errors import Invalid, Refused
from moot.core.schedule import opposed
from moot.core.state import ZERO, Debate, Turn
from moot.core.terms import Ballot, PollName, Text, Truncation
from moot.core.word_count import OVERRUN_FACTOR, count_words
from moot.judging.ballots import check_ballot
from moot.judging.parties import vote_choices
from moot.rules.commands import Command, Decision, human_call_completed, interrupt_turn
from moot.rules.turn_sessions import is_unasked

MAX_SPEECH_CHARS = 20_000
MAX_POINT_CHARS = 500
MAX_VOTES = 10_000
MAX_DELTA_CHARS = 16 * 1024
"""A longer text is written in pieces, so that no reader has to take it in one."""


class SeatCommand(Command, frozen=True):
    seat: str

    def decide(self, debate: Debate) -> Decision:
        if any(seat.id == self.seat and is_unasked(debate, seat) for seat in debate.seats):
            return Refused("No model has been named for this seat yet.", debate.status)
        if all(seat.id != self.seat for seat in debate.seats):
            raise Invalid("There is no such seat.", {"seat": ["Unknown seat"]})
        return self.decide_for_seat(debate)

    def decide_for_seat(self, debate: Debate) -> Decision:
        raise NotImplementedError


class HumanCommand(SeatCommand, frozen=True):
    """What only the person in the seat may do, while there are speeches."""

    def decide_for_seat(self, debate: Debate) -> Decision:
        if not debate.seat(self.seat).model.human:
            return Refused("A model sits in this seat; take it first.", debate.status)
        if debate.final or debate.status == "judging":
            return Refused("The speeches are over.", debate.status)
        return self.decide_for_human(debate)

    def decide_for_human(self, debate: Debate) -> Decision:
        raise NotImplementedError


# --- seats --------------------------------------------------------------------------------------------


class TakeSeat(SeatCommand, frozen=True):
    by: str = ""

    def decide_for_seat(self, debate: Debate) -> Decision:
        if debate.final or debate.status == "judging":
            return Refused("The speeches are over.", debate.status)
        if debate.seat(self.seat).model.human:
            return Refused("A person sits in this seat.", debate.status)
        if _live_turn(debate, self.seat) or any(aside.seat == self.seat for aside in debate.open_asides):
            return Refused("The seat is speaking; take it when the speech is over.", debate.status)
        return (ev.SeatTaken(self.seat, self.by),)


class LeaveSeat(SeatCommand, frozen=True):
    by: str = ""

    def decide_for_seat(self, debate: Debate) -> Decision:
        seat = debate.seat(self.seat)
        if not seat.model.human:
            return Refused("Nobody sits in this seat.", debate.status)
        if debate.final:
            return Refused("The debate is over.", debate.status)
        if seat.stand_in is None:
            return Refused("No model stands in for this seat.", debate.status)
        return (*hand_to_stand_in(debate, self.seat), ev.SeatLeft(self.seat, self.by))


def hand_to_stand_in(debate: Debate, seat: str) -> tuple[ev.Event, ...]:
    """The stand-in gives the person's speech; questions to the person count as declined."""
    declined = (ev.AsideFailed(aside.number, "Gone.") for aside in debate.open_asides if aside.seat == seat)
    turn = _live_turn(debate, seat)
    return (*declined, *(interrupt_turn(debate, turn, "absent") if turn else ()))


# --- speaking -----------------------------------------------------------------------------------------


class KeepDraft(HumanCommand, frozen=True):
    """With `live` the text is shown as it is typed, as long as it only grows."""

    needs_runner: ClassVar[bool] = False

    text: str
    live: bool = False

    def decide_for_human(self, debate: Debate) -> Decision:
        if len(self.text) > MAX_SPEECH_CHARS:
            raise _too_long("text", MAX_SPEECH_CHARS)
        turn = _live_turn(debate, self.seat)
        if self.live and turn is not None and turn.call is not None:
            streamed = turn.text
            if len(self.text) > len(streamed) and self.text.startswith(streamed):
                return tuple(_text_deltas(turn.call, self.text[len(streamed) :]))
        return () if self.text == draft(debate, self.seat) else (ev.DraftKept(self.seat, self.text),)


class GiveSpeech(HumanCommand, frozen=True):
    """Give the complete speech. Without a text, the draft."""

    text: str | None = None

    def decide_for_human(self, debate: Debate) -> Decision:
        turn = _live_turn(debate, self.seat)
        if turn is None or turn.call is None:
            return Refused("It is not this seat's turn to speak.", debate.status)
        text = (self.text if self.text is not None else draft(debate, self.seat)).strip()
        if not text:
            raise Invalid("Nothing is written yet, and a speech has words.", {"text": ["Must not be empty"]})
        if len(text) > MAX_SPEECH_CHARS:
            raise _too_long("text", MAX_SPEECH_CHARS)
        return complete_human_speech(debate, turn, text)


def start_human_call(debate: Debate, turn: Turn) -> tuple[ev.CallStarted, ...]:
    """A person's speech is recorded as a call that costs nothing; no events where a model speaks."""
    model = debate.seat(turn.seat).model
    if not model.human or turn.call is not None:
        return ()
    return (ev.CallStarted(debate.calls_made + 1, model.label, "", 1, 0, 0, ZERO, turn=turn.number),)


def complete_human_speech(
    debate: Debate, turn: Turn, text: str, truncated: Truncation | None = None
) -> tuple[ev.Event, ...]:
    """End a person's turn with this text, of which a part may have been shown already."""
    call = debate.call(turn.call) if turn.call is not None else None
    if call is None:
        return ()
    unshown = text.removeprefix(turn.text) if text.startswith(turn.text) else ""
    words, budget = count_words(text), debate.word_budget(turn.slot)
    return (
        *_text_deltas(call.number, unshown),
        ev.SegmentCompleted(call.number, Text(text)),
        human_call_completed(call),
        ev.TurnCompleted(
            turn.number,
            words,
            truncated,
            over_length=words > budget * OVERRUN_FACTOR,
            clipped=debate.clip_words(turn.slot, text),
        ),
    )


def draft(debate: Debate, seat: str) -> str:
    """What the person has written so far, shown or not."""
    if seat in debate.drafts:
        return debate.drafts[seat]
    turn = _live_turn(debate, seat)
    return turn.text if turn else ""


def _live_turn(debate: Debate, seat: str) -> Turn | None:
    return next((turn for turn in debate.live if turn.seat == seat), None)


def _text_deltas(call: int, text: str) -> Iterator[ev.Event]:
    for start in range(0, len(text), MAX_DELTA_CHARS):
        yield ev.CallDelta(call, 0, "text", text[start : start + MAX_DELTA_CHARS])


# --- points of information ----------------------------------------------------------------------------


class OfferPoint(HumanCommand, frozen=True):
    """One for each speech; it is put to the speaker at the break of the speech."""

    text: str

    def decide_for_human(self, debate: Debate) -> Decision:
        text = self.text.strip()
        if not text or len(text) > MAX_POINT_CHARS:
            raise _too_long("text", MAX_POINT_CHARS)
        turn = next((turn for turn in debate.live if opposed(debate.seats, self.seat, turn.seat)), None)
        if turn is None:
            return Refused("Points of information can be offered while the other side speaks.", debate.status)
        if not debate.phase(turn.slot).points_of_information:
            return Refused("No points of information are taken in this speech.", debate.status)
        if turn.tone == "continuation":
            return Refused("The end of a speech is protected.", debate.status)
        offered = [(aside.turn, aside.seat) for aside in debate.asides if aside.kind == "point"]
        if (turn.number, self.seat) in offered:
            return Refused("You have offered a point in this speech.", debate.status)
        number = len(debate.asides) + 1
        return (
            ev.AsideAsked(number, "point", turn.slot, self.seat, turn=turn.number),
            ev.AsideAnswered(number, yes=True, text=text),
        )


class AnswerPoint(HumanCommand, frozen=True):
    accept: bool

    def decide_for_human(self, debate: Debate) -> Decision:
        for aside in debate.open_asides:
            if aside.kind == "leave" and aside.seat == self.seat:
                return (ev.AsideAnswered(aside.number, yes=self.accept),)
        return Refused("Nobody has offered you a point.", debate.status)


# --- judging and voting -------------------------------------------------------------------------------


class SubmitBallot(Command, frozen=True):
    """A person who judges decides once: the order in which the seats are shown makes no difference."""

    ballot: Ballot

    def decide(self, debate: Debate) -> Decision:
        judging = debate.judging
        if judging is None or judging.closed:
            return Refused("The debate is not being judged.", debate.status)
        judge = next((judge for judge in judging.judges if judge.id == self.ballot.judge), None)
        if judge is None or not judge.model.human:
            return Refused("This judge does not sit here in person.", debate.status)
        if judging.has_ballot(judge.id, 0):
            return Refused("This judge has voted.", debate.status)
        return (ev.BallotCast(judging.number, check_ballot(debate, judge, self.ballot)),)


class CastVote(Command, frozen=True):
    needs_runner: ClassVar[bool] = False

    voter: str
    choice: str
    poll: PollName | None = None
    """Without it, the poll that is open."""

    def decide(self, debate: Debate) -> Decision:
        name = self.poll or _open_poll(debate)
        if name is None:
            return Refused("No vote is open.", debate.status)
        poll = debate.poll(name)
        if poll is None:
            return Refused("This vote is not open yet.", debate.status)
        if self.choice not in vote_choices(debate):
            raise Invalid(
                "There is no such choice.", {"choice": [f"Must be one of: {', '.join(vote_choices(debate))}"]}
            )
        if any(vote.voter == self.voter and vote.poll == name for vote in debate.votes):
            return Refused("You have voted.", debate.status)
        if len(debate.votes) >= MAX_VOTES:
            return Refused(f"A debate takes at most {MAX_VOTES} votes.", debate.status)
        return (ev.VoteCast(name, self.voter, self.choice, late=_open_poll(debate) != name),)


class ClosePoll(Command, frozen=True):
    by: str = ""

    def decide(self, debate: Debate) -> Decision:
        name = _open_poll(debate)
        return (ev.PollClosed(name, self.by),) if name else Refused("No vote is open.", debate.status)


def _open_poll(debate: Debate) -> PollName | None:
    """The poll that is open; none is once the debate is over, even if nobody closed it."""
    if debate.final:
        return None
    return next((poll.name for poll in debate.polls if poll.closed_at is None), None)


def _too_long(field: str, most: int) -> Invalid:
    problem = f"Must be between 1 and {most} characters"
    return Invalid(f"{problem}.", {field: [problem]})
