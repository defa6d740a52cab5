"""A session as a debate: its format, the command with which a client asks for a turn, and where a turn is.

Two seats answer each other for ten turns, without a judge. Turn n is slot n - 1 of the schedule, however
often it had to be given. The request for a turn names its model: it fills a seat that has none yet, and the
seat keeps it. To ask again for a turn that is being given or was given changes nothing; one that failed or
was cut is given again. The session is over when all turns have been given.
"""

from __future__ import annotations

from moot.core.errors import Invalid, Refused
from moot.core.events import DebateResumed, SeatFilled, TurnRetried
from moot.core.state import Debate, Turn
from moot.core.terms import FREE, HUMAN, SESSION_FORMAT, Format, Model, Phase, Seat, SeatTemplate
from moot.rules.commands import Command, Decision, interrupt_turn
from moot.rules.turn_by_turn import client_response_id, is_empty, is_unasked, next_slot

TURNS = 10
FORMAT = Format(
    name=SESSION_FORMAT,
    title="Turn by turn",
    summary="Two sides answer each other, and every turn is asked for.",
    chairs=(SeatTemplate("AFFIRMATIVE", "for"), SeatTemplate("NEGATIVE", "against")),
    phases=(
        Phase(
            "opening",
            "Opening",
            "each",
            round=1,
            tone="opening",
            words=600,
            held=False,
            guide="Present your opening argument following Robert's Rules of Order.",
        ),
        Phase(
            "reply",
            "Reply",
            "each",
            round=2,
            tone="rebuttal",
            words=600,
            held=False,
            guide="Address your opponent's specific points, refute their arguments with evidence and logic, "
            "and strengthen your own position.",
        ),
    ),
    max_seats=2,
    turns=TURNS,
    max_turns=TURNS,
    repeat=2,
    # Only its client ends it: no stalemate, no concession, no side question.
    scripted=True,
    result="none",
)
UNASSIGNED_MODEL = Model(HUMAN, HUMAN, price=FREE)
"""Holds a seat until a model is named for it."""


class AskTurn(Command, frozen=True):
    slot: int
    model: Model
    previous: str | None = None
    """The id of this speaker's last response, as the client knows it."""
    intensity: int | None = None
    """From this turn on; None: as before."""
    opponent_words: str = ""
    """What the opponent said last, as the client has it: that is what is quoted. Empty: as it is recorded."""
    by: str = ""

    def decide(self, debate: Debate) -> Decision:
        if not debate.is_session or not 0 <= self.slot < len(debate.schedule):
            raise Invalid("There is no such turn.", {"turnNumber": [f"Must be between 1 and {TURNS}"]})
        seat = debate.seat(debate.schedule[self.slot].seat)
        filled = self._fill(debate, seat)
        if not self._is_own_chain(debate):
            problem = "Must be the last response of this turn's own model"
            raise Invalid("The chain is another's.", {"previousResponseId": [problem]})
        turn = latest_turn(debate, self.slot)
        # A turn begun before a model was named waits for a person who will never come.
        vacant = tuple(live for live in debate.live if is_unasked(debate, debate.seat(live.seat)))
        if turn is not None and turn.state in ("live", "completed") and turn not in vacant:
            return ()
        if debate.final or debate.being_judged:
            return Refused("The debate is over.", debate.status)
        expected_slot = next_slot(debate)
        if expected_slot != self.slot and (turn is None or not turn.used_slot):
            expected = (
                "All turns have been given"
                if expected_slot is None
                else f"The next turn is {expected_slot + 1}"
            )
            raise Invalid("It is another's turn.", {"turnNumber": [expected]})
        intensity = None if self.intensity == debate.setup.intensity else self.intensity
        resumed = (*filled, DebateResumed("turn", intensity, self._quoted(debate)))
        if vacant:
            return (*(event for live in vacant for event in interrupt_turn(debate, live, "pause")), *resumed)
        if turn is not None and (turn.used_slot or debate.status == "error"):
            # Struck first, so that no later turn hears the part that was given.
            return (TurnRetried(turn.number), *resumed)
        # Where the debate runs already, the same turn was asked for just before.
        return () if debate.running and not filled else resumed

    def _fill(self, debate: Debate, seat: Seat) -> tuple[SeatFilled, ...]:
        """A model that has said nothing yet may be replaced by another, unless it is about to speak."""
        if seat.model.label == self.model.label:
            return ()
        spoke = any(
            turn.seat == seat.id and (turn.has_words or turn.state == "live")
            for turn in (*debate.turns, *debate.live)
        )
        if not is_empty(seat) and (spoke or debate.running):
            known = seat.model.alias or seat.model.name
            raise Invalid("Another model sits there.", {"modelId": [f"Must be {known}, as before"]})
        return (SeatFilled(seat.id, self.model, self.by),)

    def _quoted(self, debate: Debate) -> str:
        """The opponent's words, unless they are those of the log."""
        words = self.opponent_words.strip() if self.slot else ""
        last = latest_turn(debate, self.slot - 1)
        return "" if last is not None and last.text.strip() == words else words

    def _is_own_chain(self, debate: Debate) -> bool:
        """Ids of speeches that were given elsewhere are unknown here; they are accepted and not passed on."""
        if self.previous is None:
            return True
        last = last_turn_of_speaker(debate, self.slot)
        if last is None:
            seat = debate.schedule[self.slot].seat
            return any(debate.schedule[slot].seat == seat for slot in debate.skipped)
        ours = client_response_id(debate, last, private=False)
        if last.response_id is None and not self.previous.startswith(ours.rpartition("_")[0]):
            # Its last speech was given elsewhere, or its provider gives no ids.
            return True
        return self.previous in (last.response_id, ours)


def latest_turn(debate: Debate, slot: int) -> Turn | None:
    """The last attempt at this turn, unless it was struck."""
    attempts = (turn for turn in (*debate.turns, *debate.live) if turn.slot == slot and not turn.struck)
    return max(attempts, key=lambda turn: turn.seq, default=None)


def last_turn_of_speaker(debate: Debate, slot: int) -> Turn | None:
    """The last speech of this turn's speaker before it."""
    seat = debate.schedule[slot].seat
    earlier = (
        turn
        for turn in debate.turns
        if turn.seat == seat and turn.slot < slot and turn.state == "completed" and turn.has_words
    )
    return max(earlier, key=lambda turn: turn.slot, default=None)


def stream_position(debate: Debate, slot: int) -> tuple[int, int]:
    """The number of this turn, given or to come, and the seq after which its events follow."""
    turn = latest_turn(debate, slot)
    if turn is not None and (turn.state == "live" or turn.used_slot):
        return turn.number, turn.since
    return len(debate.turns) + len(debate.live) + 1, debate.seq


def last_asked_position(debate: Debate) -> tuple[int, int] | None:
    """The same for the turn that was asked for last; None where none ever was."""
    if debate.running and not debate.live and (remaining := debate.remaining_slots()):
        return stream_position(debate, remaining[0].index)
    turn = max((*debate.turns, *debate.live), key=lambda turn: turn.seq, default=None)
    return (turn.number, turn.since) if turn else None
