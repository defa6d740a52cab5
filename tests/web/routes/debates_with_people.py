"""Debates with people in them, and what they do first: come in, wait for their turn, speak."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

from tests.web.routes.served import BODY, Served

PERSON = {"provider": "human", "modelId": "human"}
SPEECH = "Rules that are clear cost less than rules that nobody wrote down."


def between_person_and_model(**config: Any) -> dict[str, Any]:
    shape = deepcopy(BODY)
    shape["participants"][0]["model"] = PERSON
    shape["config"] = {"maxRounds": 1, **config}
    return shape


async def opened(house: Served, shape: dict[str, Any], **headers: str) -> dict[str, Any]:
    reply = await house.http.post("/api/v1/debates", json=shape, headers=headers)
    assert reply.status_code == 201, reply.text
    return reply.json()


async def invited(house: Served, debate_id: str, role: str, **more: Any) -> dict[str, str]:
    """The headers of somebody with this invitation."""
    reply = await house.post(debate_id, "invitations", {"role": role, **more})
    assert reply.status_code == 201, reply.text
    return {"Authorization": f"Bearer {reply.json()['token']}"}


async def their_turn(house: Served, debate_id: str, seat: str, headers: dict[str, str]) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            place = (await house.get(debate_id, f"seats/{seat}", headers=headers)).json()
            if place["turn"] is not None:
                return place
            await asyncio.sleep(0.01)


async def speak(house: Served, debate_id: str, seat: str, headers: dict[str, str], rounds: int = 9) -> None:
    """Every speech of this seat until the debate is over."""
    for _ in range(rounds):
        status = await house.until(
            debate_id,
            lambda status: (
                status["status"] in ("completed", "error", "judge_evaluating")
                or any(one["participantId"] == seat for one in status["speaking"])
            ),
        )
        if not status["speaking"]:
            return
        reply = await house.post(debate_id, f"seats/{seat}/speech", {"text": SPEECH}, headers=headers)
        assert reply.status_code == 200, reply.text


async def extended(house: Served, debate_id: str) -> list[tuple[str, str, Any]]:
    await house.post(debate_id, "abort")
    return await house.follow(debate_id, "?extended=true")
