"""What may be asked of a debate, and `decide`: the events it leads to, or why it is refused.

`decide` is pure and runs against the head of the log, atomically with the append. Nobody calls a runner:
the runner learns of a pause the way a browser does, from the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from moot.core.errors import Invalid, Refused
from moot.core.events import (
    AsideFailed,
    DebateEnded,
    DebateOpened,
    DebatePaused,
    DebateResumed,
    DebateStarted,
    DebateStopped,
    EndReason,
    Event,
    InterruptReason,
    JudgingFailed,
    JudgingStarted,
    PollClosed,
    RemarkInjected,
    RoundAsked,
    RoundsAdded,
    TurnExtended,
    TurnRetried,
    TurnSkipped,
    VerdictReached,
)
from moot.core.schedule import schedule, with_more_rounds
from moot.core.state import Debate
from moot.core.terms import Judge, Money, Slot, StepSize, Verdict
from moot.judging import audience_votes
from moot.judging.ballots import choose_labels
from moot.judging.panel import with_free_ids
from moot.judging.parties import party_of
from moot.rules.budget import cut_off
from moot.rules.participation import (
    AnswerPoint,
    Decision,
    KeepDraft,
    LeaveSeat,
    OfferPoint,
    ParticipationCommand,
    Say,
    TakeSeat,
    decide_participation,
    interrupt_turn,
)
from moot.rules.side_questions import continuation
from moot.rules.turn_sessions import AskTurn, ask_turn, is_session, is_unasked

MAX_REMARKS = 100
MAX_REMARK_CHARS = 2000
MAX_JUDGINGS = 20
MAX_EXTENSION_SECONDS = 3600.0


class Open(Struct, frozen=True):
    """With `start` it begins at once, in the same breath: nobody finds it open and not started."""

    debate: DebateOpened
    start: bool = False
    step: StepSize | None = None


class Start(Struct, frozen=True):
    """With a step it goes for one speech, or to the end of the round."""

    step: StepSize | None = None


class Pause(Struct, frozen=True):
    """After the running turn; with `now` the turn is cut and given again on resume."""

    now: bool = False
    by: str = ""


class Resume(Struct, frozen=True):
    """With a step it goes on for one speech (or those given together) or to the end of the round."""

    step: StepSize | None = None


class NextRound(Struct, frozen=True):
    pass


class SkipToJudge(Struct, frozen=True):
    pass


class SkipTurn(Struct, frozen=True):
    """Without a name, whatever is being said or asked. A turn or a slot names the one speech that is meant:
    sent again, the command does nothing to the next one. A slot may also be still to come."""

    by: str = ""
    turn: int | None = None
    slot: int | None = None


class Inject(Struct, frozen=True):
    """A remark that later speakers hear: all, or one alone. A question all hear, and it wants an answer."""

    text: str
    by: str = ""
    to: str | None = None
    question: bool = False


class Extend(Struct, frozen=True):
    """More time for the speech under way, or more rounds."""

    seconds: float = 0.0
    rounds: int = 0
    by: str = ""


class JudgeNow(Struct, frozen=True):
    reason: str = ""


class Rejudge(Struct, frozen=True):
    """Have a debate that is over judged once more; the first verdict stays what it was."""

    judges: tuple[Judge, ...] = ()
    """Without any, those of the debate."""
    reason: str = ""
    allowance: Money | None = None


class Decide(Struct, frozen=True):
    """A person names the winner's seat, or a draw with None."""

    winner: str | None
    reason: str = ""


class Retry(Struct, frozen=True):
    """Give the last failed or interrupted turn again."""


class Stop(Struct, frozen=True):
    reason: str = ""


class Abort(Struct, frozen=True):
    """End it and judge nothing. Of a debate that is over and judged again, only that is called off."""

    reason: str = ""


Command = (
    Open | Start | Pause | Resume | NextRound | SkipToJudge | SkipTurn | Inject | Extend | JudgeNow | Rejudge
    | Decide | Retry | Stop | Abort | AskTurn | ParticipationCommand
)  # fmt: skip


def decide(debate: Debate | None, command: Command) -> Decision:
    """The events that a command leads to, or why it is refused."""
    decision = _decide(debate, command)
    if debate is None or isinstance(decision, Refused):
        return decision
    return tuple(_with_open_calls_settled(debate, decision))


def _with_open_calls_settled(debate: Debate, events: Iterable[Event]) -> Iterator[Event]:
    """A debate ends with all that it has cost: the calls that its end cuts are settled before it."""
    people = {turn.call for turn in debate.live if debate.seat(turn.seat).model.human}
    for event in events:
        if isinstance(event, DebateEnded):
            yield from (cut_off(debate, call) for call in debate.calls if call.number not in people)
        yield event


