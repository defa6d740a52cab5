"""CPU per token of our provider clients, beside aiohttp + msgspec alone and beside the official SDKs.

All read the same streams from another process over loopback, as fast as they come; only the CPU of this
process counts. *Raw* reads the stream, splits it into events, decodes each into a typed struct and discards
it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
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
from tests.bench.figures import Figure, figure
from tests.bench.measure import is_installed, measured
from tests.bench.model_service import model_service
from tests.bench.model_streams import TOKENS, WORD

CALLS = 8
ROUNDS = 6
KEY = "sk-none"
RAW = "aiohttp + msgspec"
Reader = Callable[[str], Awaitable[int]]
"""Reads one reply of the service at a base URL to its end and returns the number of its tokens."""


class Family(Struct, frozen=True):
    """A family of services, the struct that the raw reader decodes, and the reader of the official SDK."""

    name: str
    wire_format: WireFormat
    token: type[Struct]
    sdk_package: str = ""
    sdk: Callable[[], Reader] | None = None


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


async def bench() -> AsyncIterator[Figure]:
    async with model_service() as base:
        for family in families():
            for each in await _compare(family, f"{base}/{family.name}"):
                yield each


def families() -> list[Family]:
    return [
        Family("chat", openai_chat_request.wire_format(), ChatToken, "openai", lambda: _openai("chat")),
        Family(
            "responses",
            openai_responses_request.WIRE_FORMAT,
            ResponsesToken,
            "openai",
            lambda: _openai("responses"),
        ),
        Family("anthropic", anthropic_request.WIRE_FORMAT, AnthropicToken, "anthropic", _anthropic),
        Family("google", google_request.WIRE_FORMAT, GoogleToken),
    ]


async def _compare(family: Family, base: str) -> list[Figure]:
    """The best of a few rounds each, in turn, because the machine may be busy with something else."""
    client = ProviderClient(family.wire_format, base, key=KEY, traits=Traits())
    async with aiohttp.ClientSession() as session:
        readers: dict[str, Reader] = {
            RAW: _raw(session, family.token),
            "moot": lambda _base: _ours(client),
        }
        if family.sdk is not None and is_installed(family.sdk_package):
            readers["SDK"] = family.sdk()
        best = dict.fromkeys(readers, float("inf"))
        for _ in range(ROUNDS):
            for name, read in readers.items():
                best[name] = min(best[name], await _cost(read, base))
    await client.close()
    ours = best["moot"]
    name, unit = f"{family.name}: CPU a token", "µs"
    figures = [figure(name, ours, unit, limit=(RAW, best[RAW]), goal=2.2, main=family.name == "chat")]
    if "SDK" in best:
        sdk = (f"the {family.sdk_package} SDK", best["SDK"])
        figures.append(figure(f"{name}, beside the SDK", ours, unit, limit=sdk, goal=0.1))
    return figures


async def _cost(read: Reader, base: str) -> float:
    await read(base)
    with measured() as spent:
        for _ in range(CALLS):
            if await read(base) != TOKENS:
                raise RuntimeError("A reader lost a token.")
    return spent.cpu / (CALLS * TOKENS) * 1e6


# --- the readers --------------------------------------------------------------------------------------


def _raw(session: aiohttp.ClientSession, token: type[Struct]) -> Reader:
    async def read(base: str) -> int:
        return min(TOKENS, await read_and_discard(session, base, token))

    return read


async def read_and_discard(session: aiohttp.ClientSession, url: str, token: type[Struct]) -> int:
    """Read one reply and decode its events; returns how many there were."""
    decode = msgspec.json.Decoder(token).decode
    events, tail = 0, b""
    async with session.post(url, data=b"{}") as response:
        async for packet in response.content.iter_any():
            *complete, tail = (tail + packet).split(b"\n\n")
            for event in complete:
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
            # Words that arrive together are one chunk.
            tokens += chunk.text.count(WORD)
    return tokens


def _openai(api: str) -> Reader:
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


def _anthropic() -> Reader:
    import anthropic as sdk

    clients: dict[str, sdk.AsyncAnthropic] = {}

    async def read(base: str) -> int:
        client = clients.setdefault(base, sdk.AsyncAnthropic(api_key=KEY, base_url=base))
        stream: Any = await client.messages.create(
            model="m", max_tokens=4096, messages=[{"role": "user", "content": "Go."}], stream=True
        )
        return sum([1 async for event in stream if event.type == "content_block_delta"])

    return read
