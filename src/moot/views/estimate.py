"""What a debate may cost, before it begins: from speeches that keep to their words to calls at their limit.

The debate is rehearsed with speeches of nothing but filler, so that what each call would be sent is measured
on the real prompts. The low end has every speech at its budget of words and ballots of ordinary length. The
high end has every call at its most tokens, heard again by everybody after, and every ballot repaired. Neither
counts what is asked again after a fault, nor the discount of a provider's cache.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from moot.audience import hears
from moot.debate import EPOCH, Debate, Turn
from moot.events import DebateOpened, Recorded
from moot.evolve import evolve
from moot.formats.plan import ORDERS
from moot.judging.asking import BYTES_PER_TOKEN, judge_request, repair_room
from moot.pricing import cost, input_bound, sent_bytes, worst
from moot.pricing import estimate as guess
from moot.prompts.speeches import turn_request
from moot.schedule import schedule
from moot.terms import Model, Money, Request, Slot, Usage

WORD = "words"
"""With the blank after it, about as long as the words of a speech are."""
BALLOT_WORDS = 200


class Span(Struct, frozen=True):
    low: int
    high: int


class ModelEstimate(Struct, frozen=True):
    model: str
    calls: Span
    input: Span
    output: Span
    low: Money | None
    """None where nobody knows the price."""
    high: Money | None


class Estimate(Struct, frozen=True):
    speeches: int
    calls: Span
    tokens: Span
    low: Money | None
    """Of the models whose price is known; None where there is none of those."""
    high: Money | None
    limited: bool
    """It could cost more if the cost limit did not hold it."""
    models: tuple[ModelEstimate, ...]
    unpriced: tuple[str, ...]


class Planned(Struct, frozen=True):
    """A call as it may come about: what it will hardly stay below, and what it can reach."""

    model: Model
    least: Usage | None
    """None where the call may not be needed at all."""
    bound: int
    max_tokens: int


def estimate(opened: DebateOpened) -> Estimate:
    calls = tuple(_planned(opened))
    models = tuple(
        _of([call for call in calls if call.model.label == label])
        for label in sorted({call.model.label for call in calls})
    )
    low = _sum([model.low for model in models])
    high = _sum([model.high for model in models])
    limit = opened.limits.cost
    return Estimate(
        speeches=len(schedule(opened.format, opened.seats, opened.limits)),
        calls=_total([model.calls for model in models]),
        tokens=_total([span for model in models for span in (model.input, model.output)]),
        low=_held(low, limit),
        high=_held(high, limit),
        limited=limit is not None and high is not None and high > limit,
        models=models,
        unpriced=tuple(model.model for model in models if model.high is None),
    )


def _planned(opened: DebateOpened) -> Iterator[Planned]:
    debate = evolve(None, Recorded("deb_0", 1, EPOCH, 0, opened))
    for slot in debate.schedule:
        turn = _turn(debate, slot)
        request = turn_request(debate, turn)
        yield _speech(debate, turn, request)
        debate = _after(debate, turn, request)
    if opened.manner.winning == "user-decides" or not debate.schedule:
        return
    for judge in debate.judges:
        for order in ORDERS:
            yield from _votes(debate, judge_request(debate, judge, order))


def _turn(debate: Debate, slot: Slot) -> Turn:
    return Turn(
        number=slot.index + 1,
        slot=slot.index,
        round=slot.round,
        phase=debate.format.phases[slot.phase].key,
        tone=slot.tone,
        seat=slot.seat,
        seq=slot.index + 2,
        started_at=EPOCH,
    )


def _after(debate: Debate, turn: Turn, request: Request) -> Debate:
    """The speech as it would have been given, in filler."""
    text = _filler(debate.phase(turn.slot).words, request.max_tokens)
    given = replace(turn, state="completed", text=text, max_tokens=request.max_tokens)
    return replace(debate, turns=(*debate.turns, given))


def _speech(debate: Debate, turn: Turn, request: Request) -> Planned:
    words = _filler(debate.phase(turn.slot).words, request.max_tokens)
    heard = [debate.turns[item.turn - 1] for item in hears(debate, turn) if item.turn]
    bound = input_bound(request) + sum(_longer(speech) for speech in heard)
    return Planned(request.model, _usage(request, words), bound, request.max_tokens)


def _votes(debate: Debate, request: Request) -> Iterator[Planned]:
    """A ballot, and its repair. Where nobody judges unasked, it may never come to either."""
    words = _filler(BALLOT_WORDS, request.max_tokens)
    bound = input_bound(request) + sum(_longer(speech) for speech in debate.turns)
    least = _usage(request, words) if debate.manner.auto_judge else None
    yield Planned(request.model, least, bound, request.max_tokens)
    yield Planned(request.model, None, bound + repair_room(request), request.max_tokens)


def _longer(speech: Turn) -> int:
    """By how many bytes a speech that fills its room is longer than the filler."""
    return max(0, speech.max_tokens * BYTES_PER_TOKEN - len(speech.text))


def _filler(words: int, max_tokens: int) -> str:
    return " ".join([WORD] * max(1, min(words, max_tokens)))


def _usage(request: Request, said: str) -> Usage:
    figures = guess(sent_bytes(request), len(said))
    return replace(figures, output=min(figures.output, request.max_tokens))


def _of(calls: list[Planned]) -> ModelEstimate:
    least = [call.least for call in calls if call.least is not None]
    priced = calls[0].model.price is not None
    costs = [cost(call.model.price, call.least) for call in calls if call.least is not None]
    return ModelEstimate(
        model=calls[0].model.label,
        calls=Span(len(least), len(calls)),
        input=Span(sum(usage.input for usage in least), sum(call.bound for call in calls)),
        output=Span(sum(usage.output for usage in least), sum(call.max_tokens for call in calls)),
        low=_sum([*costs, Money(0)]) if priced else None,
        high=_sum([worst(call.model.price, call.bound, call.max_tokens) for call in calls]),
    )


def _total(spans: list[Span]) -> Span:
    return Span(sum(span.low for span in spans), sum(span.high for span in spans))


def _sum(amounts: list[Money | None]) -> Money | None:
    """Of what is known; None where nothing is."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Money(0)) if known else None


def _held(amount: Money | None, limit: Money | None) -> Money | None:
    return amount if amount is None or limit is None else min(amount, limit)
