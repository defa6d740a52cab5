"""An estimate lies around what a debate comes to cost."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot.api.v1.replies import created_reply, estimate_reply
from moot.core.events import DebateImported, DebateOpened, Recorded
from moot.core.evolve import evolve, fold
from moot.core.pricing import CountRange
from moot.core.state import EPOCH
from moot.core.terms import DebateLimits, DebateSetup, Judge, Model, ModelPrice, Money, PriceTier
from moot.rules.cost_estimate import estimate, fitted_to_limit
from moot.testing.event_factories import seats, table
from moot.views.costs import costs, dollars
from moot.views.preview import cost_forecast, preview
from tests.golden.reading import HERE, log_of
from tests.rules.simulate import Reply, Sent, Simulation, speak, words

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
    limited = estimate(replace(opened, limits=DebateLimits(rounds=3, cost_limit=Money("0.11"))))
    assert (limited.high, limited.limited) == (Money("0.11"), True)
    generous = estimate(replace(opened, limits=DebateLimits(rounds=3, cost_limit=Money(1000))))
    assert not generous.limited
    assert generous.high is not None
    assert generous.low == estimate(opened).low


def test_under_a_limit_calls_are_given_no_more_tokens_than_their_words_need() -> None:
    opened = priced()
    free, held = (
        estimate(opened),
        estimate(replace(opened, limits=DebateLimits(rounds=3, cost_limit=Money(1000)))),
    )
    assert held.tokens.low == free.tokens.low
    assert held.tokens.high < free.tokens.high


def test_the_smallest_limit_is_told_with_and_without_a_limit() -> None:
    opened = priced()
    found = estimate(opened).smallest_limit
    assert found is not None
    assert (
        found == estimate(replace(opened, limits=DebateLimits(rounds=3, cost_limit=Money(9)))).smallest_limit
    )
    reply = estimate_reply(estimate(opened), preview(opened))
    assert reply.smallest_limit == found.total > 0
    nameless = priced(model=HERON)
    assert estimate_reply(estimate(nameless), preview(nameless)).smallest_limit is None


def test_ballots_and_their_repairs_are_calls_of_the_judge() -> None:
    opened = priced(model=HERON)
    speeches = estimate(opened).speeches
    judged = {model.model: model.calls for model in estimate(opened).models}
    assert judged == {"acme/heron": CountRange(speeches, speeches), "acme/owl-2": CountRange(2, 4)}
    asked = estimate(replace(opened, setup=DebateSetup(auto_judge=False)))
    assert asked.models[1].calls == CountRange(0, 4)
    assert asked.models[1].low == 0
    by_hand = estimate(replace(opened, setup=DebateSetup(winning="user-decides")))
    assert [model.model for model in by_hand.models] == ["acme/heron"]


def limited(limit: str, rounds: int = 3, **changes: object) -> DebateOpened:
    opened = priced(rounds=rounds)
    return replace(opened, limits=replace(opened.limits, cost_limit=Money(limit)), **changes)


def test_what_is_expected_lies_between_the_ends_and_near_what_it_costs() -> None:
    found = estimate(priced())
    assert found.low is not None
    assert found.expected is not None
    assert found.high is not None
    assert found.low < found.expected < found.high
    spent = costs(Simulation(priced(), fully).start().run().debate).total
    assert spent is not None
    assert found.expected / 2 < spent < found.expected * 2


def test_before_the_start_a_limit_says_what_it_will_hold() -> None:
    whole = estimate(priced()).whole_limit
    assert whole is not None
    told = {
        limit: cost_forecast(estimate(limited(limit)), Money(limit)) for limit in ("0.08", str(whole), "9")
    }
    assert "of 3 rounds" in told["0.08"]
    assert f"The smallest limit for all of it is {dollars(whole)}." in told["0.08"]
    assert "holds all 3 rounds and the verdict; worst case" in told[str(whole)]
    assert told["9"].endswith("holds all 3 rounds and the verdict, even if every call takes all that it may.")


def test_the_reply_to_a_new_debate_says_what_it_will_cost_and_how_many_rounds_it_has() -> None:
    debate = evolve(None, Recorded("deb_1", 1, EPOCH, 1, fitted_to_limit(limited("0.08"))))
    reply = created_reply(debate)
    assert reply.estimate is not None
    assert reply.config.max_rounds < 3
    assert reply.warnings[0] == f"The cost limit of $0.080 holds {reply.config.max_rounds} of 3 rounds."
    assert f"{reply.config.max_rounds} of 3 rounds" in reply.estimate.holds
    assert (
        reply.estimate.text
        in estimate_reply(estimate(limited("0.08")), preview(priced()), Money("0.08")).text
    )


def test_the_smallest_limit_does_not_depend_on_the_rounds_or_on_what_is_only_asked_beside() -> None:
    asked = DebateSetup(beliefs=True, model_audience=True)
    limits = {
        smallest.total
        for rounds in (1, 3, 5)
        for setup in (DebateSetup(), asked)
        if (smallest := estimate(replace(priced(rounds=rounds), setup=setup)).smallest_limit)
    }
    assert len(limits) == 1


def test_max_tokens_of_the_user_stay_unless_the_money_forces_less_and_that_is_said() -> None:
    own = replace(OWL, max_tokens=3000, own_limit=True)
    opened = replace(priced(model=own, rounds=2), limits=DebateLimits(2, cost_limit=Money(9)))
    sent = Simulation(opened, fully).start().run().sent
    assert {call.request.max_tokens for call in sent if call.purpose.turn} == {3000}
    assert estimate(opened).lowered == ()
    short = replace(opened, limits=DebateLimits(2, cost_limit=Money("0.07")))
    sent = Simulation(short, fully).start().run().sent
    assert min(call.request.max_tokens for call in sent if call.purpose.turn) < 3000
    assert "It may lower `maxTokens` of acme/owl-2" in cost_forecast(estimate(short), Money("0.07"))
