"""What comes next in a debate: `plan(debate)` decides it on the head of the log.

Speak             give these speeches, at the same time if there are several
AskSideQuestions  ask seats, a judge or others beside the speeches
RecordFacts       record what follows from what is known: a point was raised, a speech is skipped
HoldPoll          let the audience vote
AskJudges         ask for these ballots: the judges together, each one reading after the other
Conclude          end the speeches
FailDebate        the debate cannot go on
Idle              nothing to do without a command

Speeches end before their schedule where a debater concedes or the debate repeats itself (a stalemate);
neither ends a scripted format or a debate on a question with given answers. A debater who seems to concede is
asked, and a referee has to confirm it: words of agreement within a speech are courtesy, at most a reason to
ask.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from rapidfuzz import fuzz

from moot.core.events import ConcessionMade, PointRaised, StalemateFound, TurnSkipped
from moot.core.state import Debate, Judging, Turn
from moot.core.statuses import EndReason, FailReason
from moot.core.terms import Judge, PollName, SimilarTurns, Slot
from moot.judging.ballots import orders
from moot.rules.extension_questions import asked_after, asked_at_end, asked_before
from moot.rules.side_questions import (
    SideQuestion,
    asides_about,
    concession_hint,
    latest_turns,
    points_raised,
    questions_after,
    questions_before,
    referee,
    skipped_speech,
    summary_slots,
)
from moot.rules.turn_by_turn import all_turns_given

SIMILARITY_THRESHOLD = 90.0
STALEMATE_TURNS = 3
SCORER = "rapidfuzz.fuzz.ratio"


class Speak(Struct, frozen=True):
    slots: tuple[Slot, ...]


class AskSideQuestions(Struct, frozen=True):
    questions: tuple[SideQuestion, ...]


class RecordFacts(Struct, frozen=True):
    events: tuple[PointRaised | TurnSkipped, ...]


class HoldPoll(Struct, frozen=True):
    """The poll is to be opened; or it is open until its time is up or a command closes it."""

    name: PollName


class AskJudges(Struct, frozen=True):
    ballots: tuple[tuple[str, int], ...]


class Conclude(Struct, frozen=True):
    why: EndReason
    finding: StalemateFound | ConcessionMade | None = None


class FailDebate(Struct, frozen=True):
    reason: FailReason


class Idle(Struct, frozen=True):
    waiting_for: Literal["start", "resume", "round", "judge", "decision", "turn", "aside", "nothing"]


Plan = Speak | AskSideQuestions | RecordFacts | HoldPoll | AskJudges | Conclude | FailDebate | Idle


def plan(debate: Debate) -> Plan:
    if debate.being_judged:
        return _plan_judging(debate)
    if debate.status == "created":
        return Idle("start")
    if not (debate.running or debate.status == "paused"):
        return Idle("nothing")
    if all_turns_given(debate):
        return Conclude("rounds")
    if debate.status == "paused":
        return Idle("resume")
    if debate.live:
        return Idle("turn")
    if debate.open_asides:
        return Idle("aside")
    if _first_poll_due(debate):
        return HoldPoll("before")
    if debate.stopped_at is None and (step := _plan_after_speaking(debate)):
        return step
    remaining = debate.remaining_slots()
    if not remaining or debate.in_circles:
        return _plan_end(debate)
    if closing := _summary_alone(debate):
        return closing
    first = remaining[0]
    if not debate.setup.auto and first.round > debate.rounds_asked:
        return Idle("round")
    if skipped := skipped_speech(debate, first):
        return RecordFacts(skipped)
    group = tuple(slot for slot in remaining if slot.group == first.group)
    if questions := (*questions_before(debate, group), *asked_before(debate, group)):
        return AskSideQuestions(questions)
    return Speak(group)


def _plan_after_speaking(debate: Debate) -> Plan | None:
    """What the latest speech leads to; None where the next speech follows."""
    if questions := (*questions_after(debate), *asked_after(debate)):
        return AskSideQuestions(questions)
    if points := points_raised(debate):
        return RecordFacts(points)
    if finding := concession(debate):
        return _sum_up(debate, "concession") or _last_questions(debate) or Conclude("concession", finding)
    if debate.setup.winning != "audience" and (finding := stalemate(debate)):
        return _sum_up(debate, "stalemate") or _last_questions(debate) or Conclude("stalemate", finding)
    return FailDebate("all_failed") if _all_failed(debate) else None


def _plan_judging(debate: Debate) -> Plan:
    judging = debate.judging
    if judging is None:
        return Idle("nothing")
    missing = [(judge, ballot) for judge in judging.judges if (ballot := _next_ballot(judging, judge))]
    # People come last: their time runs only when all models have voted.
    models = tuple(ballot for judge, ballot in missing if not judge.model.human)
    return AskJudges(models or tuple(ballot for _, ballot in missing))


def _next_ballot(judging: Judging, judge: Judge) -> tuple[str, int] | None:
    """The first reading after which this judge has not voted yet, with its id; None where it has in all."""
    missing = (order for order in orders(judge) if not judging.has_ballot(judge.id, order))
    return next(((judge.id, order) for order in missing), None)


def _first_poll_due(debate: Debate) -> bool:
    """The first vote is held before the first speech."""
    polls, poll = debate.setup.polls, debate.poll("before")
    if polls is None or not polls.before or debate.turns:
        return False
    return poll is None or poll.closed_at is None


def closes_on_time(debate: Debate, name: PollName) -> bool:
    poll = debate.poll(name)
    return poll is not None and poll.closed_at is None and poll.seconds is not None


def _sum_up(debate: Debate, why: EndReason) -> Plan | None:
    """Before speeches end early, the moderator sums up; the others' speeches are skipped."""
    closing = summary_slots(debate)
    if not closing:
        return None
    left_out = tuple(
        TurnSkipped(slot.index, slot.seat, why) for slot in debate.remaining_slots() if slot not in closing
    )
    return RecordFacts(left_out) if left_out else _summary_alone(debate)


