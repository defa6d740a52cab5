"""Debates whose models have a price, and one whose speaker is a person."""

from __future__ import annotations

from moot.core.terms import FREE, HUMAN, Model, ModelPrice, Money, PriceTier
from moot.testing.event_factories import table
from tests.rules.simulate import Simulation, speak

PRICE = ModelPrice(input=(PriceTier(0, Money(1)),), output=(PriceTier(0, Money(10)),))
PRICED = Model("scripted", "owl", max_tokens=200, price=PRICE)
PERSON = Model(HUMAN, "ada", price=FREE)


def live(turn: int = 1, *, debate: Simulation | None = None) -> Simulation:
    """A debate in which this turn has just begun."""
    return (debate or Simulation(table(), speak)).start().run_until(lambda d: d.is_live(turn))


def calling(turn: int = 1) -> Simulation:
    debate = live(turn)
    return debate.run_until(lambda d: bool(d.calls))