def _decide(debate: Debate | None, command: Command) -> Decision:
    if isinstance(command, Open):
        if debate is not None:
            return Refused("This debate is already open.", debate.status)
        return (command.debate, DebateStarted(command.step)) if command.start else (command.debate,)
    if debate is None:
        return Refused("This debate does not exist.", "unknown")
    match command:
        case Start():
            return _start(debate, command)
        case Pause():
            return _pause(debate, command)
        case Resume():
            return _resume(debate, command)
        case NextRound():
            return _next_round(debate)
        case SkipToJudge():
            return _skip_to_judge(debate)
        case SkipTurn():
            return _skip_turn(debate, command)
        case Inject():
            return _inject(debate, command)
        case Extend():
            return _extend(debate, command)
        case JudgeNow():
            return _judge_now(debate, command)
        case Rejudge():
            return _rejudge(debate, command)
        case Decide():
            return _decide_by_hand(debate, command)
        case Retry():
            return _retry(debate)
        case Stop():
            return _stop(debate, command)
        case Abort():
            return _abort(debate, command)
        case AskTurn():
            return ask_turn(debate, command)
        case _:
            return _nobodys(debate, command) or decide_participation(debate, command)


def conclude_speeches(debate: Debate, why: EndReason, reason: str = "") -> tuple[Event, ...]:
    """The speeches are over: judge them, or end where there is nothing or nobody to judge."""
    if debate.manner.winning == "audience":
        verdict = audience_votes.verdict(debate)
        return (*((VerdictReached(verdict),) if verdict else ()), DebateEnded(why, reason))
    if debate.panel and debate.has_speeches and debate.manner.winning != "user-decides":
        return (_judging(debate, why, reason),)
    return (DebateEnded(why, reason),)


def end_speeches(debate: Debate, why: Literal["stopped", "budget"], reason: str = "") -> tuple[Event, ...]:
    """The speeches end before their time. A vote that is still to come is held; else that is the end."""
    if not _poll_follows(debate):
        return (*close_polls(debate, why), *conclude_speeches(debate, why, reason))
    speaking = {turn.slot for turn in debate.live}
    left = (slot for slot in debate.remaining_slots() if slot.index not in speaking)
    return tuple(TurnSkipped(slot.index, slot.seat, why) for slot in left)


def _poll_follows(debate: Debate) -> bool:
    going_on = debate.running or debate.status == "paused"
    return bool(debate.manner.polls) and going_on and debate.has_speeches and debate.poll("after") is None


def close_polls(debate: Debate, by: str) -> tuple[PollClosed, ...]:
    return tuple(PollClosed(poll.name, by) for poll in debate.polls if poll.closed_at is None)


def interrupt(debate: Debate, by: InterruptReason) -> tuple[Event, ...]:
    """Cut whatever is being said or asked."""
    return (
        *(AsideFailed(aside.number, "Cut short.") for aside in debate.open_asides),
        *(event for turn in debate.live for event in interrupt_turn(debate, turn, by)),
    )


def _start(debate: Debate, command: Start) -> Decision:
    if debate.status != "created":
        return Refused("The debate has already started.", debate.status)
    return (DebateStarted(command.step),)


def _pause(debate: Debate, command: Pause) -> Decision:
    cut = interrupt(debate, "pause") if command.now else ()
    if debate.status == "paused":
        return cut
    if not debate.running:
        return Refused("Only a running debate can be paused.", debate.status)
    return (*cut, DebatePaused(command.by))


def _resume(debate: Debate, command: Resume) -> Decision:
    if debate.status != "paused":
        return Refused("The debate is not paused.", debate.status)
    if is_session(debate):
        return Refused("Each turn of this debate is asked for by its client; none follows.", debate.status)
    return (DebateResumed(command.step),)


def _nobodys(debate: Debate, deed: ParticipationCommand) -> Refused | None:
    """Nothing can be done at a seat for which no model has been named yet."""
    if not isinstance(deed, TakeSeat | LeaveSeat | KeepDraft | Say | OfferPoint | AnswerPoint):
        return None
    if any(seat.id == deed.seat and is_unasked(debate, seat) for seat in debate.seats):
        return Refused("No model has been named for this seat yet.", debate.status)
    return None


def _next_round(debate: Debate) -> Decision:
    if not debate.running:
        return Refused("The debate is not running.", debate.status)
    unspent = debate.remaining_slots()
    if (
        debate.live
        or debate.open_asides
        or (unspent and unspent[0].round <= max(debate.rounds_asked, debate.round))
    ):
        return Refused("A round is in progress.", debate.status)
    if not unspent:
        return Refused("All rounds have been held.", debate.status)
    if debate.manner.auto:
        return Refused("Rounds follow by themselves in this debate.", debate.status)
    return (RoundAsked(),)


