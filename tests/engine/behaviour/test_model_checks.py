"""A wrong key or a retired model is told by its cause: before the first word, or when a judge fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from moot.api.v1.stream_frames import V1Frames
from moot.core.errors import Fault
from moot.core.state import Debate
from moot.core.terms import Model, Request
from moot.core.visibility import OWNER
from moot.engine.arena import Arena
from moot.providers.client import ProviderClient
from moot.providers.endpoints import BUILT_IN, make_client, with_base_url
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, WaitCue, improvise
from moot.rules.commands import Retry
from moot.views.exports import render
from moot.views.outcome import doubts
from tests.api.watching import named, told, watch
from tests.engine.conftest import OpenArena
from tests.engine.scripted_judges import OWL, PATIENCE, SPEAKER, gullible, is_judge, script

JUDGE = Model("openai", "gpt-4")
REJECTED = "OpenAI rejected OPENAI_API_KEY (401). Replace it in Settings or the environment, then Retry."


@asynccontextmanager
async def service(status: int, has_list: bool = True) -> AsyncGenerator[tuple[ProviderClient, list[str]]]:
    """An OpenAI that answers a look-up with this status, and what it was asked."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(f"{request.method} {request.path}")
        if request.path == "/v1/models" and has_list:
            return web.json_response({"data": [{"id": "gpt-6"}]})
        return web.json_response({"error": {"message": "No."}}, status=status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        openai = with_base_url(BUILT_IN["openai"], str(server.make_url("/v1")), "OPENAI_BASE_URL")
        client = make_client(openai, {"OPENAI_API_KEY": "sk-canary-0123456789abcdef"}, {})
        try:
            yield client, asked
        finally:
            await client.close()


def slow(request: Request) -> Iterable[Cue]:
    """Says its first word long after a look-up on this machine has answered."""
    return [WaitCue(0.15), *improvise(request)]


async def held(arena: Arena, *judges: Model) -> Debate:
    setup = await arena.setup("Towns should plant trees.", model=SPEAKER, judges=judges, turns=2)
    debate_id = (await arena.create(setup, start=True)).debate.id
    return await over(arena, debate_id)


async def over(arena: Arena, debate_id: str) -> Debate:
    async with asyncio.timeout(PATIENCE):
        [_ async for _ in arena.watch(debate_id)]
    return await arena.state(debate_id)


# --- before the first word ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "cause"),
    [(401, REJECTED), (404, "OpenAI has no model called gpt-4 (404). Choose another model.")],
)
async def test_a_judge_that_cannot_be_used_is_told_before_the_first_word(
    open_arena: OpenArena, status: int, cause: str
) -> None:
    async with service(status) as (openai, asked), open_arena(ScriptedProvider(slow), openai=openai) as arena:
        debate = await held(arena, JUDGE)
        assert (debate.status, debate.failure) == ("error", "permanent_fault")
        assert debate.ended_detail == f"Judge: {cause}"
        assert not any(turn.text for turn in debate.turns)
        assert not any(path.startswith("POST") for path in asked)
        # Who tries again knows of it: the speeches are given.
        await arena.ask(debate.id, Retry())
        again = await over(arena, debate.id)
    assert len([turn for turn in again.turns if turn.has_words]) == 2
    assert (again.failure, again.ended_detail) == ("judge_failed", cause)


async def test_a_service_without_these_routes_holds_the_debate_as_before(open_arena: OpenArena) -> None:
    async with service(404, has_list=False) as (openai, asked), open_arena(openai=openai) as arena:
        debate = await held(arena, JUDGE, OWL)
    assert debate.status == "completed"
    assert asked[:2] == ["GET /v1/models/gpt-4", "GET /v1/models"]


async def test_the_first_speech_does_not_wait_for_the_look_up(open_arena: OpenArena) -> None:
    class Slow(ScriptedProvider):
        async def look_up(self, model: Model) -> Fault | None:
            await asyncio.Event().wait()
            return None

    async with open_arena(openai=Slow(script(gullible))) as arena:
        debate = await held(arena, JUDGE)
    assert debate.status == "completed"


# --- when the judges are asked ------------------------------------------------------------------------


def failing(fault: Fault) -> ScriptedProvider:
    """Speaks, and fails as the judge `poor`."""

    def play(request: Request) -> Iterable[Cue]:
        if is_judge(request) and request.model.name == "poor":
            return [FaultCue(fault)]
        return script(gullible)(request)

    return ScriptedProvider(play)


async def error_frame(arena: Arena, debate: Debate) -> dict[str, Any]:
    """The last error as v1 streams it."""
    records = [record async for record in arena.watch(debate.id)]
    return named(told(V1Frames(), watch(records)), "error")[-1]


POOR = Model("scripted", "poor")
CAUSES = [
    Fault("bad_key", "permanent", http_status=401, message=REJECTED),
    Fault("billing", "permanent", http_status=429, message="The quota of the key is used up."),
    Fault("unknown_model", "permanent", http_status=404, message="There is no model called poor."),
]


@pytest.mark.parametrize("fault", CAUSES, ids=lambda fault: fault.kind)
async def test_a_judge_that_fails_is_told_by_its_cause_everywhere(
    open_arena: OpenArena, fault: Fault
) -> None:
    async with open_arena(failing(fault)) as arena:
        debate = await held(arena, POOR)
        frame = await error_frame(arena, debate)
    assert (debate.failure, debate.ended_detail) == ("judge_failed", str(fault))
    assert (frame["message"], frame["retryable"]) == (str(fault), False)
    for name in ("markdown", "html", "json"):
        assert str(fault) in render(name, debate, OWNER).decode().replace("\\_", "_")


async def test_a_reply_that_cannot_be_read_may_be_asked_for_again(open_arena: OpenArena) -> None:
    def mumble(request: Request) -> Iterable[Cue]:
        return [SayCue("Well.")] if is_judge(request) else script(gullible)(request)

    async with open_arena(ScriptedProvider(mumble)) as arena:
        debate = await held(arena, OWL)
        frame = await error_frame(arena, debate)
    assert frame["message"] == "The judge gave no readable verdict, even when asked again."
    assert frame["retryable"] is True


async def test_a_panel_says_why_one_of_its_judges_is_missing(open_arena: OpenArena) -> None:
    async with open_arena(failing(CAUSES[0])) as arena:
        debate = await held(arena, POOR, OWL)
    assert debate.verdict is not None
    assert f"1 of 2 judges gave no usable ballot: {REJECTED}" in doubts(debate, debate.verdict)
