"""What people in the room may do: sit down and leave, write and speak, rise on a point, judge, and vote.

As in `commands`, everything is decided on the head of the log. Who may speak for which seat is the border's
business; here it is only looked at whether the debate is ready for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from moot.core.errors import Invalid, Refused
from moot.core.events import (
    AsideAnswered,
    AsideAsked,
    AsideFailed,
    BallotCast,
    CallCompleted,
    CallDelta,
    CallStarted,
    DraftKept,
    Event,
    InterruptReason,
    PollClosed,
    SeatLeft,
    SeatTaken,
    SegmentCompleted,
    TurnCompleted,
    TurnInterrupted,
    VoteCast,
)
from moot.core.schedule import opposed
from moot.core.state import ZERO, Aside, Call, Debate, Turn
from moot.core.terms import Ballot, PollName, Text, Truncation, Usage
from moot.core.word_count import OVERRUN_FACTOR, count_words
from moot.judging.ballots import check_ballot
from moot.judging.parties import vote_choices

MAX_SPEECH_CHARS = 20_000
MAX_POINT_CHARS = 500
MAX_VOTES = 10_000
MAX_DELTA_CHARS = 16 * 1024
"""A longer text is written in pieces, so that no reader has to swallow it whole."""

Decision = tuple[Event, ...] | Refused


class TakeSeat(Struct, frozen=True):
    seat: str
    by: str = ""


class LeaveSeat(Struct, frozen=True):
    seat: str
    by: str = ""


class KeepDraft(Struct, frozen=True):
    """With `live` the words are shown as they are typed, for as long as nothing typed before is changed."""

    seat: str
    text: str
    live: bool = False


class Say(Struct, frozen=True):
    """The speech as a whole. Without a text the draft is said."""

    seat: str
    text: str | None = None


class OfferPoint(Struct, frozen=True):
    seat: str
    text: str


class AnswerPoint(Struct, frozen=True):
    seat: str
    accept: bool


class CastBallot(Struct, frozen=True):
    """A judge of flesh and blood decides, once; the order in which the seats are shown does not move them."""

    ballot: Ballot


class CastVote(Struct, frozen=True):
    voter: str
    choice: str
    poll: PollName | None = None
    """Without it, the one that is open."""


class ClosePoll(Struct, frozen=True):
    by: str = ""


ParticipationCommand = (
    TakeSeat | LeaveSeat | KeepDraft | Say | OfferPoint | AnswerPoint | CastBallot | CastVote | ClosePoll
)  # fmt: skip


def decide_participation(debate: Debate, command: ParticipationCommand) -> Decision:
    match command:
        case TakeSeat():
            return _take_seat(debate, command)
        case LeaveSeat():
            return _leave_seat(debate, command)
        case KeepDraft():
            return _keep_draft(debate, command)
        case Say():
            return _say(debate, command)
        case OfferPoint():
            return _offer_point(debate, command)
        case AnswerPoint():
            return _answer_point(debate, command)
        case CastBallot():
            return _cast_ballot(debate, command)
        case CastVote():
            return _cast_vote(debate, command)
        case ClosePoll():
            return _close_poll(debate, command)
        case _:
            assert_never(command)


# --- seats --------------------------------------------------------------------------------------------


def _take_seat(debate: Debate, deed: TakeSeat) -> Decision:
    _check_seat(debate, deed.seat)
    if debate.final or debate.status == "judging":
        return Refused("The speeches are over.", debate.status)
    if debate.seat(deed.seat).model.human:
        return Refused("A person sits in this seat.", debate.status)
    if _speaking(debate, deed.seat) or any(aside.seat == deed.seat for aside in debate.open_asides):
        return Refused("The seat is speaking; take it when the speech is over.", debate.status)
    return (SeatTaken(deed.seat, deed.by),)


def _leave_seat(debate: Debate, deed: LeaveSeat) -> Decision:
    _check_seat(debate, deed.seat)
    seat = debate.seat(deed.seat)
    if not seat.model.human:
        return Refused("Nobody sits in this seat.", debate.status)
    if debate.final:
        return Refused("The debate is over.", debate.status)
    if seat.stand_in is None:
        return Refused("No model stands in for this seat.", debate.status)
    return (*hand_to_stand_in(debate, deed.seat), SeatLeft(deed.seat, deed.by))


def hand_to_stand_in(debate: Debate, seat: str) -> tuple[Event, ...]:
    """What the person was about to say is said by the stand-in; what they were asked, they decline."""
    declined = (AsideFailed(aside.number, "Gone.") for aside in debate.open_asides if aside.seat == seat)
    turn = _speaking(debate, seat)
    return (*declined, *(interrupt_turn(debate, turn, "absent") if turn else ()))


def interrupt_turn(debate: Debate, turn: Turn, by: InterruptReason) -> tuple[Event, ...]:
    """Break a speech off. The call of a model is settled by whoever listens to it; nobody listens to a
    person."""
    call = debate.call(turn.call) if turn.call is not None else None
    by_hand = debate.seat(turn.seat).model.human
    return (*((human_call_completed(call),) if call and by_hand else ()), TurnInterrupted(turn.number, by))


# --- speaking -----------------------------------------------------------------------------------------


def start_human_call(debate: Debate, turn: Turn) -> tuple[CallStarted, ...]:
    """A person's words come by their own hand, as those of a call that costs nothing."""
    model = debate.seat(turn.seat).model
    if not model.human or turn.call is not None:
        return ()
    return (CallStarted(debate.calls_made + 1, model.label, "", 1, 0, 0, ZERO, turn=turn.number),)


