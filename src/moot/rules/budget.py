"""Money: what a cost limit leaves for a call, and what a call cost that broke off.

Before a speech begins, the worst case of judging is set aside: every model that judges, in both orders,
reading all that was said, is being said and is about to be said; from the second round on, also one repair of
each ballot. So a debate that runs out of money can still be judged. Human turns cost nothing, but a person
may not speak either where no money would be left to judge the speech.

The cost of a call that broke off is estimated from the log, always upwards. A call whose process died may
have used all its output tokens. A call that a command cuts was read until then: beyond the text in the log,
only what arrives within a moment is added. This is the one place where a command looks at streamed text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from moot.core.errors import FAULT_MESSAGES
from moot.core.events import CallFailed
from moot.core.pricing import (
    cost,
    estimate_usage,
    input_bound,
    speech_tokens,
    worst_cost,
)
from moot.core.state import ZERO, Call, Debate, EarlierCalls, Turn
from moot.core.terms import Judge, Model, Money, Slot
from moot.core.word_count import tokens, whole_tokens
from moot.judging.ballots import ORDERS
from moot.judging.judge_request import (
    HELD_BYTES_PER_TOKEN,
    bytes_read,
    judge_request,
    repair_bytes,
    speech_overhead,
)

UNJUDGED_RULES = ("user-decides", "audience")
ON_THEIR_WAY = 64
"""Tokens that may have come since the last write, some fifty milliseconds ago."""


def cannot_afford(debate: Debate, slots: Sequence[Slot]) -> bool:
    """Human turns cost nothing, but the cost of judging them is still reserved."""
    people = [slot for slot in slots if debate.seat(slot.seat).model.human]
    if debate.limits.cost is None or not people:
        return False
    available, per_token = available_for_speech(debate, slots[0].round, len(people))
    reading = per_token * sum(speech_tokens(debate, slot.index) for slot in people)
    return available is not None and available < reading


def available_for_speech(debate: Debate, round: int, starting: int = 1) -> tuple[Money | None, Money]:
    """What a speech of this round may cost at most, and what each of its tokens adds to the worst case of
    judging. A first round is held even where there would be no money to repair a ballot."""
    available, repairs = available_for_ballot(debate), max(round, debate.round) > 1
    if available is None:
        return None, ZERO
    per_token = reading_worst(debate, HELD_BYTES_PER_TOKEN, repairs=repairs)
    return available - worst_judging_cost(debate, starting, repairs=repairs), per_token


def available_for_aside(debate: Debate) -> Money | None:
    available = available_for_ballot(debate)
    return None if available is None else available - worst_judging_cost(debate)


def available_for_ballot(debate: Debate) -> Money | None:
    """All that is left: it was reserved for this."""
    limit = debate.cost_limit
    return None if limit is None else limit - debate.counted - debate.reserved


def for_repair(debate: Debate, judge: str, order: int) -> Money | None:
    """What the repair of an unreadable ballot may cost, without what the missing ballots need."""
    available, judging = available_for_ballot(debate), debate.judging
    if available is None or judging is None:
        return available
    requested = {(call.judge, call.order) for call in debate.calls} | {(judge, order)}
    missing = [
        judge_request(debate, other, order)
        for other in model_judges(judging.judges)
        for order in ORDERS
        if (other.id, order) not in requested and not judging.has_ballot(other.id, order)
    ]
    costs = (worst_cost(one.model.price, input_bound(one), one.max_tokens) or ZERO for one in missing)
    return available - sum(costs, ZERO)


def worst_judging_cost(debate: Debate, starting: int = 0, *, repairs: bool = True) -> Money:
    """All judges, both orders, one repair each, on what was said, is being said, and is about to be said."""
    if debate.manner.winning in UNJUDGED_RULES:
        return ZERO
    speaking = [_allowed_tokens(debate, call) for call in debate.calls if call.turn is not None]
    frames = (len(speaking) + starting) * speech_overhead(debate)
    saying = sum(speaking) + frames + sum(_spoken_bytes(debate, turn) for turn in debate.live)
    total = ZERO
    for judge in model_judges(debate.panel):
        for order in ORDERS:
            request = judge_request(debate, judge, order)
            bound = input_bound(request) + saying
            total += worst_cost(judge.model.price, bound, request.max_tokens) or ZERO
            if repairs:
                bound += repair_bytes(request)
                total += worst_cost(judge.model.price, bound, request.max_tokens) or ZERO
    return total


def _spoken_bytes(debate: Debate, turn: Turn) -> int:
    """Bytes of a speech in the calls before its present one."""
    open_call = turn.call is not None and debate.call(turn.call) is not None
    return len((turn.kept.text if open_call else turn.text).encode())


def _allowed_tokens(debate: Debate, call: Call) -> int:
    """Bytes that a judge reads at most of what a call may still say."""
    turn = debate.turn(call.turn or 0)
    return bytes_read(debate, turn.slot, call.max_tokens) if turn else 0


def model_judges(judges: Sequence[Judge]) -> tuple[Judge, ...]:
    """The judges that are models, and so cost money."""
    return tuple(judge for judge in judges if not judge.model.human)


def reading_worst(debate: Debate, more: int, *, repairs: bool = True) -> Money:
    """The cost of so many more bytes, read by every judge in both orders and in every repair."""
    if debate.manner.winning in UNJUDGED_RULES:
        return ZERO
    per_byte = sum(
        (
            (worst_cost(judge.model.price, 1_000_000, 0) or ZERO) / 1_000_000
            for judge in model_judges(debate.panel)
        ),
        ZERO,
    )
    return per_byte * more * len(ORDERS) * (2 if repairs else 1)


# --- calls that broke off -----------------------------------------------------------------------------


def lost_call(debate: Debate, call: Call) -> CallFailed:
    """The end of a call whose process died, with the most tokens that it may have used."""
    return _failed(debate, call, "lost", call.max_tokens)


def cut_off(debate: Debate, call: Call) -> CallFailed:
    """The end of a call that is cut because its debate ends: the text so far, and what is on its way."""
    return _failed(debate, call, "cut", ON_THEIR_WAY)


def _failed(debate: Debate, call: Call, kind: Literal["lost", "cut"], unheard: int) -> CallFailed:
    turn = debate.turn(call.turn) if call.turn is not None else None
    output, before = (turn, turn.kept) if turn and turn.call == call.number else (call, EarlierCalls())
    words = tokens(output.text[len(before.text) :])
    thoughts = tokens(output.reasoning[len(before.reasoning) :])
    unheard = max(0, min(unheard, call.max_tokens - words - thoughts))
    # Older logs do not say how many tokens were sent, only how many bytes at most.
    usage = estimate_usage(call.input_guess or whole_tokens(call.input_bound), words + unheard, thoughts)
    model = model_of(debate, call)
    return CallFailed(
        call=call.number,
        kind=kind,
        severity="transient",
        message=FAULT_MESSAGES[kind],
        usage=usage,
        cost=cost(model.price if model else None, usage),
    )


def model_of(debate: Debate, call: Call) -> Model | None:
    """By its label, since the seat may have another model by now."""
    sitting = [*debate.seats, *debate.judges, *(j for judging in debate.judgings for j in judging.judges)]
    known = [player.model for player in sitting] + [seat.stand_in for seat in debate.seats if seat.stand_in]
    return next((model for model in known if model.label == call.model), None)
