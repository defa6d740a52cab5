"""What a call is booked at: what it is paid at, and what one that was lost may have cost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from moot.core.terms import Judge, Money, Usage
from moot.core.word_count import tokens
from moot.providers.prices import flat_price
from moot.rules import budget
from moot.rules.budget import lost_call
from moot.rules.commands import JudgeAgain
from moot.testing.event_factories import seats, table
from tests.rules.priced_debates import PERSON, PRICED, calling, live
from tests.rules.simulate import MUCH_LATER, Simulation, speak, speeches


def test_a_lost_call_of_a_log_that_does_not_tell_what_was_sent_is_counted_by_its_bytes() -> None:
    state = calling().debate
    (call,) = (replace(call, input_guess=0) for call in state.calls)
    assert lost_call(state, call, MUCH_LATER).usage.input == -(-call.input_bound // 4)


@pytest.mark.parametrize("seconds", [0, 1, 3])
def test_a_lost_call_is_booked_at_what_had_come_and_could_have_come_since(seconds: int) -> None:
    talker = replace(PRICED, max_tokens=4096)
    debate = Simulation(table(seats=seats("for", "against", model=talker)), speeches("x" * 400)).start()
    debate.run_until(lambda d: bool(d.calls and len(d.live[0].text) >= 200))
    (call,) = debate.debate.calls
    since = debate.debate.live[0].heard_at
    assert since is not None
    lost = lost_call(debate.debate, call, since + timedelta(seconds=seconds))
    came = tokens(debate.debate.live[0].text)
    assert (
        lost.usage.output == came + budget.ON_THEIR_WAY + seconds * budget.USUAL_SPEED * budget.SPEED_MARGIN
    )
    assert lost.counted is not None
    assert call.reserved is not None
    assert (lost.cost or Money(0)) <= lost.counted < call.reserved / 4


def test_a_lost_call_goes_on_as_fast_as_its_model_has_spoken() -> None:
    talker = replace(PRICED, max_tokens=4096)
    debate = Simulation(table(seats=seats("for", "against", model=talker)), speak).start()
    debate.run_until(lambda d: bool(d.turns and d.calls))
    (call,) = debate.debate.calls
    fast = replace(debate.debate.turns[0], latency_ms=1000, usage=Usage(10, 500))
    state = replace(debate.debate, turns=(fast,))
    lost = lost_call(state, call, call.started_at + timedelta(seconds=2))
    assert lost.usage.output == budget.ON_THEIR_WAY + 2 * 500 * budget.SPEED_MARGIN


def test_a_call_is_paid_at_the_price_of_its_own_judge() -> None:
    dear = replace(PRICED, price=flat_price(Money(300), Money(1500)))
    debate = Simulation(table(seats=seats("for", "against", model=dear)), speak).start().run()
    debate.ask(JudgeAgain((Judge("later", "Later", PRICED),)))
    debate.run_until(lambda d: bool(d.calls))
    (call,) = debate.debate.calls
    model = budget.model_of(debate.debate, call)
    assert model is not None
    assert model.price == PRICED.price != dear.price


def test_a_call_is_paid_as_the_model_that_was_asked_whoever_sits_there_now() -> None:
    debate = live(debate=Simulation(table(seats=seats("for", "against", model=PRICED)), speak))
    debate.run_until(lambda d: bool(d.calls))
    state = debate.debate
    taken = tuple(replace(seat, model=PERSON, stand_in=PRICED) for seat in state.seats)
    (call,) = state.calls
    assert (
        lost_call(replace(state, seats=taken), call, MUCH_LATER).cost
        == lost_call(state, call, MUCH_LATER).cost
        != Money(0)
    )
