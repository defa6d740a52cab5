"""The chat-completions dialect: one pure request builder, one pure decoder, and a client that joins them.

Many services speak it (llama.cpp, Ollama, LM Studio, vLLM, OpenRouter, Groq, Mistral), each with an accent.
What they agree on is read here with typed structs; whatever else they send is passed over.

A prefill travels as a last assistant message which the server continues; its words are given out first, so
that the chunks add up to the whole speech.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, cast

import aiohttp
import msgspec
from msgspec import Struct

from moot.errors import Fault
from moot.providers import transport
from moot.providers.contract import Alive, Began, Chunk, Done, Said, Traits
from moot.providers.disarm import disarmed
from moot.providers.sse import LONGEST, Event, Reader, TooLong
from moot.terms import DeltaKind, Finish, Message, Model, Request, Usage

Tuning = Callable[[Request], Mapping[str, Any]]


def untuned(_request: Request) -> Mapping[str, Any]:
    return {}


# --- what we send -------------------------------------------------------------------------------------


def body(
    request: Request, *, prefill: bool = False, extra: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The request in this dialect. What the request itself says outweighs `extra`."""
    said: dict[str, Any] = {
        "model": request.model.name,
        "messages": _messages(request, prefill),
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.model.temperature is not None:
        said["temperature"] = request.model.temperature
    seed = request.seed if request.seed is not None else request.model.seed
    if seed is not None:
        said["seed"] = seed
    if request.stop:
        said["stop"] = list(request.stop)
    if request.schema is not None:
        named = {"name": "reply", "strict": True, "schema": request.schema}
        said["response_format"] = {"type": "json_schema", "json_schema": named}
    return {**(extra or {}), **said}


def _messages(request: Request, prefill: bool) -> list[dict[str, str]]:
    messages = request.messages
    if prefill and request.prefill:
        messages = (*messages, Message("assistant", request.prefill))
    system = [{"role": "system", "content": request.instructions}] if request.instructions else []
    # Some chat templates refuse two messages of one role in a row.
    turns = itertools.groupby(messages, key=lambda message: message.role)
    return system + [
        {"role": role, "content": "\n\n".join(message.content for message in group)} for role, group in turns
    ]


# --- what comes back ----------------------------------------------------------------------------------


class _Delta(Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    message: _Delta | None = None
    """In place of `delta` where a service does not stream."""
    finish_reason: str | None = None
    index: int = 0


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    id: str | None = None
    usage: Any = None
    error: Any = None


_read = msgspec.json.Decoder(_Chunk).decode

FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "length": "length",
    "content_filter": "filter",
    "tool_calls": "tool",
    "function_call": "tool",
}


class Decoder:
    """One reply. Packets go in, chunks come out; `end` gives the last one, `Done`, or raises a `Fault`."""

    def __init__(self, prefill: str = "") -> None:
        self.began = False
        self.over = False
        """The service has said that nothing more will come."""
        self._prefill = prefill
        self._reader = Reader()
        self._response_id: str | None = None
        self._kind: DeltaKind | None = None
        self._segment = -1
        self._finish: Finish | None = None
        self._usage: Usage | None = None
        self._mended = False

    @property
    def finished(self) -> bool:
        """The model has said why it stopped: only figures may follow."""
        return self._finish is not None or self.over

    def feed(self, packet: bytes) -> list[Chunk]:
        try:
            events = self._reader.feed(packet)
        except TooLong as error:
            raise Fault("malformed", "unusable", detail="an event without end") from error
        if not events:
            return [Alive()]
        return self._heard(events)

    def end(self) -> list[Chunk]:
        """The stream is over. Without a reason to stop, the model was cut off."""
        chunks = self._heard(self._reader.close())
        if not self.finished:
            raise Fault("disconnected")
        degraded = "utf8" if self._mended else ""
        return [*chunks, Done(self._finish or "unknown", self._usage, self._response_id, degraded)]

    def decode(self, event: Event) -> list[Chunk]:
        if event.data == b"[DONE]":
            self.over = True
            return []
        if event.name == "error":
            raise transport.complaint(transport.loosely(event.data))
        chunk = self._chunk(event.data)
        if chunk.error:
            raise transport.complaint(chunk.error)
        said: list[Chunk] = []
        if not self.began:
            self._begin(chunk, said)
        if chunk.usage is not None:
            self._usage = usage(chunk.usage) or self._usage
        for choice in chunk.choices or ():
            if choice.index == 0:
                self._hear(choice, said)
        return said

    def _heard(self, events: list[Event]) -> list[Chunk]:
        if len(events) == 1:
            return self.decode(events[0])
        return [chunk for event in events for chunk in self.decode(event)]

    def _chunk(self, data: bytes) -> _Chunk:
        try:
            return _read(data)
        except UnicodeDecodeError:
            self._mended = True
            data = data.decode(errors="replace").encode()
        except msgspec.DecodeError as error:
            raise Fault("malformed", detail=str(error)) from error
        try:
            return _read(data)
        except msgspec.DecodeError as error:
            raise Fault("malformed", detail=str(error)) from error

    def _begin(self, chunk: _Chunk, said: list[Chunk]) -> None:
        self.began = True
        self._response_id = chunk.id
        said.append(Began(chunk.id))
        if self._prefill:
            self._say(self._prefill, "text", said)

    def _hear(self, choice: _Choice, said: list[Chunk]) -> None:
        delta = choice.delta or choice.message
        if delta is not None:
            if thought := delta.reasoning_content or delta.reasoning:
                self._say(thought, "reasoning", said)
            if delta.content:
                self._speak(delta.content, said)
            if delta.refusal:
                self._say(delta.refusal, "text", said)
                self._finish = "refusal"
        if choice.finish_reason and self._finish is None:
            if choice.finish_reason == "error":
                raise Fault("server_error")
            self._finish = FINISHES.get(choice.finish_reason, "unknown")

    def _speak(self, text: str, said: list[Chunk]) -> None:
        if self._prefill:
            # Some servers send the words they were given back, at the head of the first text.
            text, self._prefill = text.removeprefix(self._prefill), ""
        if text:
            self._say(text, "text", said)

    def _say(self, text: str, kind: DeltaKind, said: list[Chunk]) -> None:
        if kind != self._kind:
            self._kind = kind
            self._segment += 1
        said.append(Said(text, kind, self._segment))


MOST_TOKENS = 100_000_000


def usage(told: Any) -> Usage | None:
    """Token counts as reported; figures that cannot be true are held within reason and marked."""
    if not isinstance(told, dict):
        return None
    figures = cast("dict[str, Any]", told)
    suspect = False

    def count(holder: Any, name: str) -> int:
        nonlocal suspect
        value: Any = cast("dict[str, Any]", holder).get(name) if isinstance(holder, dict) else None
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
            suspect = True
            return 0
        return value

    read = Usage(
        input=count(figures, "prompt_tokens"),
        output=count(figures, "completion_tokens"),
        reasoning=count(figures.get("completion_tokens_details"), "reasoning_tokens"),
        cached=count(figures.get("prompt_tokens_details"), "cached_tokens"),
    )
    return msgspec.structs.replace(read, suspect=True) if suspect else read


# --- the client ---------------------------------------------------------------------------------------


class OpenAIChat:
    """A service that speaks chat completions, at a base URL or behind a Unix socket."""

    def __init__(
        self,
        base_url: str = "http://localhost/v1",
        *,
        key: str = "",
        socket: str | None = None,
        traits: Traits = Traits(),  # noqa: B008 - frozen
        tuning: Tuning = untuned,
        patience: float | None = 30.0,
        connect: float = transport.CONNECT_SECONDS,
        disarm: bool = False,
    ) -> None:
        """`disarm` for servers that would obey control words inside a message."""
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._key = key
        self._socket = socket
        self._traits = traits
        self._tuning = tuning
        self._patience = patience
        self._connect = connect
        self._disarm = disarm
        self._session: aiohttp.ClientSession | None = None

    @property
    def traits(self) -> Traits:
        return self._traits

    async def prepare(self, model: Model) -> None:
        pass

    async def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        prefill = self._traits.prefill
        request = disarmed(request) if self._disarm else request
        sent = msgspec.json.encode(body(request, prefill=prefill, extra=self._tuning(request)))
        decoder = Decoder(request.prefill if prefill else "")
        try:
            response = await transport.post(self._open(), self._url, sent, self._headers)
            async with response:
                await self._check(response)
                if response.content_type == "application/json":
                    told = Event(await transport.whole(response, LONGEST))
                    for chunk in decoder.decode(told):
                        yield chunk
                else:
                    async for packet in response.content.iter_any():
                        for chunk in decoder.feed(packet):
                            yield chunk
                        if decoder.over:
                            break
        except Fault as fault:
            self._redacted(fault)
            raise
        except (aiohttp.ClientError, OSError) as error:
            # Once everything has been said, a missing farewell is no loss.
            if not decoder.finished:
                raise self._redacted(transport.broken(error, began=decoder.began)) from error
        for chunk in decoder.end():
            yield chunk

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = transport.session(
                socket=self._socket, patience=self._patience, connect=self._connect
            )
        return self._session

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        if response.status != 200:
            said = await transport.whole(response, 64 * 1024)
            raise transport.refused(response.status, response.headers, said, time.time())
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise Fault("malformed", "unusable", detail="a packed reply was not asked for")
        if response.content_type not in {"text/event-stream", "application/json"}:
            raise Fault("malformed", "unusable", detail=f"not a stream but {response.content_type}")

    def _redacted(self, fault: Fault) -> Fault:
        if self._key:
            fault.detail = fault.detail.replace(self._key, "…")
        return fault
