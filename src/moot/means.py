"""The room that a cost limit leaves: never a cent over it, whatever happens.

Before a speech begins, its judges' worst case is set aside: every model that judges, in both orders, with one
repair each, reading all that was said, is being said, and is about to be said. So a debate that runs out of
money can still be judged, and a person, who speaks for nothing, does not get the floor where nobody could be
paid to read it.
"""

from __future__ import annotations

from collections.abc import Sequence

from moot.debate import NOTHING, Call, Debate, Turn
from moot.formats.plan import ORDERS
from moot.judging.asking import BYTES_PER_TOKEN, hand_tokens, judge_request, repair_room, speech_frame
from moot.pricing import input_bound, worst
from moot.terms import Judge, Money, Slot

UNJUDGED = ("user-decides", "audience")


def is_limited(debate: Debate) -> bool:
    return limit(debate) is not None


def limit(debate: Debate) -> Money | None:
    """What may be counted in all; a judging that brings its own allowance is held to that alone."""
    judging = debate.judging
    if judging is None or judging.closed or judging.allowance is None:
        return debate.limits.cost
    return judging.counted + judging.allowance


def beyond_means(debate: Debate, slots: Sequence[Slot]) -> bool:
    """People speak for nothing, but their judges must be paid for reading it."""
    people = [slot for slot in slots if debate.seat(slot.seat).model.human]
    if debate.limits.cost is None or not people:
        return False
    room, per_token = for_speech(debate, len(people))
    reading = per_token * sum(hand_tokens(debate, slot.index) for slot in people)
    return room is not None and room < reading


def for_speech(debate: Debate, starting: int = 1) -> tuple[Money | None, Money]:
    """What a speech may cost at most, and what each of its tokens adds to the judging's worst case."""
    room = for_ballot(debate)
    if room is None:
        return None, NOTHING
    return room - judging_worst(debate, starting), _judging_per_token(debate)


def for_aside(debate: Debate) -> Money | None:
    room = for_ballot(debate)
    return None if room is None else room - judging_worst(debate)


def for_ballot(debate: Debate) -> Money | None:
    """All that is left: it was held back for this."""
    most = limit(debate)
    return None if most is None else most - debate.counted - debate.reserved


def judging_worst(debate: Debate, starting: int = 0) -> Money:
    """All judges, both orders, one repair each, on what was said, is being said, and is about to start."""
    if debate.manner.winning in UNJUDGED:
        return NOTHING
    speaking = [_allowed(debate, call) for call in debate.calls if call.turn is not None]
    frames = (len(speaking) + starting) * speech_frame(debate)
    saying = sum(speaking) * BYTES_PER_TOKEN + frames + sum(_said(debate, turn) for turn in debate.live)
    total = NOTHING
    for judge in models(debate.panel):
        for order in ORDERS:
            request = judge_request(debate, judge, order)
            bound = input_bound(request) + saying
            total += worst(judge.model.price, bound, request.max_tokens) or NOTHING
            bound += repair_room(request)
            total += worst(judge.model.price, bound, request.max_tokens) or NOTHING
    return total


def _said(debate: Debate, turn: Turn) -> int:
    """Bytes that a speech has come to in calls before its present one."""
    open_call = turn.call is not None and debate.call(turn.call) is not None
    return len((turn.kept.text if open_call else turn.text).encode())


def _allowed(debate: Debate, call: Call) -> int:
    """Tokens that a speech under way may come to."""
    turn = debate.turn(call.turn or 0)
    return call.max_tokens or (hand_tokens(debate, turn.slot) if turn else 0)


def models(judges: Sequence[Judge]) -> tuple[Judge, ...]:
    """Those who have to be paid."""
    return tuple(judge for judge in judges if not judge.model.human)


def _judging_per_token(debate: Debate) -> Money:
    """One more token in a speech is read again by every judge, in both orders, and in every repair."""
    if debate.manner.winning in UNJUDGED:
        return NOTHING
    per_byte = sum(
        ((worst(judge.model.price, 1_000_000, 0) or NOTHING) / 1_000_000 for judge in models(debate.panel)),
        NOTHING,
    )
    return per_byte * BYTES_PER_TOKEN * len(ORDERS) * 2
