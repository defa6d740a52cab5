"""Costs add up by model, and an unknown price is never counted as zero."""

from __future__ import annotations

import pytest

from moot.core.events import TurnCompleted
from moot.core.terms import Money
from moot.views.costs import bill, costs, dollars
from tests.views.logs import Log, held, seat


def spent(*, pro: Money | None, con: Money | None, **usage: bool) -> Log:
    log = Log(seats=(seat("for", model="a"), seat("against", model="b"))).start()
    for side, cost in (("for", pro), ("against", con)):
        turn = log.begin(side)
        log.hear("Words.").settle("Words.", cost=cost, **usage).add(TurnCompleted(turn, 1))
    return log


def test_totals_are_by_model():
    figures = costs(spent(pro=Money("0.10"), con=Money("0.02")).debate)
    assert [(model, used.known_cost) for model, used in figures.models.items()] == [
        ("scripted/a", Money("0.10")),
        ("scripted/b", Money("0.02")),
    ]
    assert figures.total == Money("0.12")
    assert figures.usage.total == 240
    assert bill(figures) == "$0.12"


def test_an_unknown_price_is_unknown_and_said():
    figures = costs(spent(pro=Money("0.10"), con=None).debate)
    assert figures.models["scripted/b"].known_cost is None
    assert figures.unpriced == ("scripted/b",)
    assert bill(figures) == "$0.10 and an unknown amount for scripted/b"
    assert costs(spent(pro=None, con=None).debate).total is None


def test_estimates_are_marked():
    figures = costs(spent(pro=Money("0.10"), con=Money("0.02"), estimated=True).debate)
    assert figures.estimated
    assert bill(figures) == "about $0.12"


def test_a_debate_without_calls_costs_nothing():
    assert costs(Log().debate).total == 0
    assert bill(costs(held().debate)) == "$0.00"


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("0", "$0.00"),
        ("0.5", "$0.50"),
        ("0.0123", "$0.012"),
        ("0.000123", "$0.00012"),
        ("1234.5", "$1,234.50"),
    ],
)
def test_money_is_written_with_digits_that_say_something(amount: str, words: str):
    assert dollars(Money(amount)) == words


def test_unknown_money_says_so():
    assert dollars(None) == "unknown cost"
