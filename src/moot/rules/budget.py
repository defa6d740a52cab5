"""Money: what a cost limit leaves for a call, how the rest of a debate is made to fit, and what a call cost
that broke off.

The promise is hard: a call begins only if what was settled, the calls under way and the most that this call
can cost fit the limit. The plan is soft: what is left of the debate is expected to cost so much, times 1.3.
A call may take what the plan does not need. Of the plan one part is firm: the rest of the round, and one
reading by each judge, at the most that they can cost. So no side gets a speech that the other is denied.

Between two rounds the plan is made again. Where it does not fit, the speeches are shortened, then judges read
only once, then no further round is held.

The cost of a call that broke off is estimated from the log, upwards. A call that a command cuts was read
until then: beyond the text in the log, only what arrives within a moment is added. A call whose process died
may have gone on for as long as nobody noticed, as fast as its model speaks. This is the one place where a
command looks at streamed text.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from math import ceil
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import FAULT_MESSAGES
from moot.core.events import CallFailed
from moot.core.pricing import (
    PLAN_MARGIN,
    AvailableMoney,
    cost,
    estimate_usage,
    least_tokens,
    speech_tokens,
    worst_cost,
)
from moot.core.state import ZERO, Call, Debate, EarlierCalls, Turn
from moot.core.terms import Model, Money, Request
from moot.core.word_count import tokens, whole_tokens
from moot.rules.dry_run import PlannedCall, expected_thoughts, habits, planned_ballots, planned_calls
from moot.rules.extension_questions import side_question_model

WORD_SHARES = (100, 75, 50)
"""How much of their words speeches keep where the money is short, in per cent."""
ON_THEIR_WAY = 64
"""Tokens that may have come since the last write, some fifty milliseconds ago."""
USUAL_SPEED, SPEED_MARGIN = 80.0, 1.5
"""Tokens a second of a model that has not shown its speed yet, and how much faster it may have been."""
_MARGIN = Money(str(PLAN_MARGIN))


class CallPurpose(Struct, frozen=True):
    """What a call is for: a turn, a reading by a judge, or an aside."""

    turn: int | None = None
    judge: str | None = None
    order: int = 0
    repair: bool = False
    aside: int | None = None


def available_money(debate: Debate, purpose: CallPurpose) -> AvailableMoney | None:
    """What a call may cost; None without a limit."""
    left = money_left(debate)
    if left is None:
        return None
    calls = tuple(planned_calls(debate))
    in_round = calls if debate.being_judged else planned_calls(debate, _present_round(debate))
    firm = _firm(_without(in_round, purpose))
    beside_plan = left - max(firm, _expected(_without(calls, purpose)))
    # What is asked beside the speeches is the first to be left out.
    return AvailableMoney(beside_plan if purpose.aside is not None else left - firm, beside_plan)


def money_left(debate: Debate) -> Money | None:
    """What is neither spent nor reserved; None without a limit."""
    limit = debate.cost_limit
    return None if limit is None else limit - debate.counted - debate.reserved


def fewest_tokens(debate: Debate, purpose: CallPurpose, request: Request) -> int:
    """The fewest output tokens with which this call is made."""
    turn = debate.turn(purpose.turn) if purpose.turn is not None else None
    if turn is not None:
        thoughts = expected_thoughts(request.model, habits(debate))
        return least_tokens(speech_tokens(debate, turn.slot), thoughts, request.max_tokens)
    own = (purpose.judge, purpose.order)
    ballots = (call for call in planned_ballots(debate) if call.ballot)
    return next((call.least for call in ballots if (call.judge, call.order) == own), request.max_tokens)


def words_for_round(debate: Debate, round: int) -> int | None:
    """How many per cent of their words the speeches of the coming round have, so that the debate fits its
    limit; None where the round cannot be held."""
    left, before = money_left(debate), debate.words_percent(round)
    if left is None or debate.is_session:
        return before
    plans: dict[int, _Plan] = {}
    for part in ("whole", "read_once", "last_round"):
        for share in WORD_SHARES:
            if share not in plans:
                plans[share] = _Plan.of(debate, round, share)
            if plans[share].needs(part) <= left:
                return share
    return None


class _Plan(Struct, frozen=True):
    """What the rest of a debate costs if its speeches have so many per cent of their words."""

    whole: Money
    read_once: Money
    """All rounds, but each judge reads once."""
    last_round: Money
    """The coming round is the last, and each judge reads once."""
    firm: Money

    def needs(self, part: Literal["whole", "read_once", "last_round"]) -> Money:
        """What must be left for this much of the plan."""
        return max(self.firm, {"whole": self.whole, "read_once": self.read_once}.get(part, self.last_round))

    @staticmethod
    def of(debate: Debate, round: int, words: int) -> _Plan:
        shorter = shortened(debate, round, words)
        calls, in_round = tuple(planned_calls(shorter)), tuple(planned_calls(shorter, round))
        return _Plan(
            whole=_expected(calls),
            read_once=_expected(call for call in calls if not call.order),
            last_round=_expected(call for call in in_round if not call.order),
            firm=_firm(in_round),
        )


def shortened(debate: Debate, round: int, words: int) -> Debate:
    """The debate with so many per cent of their words in all speeches from this round on."""
    if words == debate.words_percent(round):
        return debate
    return replace(debate, shortened=(*debate.shortened, (round, words)))


def fits(debate: Debate, limit: Money) -> bool:
    """Whether all that is planned is expected to fit this limit, and the first round is certain to."""
    return expected_cost(debate) <= limit and first_round_costs(debate)[0] <= limit


def expected_cost(debate: Debate) -> Money:
    """What the rest of the debate is expected to cost, with the margin of a plan."""
    return _expected(planned_calls(debate))


def first_round_costs(debate: Debate) -> tuple[Money, Money]:
    """The most that the first round and one reading by each judge can cost, and of that the readings."""
    calls = tuple(planned_calls(debate, 1))
    return _firm(calls), _firm(call for call in calls if call.ballot)


def one_reading_cost(debate: Debate) -> Money:
    """The most that one reading of what was said can cost, by each judge."""
    return _firm(planned_ballots(debate))


def _present_round(debate: Debate) -> int:
    return max([debate.round, *(turn.round for turn in debate.live)])


def _without(calls: Iterable[PlannedCall], purpose: CallPurpose) -> tuple[PlannedCall, ...]:
    """The calls beside this one."""
    if purpose.turn is not None:
        return tuple(call for call in calls if call.turn != purpose.turn)
    if purpose.judge is not None and purpose.aside is None:
        own = (purpose.judge, purpose.order)
        return tuple(call for call in calls if (call.judge, call.order) != own)
    return tuple(calls)


def _expected(calls: Iterable[PlannedCall]) -> Money:
    """What these calls are expected to cost, with the margin of a plan."""
    costs = (cost(call.model.price, call.expected) for call in calls if call.expected is not None)
    return _MARGIN * sum((amount or ZERO for amount in costs), ZERO)


def _firm(calls: Iterable[PlannedCall]) -> Money:
    """What the speeches among these calls and the first ballot of each judge can cost at most."""
    firm = (call for call in calls if _is_firm(call))
    return sum((worst_cost(call.model.price, call.bound, call.least) or ZERO for call in firm), ZERO)


def _is_firm(call: PlannedCall) -> bool:
    if call.judge is not None:
        return call.ballot and not call.order
    return call.turn is not None and call.expected is not None


# --- calls that broke off -----------------------------------------------------------------------------


def lost_call(debate: Debate, call: Call, now: datetime) -> CallFailed:
    """The end of a call whose process died: the text so far, and what may have come until now."""
    turn = _turn_of(debate, call)
    since = (turn.heard_at if turn else call.heard_at) or call.started_at
    seconds = min(max(0.0, (now - since).total_seconds()), debate.limits.turn_seconds)
    unheard = ON_THEIR_WAY + ceil(seconds * SPEED_MARGIN * _speed(debate, call))
    return _failed(debate, call, "lost", unheard)


def cut_off(debate: Debate, call: Call) -> CallFailed:
    """The end of a call that is cut because its debate ends: the text so far, and what is on its way."""
    return _failed(debate, call, "cut", ON_THEIR_WAY)


def _speed(debate: Debate, call: Call) -> float:
    """Tokens a second: the fastest that this model has spoken in this debate."""
    speeds = [
        turn.usage.output / turn.latency_ms * 1000
        for turn in debate.turns
        if turn.latency_ms and turn.usage.output and debate.seat(turn.seat).model.label == call.model
    ]
    return max(speeds, default=USUAL_SPEED)


def _turn_of(debate: Debate, call: Call) -> Turn | None:
    """The turn whose present call this is."""
    turn = debate.turn(call.turn) if call.turn is not None else None
    return turn if turn and turn.call == call.number else None


def _failed(debate: Debate, call: Call, kind: Literal["lost", "cut"], unheard: int) -> CallFailed:
    turn = _turn_of(debate, call)
    output, before = (turn, turn.kept) if turn else (call, EarlierCalls())
    words = tokens(output.text[len(before.text) :])
    thoughts = tokens(output.reasoning[len(before.reasoning) :])
    unheard = max(0, min(unheard, call.max_tokens - words - thoughts))
    # Older logs do not say how many tokens were sent, only how many bytes at most.
    usage = estimate_usage(call.input_guess or whole_tokens(call.input_bound), words + unheard, thoughts)
    model = model_of(debate, call)
    price = model.price if model else None
    most = worst_cost(price, call.input_bound, usage.output)
    return CallFailed(
        call=call.number,
        kind=kind,
        severity="transient",
        message=FAULT_MESSAGES[kind],
        usage=usage,
        cost=cost(price, usage),
        counted=most if most is None or call.reserved is None else min(most, call.reserved),
    )


def model_of(debate: Debate, call: Call) -> Model | None:
    """The model that was called, with the price that it had for this call. A seat may have another model by
    now, and a judge who is asked again another price."""
    asked = [model for model in _asked_models(debate, call) if model.label == call.model]
    return asked[0] if asked else None


def _asked_models(debate: Debate, call: Call) -> Iterable[Model]:
    if call.judge is not None:
        judging = debate.judging.judges if debate.judging else ()
        yield from (judge.model for judge in (*judging, *debate.judges) if judge.id == call.judge)
    aside = debate.aside(call.aside) if call.aside is not None else None
    if aside is not None and (model := side_question_model(debate, aside)):
        yield model
    turn = debate.turn(call.turn) if call.turn is not None else None
    for seat in debate.seats:
        if turn is None or seat.id == turn.seat:
            yield seat.model
            yield from () if seat.stand_in is None else (seat.stand_in,)