def _skip_to_judge(debate: Debate) -> Decision:
    if not debate.running:
        return Refused("The debate is not running.", debate.status)
    if debate.live or debate.open_asides:
        return Refused("A round is in progress.", debate.status)
    return _judge_now(debate, JudgeNow())


def _skip_turn(debate: Debate, command: SkipTurn) -> Decision:
    named = command.turn is not None or command.slot is not None
    if _is_skipped(debate, command):
        return ()
    if not (debate.running or debate.status == "paused"):
        return Refused("There is no turn to skip.", debate.status)
    if not named:
        if not (debate.live or debate.open_asides):
            return Refused("Nobody is speaking.", debate.status)
        speaking = [debate.schedule[turn.slot] for turn in debate.live]
        return (*interrupt(debate, "skip"), *_skip_second_halves(debate, speaking, command.by))
    for turn in debate.live:
        if command.turn == turn.number or command.slot == turn.slot:
            asked = (aside for aside in debate.open_asides if aside.turn == turn.number)
            failed = (AsideFailed(aside.number, "Cut short.") for aside in asked)
            rest = _skip_second_halves(debate, [debate.schedule[turn.slot]], command.by)
            return (*failed, *interrupt_turn(debate, turn, "skip"), *rest)
    for slot in debate.remaining_slots():
        if slot.index == command.slot:
            return (
                TurnSkipped(slot.index, slot.seat, command.by),
                *_skip_second_halves(debate, [slot], command.by),
            )
    return Refused(_why_not_skipped(debate, command), debate.status)


def _is_skipped(debate: Debate, command: SkipTurn) -> bool:
    """Whether the speech that is named was skipped before."""
    cut = [turn for turn in debate.turns if turn.by == "skip"]
    if command.slot is None:
        return any(turn.number == command.turn for turn in cut)
    return command.slot in debate.skipped or any(
        turn.slot == command.slot and not turn.struck for turn in cut
    )


def _why_not_skipped(debate: Debate, command: SkipTurn) -> str:
    if command.slot is not None and command.slot >= len(debate.schedule):
        return "There is no such speech."
    begun = any(command.turn == turn.number or command.slot == turn.slot for turn in debate.turns)
    return "That speech is over." if begun else "That speech has not begun."


def _skip_second_halves(debate: Debate, slots: Iterable[Slot], by: str) -> tuple[TurnSkipped, ...]:
    """With the first half of a speech its second falls."""
    unspent = debate.remaining_slots()
    halves = (continuation(debate, slot) for slot in slots)
    return tuple(TurnSkipped(half.index, half.seat, by) for half in halves if half and half in unspent)


def _inject(debate: Debate, command: Inject) -> Decision:
    if debate.final or debate.status in ("judging", "error"):
        return Refused("Nobody would hear a remark now.", debate.status)
    # A floor that asks too much does not silence whoever conducts the debate.
    if sum(remark.question == command.question for remark in debate.remarks) >= MAX_REMARKS:
        kind = "questions" if command.question else "remarks"
        return Refused(f"A debate takes at most {MAX_REMARKS} {kind}.", debate.status)
    text = command.text.strip()
    if not text or len(text) > MAX_REMARK_CHARS:
        raise Invalid(
            f"A remark has 1 to {MAX_REMARK_CHARS} characters.",
            {"text": [f"Must be between 1 and {MAX_REMARK_CHARS} characters"]},
        )
    if command.to is not None and all(seat.id != command.to for seat in debate.seats):
        raise Invalid("There is no such seat.", {"to": ["Unknown seat"]})
    return (RemarkInjected(len(debate.remarks) + 1, text, command.by, command.to, command.question),)


def _extend(debate: Debate, command: Extend) -> Decision:
    if not (debate.running or debate.status == "paused"):
        return Refused("Only a running debate can be extended.", debate.status)
    events: list[Event] = []
    if command.seconds:
        if not 0 < command.seconds <= MAX_EXTENSION_SECONDS:
            raise Invalid("No such time.", {"seconds": [f"Must be between 1 and {MAX_EXTENSION_SECONDS:g}"]})
        if not debate.live:
            return Refused("Nobody is speaking.", debate.status)
        events += [TurnExtended(turn.number, command.seconds, command.by) for turn in debate.live]
    if command.rounds:
        if refused := _refuse_more_rounds(debate, command.rounds):
            return refused
        events.append(RoundsAdded(command.rounds, command.by))
    if not events:
        raise Invalid("Nothing to extend.", {"seconds": ["Give seconds or rounds"]})
    return tuple(events)


