"""Commands: what people may ask of a debate, each with the rule that decides it.

`Command.decide` returns the events that the command leads to, or `Refused` with the reason. It is pure and
runs on the head of the log, atomically with the append. A command never calls a runner: the runner learns of
a pause from the log, as a browser does. The commands of people who take part are in `participation.py`, that
of turn-by-turn sessions in `turn_by_turn.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Literal

from msgspec import Struct

from moot.core import events as ev
from moot.core.errors import Invalid, Refused
from moot.core.schedule import schedule, with_more_rounds
from moot.core.state import ZERO, Call, Debate, Turn
from moot.core.statuses import EndReason
from moot.core.terms import DebateVerdict, Judge, Money, Slot, StepSize, Usage
from moot.judging import audience_votes
from moot.judging.neutral_labels import choose_labels
from moot.judging.parties import party_called
from moot.judging.recusal import with_free_ids
from moot.rules.budget import cut_off
from moot.rules.side_questions import continuation, skipped_speech, summary_slots

MAX_REMARKS = 100
MAX_REMARK_CHARS = 2000
MAX_JUDGINGS = 20
MAX_EXTENSION_SECONDS = 3600.0
NOBODY_HEARS = "Nobody would hear a remark now."

Decision = tuple[ev.Event, ...] | Refused


class Command(Struct, frozen=True):
    needs_runner: ClassVar[bool] = True
    """False where the command gives a runner nothing to do."""

    def decide(self, debate: Debate) -> Decision:
        """The events that follow, or why the command is refused. Raises Invalid where it makes no sense."""
        raise NotImplementedError


def decide(debate: Debate | None, command: Command) -> Decision:
    if isinstance(command, Open):
        if debate is not None:
            return Refused("This debate is already open.", debate.status)
        return (command.debate, ev.DebateStarted(command.step)) if command.start else (command.debate,)
    if debate is None:
        return Refused("This debate does not exist.", "unknown")
    decision = command.decide(debate)
    if isinstance(decision, Refused) or not any(isinstance(event, ev.DebateEnded) for event in decision):
        return decision
    return tuple(_with_cut_calls_settled(debate, decision))


def _with_cut_calls_settled(debate: Debate, events: Iterable[ev.Event]) -> Iterator[ev.Event]:
    """A debate ends with its full cost: the calls that its end cuts are settled before it."""
    human_calls = {turn.call for turn in debate.live if debate.seat(turn.seat).model.human}
    for event in events:
        if isinstance(event, ev.DebateEnded):
            yield from (cut_off(debate, call) for call in debate.calls if call.number not in human_calls)
        yield event


# --- opening, pausing, resuming -----------------------------------------------------------------------


class Open(Command, frozen=True):
    """With `start` the debate begins at once, so that no viewer sees it open and not started.

    Decided in `decide`, because there is no debate yet.
    """

    debate: ev.DebateOpened
    start: bool = False
    step: StepSize | None = None


class Start(Command, frozen=True):
    """With a step, pauses after one speech or at the end of the round."""

    step: StepSize | None = None

    def decide(self, debate: Debate) -> Decision:
        if debate.status != "created":
            return Refused("The debate has already started.", debate.status)
        return (ev.DebateStarted(self.step),)


class PauseDebate(Command, frozen=True):
    """After the running turn; with `now` the turn is cut, and given again on resume."""

    now: bool = False
    by: str = ""

    def decide(self, debate: Debate) -> Decision:
        cut = interrupt(debate, "pause") if self.now else ()
        if debate.status == "paused":
            return cut
        if not debate.running:
            return Refused("Only a running debate can be paused.", debate.status)
        return (*cut, ev.DebatePaused(self.by))


class ResumeDebate(Command, frozen=True):
    """With a step, pauses again after one speech (or those given together) or at the end of the round."""

    step: StepSize | None = None

    def decide(self, debate: Debate) -> Decision:
        if debate.status != "paused":
            return Refused("The debate is not paused.", debate.status)
        if debate.is_session:
            return Refused(
                "Each turn of this debate is asked for by its client; none follows.", debate.status
            )
        return (ev.DebateResumed(self.step),)


# --- speeches and rounds ------------------------------------------------------------------------------


class NextRound(Command, frozen=True):
    """Manual mode: begin the next round."""

    def decide(self, debate: Debate) -> Decision:
        if not debate.running:
            return Refused("The debate is not running.", debate.status)
        remaining = debate.remaining_slots()
        round_begun = remaining and remaining[0].round <= max(debate.rounds_asked, debate.round)
        if debate.live or debate.open_asides or round_begun:
            return Refused("A round is in progress.", debate.status)
        if not remaining:
            return Refused("All rounds have been held.", debate.status)
        if debate.setup.auto:
            return Refused("Rounds follow by themselves in this debate.", debate.status)
        return (ev.RoundAsked(),)


class SkipTurn(Command, frozen=True):
    """Without a turn or slot, skips whatever is being said or asked. With one, it means that speech alone:
    sent again, the command does not skip the next one. A slot may also be still to come."""

    by: str = ""
    turn: int | None = None
    slot: int | None = None

    def decide(self, debate: Debate) -> Decision:
        if self._is_done(debate):
            return ()
        if not (debate.running or debate.status == "paused"):
            return Refused("There is no turn to skip.", debate.status)
        if self.turn is None and self.slot is None:
            return self._skip_running(debate)
        for turn in debate.live:
            if self.turn == turn.number or self.slot == turn.slot:
                about_turn = (aside for aside in debate.open_asides if aside.turn == turn.number)
                failed = (ev.AsideFailed(aside.number, "Cut short.") for aside in about_turn)
                second_half = self._skip_second_halves(debate, [debate.schedule[turn.slot]])
                return (*failed, *interrupt_turn(debate, turn, "skip"), *second_half)
        for slot in debate.remaining_slots():
            if slot.index == self.slot:
                second_half = self._skip_second_halves(debate, [slot])
                return (ev.TurnSkipped(slot.index, slot.seat, self.by), *second_half)
        return Refused(self._why_not(debate), debate.status)

    def _skip_running(self, debate: Debate) -> Decision:
        if not (debate.live or debate.open_asides):
            return Refused("Nobody is speaking.", debate.status)
        slots = [debate.schedule[turn.slot] for turn in debate.live]
        return (*interrupt(debate, "skip"), *self._skip_second_halves(debate, slots))

    def _is_done(self, debate: Debate) -> bool:
        """Whether the speech that is named was skipped before."""
        skipped = [turn for turn in debate.turns if turn.by == "skip"]
        if self.slot is None:
            return any(turn.number == self.turn for turn in skipped)
        return self.slot in debate.skipped or any(
            turn.slot == self.slot and not turn.struck for turn in skipped
        )

    def _why_not(self, debate: Debate) -> str:
        if self.slot is not None and self.slot >= len(debate.schedule):
            return "There is no such speech."
        begun = any(self.turn == turn.number or self.slot == turn.slot for turn in debate.turns)
        return "That speech is over." if begun else "That speech has not begun."

    def _skip_second_halves(self, debate: Debate, slots: Iterable[Slot]) -> tuple[ev.TurnSkipped, ...]:
        """Where the first half of a speech is skipped, so is its second."""
        remaining = debate.remaining_slots()
        halves = (continuation(debate, slot) for slot in slots)
        return tuple(
            ev.TurnSkipped(half.index, half.seat, self.by) for half in halves if half and half in remaining
        )


class ExtendDebate(Command, frozen=True):
    """More time for the speech under way, or more rounds."""

    seconds: float = 0.0
    rounds: int = 0
    by: str = ""

    def decide(self, debate: Debate) -> Decision:
        if not (debate.running or debate.status == "paused"):
            return Refused("Only a running debate can be extended.", debate.status)
        events: list[ev.Event] = []
        if self.seconds:
            if not 0 < self.seconds <= MAX_EXTENSION_SECONDS:
                raise Invalid(
                    "No such time.", {"seconds": [f"Must be between 1 and {MAX_EXTENSION_SECONDS:g}"]}
                )
            if not debate.live:
                return Refused("Nobody is speaking.", debate.status)
            events += [ev.TurnExtended(turn.number, self.seconds, self.by) for turn in debate.live]
        if self.rounds:
            if refused := _refuse_more_rounds(debate, self.rounds):
                return refused
            events.append(ev.RoundsAdded(self.rounds, self.by))
        if not events:
            raise Invalid("Nothing to extend.", {"seconds": ["Give seconds or rounds"]})
        return tuple(events)


def _refuse_more_rounds(debate: Debate, rounds: int) -> Refused | None:
    """Rounds can be added as long as no speech that was given would have to move."""
    fmt = debate.format
    if fmt.repeat is None:
        return Refused(f"{fmt.title} has a fixed table of speeches.", debate.status)
    limits = with_more_rounds(fmt, debate.seats, debate.limits, rounds)
    most = fmt.max_turns if fmt.turns else fmt.max_rounds
    if rounds < 1 or ((limits.turns or 0) if fmt.turns else limits.rounds) > (most or 0):
        raise Invalid("Too many rounds.", {"rounds": [f"At most {most} in all"]})
    used_slots = [turn.slot for turn in (*debate.turns, *debate.live)] + [*debate.skipped]
    begun = max(used_slots, default=-1) + 1
    extended = schedule(fmt, debate.seats, limits)
    if not debate.remaining_slots() or extended[:begun] != debate.schedule[:begun]:
        return Refused("It is too late for a further round: the last one has begun.", debate.status)
    return None


class Retry(Command, frozen=True):
    """Give the last failed or interrupted turn again."""

    def decide(self, debate: Debate) -> Decision:
        if debate.live or not (debate.running or debate.status in ("paused", "error")):
            return Refused("There is no turn to try again.", debate.status)
        remaining = {slot.index for slot in debate.remaining_slots()}
        failed = [
            turn
            for turn in debate.turns
            if turn.state in ("failed", "interrupted")
            and not turn.struck
            and (turn.used_slot or turn.slot in remaining)
        ]
        if not failed and debate.failure == "permanent_fault":
            # A model could not be used before anybody spoke.
            return (ev.DebateResumed("turn" if debate.is_session else None),)
        if not failed:
            return Refused("No turn has failed or been interrupted.", debate.status)
        # A session pauses again after this turn.
        resumed = (ev.DebateResumed("turn", quoted=failed[-1].quoted),) if debate.is_session else ()
        return (ev.TurnRetried(failed[-1].number), *resumed)


class AddRemark(Command, frozen=True):
    """A remark that later speakers hear: all, or one alone. All hear a question, and it wants an answer."""

    needs_runner: ClassVar[bool] = False

    text: str
    by: str = ""
    to: str | None = None
    question: bool = False

    def decide(self, debate: Debate) -> Decision:
        if debate.final or debate.status in ("judging", "error"):
            return Refused(NOBODY_HEARS, debate.status)
        # Questions and remarks are counted apart: too many questions must not silence the moderator.
        if sum(remark.question == self.question for remark in debate.remarks) >= MAX_REMARKS:
            kind = "questions" if self.question else "remarks"
            return Refused(f"A debate takes at most {MAX_REMARKS} {kind}.", debate.status)
        text = self.text.strip()
        if not text or len(text) > MAX_REMARK_CHARS:
            raise Invalid(
                f"A remark has 1 to {MAX_REMARK_CHARS} characters.",
                {"text": [f"Must be between 1 and {MAX_REMARK_CHARS} characters"]},
            )
        if self.to is not None and all(seat.id != self.to for seat in debate.seats):
            raise Invalid("There is no such seat.", {"to": ["Unknown seat"]})
        if not (listeners := self._listeners(debate)):
            return Refused(f"{NOBODY_HEARS} The last speech has begun.", debate.status)
        if self.to is not None and self.to not in listeners:
            name = debate.seat(self.to).name
            return Refused(f"{name} does not speak again, and would not hear it.", debate.status)
        return (ev.RemarkInjected(len(debate.remarks) + 1, text, self.by, self.to, self.question),)

    def _listeners(self, debate: Debate) -> set[str]:
        """The seats with a speech still to begin, and people who are speaking, who read it at once."""
        if debate.in_circles:
            return set()
        people = {turn.seat for turn in debate.live if debate.seat(turn.seat).model.human}
        begun = {turn.slot for turn in debate.live}
        coming = (slot for slot in debate.remaining_slots() if slot.index not in begun)
        return people | {slot.seat for slot in coming if self.question or not skipped_speech(debate, slot)}


# --- judging and ending -------------------------------------------------------------------------------


class JudgeNow(Command, frozen=True):
    reason: str = ""

    def decide(self, debate: Debate) -> Decision:
        if debate.final or debate.status in ("judging", "created"):
            return Refused("The debate cannot be judged now.", debate.status)
        if not debate.has_speeches:
            return Refused("Nothing to judge.", debate.status)
        if not debate.panel:
            return Refused("No judge sits in this debate.", debate.status)
        return (*_cut_all(debate, "judge"), _judging(debate, "judged", self.reason))


class SkipToJudge(Command, frozen=True):
    """Judge now, unless a round is in progress."""

    def decide(self, debate: Debate) -> Decision:
        if not debate.running:
            return Refused("The debate is not running.", debate.status)
        if debate.live or debate.open_asides:
            return Refused("A round is in progress.", debate.status)
        return JudgeNow().decide(debate)


class JudgeAgain(Command, frozen=True):
    """Judge a debate that is over once more; the first verdict stays."""

    judges: tuple[Judge, ...] = ()
    """Without any, those of the debate."""
    reason: str = ""
    allowance: Money | None = None

    def decide(self, debate: Debate) -> Decision:
        if not debate.final:
            return Refused("Only a debate that is over is judged again.", debate.status)
        if debate.being_judged:
            return Refused("The debate is being judged again already.", debate.status)
        if not debate.has_speeches:
            return Refused("Nothing to judge.", debate.status)
        if not (self.judges or debate.panel):
            return Refused("No judge sits in this debate: name one.", debate.status)
        if len(debate.judgings) >= MAX_JUDGINGS:
            return Refused(f"A debate is judged at most {MAX_JUDGINGS} times.", debate.status)
        judges = with_free_ids(debate, self.judges) or debate.panel
        return (_judging(debate, "judged", self.reason, judges, self.allowance),)


class DecideWinner(Command, frozen=True):
    """A person names the winner's seat, by its id or by the letter of its place (A, B, …); None: a draw."""

    winner: str | None
    reason: str = ""

    def decide(self, debate: Debate) -> Decision:
        if debate.final or debate.status in ("created", "judging"):
            return Refused("The debate cannot be decided now.", debate.status)
        winner = party_called(debate, self.winner) if self.winner is not None else None
        if self.winner is not None and winner is None:
            raise Invalid("There is no such debater.", {"winner": ["Unknown participant"]})
        verdict = DebateVerdict(
            outcome="win" if winner else "draw",
            winner=winner.id if winner else None,
            by="hand",
            reasoning=self.reason,
        )
        return (
            *_cut_all(debate, "decide"),
            ev.VerdictReached(verdict),
            ev.DebateEnded("decided", self.reason),
        )


