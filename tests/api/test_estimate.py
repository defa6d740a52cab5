"""An estimate lies around what a debate comes to cost."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot.api.v1.replies import estimate_reply
from moot.core.events import DebateImported, DebateOpened
from moot.core.evolve import fold
from moot.core.pricing import CountRange
from moot.core.terms import DebateLimits, DebateOptions, Judge, Model, ModelPrice, Money, PriceTier
from moot.rules.cost_estimate import estimate
from moot.views.costs import costs
from moot.views.preview import preview
from tests.golden.reading import HERE, log_of
from tests.rules.simulate import Reply, Sent, Simulation, speak, words
from tests.support.event_factories import seats, table

OWL = Model(
    "acme",
    "owl-2",
    max_tokens=800,
    price=ModelPrice(
        input=(PriceTier(0, Money("1.25")), PriceTier(200_000, Money("2.50"))),
        output=(PriceTier(0, Money("10")),),
        cached_input=(PriceTier(0, Money("0.125")),),
    ),
)
HERON = Model("acme", "heron", max_tokens=800)
FORMATS = ("free", "oxford", "lincoln-douglas", "roundtable", "panel")
GOLDEN = sorted(path.stem for path in HERE.glob("*.jsonl"))


def priced(format: str = "oxford", model: Model = OWL, judge: Model = OWL, rounds: int = 3) -> DebateOpened:
    opened = table(format, seats=seats("for", "against", model=model))
    limits = replace(opened.limits, rounds=rounds)
    return replace(opened, judges=(Judge("judge", "Judge", judge),), limits=limits)


def fully(sent: Sent) -> Reply:
    """Speeches that use up their budget of words, no two alike."""
    if sent.purpose.judge is not None:
        return replace(speak(sent), reasoning="Weighing. " * 120)
    budget = sent.debate.phase(len(sent.debate.turns)).words
    said = " ".join(words(sent.call * 1000 + place) for place in range(budget // 12 + 1))
    return Reply(" ".join(said.split()[:budget]), piece=4_000)


@pytest.mark.parametrize("format", FORMATS)
def test_a_debate_that_keeps_to_its_words_costs_what_was_estimated(format: str) -> None:
    opened = priced(format)
    found = estimate(opened)
    debate = Simulation(opened, fully).start().run().debate
    spent = costs(debate)
    assert debate.status == "completed"
    assert found.low is not None
    assert found.high is not None
    assert spent.total is not None
    assert found.low <= spent.total <= found.high
    assert found.calls.low == debate.calls_made
    assert found.tokens.low <= spent.usage.total <= found.tokens.high


def test_no_golden_debate_has_cost_more_but_those_that_were_tried_again() -> None:
    held = 0
    for name in GOLDEN:
        records = log_of(name)
        debate, opened = fold(records), records[0].event
        assert debate is not None
        assert isinstance(opened, DebateOpened)
        if any(isinstance(recorded.event, DebateImported) for recorded in records):
            # It was paid for elsewhere.
            continue
        found, spent = estimate(opened), costs(debate).total
        if spent and found.high is not None and debate.calls_made <= found.calls.high:
            assert spent <= found.high, name
            held += 1
    assert held > 3


@pytest.mark.parametrize("format", ["oxford", "roundtable"])
def test_more_rounds_never_cost_less(format: str) -> None:
    found = [estimate(priced(format, rounds=rounds)) for rounds in range(1, 11)]
    lows = [each.low or Money(0) for each in found]
    highs = [each.high or Money(0) for each in found]
    assert lows == sorted(lows)
    assert highs == sorted(highs)
    assert all(low < high for low, high in zip(lows, highs, strict=True))


def test_an_unknown_price_is_named_and_never_counted_as_nothing() -> None:
    found = estimate(priced(model=HERON))
    assert found.unpriced == ("acme/heron",)
    assert [(model.model, model.low is None, model.high is None) for model in found.models] == [
        ("acme/heron", True, True),
        ("acme/owl-2", False, False),
    ]
    assert estimate(priced(model=HERON, judge=HERON)).high is None


def test_the_cost_limit_holds_the_high_end() -> None:
    opened = priced()
    limited = estimate(replace(opened, limits=DebateLimits(rounds=3, cost=Money("0.11"))))
    assert (limited.high, limited.limited) == (Money("0.11"), True)
    generous = estimate(replace(opened, limits=DebateLimits(rounds=3, cost=Money(1000))))
    assert not generous.limited
    assert generous.high is not None
    assert generous.low == estimate(opened).low


def test_under_a_limit_calls_are_given_no_more_tokens_than_their_words_need() -> None:
    opened = priced()
    free, held = estimate(opened), estimate(replace(opened, limits=DebateLimits(rounds=3, cost=Money(1000))))
    assert held.tokens.low == free.tokens.low
    assert held.tokens.high < free.tokens.high


def test_the_smallest_limit_is_told_with_and_without_a_limit() -> None:
    opened = priced()
    found = estimate(opened).smallest_limit
    assert found is not None
    assert found == estimate(replace(opened, limits=DebateLimits(rounds=3, cost=Money(9)))).smallest_limit
    reply = estimate_reply(estimate(opened), preview(opened))
    assert reply.smallest_limit == found.total > 0
    nameless = priced(model=HERON)
    assert estimate_reply(estimate(nameless), preview(nameless)).smallest_limit is None


def test_ballots_and_their_repairs_are_calls_of_the_judge() -> None:
    opened = priced(model=HERON)
    speeches = estimate(opened).speeches
    judged = {model.model: model.calls for model in estimate(opened).models}
    assert judged == {"acme/heron": CountRange(speeches, speeches), "acme/owl-2": CountRange(2, 4)}
    asked = estimate(replace(opened, manner=DebateOptions(auto_judge=False)))
    assert asked.models[1].calls == CountRange(0, 4)
    assert asked.models[1].low == 0
    by_hand = estimate(replace(opened, manner=DebateOptions(winning="user-decides")))
    assert [model.model for model in by_hand.models] == ["acme/heron"]