def _refuse_more_rounds(debate: Debate, rounds: int) -> Refused | None:
    """Rounds fit in as long as nothing that was said would have to move."""
    fmt = debate.format
    if fmt.repeat is None:
        return Refused(f"{fmt.title} has a fixed table of speeches.", debate.status)
    limits = with_more_rounds(fmt, debate.seats, debate.limits, rounds)
    most = fmt.max_turns if fmt.turns else fmt.max_rounds
    if rounds < 1 or ((limits.turns or 0) if fmt.turns else limits.rounds) > (most or 0):
        raise Invalid("Too many rounds.", {"rounds": [f"At most {most} in all"]})
    spent = [turn.slot for turn in (*debate.turns, *debate.live)] + [*debate.skipped]
    begun = max(spent, default=-1) + 1
    laid_out = schedule(fmt, debate.seats, limits)
    if not debate.remaining_slots() or laid_out[:begun] != debate.schedule[:begun]:
        return Refused("It is too late for a further round: the last one has begun.", debate.status)
    return None


def _judge_now(debate: Debate, command: JudgeNow) -> Decision:
    if debate.final or debate.status in ("judging", "created"):
        return Refused("The debate cannot be judged now.", debate.status)
    if not debate.has_speeches:
        return Refused("Nothing to judge.", debate.status)
    if not debate.panel:
        return Refused("No judge sits in this debate.", debate.status)
    cut = (*interrupt(debate, "judge"), *close_polls(debate, "judge"))
    return (*cut, _judging(debate, "judged", command.reason))


def _rejudge(debate: Debate, command: Rejudge) -> Decision:
    if not debate.final:
        return Refused("Only a debate that is over is judged again.", debate.status)
    if debate.being_judged:
        return Refused("The debate is being judged again already.", debate.status)
    if not debate.has_speeches:
        return Refused("Nothing to judge.", debate.status)
    if not (command.judges or debate.panel):
        return Refused("No judge sits in this debate: name one.", debate.status)
    if len(debate.judgings) >= MAX_JUDGINGS:
        return Refused(f"A debate is judged at most {MAX_JUDGINGS} times.", debate.status)
    judges = with_free_ids(debate, command.judges) or debate.panel
    return (_judging(debate, "judged", command.reason, judges, command.allowance),)


def _judging(
    debate: Debate,
    why: EndReason,
    reason: str,
    judges: tuple[Judge, ...] = (),
    allowance: Money | None = None,
) -> JudgingStarted:
    labels = choose_labels(debate, judges or debate.panel)
    return JudgingStarted(len(debate.judgings) + 1, why, reason, judges, allowance, labels)


def _decide_by_hand(debate: Debate, command: Decide) -> Decision:
    if debate.final or debate.status in ("created", "judging"):
        return Refused("The debate cannot be decided now.", debate.status)
    winner = party_of(debate, command.winner) if command.winner is not None else None
    if command.winner is not None and winner is None:
        raise Invalid("There is no such debater.", {"winner": ["Unknown participant"]})
    verdict = Verdict(
        outcome="win" if winner else "draw",
        winner=winner.id if winner else None,
        by="hand",
        reasoning=command.reason,
    )
    cut = (*interrupt(debate, "decide"), *close_polls(debate, "decide"))
    return (*cut, VerdictReached(verdict), DebateEnded("decided", command.reason))


def _retry(debate: Debate) -> Decision:
    if debate.live or not (debate.running or debate.status in ("paused", "error")):
        return Refused("There is no turn to try again.", debate.status)
    again = {slot.index for slot in debate.remaining_slots()}
    failed = [
        turn
        for turn in debate.turns
        if turn.state in ("failed", "interrupted")
        and not turn.struck
        and (turn.used_slot or turn.slot in again)
    ]
    if not failed:
        return Refused("No turn has failed or been interrupted.", debate.status)
    # In a session that is all that follows.
    step = (DebateResumed("turn"),) if is_session(debate) else ()
    return (TurnRetried(failed[-1].number), *step)


def _stop(debate: Debate, command: Stop) -> Decision:
    if debate.status == "judging" and debate.stopped_at is not None:
        return ()
    if debate.final or debate.status == "judging":
        return Refused("The debate is over.", debate.status)
    stopped = (*interrupt(debate, "stop"), DebateStopped(command.reason))
    resumed = (DebateResumed(),) if debate.status == "paused" and _poll_follows(debate) else ()
    return (*stopped, *resumed, *end_speeches(debate, "stopped", command.reason))


def _abort(debate: Debate, command: Abort) -> Decision:
    if debate.final and debate.judging is not None and not debate.judging.closed:
        return (JudgingFailed(debate.judging.number, command.reason or "It was called off."),)
    if debate.final:
        return Refused("The debate is over.", debate.status)
    cut = (*interrupt(debate, "abort"), *close_polls(debate, "abort"))
    return (*cut, DebateEnded("aborted", command.reason))