class Stop(Command, frozen=True):
    """End the speeches; what was said is judged, or summed up where the format has a summary."""

    reason: str = ""

    def decide(self, debate: Debate) -> Decision:
        if debate.status == "judging" and debate.stopped_at is not None:
            return ()
        if debate.final or debate.status == "judging":
            return Refused("The debate is over.", debate.status)
        stopped = (*interrupt(debate, "stop"), ev.DebateStopped(self.reason))
        ending = end_speeches(debate, "stopped", self.reason)
        goes_on = debate.status == "paused" and all(isinstance(event, ev.TurnSkipped) for event in ending)
        return (*stopped, *((ev.DebateResumed(),) if goes_on else ()), *ending)


class Abort(Command, frozen=True):
    """End the debate and judge nothing. Where a finished debate is judged again, only that is ended."""

    reason: str = ""

    def decide(self, debate: Debate) -> Decision:
        if debate.final and debate.judging is not None and not debate.judging.closed:
            return (ev.JudgingFailed(debate.judging.number, self.reason or "It was called off."),)
        if debate.final:
            return Refused("The debate is over.", debate.status)
        return (*_cut_all(debate, "abort"), ev.DebateEnded("aborted", self.reason))


# --- what several commands and the runner share -------------------------------------------------------


def conclude_speeches(debate: Debate, why: EndReason, reason: str = "") -> tuple[ev.Event, ...]:
    """The speeches are over: have them judged, or end the debate where there is no judge or no speech."""
    if debate.setup.winning == "audience":
        verdict = audience_votes.verdict(debate)
        return (*((ev.VerdictReached(verdict),) if verdict else ()), ev.DebateEnded(why, reason))
    if debate.panel and debate.has_speeches and debate.setup.winning != "user-decides":
        return (_judging(debate, why, reason),)
    return (ev.DebateEnded(why, reason),)


