"""Why the speeches of a debate ended before the end of its format, in one sentence.

It stands between the last speech and the verdict, and among the issues. Who stopped a debate is not in the
log: a person or a program asked for it, so it was stopped "by request".
"""

from __future__ import annotations

from typing import assert_never

from moot.core.state import Debate, Turn
from moot.core.statuses import EndReason, FailReason
from moot.core.terms import Slot
from moot.judging.parties import parties, party
from moot.views.costs import dollars
from moot.views.participants import participants


def early_end(debate: Debate) -> str:
    """Empty while speeches may follow, and where all speeches of the format were held."""
    if debate.failure and (failure := _failure(debate, debate.failure)):
        return f"Stopped {_where(debate)}: {failure}."
    reason = _end_reason(debate)
    match reason:
        case None | "rounds":
            return ""
        case "concession":
            return _conceded(debate)
        case "stalemate":
            verb = "Stopped" if _ended_before_last(debate) else "Ended"
            who = "both sides" if len(parties(debate)) == 2 else "the speakers"
            return f"{verb} {_where(debate)}: {who} repeated themselves."
        case "judged" | "decided" if debate.is_session:
            return ""
        case "budget" | "stopped" | "judged" | "decided" | "aborted":
            return _cut_short(debate, reason) if _ended_before_last(debate) else ""
        case _:
            assert_never(reason)


def _end_reason(debate: Debate) -> EndReason | None:
    """Why the speeches are over; None while they are not. What came afterwards, such as a judging that was
    asked for, is no reason."""
    if debate.in_circles:
        return "stalemate"
    first = next(iter(debate.judgings), None)
    return first.why if first and not first.again else debate.ended


def _failure(debate: Debate, reason: FailReason) -> str:
    """Empty where only the judging failed."""
    match reason:
        case "permanent_fault":
            failed = _failed_last(debate)
            return f"{_name(debate, failed.seat)} could not speak" if failed else "a model cannot be used"
        case "all_failed":
            return "every speaker of the round failed"
        case "budget":
            return "the cost limit is too small"
        case "internal":
            return "an internal error occurred"
        case "judge_failed":
            return ""
        case _:
            assert_never(reason)


def _conceded(debate: Debate) -> str:
    """The last speech of those who did not win is the one in which they conceded."""
    winner = debate.verdict.winner if debate.verdict else None
    others = [turn for turn in _spoken(debate) if winner and turn.seat not in _seats_beside(debate, winner)]
    if not others:
        return "One side conceded."
    return f"{_name(debate, others[-1].seat)} conceded in speech {others[-1].number}."


def _seats_beside(debate: Debate, winner: str) -> set[str]:
    """Those of the winner, and those that take no part in the contest."""
    neutral = {seat.id for seat in debate.seats if seat.role != "debater"}
    return neutral | {seat.id for seat in party(debate, winner).seats}


def _cut_short(debate: Debate, reason: EndReason) -> str:
    where = _where(debate)
    failed = _failed_last(debate)
    after = f", when {_name(debate, failed.seat)} could not speak" if failed and debate.failed_seq else ""
    match reason:
        case "budget":
            limit = debate.limits.cost_limit
            of = f" of {dollars(limit)}" if limit is not None else ""
            return f"Stopped {where}: the cost limit{of} was reached."
        case "judged":
            return f"Judged by request {where}{after}."
        case "decided":
            return f"Decided by a person {where}{after}."
        case "aborted":
            return f"Aborted by request {where}{after}.{_given_reason(debate)}"
        case _:
            return f"Stopped by request {where}{after}.{_given_reason(debate)}"


def _given_reason(debate: Debate) -> str:
    return f" The reason given: {debate.ended_detail}" if debate.ended_detail else ""


# --- where it ended -----------------------------------------------------------------------------------


def _where(debate: Debate) -> str:
    """After which speech, or within which; a summary at the end is not counted."""
    held = _slots_held(debate)
    if not held:
        return "before the first speech"
    total = len([slot for slot in debate.schedule if _begins_speech(slot)])
    of = "" if debate.is_session else f" of {total}"
    return f"{'in' if _was_cut(debate) else 'after'} speech {len(held)}{of}"


def _slots_held(debate: Debate) -> set[int]:
    held = {turn.slot for turn in debate.turns if turn.used_slot and turn.has_words}
    return {index for index in held if _begins_speech(slot := debate.schedule[index]) and not _sums_up(slot)}


def _begins_speech(slot: Slot) -> bool:
    """Speeches with a break for points of information are given in two parts."""
    return slot.tone != "continuation"


def _sums_up(slot: Slot) -> bool:
    return slot.tone == "summary"


def _ended_before_last(debate: Debate) -> bool:
    """Whether a speech was cut, or speeches that the format still had were not held."""
    if _was_cut(debate):
        return True
    last = max((turn.slot for turn in _spoken(debate)), default=-1)
    return any(slot.index > last and not _sums_up(slot) for slot in debate.schedule)


def _was_cut(debate: Debate) -> bool:
    """Whether the last speech was cut short when the debate was ended."""
    last = next(reversed(_spoken(debate)), None)
    return last is not None and last.state == "interrupted" and last.by != "skip" and last.has_words


def _failed_last(debate: Debate) -> Turn | None:
    last = next(reversed(_spoken(debate)), None)
    return last if last is not None and last.state == "failed" else None


def _spoken(debate: Debate) -> list[Turn]:
    """The turns that count, in their order, without a summary at the end."""
    counted = (turn for turn in debate.turns if turn.used_slot)
    return [turn for turn in counted if not _sums_up(debate.schedule[turn.slot])]


def _name(debate: Debate, seat: str) -> str:
    return participants(debate)[seat].shown
