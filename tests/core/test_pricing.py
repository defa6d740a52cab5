"""Usage to money, to the last digit, and never more than was reserved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.pricing import (
    AvailableMoney,
    cost,
    estimate_usage,
    grant,
    input_bound,
    plausible_usage,
    worst_cost,
)
from moot.core.terms import FREE, ChatMessage, Model, ModelPrice, Money, PriceTier, Request, Usage
from moot.core.token_bounds import tokens_by_script
from moot.core.word_count import tokens, whole_tokens
from tests.rules.random_debates import LAW

FLAT = ModelPrice(input=(PriceTier(0, Money("0.15")),), output=(PriceTier(0, Money("0.60")),))


TIERED = ModelPrice(
    input=(PriceTier(0, Money("1.25")), PriceTier(200_000, Money("2.5"))),
    output=(PriceTier(0, Money(10)), PriceTier(200_000, Money(15))),
    cached_input=(PriceTier(0, Money("0.125")), PriceTier(200_000, Money("0.25"))),
    cache_write=(PriceTier(0, Money("1.5")),),
    per_call=Money("0.01"),
)


amounts = st.integers(0, 20_000).map(lambda n: Money(n) / 1000)


tiers = st.lists(st.tuples(st.integers(1, 50_000), amounts), max_size=2).flatmap(
    lambda later: amounts.map(
        lambda first: (PriceTier(0, first), *(PriceTier(*tier) for tier in sorted(later)))
    )
)


prices = st.tuples(tiers, tiers, tiers | st.just(()), tiers | st.just(()), amounts).map(
    lambda t: ModelPrice(*t)
)


# --- what a call cost ---------------------------------------------------------------------------------


def test_money_is_exact() -> None:
    assert cost(FLAT, Usage(1, 1)) == Money("0.00000075")
    assert cost(FLAT, Usage(1_000_000, 0)) == Money("0.15")
    assert sum([cost(FLAT, Usage(0, 1)) or Money(0)] * 10, Money(0)) == Money("0.000006")


def test_an_unknown_price_is_unknown_and_never_nothing() -> None:
    assert cost(None, Usage(10, 10)) is None
    assert worst_cost(None, 10, 10) is None


def test_a_local_model_costs_nothing() -> None:
    assert cost(FREE, Usage(10_000, 10_000)) == 0


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(100_000, 1000), "0.145"),
        (Usage(199_999, 0), "0.25999875"),
        (Usage(200_000, 1000), "0.525"),
    ],
)
def test_the_tier_is_that_of_the_whole_input(usage: Usage, expected: str) -> None:
    assert cost(TIERED, usage) == Money(expected)


def test_cached_tokens_have_their_own_price() -> None:
    assert (
        cost(TIERED, Usage(1000, 0, cached=600))
        == Money("0.01") + (Money("1.25") * 400 + Money("0.125") * 600) / 1_000_000
    )


def test_tokens_written_to_the_cache_have_their_own_price() -> None:
    usage = Usage(1000, 0, cached=600, cache_write=400)
    assert cost(TIERED, usage) == Money("0.01") + (Money("1.5") * 400 + Money("0.125") * 600) / 1_000_000


def test_without_a_price_for_cached_tokens_they_cost_as_others() -> None:
    assert cost(FLAT, Usage(1000, 0, cached=600)) == cost(FLAT, Usage(1000, 0))


def test_a_call_may_have_a_price_of_its_own() -> None:
    assert cost(TIERED, Usage()) == Money("0.01")


# --- the most it can cost -----------------------------------------------------------------------------


@given(prices, st.integers(0, 60_000), st.integers(0, 60_000), st.data())
@LAW
def test_no_usage_within_its_bounds_costs_more_than_the_worst_case(
    price: ModelPrice, bound: int, most: int, data: st.DataObject
) -> None:
    used = data.draw(st.integers(0, bound))
    cached = data.draw(st.integers(0, used))
    written = data.draw(st.integers(0, used - cached))
    usage = Usage(used, data.draw(st.integers(0, most)), cached=cached, cache_write=written)
    assert (cost(price, usage) or 0) <= (worst_cost(price, bound, most) or 0)


@given(prices, st.integers(0, 60_000), st.integers(1, 60_000), st.integers(0, 60_000), amounts, amounts)
@LAW
def test_what_is_granted_fits(
    price: ModelPrice, bound: int, most: int, least: int, room: Money, planned: Money
) -> None:
    leave = grant(price, bound, most, least, AvailableMoney(room, room - abs(planned)))
    fewest = max(1, min(least, most))
    if leave is None:
        assert (worst_cost(price, bound, fewest) or 0) > room
        return
    assert leave.reserved is not None
    assert fewest <= leave.max_tokens <= most
    assert leave.reserved == worst_cost(price, bound, leave.max_tokens)
    assert leave.reserved <= room
    assert leave.reserved <= room - abs(planned) or leave.max_tokens == fewest


@given(prices, st.integers(0, 60_000), st.integers(1, 60_000), amounts)
@LAW
def test_as_much_is_granted_as_fits(price: ModelPrice, bound: int, most: int, room: Money) -> None:
    leave = grant(price, bound, most, 1, AvailableMoney(room, room))
    more = leave.max_tokens + 1 if leave else 1
    dearest = worst_cost(price, bound, more)
    assert dearest is not None
    assert more > most or dearest > room


def test_without_a_limit_all_is_granted() -> None:
    leave = grant(FLAT, 1000, 500, 100, None)
    assert leave
    assert (leave.max_tokens, leave.reserved) == (500, worst_cost(FLAT, 1000, 500))


def test_an_unknown_price_reserves_nothing() -> None:
    leave = grant(None, 1000, 500, 100, AvailableMoney(Money(1), Money(1)))
    assert leave
    assert leave.reserved is None


def test_a_call_takes_from_the_plan_only_what_it_needs_at_least() -> None:
    room = worst_cost(FLAT, 1000, 400)
    assert room
    granted = grant(FLAT, 1000, 500, 200, AvailableMoney(room, worst_cost(FLAT, 1000, 300) or Money(0)))
    from_plan = grant(FLAT, 1000, 500, 200, AvailableMoney(room, Money(0)))
    assert granted
    assert from_plan
    assert (granted.max_tokens, from_plan.max_tokens) == (300, 200)


def test_a_call_that_could_not_say_its_words_is_not_made() -> None:
    room = worst_cost(FLAT, 1000, 200)
    assert room
    assert grant(FLAT, 1000, 500, 200, AvailableMoney(room, room))
    less = room - Money("0.0000001")
    assert grant(FLAT, 1000, 500, 200, AvailableMoney(less, less)) is None


def test_a_call_whose_answer_costs_nothing_is_granted_where_its_question_can_be_paid() -> None:
    asking = ModelPrice(input=(PriceTier(0, Money(10)),), output=(PriceTier(0, Money(0)),))
    room = worst_cost(asking, 1000, 500)
    assert room
    granted = grant(asking, 1000, 500, 100, AvailableMoney(room, Money(0)))
    assert granted
    assert (granted.max_tokens, granted.reserved) == (100, room)


def test_a_free_call_is_refused_where_its_words_could_not_be_judged() -> None:
    owed = Money("-0.01")
    assert grant(FREE, 1000, 500, 100, AvailableMoney(owed, owed)) is None


# --- tokens before and without a report ---------------------------------------------------------------


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
@LAW
def test_every_text_of_a_request_is_counted(system: str, prefill: str, said: list[str]) -> None:
    messages = tuple(ChatMessage("user", text) for text in said)
    bound = input_bound(Request(Model("p", "m"), system, messages, 100, prefill=prefill))
    assert bound >= sum(tokens_by_script(text) for text in (system, prefill, *said))


def test_a_schema_is_read_too() -> None:
    request = Request(Model("p", "m"), "", (), 100)
    with_schema = Request(Model("p", "m"), "", (), 100, schema={"type": "object"})
    assert input_bound(with_schema) > input_bound(request)


def test_a_guess_is_marked_as_one() -> None:
    assert estimate_usage(101, 3, 2) == Usage(101, 5, 2, estimated=True)


def test_reported_usage_counts() -> None:
    reported = Usage(100, 20)
    assert plausible_usage(reported, estimate_usage(100, 20), 400, 80) is reported


def test_usage_that_nobody_reported_is_estimated() -> None:
    usage = plausible_usage(None, estimate_usage(100, 20), 400, 80)
    assert usage.estimated
    assert not usage.suspect


@pytest.mark.parametrize(
    "absurd",
    [Usage(-1, 20), Usage(100, -5), Usage(10**12, 20), Usage(100, 10**12), Usage(100, 20, reasoning=-1)],
)
def test_absurd_usage_is_not_believed(absurd: Usage) -> None:
    guess = estimate_usage(100, 20)
    usage = plausible_usage(absurd, guess, 400, 80)
    assert (usage.input, usage.output) == (guess.input, guess.output)
    assert usage.estimated
    assert usage.suspect


def test_less_output_than_was_received_is_not_believed() -> None:
    usage = plausible_usage(Usage(100, 1), estimate_usage(100, 1000), 400, 4000)
    assert (usage.input, usage.output) == (100, 1000)
    assert usage.suspect


@given(st.builds(Usage, *[st.integers(-10, 10**13)] * 5), st.integers(0, 10**5), st.integers(0, 10**5))
@LAW
def test_usage_is_never_negative_and_never_less_than_an_eighth_of_what_was_read(
    reported: Usage, sent: int, received: int
) -> None:
    usage = plausible_usage(
        reported, estimate_usage(whole_tokens(sent), whole_tokens(received)), sent, received
    )
    assert min(usage.input, usage.output, usage.reasoning, usage.cached, usage.cache_write) >= 0
    assert usage.output * 8 >= received


@pytest.mark.parametrize("chars_a_token", [1.5, 2, 4])
def test_a_service_that_packs_chinese_more_tightly_than_we_guess_is_believed(chars_a_token: float) -> None:
    said = "应该" * 500
    reported = Usage(100, round(len(said) / chars_a_token))
    assert plausible_usage(reported, estimate_usage(100, tokens(said)), 400, len(said)) is reported