def end_speeches(
    debate: Debate, why: Literal["stopped", "budget"], reason: str = "", *, summed_up: bool = True
) -> tuple[ev.Event, ...]:
    """End the speeches early. The moderator's summary (unless not `summed_up`) and a vote that are still to
    come follow: only the other speeches are skipped."""
    speaking = {turn.slot for turn in debate.live}
    remaining = [slot for slot in debate.remaining_slots() if slot.index not in speaking]
    summaries = summary_slots(debate) if summed_up and _goes_on(debate) else ()
    closing = [slot for slot in remaining if slot in summaries]
    if not (closing or _poll_follows(debate)):
        return (*close_polls(debate, why), *conclude_speeches(debate, why, reason))
    return tuple(ev.TurnSkipped(slot.index, slot.seat, why) for slot in remaining if slot not in closing)


def close_polls(debate: Debate, by: str) -> tuple[ev.PollClosed, ...]:
    return tuple(ev.PollClosed(poll.name, by) for poll in debate.polls if poll.closed_at is None)


def interrupt(debate: Debate, by: ev.InterruptReason) -> tuple[ev.Event, ...]:
    """Cut whatever is being said or asked."""
    return (
        *(ev.AsideFailed(aside.number, "Cut short.") for aside in debate.open_asides),
        *(event for turn in debate.live for event in interrupt_turn(debate, turn, by)),
    )


