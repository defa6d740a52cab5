"""What a token costs in each family's client, beside the official SDK and beside aiohttp + msgspec alone.

The same streams, as fast as they come, from another process over loopback; CPU of this process alone. *Raw*
reads the stream, splits it into events, decodes each into a typed struct and throws it away.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import msgspec
from msgspec import Struct

from moot.core.terms import ChatMessage, Model, Request
from moot.providers.client import ProviderClient
from moot.providers.contract import ReplyDelta, Traits
from moot.providers.wire_formats import (
    anthropic_request,
    google_request,
    openai_chat_request,
    openai_responses_request,
)
from moot.providers.wire_formats.contract import WireFormat
from tests.bench.service import serving
from tests.bench.streams import TOKENS
from tests.bench.tools import measured, report

CALLS = 8
ROUNDS = 6
KEY = "sk-none"
Read = Callable[[str], Awaitable[int]]
"""One reply from this base URL, read to its end: how many tokens it had."""


class Contest(Struct, frozen=True):
    """A family, how we read it raw, and who else reads it."""

    name: str
    family: WireFormat
    token: type[Struct]
    peer: Read | None = None


class _ChatDelta(Struct):
    content: str | None = None


class _ChatChoice(Struct):
    delta: _ChatDelta | None = None
    finish_reason: str | None = None


class ChatToken(Struct):
    choices: list[_ChatChoice] = []


class ResponsesToken(Struct):
    type: str
    delta: Any = None
    output_index: int = 0
    sequence_number: int = 0


class _BlockDelta(Struct):
    type: str = ""
    text: str = ""


class AnthropicToken(Struct):
    type: str
    index: int = 0
    delta: _BlockDelta | None = None


class _Part(Struct):
    text: str = ""


class _Content(Struct):
    parts: list[_Part] = []


class _Candidate(Struct):
    content: _Content | None = None


class GoogleToken(Struct):
    candidates: list[_Candidate] = []


async def main() -> None:
    async with serving() as base:
        for contest in contests():
            await _contest(contest, f"{base}/{contest.name}")


def contests() -> list[Contest]:
    return [
        Contest("chat", openai_chat_request.family(), ChatToken, _openai("chat") if _has("openai") else None),
        Contest(
            "responses",
            openai_responses_request.WIRE_FORMAT,
            ResponsesToken,
            _openai("responses") if _has("openai") else None,
        ),
        Contest(
            "anthropic",
            anthropic_request.WIRE_FORMAT,
            AnthropicToken,
            _anthropic() if _has("anthropic") else None,
        ),
        Contest("google", google_request.WIRE_FORMAT, GoogleToken),
    ]


async def _contest(contest: Contest, base: str) -> None:
    """The best of a few rounds each, in turn: the machine may be busy with something else."""
    client = ProviderClient(contest.family, base, key=KEY, traits=Traits())
    async with aiohttp.ClientSession() as session:
        readers: dict[str, Read] = {
            "raw": _raw(session, contest.token),
            "moot": lambda _base: _ours(client),
        }
        if contest.peer is not None:
            readers["SDK"] = contest.peer
        best = dict.fromkeys(readers, float("inf"))
        for _ in range(ROUNDS):
            for name, read in readers.items():
                best[name] = min(best[name], await _cost(read, base))
    await client.close()
    raw, ours = best["raw"], best["moot"]
    report(f"{contest.name}: aiohttp + msgspec alone", f"{raw:.1f} µs/token")
    report(f"{contest.name}: our client", f"{ours:.1f} µs/token", f"{ours / raw:.1f} times raw")
    if "SDK" in best:
        report(
            f"{contest.name}: the official SDK",
            f"{best['SDK']:.1f} µs/token",
            f"{best['SDK'] / ours:.1f} times ours",
        )


async def _cost(read: Read, base: str) -> float:
    await read(base)
    with measured() as spent:
        for _ in range(CALLS):
            if await read(base) != TOKENS:
                raise RuntimeError("a token went missing")
    return spent.cpu / (CALLS * TOKENS) * 1e6


# --- the readers --------------------------------------------------------------------------------------


def _raw(session: aiohttp.ClientSession, token: type[Struct]) -> Read:
    async def read(base: str) -> int:
        return min(TOKENS, await read_and_forget(session, base, token))

    return read


async def read_and_forget(session: aiohttp.ClientSession, url: str, token: type[Struct]) -> int:
    decode = msgspec.json.Decoder(token).decode
    events, tail = 0, b""
    async with session.post(url, data=b"{}") as response:
        async for packet in response.content.iter_any():
            *whole, tail = (tail + packet).split(b"\n\n")
            for event in whole:
                data = event[event.index(b"data: ") + 6 :]
                if data != b"[DONE]":
                    decode(data)
                    events += 1
    return events


async def _ours(client: ProviderClient) -> int:
    request = Request(Model("bench", "m"), "Argue.", (ChatMessage("user", "Go."),), 4096)
    tokens = 0
    async for chunk in client.stream(request):
        if isinstance(chunk, ReplyDelta):
            tokens += 1
    return tokens


def _openai(api: str) -> Read:
    import openai

    clients: dict[str, openai.AsyncOpenAI] = {}

    async def read(base: str) -> int:
        client = clients.setdefault(base, openai.AsyncOpenAI(api_key=KEY, base_url=base))
        tokens = 0
        if api == "chat":
            chat: Any = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "Go."}], stream=True
            )
            async for chunk in chat:
                tokens += bool(chunk.choices and chunk.choices[0].delta.content)
            return tokens
        stream: Any = await client.responses.create(model="m", input="Go.", stream=True)
        async for event in stream:
            tokens += event.type == "response.output_text.delta"
        return tokens

    return read


def _anthropic() -> Read:
    import anthropic as sdk

    clients: dict[str, sdk.AsyncAnthropic] = {}

    async def read(base: str) -> int:
        client = clients.setdefault(base, sdk.AsyncAnthropic(api_key=KEY, base_url=base))
        stream: Any = await client.messages.create(
            model="m", max_tokens=4096, messages=[{"role": "user", "content": "Go."}], stream=True
        )
        return sum([1 async for event in stream if event.type == "content_block_delta"])

    return read


def _has(package: str) -> bool:
    if importlib.util.find_spec(package) is not None:
        return True
    print(f"  ({package} is not installed, so its SDK is not measured: make bench installs it)")
    return False