def _keep_draft(debate: Debate, deed: KeepDraft) -> Decision:
    if refused := _refuse_unless_seated(debate, deed.seat):
        return refused
    if len(deed.text) > MAX_SPEECH_CHARS:
        raise _too_long("text", MAX_SPEECH_CHARS)
    turn = _speaking(debate, deed.seat)
    if deed.live and turn is not None and turn.call is not None and _extends(turn.text, deed.text):
        return tuple(_text_deltas(turn.call, deed.text[len(turn.text) :]))
    return () if deed.text == draft(debate, deed.seat) else (DraftKept(deed.seat, deed.text),)


def _say(debate: Debate, deed: Say) -> Decision:
    if refused := _refuse_unless_seated(debate, deed.seat):
        return refused
    turn = _speaking(debate, deed.seat)
    if turn is None or turn.call is None:
        return Refused("It is not this seat's turn to speak.", debate.status)
    text = (deed.text if deed.text is not None else draft(debate, deed.seat)).strip()
    if not text:
        raise Invalid("Nothing is written yet, and a speech has words.", {"text": ["Must not be empty"]})
    if len(text) > MAX_SPEECH_CHARS:
        raise _too_long("text", MAX_SPEECH_CHARS)
    return complete_human_speech(debate, turn, text)


def complete_human_speech(
    debate: Debate, turn: Turn, text: str, truncated: Truncation | None = None
) -> tuple[Event, ...]:
    """The whole speech, whatever of it was shown before."""
    call = debate.call(turn.call) if turn.call is not None else None
    if call is None:
        return ()
    rest = text.removeprefix(turn.text) if text.startswith(turn.text) else ""
    words, budget = count_words(text), debate.word_budget(turn.slot)
    return (
        *_text_deltas(call.number, rest),
        SegmentCompleted(call.number, Text(text)),
        human_call_completed(call),
        TurnCompleted(
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
    turn = _speaking(debate, seat)
    return turn.text if turn else ""


def human_call_completed(call: Call) -> CallCompleted:
    """What a person says costs nothing."""
    return CallCompleted(call.number, "stop", Usage(), ZERO, latency_ms=0)


def _speaking(debate: Debate, seat: str) -> Turn | None:
    return next((turn for turn in debate.live if turn.seat == seat), None)


def _extends(shown: str, text: str) -> bool:
    return len(text) > len(shown) and text.startswith(shown)


def _text_deltas(call: int, text: str) -> Iterator[Event]:
    for start in range(0, len(text), MAX_DELTA_CHARS):
        yield CallDelta(call, 0, "text", text[start : start + MAX_DELTA_CHARS])


# --- points of information ----------------------------------------------------------------------------


def _offer_point(debate: Debate, deed: OfferPoint) -> Decision:
    """One for each speech; it is put to the speaker when the speech comes to its break."""
    if refused := _refuse_unless_seated(debate, deed.seat):
        return refused
    text = deed.text.strip()
    if not text or len(text) > MAX_POINT_CHARS:
        raise _too_long("text", MAX_POINT_CHARS)
    turn = next((turn for turn in debate.live if opposed(debate.seats, deed.seat, turn.seat)), None)
    if turn is None:
        return Refused("Points of information can be offered while the other side speaks.", debate.status)
    if not debate.phase(turn.slot).points_of_information:
        return Refused("No points of information are taken in this speech.", debate.status)
    if turn.tone == "continuation":
        return Refused("The end of a speech is protected.", debate.status)
    offered = [(aside.turn, aside.seat) for aside in debate.asides if aside.kind == "point"]
    if (turn.number, deed.seat) in offered:
        return Refused("You have offered a point in this speech.", debate.status)
    number = len(debate.asides) + 1
    return (
        AsideAsked(number, "point", turn.slot, deed.seat, turn=turn.number),
        AsideAnswered(number, yes=True, text=text),
    )


def _answer_point(debate: Debate, deed: AnswerPoint) -> Decision:
    if refused := _refuse_unless_seated(debate, deed.seat):
        return refused
    asked = _open_point_offer(debate, deed.seat)
    if asked is None:
        return Refused("Nobody has offered you a point.", debate.status)
    return (AsideAnswered(asked.number, yes=deed.accept),)


def _open_point_offer(debate: Debate, seat: str) -> Aside | None:
    return next((a for a in debate.open_asides if a.kind == "leave" and a.seat == seat), None)


# --- judging and voting -------------------------------------------------------------------------------


def _cast_ballot(debate: Debate, deed: CastBallot) -> Decision:
    judging = debate.judging
    if judging is None or judging.closed:
        return Refused("The debate is not being judged.", debate.status)
    judge = next((judge for judge in judging.judges if judge.id == deed.ballot.judge), None)
    if judge is None or not judge.model.human:
        return Refused("This judge does not sit here in person.", debate.status)
    if judging.has_ballot(judge.id, 0):
        return Refused("This judge has voted.", debate.status)
    return (BallotCast(judging.number, check_ballot(debate, judge, deed.ballot)),)


def _cast_vote(debate: Debate, deed: CastVote) -> Decision:
    name = deed.poll or _open_poll(debate)
    if name is None:
        return Refused("No vote is open.", debate.status)
    poll = debate.poll(name)
    if poll is None:
        return Refused("This vote is not open yet.", debate.status)
    if deed.choice not in vote_choices(debate):
        raise Invalid(
            "There is no such choice.", {"choice": [f"Must be one of: {', '.join(vote_choices(debate))}"]}
        )
    if any(vote.voter == deed.voter and vote.poll == name for vote in debate.votes):
        return Refused("You have voted.", debate.status)
    if len(debate.votes) >= MAX_VOTES:
        return Refused(f"A debate takes at most {MAX_VOTES} votes.", debate.status)
    return (VoteCast(name, deed.voter, deed.choice, late=_open_poll(debate) != name),)


def _close_poll(debate: Debate, deed: ClosePoll) -> Decision:
    name = _open_poll(debate)
    return (PollClosed(name, deed.by),) if name else Refused("No vote is open.", debate.status)


def _open_poll(debate: Debate) -> PollName | None:
    """Polls that nobody has closed are over with the debate."""
    if debate.final:
        return None
    return next((poll.name for poll in debate.polls if poll.closed_at is None), None)


# --- checks -------------------------------------------------------------------------------------------


def _refuse_unless_seated(debate: Debate, seat: str) -> Refused | None:
    _check_seat(debate, seat)
    if not debate.seat(seat).model.human:
        return Refused("A model sits in this seat; take it first.", debate.status)
    over = debate.final or debate.status == "judging"
    return Refused("The speeches are over.", debate.status) if over else None


def _check_seat(debate: Debate, seat: str) -> None:
    if all(other.id != seat for other in debate.seats):
        raise Invalid("There is no such seat.", {"seat": ["Unknown seat"]})


def _too_long(field: str, most: int) -> Invalid:
    problem = f"Must be between 1 and {most} characters"
    return Invalid(f"{problem}.", {field: [problem]})