def interrupt_turn(debate: Debate, turn: Turn, by: ev.InterruptReason) -> tuple[ev.Event, ...]:
    """Cut a speech. The call of a model is settled by its runner; that of a person, for which no runner
    listens, is completed here."""
    call = debate.call(turn.call) if turn.call is not None else None
    is_human = debate.seat(turn.seat).model.human
    completed = (human_call_completed(call),) if call and is_human else ()
    return (*completed, ev.TurnInterrupted(turn.number, by))


def human_call_completed(call: Call) -> ev.CallCompleted:
    """A person's words cost nothing."""
    return ev.CallCompleted(call.number, "stop", Usage(), ZERO, latency_ms=0)


def _cut_all(debate: Debate, by: Literal["judge", "decide", "abort"]) -> tuple[ev.Event, ...]:
    return (*interrupt(debate, by), *close_polls(debate, by))


def _poll_follows(debate: Debate) -> bool:
    return bool(debate.setup.polls) and _goes_on(debate) and debate.poll("after") is None


def _goes_on(debate: Debate) -> bool:
    """Whether something was said, and the debate is under way."""
    return debate.has_speeches and (debate.running or debate.status == "paused")


def _judging(
    debate: Debate,
    why: EndReason,
    reason: str,
    judges: tuple[Judge, ...] = (),
    allowance: Money | None = None,
) -> ev.JudgingStarted:
    labels = choose_labels(debate, judges or debate.panel)
    return ev.JudgingStarted(len(debate.judgings) + 1, why, reason, judges, allowance, labels)
