"""A server for a whole module of tests, and the programs that ask it."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import httpx
from msgspec.structs import replace

from moot.core.errors import Fault
from moot.core.sse_reader import SseReader
from moot.core.terms import Request
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, StallCue, improvise
from tests.web.routes.served import QUICK

HERE = Path(__file__).parent
PATIENT = replace(QUICK, first_byte=60, between_bytes=60)
"""Whoever is silent stays so for as long as a test may take."""
WORDS = ("harbour", "ladder", "measure", "promise", "river", "teacher", "window")
HASTE = Fault("rate_limited", "transient")


def cast(request: Request) -> Iterable[Cue]:
    """Models by their name, and the usual one by the topic: who speaks, who falls silent, who breaks down."""
    said = str(request)
    match request.model.name:
        case "mute":
            return [SayCue("Well, "), StallCue()]
        case "shy" if "Well," not in said:
            return [SayCue("Well, "), StallCue()]
        case "hasty":
            return [FaultCue(HASTE)]
        case "broken":
            return [FaultCue(Fault("bad_key", "permanent"))]
        case "yielding" if request.schema is None:
            return [SayCue("I agree, I concede the debate.")]
        case "yielding" if "concedes" in request.schema["properties"]:
            return [SayCue('{"concedes": true, "why": "They are right."}')]
        case "yielding" if "conceded" in request.schema["properties"]:
            return [SayCue('{"conceded": true, "quote": "I concede the debate."}')]
        case "circular" if request.schema is None:
            return [SayCue("We have been over this before, and I say so again.")]
        case "demo" if "the haste of all" in said:
            return [FaultCue(HASTE)]
        case "demo" if "the wrong key" in said:
            return [FaultCue(Fault("bad_key", "permanent"))]
        case "demo" if "a stumble" in said and request.attempt == 1:
            return [SayCue("I take that back"), FaultCue(Fault("disconnected", "transient"))]
        case "demo" if "a torrent" in said:
            return [SayCue(" ".join(Random(said).choices(WORDS, k=700)))]
        case "demo" if "going in circles" in said and "You are a fair moderator" not in said:
            return [SayCue("We have been over this before, and I say so again.")]
        case "demo" if "a silence of the Skeptic" in said and "You are a skeptic" not in said:
            return improvise(request)
        case "demo" if "a silence" in said:
            return [SayCue("Well, "), StallCue()]
        case _:
            return improvise(request)


def scripted() -> ScriptedProvider:
    return ScriptedProvider(cast)


def nowhere() -> str:
    """An address of this machine where nobody listens."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{closed.getsockname()[1]}/v1"


def node(file: str, *arguments: str) -> Any:
    command = ["node", str(HERE / file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def events(text: str) -> list[dict[str, Any]]:
    """Of a stream in which there is nothing but lines of data with a blank one behind each."""
    blocks = text.split("\n\n")
    assert blocks.pop() == ""
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


def followed_events(data: bytes) -> list[dict[str, Any]]:
    """Of a stream that a browser's EventSource reads."""
    return [json.loads(event.data) for event in SseReader().feed(data)]


def kinds(told: Iterable[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in told]


def ask(api: httpx.Client, path: str, body: Any, status: int = 200, **headers: str) -> httpx.Response:
    reply = api.post(
        path, json=body, headers={name.replace("_", "-"): text for name, text in headers.items()}
    )
    assert reply.status_code == status, reply.text
    return reply
