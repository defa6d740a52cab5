"""Tools with server-side chaining: a speech continues from the response that called the tool.

The service is a replica on loopback, as strict as the real one: `tests/support/responses_service.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moot.core.events import CallFailed, CallStarted, Event
from moot.core.state import Debate
from moot.core.terms import Model, Reasoning, Text, ToolCall, ToolResult
from moot.engine.arena import Arena
from moot.providers.client import ProviderClient
from moot.providers.contract import Traits
from moot.providers.wire_formats.openai_responses_request import WIRE_FORMAT
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from moot.store.memory import MemoryStore
from tests.engine.memory_toolbox import Workshop, echo
from tests.support.responses_service import Call, Replica

TRAITS = Traits(chaining=True, thinks=True, efforts=("low",), sampling=False, tools=True)
MINI = Model("openai", "gpt-5-mini", effort="low", max_tokens=500)
PACE = RunnerTimings(retry_base=0.001, tick=0.001)


def twice(call: Call) -> list[tuple[str, str]]:
    """Two functions at once at the beginning of each speech."""
    last = call.seen[-1]
    asked = [("lab__echo", '{"q":"a"}'), ("lab__echo", '{"q":"b"}')]
    return asked if last.get("role") == "user" else []


async def hold(tmp_path: Path, replica: Replica) -> tuple[Debate, list[Event]]:
    provider = ProviderClient(WIRE_FORMAT, replica.url, key="test", traits=TRAITS)
    arena = Arena.open(
        Settings(data=tmp_path, pace=PACE),
        store=MemoryStore(),
        providers={"openai": provider},
        tools=Workshop(echo=echo),
    )
    async with arena as held:
        options: dict[str, Any] = {"model": MINI, "judge": "none", "turns": 4, "tools": ("lab",)}
        records = [recorded async for recorded in held.debate("Is bread better than rice?", **options)]
        return await held.state(records[0].debate), [recorded.event for recorded in records]


def kinds(items: list[dict[str, Any]]) -> list[str]:
    return [str(item.get("type") or item["role"]) for item in items]


async def test_only_what_the_tools_gave_is_sent_to_a_service_that_remembers(tmp_path: Path) -> None:
    async with Replica(uses=twice) as replica:
        debate, events = await hold(tmp_path, replica)
    calls = replica.calls
    assert [call.status for call in calls] == [200] * 8
    assert kinds(calls[1].body["input"]) == ["function_call_output"] * 2
    assert calls[1].previous == calls[0].response_id
    assert [item["output"].splitlines()[2] for item in calls[1].body["input"]] == [
        "You asked a.",
        "You asked b.",
    ]
    # A seat's next speech goes on from the last call of the one before.
    assert calls[4].previous == calls[1].response_id
    assert kinds(calls[4].body["input"]) == ["user"]
    assert [turn.text for turn in debate.turns] == [call.text for call in calls[1::2]]
    assert not [event for event in events if isinstance(event, CallFailed)]
    segments = debate.turns[0].segments
    assert [type(part) for part in segments] == [
        Reasoning, ToolCall, ToolCall, ToolResult, ToolResult, Reasoning, Text,
    ]  # fmt: skip
    assert [part.index for part in segments] == list(range(7))


async def test_everything_is_told_to_a_service_that_keeps_nothing(tmp_path: Path) -> None:
    async with Replica(uses=twice, retains=False) as replica:
        debate, _events = await hold(tmp_path, replica)
    calls = [call for call in replica.calls if call.status == 200]
    went_on = calls[1].body["input"]
    assert kinds(went_on) == ["user", "reasoning", *["function_call"] * 2, *["function_call_output"] * 2]
    assert calls[1].previous is None
    # Of a speech that is over, only the words go back, with the thought that led to them.
    assert kinds(calls[4].body["input"]) == ["user", "reasoning", "assistant", "user"]
    assert [turn.state for turn in debate.turns] == ["completed"] * 4


async def test_a_response_that_is_forgotten_meanwhile_does_no_harm(tmp_path: Path) -> None:
    async with Replica(uses=twice, forgets={1}) as replica:
        debate, events = await hold(tmp_path, replica)
    assert [call.status for call in replica.calls[:3]] == [200, 400, 200]
    assert kinds(replica.calls[2].body["input"])[-2:] == ["function_call_output"] * 2
    assert [event.kind for event in events if isinstance(event, CallFailed)] == ["chain_lost"]
    started = [event for event in events if isinstance(event, CallStarted)]
    assert [event.continues for event in started[:3]] == [None, 1, 1]
    assert debate.turns[0].text == replica.calls[2].text


async def test_functions_are_told_in_full_and_each_by_its_schema(tmp_path: Path) -> None:
    async with Replica(uses=twice) as replica:
        await hold(tmp_path, replica)
    tool = replica.calls[0].body["tools"][0]
    assert tool["type"] == "function"
    assert tool["name"] == "lab__echo"
    assert tool["strict"] is False
    assert tool["parameters"]["properties"] == {"q": {"type": "string"}}
