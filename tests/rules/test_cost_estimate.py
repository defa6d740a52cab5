"""What is asked beside the speeches has its price; people and judges who are not asked have none."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.events import DebateOpened
from moot.core.pricing import CountRange
from moot.core.schedule import schedule
from moot.core.terms import (
    FREE,
    HUMAN,
    DebateSetup,
    Judge,
    Model,
    ModelPrice,
    Money,
    PollSettings,
    PriceTier,
    Seat,
)
from moot.rules.cost_estimate import CostEstimate, estimate
from moot.testing.event_factories import seats, table

PRICE = ModelPrice(input=(PriceTier(0, Money(1)),), output=(PriceTier(0, Money(10)),))
OWL, HERON, CRANE = (Model("acme", name, max_tokens=800, price=PRICE) for name in ("owl", "heron", "crane"))
PERSON = Model(HUMAN, HUMAN, price=FREE)


def opened(format: str = "oxford", model: Model = OWL, **changes: Any) -> DebateOpened:
    judged = {"seats": seats("for", "against", model=model), "judges": (Judge("judge", "Judge", HERON),)}
    return table(format, **{**judged, **changes})


def calls(found: CostEstimate, model: Model) -> CountRange:
    return next((one.calls for one in found.models if one.model == model.label), CountRange(0, 0))


def spoken(debate: DebateOpened, *tones: str) -> int:
    slots = schedule(debate.format, debate.seats, debate.limits)
    return sum(slot.tone in tones if tones else True for slot in slots)


def test_a_person_costs_nothing_and_the_stand_in_may() -> None:
    pro, con = seats("for", "against", model=OWL)
    alone = opened(seats=(pro, replace(con, model=PERSON)))
    held = opened(seats=(pro, replace(con, model=PERSON, stand_in=CRANE)))
    assert calls(estimate(alone), PERSON) == calls(estimate(alone), CRANE) == CountRange(0, 0)
    assert calls(estimate(held), CRANE).low == 0
    assert calls(estimate(held), CRANE).high == calls(estimate(held), OWL).high


def test_answers_to_the_floor_come_only_where_somebody_asks() -> None:
    debate = opened("oxford", setup=DebateSetup(polls=PollSettings()))
    floor = spoken(debate, "floor")
    found = calls(estimate(debate), OWL)
    assert floor > 0
    assert (found.low, found.high) == (spoken(debate) - floor, spoken(debate))


def test_points_of_information_are_asked_for_at_every_break() -> None:
    debate = opened("world-schools")
    breaks = spoken(debate, "continuation")
    found = calls(estimate(debate), OWL)
    assert breaks > 0
    assert found.low == spoken(debate) + breaks
    assert found.high == found.low + breaks


def test_notes_are_made_before_each_speech_where_there_is_prep() -> None:
    plain = opened("lincoln-douglas")
    prep = replace(plain, setup=DebateSetup(prep=True))
    before, after = estimate(plain), estimate(prep)
    speeches = spoken(plain) - spoken(plain, "question", "answer")
    assert calls(after, OWL).low == calls(before, OWL).low + speeches
    assert before.low is not None
    assert after.low is not None
    assert after.low > before.low


def test_a_debate_that_may_end_by_concession_may_ask_for_it() -> None:
    plain = opened("oxford")
    ends = replace(plain, setup=DebateSetup(winning="self-terminate"))
    speeches = spoken(plain)
    assert calls(estimate(ends), OWL) == CountRange(speeches, 2 * speeches)
    assert calls(estimate(ends), HERON).high == calls(estimate(plain), HERON).high + speeches


@pytest.mark.parametrize(
    "changes",
    [{"recused": "of the speakers' own kind"}, {"model": PERSON}],
    ids=["recused", "in person"],
)
def test_a_judge_who_is_not_called_costs_nothing(changes: dict[str, Any]) -> None:
    panel = (Judge("a", "Ann", HERON), replace(Judge("b", "Bob", CRANE), **changes))
    found = estimate(opened(judges=panel))
    assert calls(found, HERON) == CountRange(2, 4)
    assert calls(found, CRANE) == CountRange(0, 0)


def test_where_the_audience_decides_no_judge_is_paid() -> None:
    found = estimate(opened(setup=DebateSetup(winning="audience", polls=PollSettings())))
    assert calls(found, HERON) == CountRange(0, 0)


@pytest.mark.parametrize("format", ["british-parliamentary", "chinese", "policy", "karl-popper"])
def test_every_table_of_speeches_can_be_estimated(format: str) -> None:
    found = estimate(opened(format, setup=DebateSetup(prep=True, polls=PollSettings())))
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.high


def test_a_table_of_people_alone_has_only_its_judge_to_pay() -> None:
    people: tuple[Seat, ...] = seats("for", "against", model=PERSON)
    found = estimate(opened(seats=people))
    assert [model.model for model in found.models] == [HERON.label]
