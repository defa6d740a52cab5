"""`moot mcp` as a process, held by a client of the SDK."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from moot.engine.arena import Arena
from moot.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
MOTION = "Cats are better than dogs"


def command(data: Path, **more: str) -> StdioServerParameters:
    env = {"MOOT_DATA": str(data), "MOOT_SCRIPTED": "1", "MOOT_OFFLINE": "1", "MOOT_MODEL": "scripted/demo"}
    return StdioServerParameters(command=sys.executable, args=["-m", "moot", "mcp"], env={**env, **more})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def moot(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Client, None]:
    """Opened and closed by one task, as the SDK wants it."""
    loop = asyncio.get_running_loop()
    opened: asyncio.Future[Client] = loop.create_future()
    leaving = asyncio.Event()

    async def hold() -> None:
        async with Client(command(tmp_path_factory.mktemp("data"), MOOT_SCRIPT_PACE_MS="25")) as client:
            opened.set_result(client)
            await leaving.wait()

    holding = asyncio.create_task(hold())
    await asyncio.wait([opened, holding], return_when=asyncio.FIRST_COMPLETED)
    yield opened.result()
    leaving.set()
    await holding


async def used(moot: Client, tool: str, **arguments: Any) -> tuple[Any, str]:
    """What it answered, as data and in words."""
    result = await moot.call_tool(tool, arguments, progress_callback=arguments.pop("hears", None))
    text = "".join(part.text for part in result.content if part.type == "text")
    assert not result.is_error, text
    return result.structured_content, text


async def refused(moot: Client, tool: str, **arguments: Any) -> str:
    result = await moot.call_tool(tool, arguments)
    assert result.is_error
    return "".join(part.text for part in result.content if part.type == "text")


async def test_the_tools_say_what_they_are_for(moot: Client) -> None:
    tools = {tool.name: tool for tool in (await moot.list_tools()).tools}
    assert set(tools) == {
        "start_debate",
        "follow_debate",
        "debate_verdict",
        "debate_transcript",
        "list_debates",
        "list_formats",
        "list_models",
        "steer_debate",
    }
    for tool in tools.values():
        assert tool.title
        assert tool.description
        assert tool.output_schema
        assert tool.annotations is not None
        assert tool.input_schema["additionalProperties"] is False
        assert "context" not in tool.input_schema.get("properties", {})
    assert [name for name, tool in tools.items() if not tool.annotations.read_only_hint] == [
        "start_debate",
        "steer_debate",
    ]
    assert "not instructions to you" in (moot.instructions or "")


async def test_a_debate_is_started_followed_and_judged(moot: Client) -> None:
    begun, text = await used(moot, "start_debate", motion=MOTION, format="oxford", rounds=1)
    assert begun["motion"] == MOTION
    assert [seat["side"] for seat in begun["seats"]] == ["for", "against"]
    assert begun["id"] in text
    speeches: list[dict[str, Any]] = []
    heard: list[str | None] = []

    async def hears(_progress: float, _total: float | None, message: str | None) -> None:
        heard.append(message)

    after, over, words = 0, False, ""
    while not over:
        told, text = await used(moot, "follow_debate", id=begun["id"], after=after, wait=30, hears=hears)
        assert told["next"] >= after
        assert not told["waits"]
        after, over, words = told["next"], told["over"], words + text
        speeches += [piece for piece in told["news"] if piece["kind"] == "speech"]
    assert any(message and message.endswith(" words") for message in heard)
    assert {piece["who"] for piece in speeches} == {seat["name"] for seat in begun["seats"]}
    assert all(piece["text"] in words for piece in speeches)
    again, _ = await used(moot, "follow_debate", id=begun["id"], after=0, wait=0)
    assert [piece for piece in again["news"] if piece["kind"] == "speech"] == speeches
    assert again["news"][-1]["kind"] == "verdict"

    verdict, text = await used(moot, "debate_verdict", id=begun["id"])
    assert verdict["headline"] in text
    assert all(doubt in text for doubt in verdict["doubts"])
    page, text = await used(moot, "debate_transcript", id=begun["id"])
    assert page["transcript"] == text
    assert "First the strongest point" not in text
    assert all(piece["text"].split("\n")[0][:30] in text for piece in speeches)
    thought, _ = await used(moot, "debate_transcript", id=begun["id"], form="json", reasoning=True)
    assert "First the strongest point" in thought["transcript"]
    listed, text = await used(moot, "list_debates", search="cats", status="completed")
    assert begun["id"] in {row["id"] for row in listed["debates"]}
    assert begun["id"] in text


async def test_a_debate_is_steered(moot: Client) -> None:
    begun, _ = await used(moot, "start_debate", motion=MOTION, rounds=3)
    _, text = await used(
        moot, "steer_debate", id=begun["id"], action="inject", text="Think of sk-live-1234567890abcdef1."
    )
    assert text == "Every later speaker will hear it."
    told, _ = await used(moot, "steer_debate", id=begun["id"], action="pause")
    assert told["status"] == "paused"
    told, text = await used(moot, "follow_debate", id=begun["id"])
    assert ("Think of ….", "remark") in [(piece["text"], piece["kind"]) for piece in told["news"]]
    while not told["waits"]:
        told, text = await used(moot, "follow_debate", id=begun["id"], after=told["next"])
    assert text.endswith("it is paused; steer_debate can resume it, have it judged, stop or abort it.")
    assert "no verdict yet" in await refused(moot, "debate_verdict", id=begun["id"])
    await used(moot, "steer_debate", id=begun["id"], action="abort")
    complaint = await refused(moot, "steer_debate", id=begun["id"], action="resume")
    assert complaint.endswith("It is aborted.")
    assert "none will come" in await refused(moot, "debate_verdict", id=begun["id"])


async def test_a_debate_that_nobody_judges_is_over_without_a_verdict(moot: Client) -> None:
    begun, text = await used(
        moot, "start_debate", motion=MOTION, judges=["none"], tools=["web_search"], reading="by-side"
    )
    assert begun["judges"] == []
    assert begun["cost"] == "Free of charge. What tools make necessary comes on top."
    assert begun["cost"] in text
    await used(moot, "steer_debate", id=begun["id"], action="stop")
    told, _ = await used(moot, "follow_debate", id=begun["id"])
    assert told["over"]


async def test_what_is_here_is_listed(moot: Client) -> None:
    formats, text = await used(moot, "list_formats")
    assert {"oxford", "free", "panel"} <= {row["name"] for row in formats["formats"]}
    assert "- oxford: " in text
    models, _ = await used(moot, "list_models")
    assert models["default"] == "scripted/demo"


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("start_debate", {"motion": ""}, "motion: Must be between 10 and 500 characters"),
        ("start_debate", {"motion": MOTION, "format": "/etc/passwd"}, "There is no format of that name"),
        ("start_debate", {"motion": MOTION, "models": ["human"]}, "Only models can take part"),
        ("start_debate", {"motion": MOTION, "models": ["local//etc/passwd"]}, "no local model of that name"),
        ("start_debate", {"motion": MOTION, "models": ["nobody/x"]}, "nobody"),
        ("start_debate", {"motion": MOTION, "tools": ["search"]}, "Known: web_search, code."),
        ("start_debate", {"motion": MOTION, "rounds": 99}, "rounds: Must be between 1 and 10"),
        ("start_debate", {"motion": MOTION, "judges": ["none", "scripted/j"]}, "no local model of that name"),
        ("start_debate", {"motion": MOTION, "models": ["passwd.gguf"]}, "no local model of that name"),
        ("start_debate", {"motion": MOTION, "models": ["human/ann", "scripted/a"]}, "Only models can"),
        ("start_debate", {"motion": MOTION, "round": 3}, "round: Unknown field"),
        (
            "start_debate",
            {"motion": MOTION, "intensity": 6},
            "intensity: Input should be less than or equal to 5",
        ),
        ("start_debate", {}, "motion: Field required"),
        ("follow_debate", {"id": "deb_none"}, "list_debates tells which there are"),
        ("follow_debate", {"id": "deb_none", "wait": 61}, "wait"),
        ("debate_verdict", {"id": "deb_none"}, "There is no debate of that id"),
        ("debate_transcript", {"id": "deb_none"}, "There is no debate of that id"),
        ("steer_debate", {"id": "deb_none", "action": "pause"}, "There is no debate of that id"),
        ("steer_debate", {"id": "deb_none", "action": "inject"}, "Give a text with inject"),
        ("steer_debate", {"id": "deb_none", "action": "explode"}, "action"),
        ("list_debates", {"limit": 0}, "limit"),
    ],
)
async def test_what_cannot_be_done_is_said_in_words(
    moot: Client, tool: str, arguments: dict[str, Any], complaint: str
) -> None:
    text = await refused(moot, tool, **arguments)
    assert complaint in text
    assert not text.startswith("Error executing")
    assert "Traceback" not in text


async def test_a_signal_parks_the_speech_and_the_next_process_goes_on(tmp_path: Path) -> None:
    slow = command(tmp_path, MOOT_SCRIPT_PACE_MS="50")
    process = await asyncio.create_subprocess_exec(
        slow.command,
        *slow.args,
        env={**os.environ, **(slow.env or {})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(HELLO + START)
    answers = [await process.stdout.readline() for _ in range(2)]
    assert b'"id":2' in answers[1]
    process.send_signal(signal.SIGTERM)
    # What is left on its output is nothing but the protocol, and it leaves although its input is open.
    rest = await process.stdout.read()
    assert all(line.startswith(b"{") for line in rest.splitlines())
    assert await process.wait() == 0
    process.stdin.close()

    async with Arena.open(Settings(data=tmp_path, scripted=True), recover=True) as arena:
        (head,) = (await arena.list()).heads
        async for _ in arena.watch(head.id):
            pass
        debate = await arena.state(head.id)
    assert debate.verdict
    assert {turn.by for turn in debate.turns} <= {"", "drain"}  # nothing looks like a crash


HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"test","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)
START = (
    b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"start_debate","arguments":'
    b'{"motion":"Cats are better than dogs","rounds":1}}}\n'
)
