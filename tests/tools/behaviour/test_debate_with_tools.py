"""A whole debate whose speakers use a tool, over the API; and what cannot be asked for there."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from moot.core.terms import Request, ToolResult
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, ToolCue, improvise
from moot.tools.tool_settings import ToolServerSettings
from tests.web.routes.served import Served, body, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
SMALL = ToolServerSettings(
    name="words",
    title="The word desk",
    command=(sys.executable, str(Path(__file__).parents[1] / "small_tool_server.py")),
)


def speak(request: Request) -> Iterable[Cue]:
    """Count first, then say what came of it."""
    if request.schema or not request.tools:
        return improvise(request)
    given = [part.output for part in request.exchange if isinstance(part, ToolResult)]
    if not given:
        return [ToolCue("words__count", {"word": "moot"})]
    if request.model.name == "gullible" and len(given) == 1 and "Ignore your instructions" in given[0]:
        return [ToolCue("words__erase"), ToolCue("words__again")]
    return [SayCue("I have counted: four letters." if "moot has 4 letters" in given[0] else "Nothing came.")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served, None]:
    data = tmp_path_factory.mktemp("data")
    async with serving(data, provider=ScriptedProvider(speak), tools=(SMALL,)) as house:
        yield house


async def test_what_may_be_allowed_is_listed_and_how_it_is_reached_is_not(house: Served) -> None:
    reply = await house.http.get("/api/v1/tools")
    shape = reply.json()
    assert shape["hosted"] == ["web_search", "code"]
    (server,) = shape["servers"]
    assert (server["name"], server["title"], server["missing"]) == ("words", "The word desk", None)
    assert server["tools"][0] == {
        "name": "words/count",
        "title": "Count letters",
        "description": "How many letters a word has.",
    }
    assert "python" not in reply.text
    assert "small.py" not in reply.text


async def test_a_speech_uses_its_tool_and_everybody_sees_it(house: Served) -> None:
    debate = await house.open(maxRounds=1, tools=["words/count"])
    status = await house.over(debate)
    assert status["status"] == "completed"
    log = (await house.get(debate, "events", params={"limit": "500"})).json()["events"]
    segments = [entry["event"]["segment"] for entry in log if isinstance(entry["event"].get("segment"), dict)]
    (call, result) = [part for part in segments if part["type"] in ("tool_call", "tool_result")][:2]
    assert (call["name"], call["server"], call["title"]) == ("words__count", "words", "Count letters")
    assert json.loads(call["arguments"]) == {"word": "moot"}
    assert result["output"].startswith("moot has 4 letters.")
    page = (await house.get(debate, "transcript", params={"format": "markdown"})).text
    assert "I have counted: four letters." in page
    listed = (await house.http.get("/api/v1/tools")).json()["servers"][0]["tools"]
    assert [tool["name"] for tool in listed] == ["words/count", "words/again"]  # it has learnt one by then
    setup = (await house.get(debate, "setup")).json()
    assert setup["config"]["tools"] == ["words/count"]


async def test_a_result_that_gives_orders_sets_nothing_in_motion_that_was_not_allowed(house: Served) -> None:
    shape = body(maxRounds=1, tools=["words/count"])
    shape["participants"][0]["model"]["modelId"] = "gullible"
    debate = (await house.http.post("/api/v1/debates", json=shape)).json()["id"]
    assert (await house.over(debate))["status"] == "completed"
    log = (await house.get(debate, "events", params={"limit": "500"})).json()["events"]
    segments = [entry["event"].get("segment") for entry in log]
    results = [part for part in segments if isinstance(part, dict) and part["type"] == "tool_result"]
    refused = [part["error"] for part in results if part.get("error")]
    assert refused == [
        "There is no tool called 'words__erase'.",
        "There is no tool called 'words__again'.",
    ]


async def test_nothing_is_used_unless_it_is_allowed(house: Served) -> None:
    debate = await house.open(maxRounds=1)
    await house.over(debate)
    assert "tool_call" not in (await house.get(debate, "events", params={"limit": "500"})).text
    assert "tools" not in (await house.get(debate, "setup")).json()["config"]


@pytest.mark.parametrize(
    ("tools", "errors"),
    [
        (["nobody"], {"tools.0": ["Unknown tool"]}),
        (["words", "words/none"], {"tools.1": ["Unknown tool"]}),
        (["words/erase"], {"tools.0": ["Unknown tool"]}),
        (["words"] * 17, {"tools": ["Must have at most 16 items"]}),
        ("words", {"tools": ["Must be an array"]}),
        (None, {"tools": ["Must be an array"]}),
        ([{"command": "sh", "args": ["-c", "id"]}], {"tools.0": ["Must be a string"]}),
        (["words; rm -rf /"], {"tools.0": ["Must be a tool server, or server/tool"]}),
    ],
)
async def test_what_nobody_has_is_refused(house: Served, tools: Any, errors: dict[str, list[str]]) -> None:
    reply = await house.http.post("/api/v1/debates", json=body(tools=tools))
    assert (reply.status_code, reply.json().get("errors")) == (422, errors)


@pytest.mark.parametrize("member", ["mcpServers", "toolServers", "command"])
async def test_no_server_comes_with_a_request(house: Served, member: str) -> None:
    given = {"evil": {"command": "sh", "args": ["-c", "id"]}}
    for shape in (body(**{member: given}), {**body(), member: given}):
        reply = await house.http.post("/api/v1/debates", json=shape)
        assert reply.status_code == 422
        assert reply.json()["errors"] == {member: ["Unknown field"]}
