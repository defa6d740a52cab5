"""Server-side chaining: each seat continues from its own last response, and falls back to the full history.

The service is a replica on loopback, as strict as the real one: `tests/support/responses_service.py`.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from moot.core.events import CallCompleted, CallFailed, CallStarted, Event
from moot.core.pricing import cost
from moot.core.state import Debate
from moot.core.terms import Model, Money, Reasoning, Usage
from moot.engine.arena import Arena
from moot.providers.client import ProviderClient
from moot.providers.contract import Traits
from moot.providers.wire_formats.openai_responses_request import WIRE_FORMAT
from moot.rules.debate_setup import SeatSetup
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from moot.store.memory import MemoryStore
from tests.support.responses_service import SUMMARY, Call, Replica

EFFORTS = ("minimal", "low", "medium", "high")
TRAITS = Traits(chaining=True, thinks=True, efforts=EFFORTS, sampling=False, verbosity=True)
MINI = Model("openai", "gpt-5-mini", effort="low", verbosity="low", max_tokens=500)
NANO = Model("openai", "gpt-5-nano", effort="high", temperature=0.3, max_tokens=300)
PACE = RunnerTimings(retry_base=0.001, tick=0.001)


class Held(Struct):
    """A debate that was held, and what the service saw of it."""

    debate: Debate
    events: list[Event]
    calls: list[Call]

    @property
    def marks(self) -> list[str]:
        return [turn.degraded for turn in self.debate.turns]

    @property
    def answered(self) -> list[Call]:
        return [call for call in self.calls if call.status == 200]

    @property
    def refused(self) -> list[int]:
        return [call.number for call in self.calls if call.status != 200]

    def own(self, model: Model) -> list[Call]:
        return [call for call in self.answered if call.body["model"] == model.name]

    def check(self) -> None:
        """What holds for every debate, however much the service remembers."""
        assert self.debate.status == "completed"
        assert [turn.state for turn in self.debate.turns] == ["completed"] * 10
        assert [turn.text for turn in self.debate.turns] == [call.text for call in self.answered]
        for model in (MINI, NANO):
            own = self.own(model)
            assert len(own) == 5
            assert len({call.body["instructions"] for call in own}) == 1
            for turn, call in enumerate(own):
                # The model knows all it was asked and has said, and nobody else's answers as its own.
                assert [role for role, _ in call.words] == ["user", "assistant"] * turn + ["user"]
                said = [text for role, text in call.words if role == "assistant"]
                assert said == [earlier.text for earlier in own[:turn]]


async def hold(replica: Replica, folder: Path) -> Held:
    async with replica:
        client = ProviderClient(WIRE_FORMAT, replica.url, key="test", traits=TRAITS)
        settings = Settings(data=folder, pace=PACE)
        async with Arena.open(settings, store=MemoryStore(), providers={"openai": client}) as arena:
            seats = [SeatSetup(arena.model(model)) for model in (MINI, NANO)]
            following = arena.debate("Bread beats rice", seats=seats, judge="none", turns=10)
            log = [recorded async for recorded in following]
            debate = await arena.state(log[0].debate)
    held = Held(debate, [recorded.event for recorded in log], replica.calls)
    held.check()
    return held


def thoughts(call: Call) -> list[str]:
    """The ids of the sealed thoughts that were sent with it."""
    return [item["id"] for item in call.body["input"] if item.get("type") == "reasoning"]


def given(calls: list[Call]) -> list[str]:
    return [f"rs_{call.number:04}" for call in calls]


async def test_each_seat_goes_on_from_its_own_last_response(tmp_path: Path) -> None:
    held = await hold(Replica(), tmp_path)
    assert not held.refused
    for model in (MINI, NANO):
        own = held.own(model)
        assert [call.previous for call in own] == [None, *(call.response_id for call in own[:-1])]
    started = [event for event in held.events if isinstance(event, CallStarted)]
    assert [event.previous_response_id for event in started] == [call.previous for call in held.calls]
    assert held.marks == [""] * 10


async def test_a_chained_turn_brings_what_is_new_and_its_instructions(tmp_path: Path) -> None:
    held = await hold(Replica(), tmp_path)
    for call, opponent in zip(held.calls[1:], held.calls, strict=False):
        assert call.body["instructions"]
        assert call.body["store"] is True
        (fresh,) = call.body["input"]
        assert fresh["role"] == "user"
        assert opponent.text in fresh["content"]
        assert "temperature" not in call.body
    first, second = held.calls[:2]
    assert first.body["reasoning"] == {"summary": "auto", "effort": "low"}
    assert (first.body["text"], first.body["max_output_tokens"]) == ({"verbosity": "low"}, 500)
    assert second.body["reasoning"] == {"summary": "auto", "effort": "high"}
    assert ("text" in second.body, second.body["max_output_tokens"]) == (False, 300)


async def test_a_chain_is_paid_for_in_full_as_it_is_reported(tmp_path: Path) -> None:
    held = await hold(Replica(), tmp_path)
    completed = [event for event in held.events if isinstance(event, CallCompleted)]
    for event, call in zip(completed, held.calls, strict=True):
        assert call.usage is not None
        figures = Usage(call.usage["input_tokens"], call.usage["output_tokens"], reasoning=64)
        model = next(seat.model for seat in held.debate.seats if seat.model.name == call.body["model"])
        assert (event.usage, event.cost) == (figures, cost(model.price, figures))
        assert event.cost
    sizes = [event.usage.input for event in completed[::2]]
    assert sizes == sorted(set(sizes))
    assert sum((turn.cost or Money(0) for turn in held.debate.turns), Money(0)) == sum(
        (event.cost or Money(0) for event in completed), Money(0)
    )


async def test_thoughts_are_kept_with_the_turn_they_belong_to(tmp_path: Path) -> None:
    held = await hold(Replica(), tmp_path)
    for turn, call in zip(held.debate.turns, held.calls, strict=True):
        (thought,) = [segment for segment in turn.segments if isinstance(segment, Reasoning)]
        assert thought.text == turn.reasoning == "\n\n".join(SUMMARY)
        assert thought.item_id.startswith(f"rs_{call.number:04}")


async def test_without_data_retention_the_whole_history_goes_out_with_its_seals(tmp_path: Path) -> None:
    held = await hold(Replica(retains=False), tmp_path)
    # It says with its first answer that it keeps nothing: it is not asked in vain.
    assert not held.refused
    assert all(call.previous is None for call in held.calls)
    for model in (MINI, NANO):
        own = held.own(model)
        for turn, call in enumerate(own):
            assert [name[:7] for name in thoughts(call)] == given(own[:turn])
    assert held.marks == ["", ""] + ["chain"] * 8


async def test_a_response_that_is_forgotten_begins_a_new_chain(tmp_path: Path) -> None:
    held = await hold(Replica(forgets={5}), tmp_path)
    assert held.refused == [7]
    lost = [event for event in held.events if isinstance(event, CallFailed)]
    assert [(event.kind, event.retry_in_ms, event.billed, event.cost) for event in lost] == [
        ("chain_lost", 0, False, Money(0))
    ]
    own = held.own(MINI)
    assert [call.number for call in own] == [1, 3, 5, 8, 10]
    assert own[3].previous is None
    assert [name[:7] for name in thoughts(own[3])] == given(own[:3])
    assert own[4].previous == own[3].response_id
    assert not thoughts(own[4])
    other = held.own(NANO)
    assert [call.previous for call in other] == [None, *(call.response_id for call in other[:-1])]
    assert held.marks == [""] * 6 + ["chain"] + [""] * 3


async def test_a_service_that_keeps_forgetting_is_not_asked_again(tmp_path: Path) -> None:
    held = await hold(Replica(forgets=range(1000)), tmp_path)
    refused = [call.body["model"] for call in held.calls if call.status != 200]
    assert refused == [MINI.name, NANO.name] * 2
    assert held.marks == ["", ""] + ["chain"] * 8


async def test_responses_without_an_id_cannot_be_referred_to(tmp_path: Path) -> None:
    held = await hold(Replica(names=False), tmp_path)
    assert not held.refused
    assert all(call.previous is None for call in held.calls)
    assert [len(thoughts(call)) for call in held.own(MINI)] == [0, 1, 2, 3, 4]
    assert held.marks == ["", ""] + ["chain"] * 8