def _summary_alone(debate: Debate) -> Speak | None:
    """The moderator's summary, where no other speech is left. Where those of its round were skipped, it
    belongs to the round that was held last."""
    closing = summary_slots(debate)
    if not closing or closing != debate.remaining_slots() or not debate.has_speeches:
        return None
    return Speak(tuple(replace(slot, round=min(slot.round, debate.round)) for slot in closing))


def _last_questions(debate: Debate) -> AskSideQuestions | None:
    """What extensions ask when the speeches are over."""
    questions = asked_at_end(debate)
    return AskSideQuestions(questions) if questions else None


def _plan_end(debate: Debate) -> Plan:
    if questions := _last_questions(debate):
        return questions
    if debate.setup.polls is not None and debate.has_speeches:
        poll = debate.poll("after")
        if poll is None or poll.closed_at is None:
            return HoldPoll("after")
    if why := _early_end_reason(debate):
        return Conclude(why)
    if debate.setup.winning == "user-decides":
        return Idle("decision")
    if is_judged(debate) and not debate.setup.auto_judge:
        return Idle("judge")
    return Conclude("stalemate" if debate.in_circles else "rounds")


def _early_end_reason(debate: Debate) -> EndReason | None:
    """Why the speeches ended early, where only the vote remains."""
    if debate.stopped_at is not None:
        return "stopped"
    summed_up = any(turn.tone == "summary" for turn in debate.turns)
    return "budget" if debate.exhausted and (debate.setup.polls or summed_up) else None


def is_judged(debate: Debate) -> bool:
    return bool(debate.panel) and debate.setup.winning != "audience" and debate.has_speeches


def _all_failed(debate: Debate) -> bool:
    """Whether every speech of the latest complete round failed, and not only one speaker's."""
    if not debate.rounds_done:
        return False
    remaining = {slot.index for slot in debate.remaining_slots()}
    slots = {slot.index for slot in debate.schedule if slot.round == debate.rounds_done}
    last = [turn for turn in debate.turns if turn.slot in slots and turn.used_slot]
    if not last or slots & remaining or any(turn.state != "failed" for turn in last):
        return False
    return len({turn.seat for turn in last}) > 1 or not debate.has_speeches


# --- speeches that end early --------------------------------------------------------------------------


def concession(debate: Debate) -> ConcessionMade | None:
    """The concession of a latest speaker: confirmed by a referee, or, without one, in a person's own
    words."""
    for turn in latest_turns(debate, of_debaters=True):
        for aside in asides_about(debate, "referee", turn.number):
            if aside.yes:
                return ConcessionMade(turn.number, turn.seat, aside.about, aside.text)
        hint = concession_hint(debate, turn)
        if hint and referee(debate, turn) is None:
            return ConcessionMade(turn.number, turn.seat, hint)
    return None


def stalemate(debate: Debate) -> StalemateFound | None:
    """Three similar speeches in a row: each like the one before, or each like its speaker's previous one.

    None also where the stalemate is recorded already.
    """
    if debate.format.scripted or debate.setup.question is not None or debate.in_circles:
        return None
    speeches = [
        turn for turn in debate.turns if turn.has_words and turn.tone in ("opening", "rebuttal", "closing")
    ]
    if len(speeches) < STALEMATE_TURNS:
        return None
    last = range(len(speeches) - STALEMATE_TURNS, len(speeches))
    one_after_another = [_similarity(speeches[index], speeches[index - 1]) for index in last[1:]]
    if evidence := _all_or_none(one_after_another):
        return StalemateFound(evidence, SIMILARITY_THRESHOLD)
    repeating_themselves = [
        _similarity(speeches[index], _previous_of_speaker(speeches, index)) for index in last
    ]
    if evidence := _all_or_none(repeating_themselves):
        return StalemateFound(evidence, SIMILARITY_THRESHOLD)
    return None


def _previous_of_speaker(speeches: list[Turn], index: int) -> Turn | None:
    seat = speeches[index].seat
    return next((other for other in reversed(speeches[:index]) if other.seat == seat), None)


def _similarity(turn: Turn, other: Turn | None) -> SimilarTurns | None:
    if other is None:
        return None
    ratio = fuzz.ratio(turn.text, other.text, score_cutoff=SIMILARITY_THRESHOLD)
    if ratio <= SIMILARITY_THRESHOLD:
        return None
    return SimilarTurns(turn.number, other.number, SCORER, round(ratio, 1), turn.text, other.text)


def _all_or_none(pairs: list[SimilarTurns | None]) -> tuple[SimilarTurns, ...]:
    similar = tuple(pair for pair in pairs if pair is not None)
    return similar if len(similar) == len(pairs) else ()
