"""The client of a service, whatever its wire format: posts the built request, feeds the decoder the reply.

The key goes into the headers of one host and nowhere else: no redirects, no cookies, and it is removed from
everything the service sends, replies and error messages alike.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
from msgspec.structs import replace

from moot.core.errors import Fault
from moot.core.terms import Model, Request
from moot.providers import error_replies, transport
from moot.providers.contract import CONNECT_SECONDS, Chunk, KeepAlive, Provider, ReplyDelta, Traits
from moot.providers.fault_messages import ServiceName, explain
from moot.providers.model_look_up import LookUpRoute, ModelLookUp
from moot.providers.read_pacer import SMALL_READ_BYTES, ReadPacer
from moot.providers.redaction import KeyRedactor, redact_error
from moot.providers.throttle import Throttle
from moot.providers.wire_formats.contract import Decoder, WireFormat
from moot.providers.wire_formats.request_parts import escape_control_tokens

log = logging.getLogger("moot.providers")

ExtraFields = Callable[[Request], Mapping[str, Any]]
RefineTraits = Callable[[str, Traits], Traits]

HEADERS = {"Content-Type": "application/json", "Accept": "text/event-stream"}
MAX_DETAIL = 500
MAX_REPLY_BYTES = 32 * 1024 * 1024
REQUEST_IDS = ("x-request-id", "request-id", "x-goog-request-id", "cf-ray")
READABLE_TYPES = (
    "text/event-stream", "application/json", "application/x-ndjson", "application/octet-stream", "text/plain",
)  # fmt: skip


def no_extra_fields(_request: Request) -> Mapping[str, Any]:
    return {}


def same_traits(_model: str, traits: Traits) -> Traits:
    return traits


class ProviderClient(Provider):
    """A service at a base URL or behind a Unix socket."""

    def __init__(
        self,
        wire_format: WireFormat,
        base_url: str = "http://localhost/v1",
        *,
        key: str = "",
        socket: str | None = None,
        traits: Traits = Traits(),  # noqa: B008 - frozen
        refine: RefineTraits = same_traits,
        tuning: ExtraFields = no_extra_fields,
        read_timeout: float | None = None,
        connect: float = CONNECT_SECONDS,
        disarm: bool = False,
        throttle: Throttle | None = None,
        proxy: str | None = None,
        service: ServiceName | None = None,
        look_up: LookUpRoute | None = None,
    ) -> None:
        """`refine` says what one model can do; `disarm` is for servers that obey control tokens in a message;
        fields of the request take precedence over those of `tuning`. `read_timeout` is for callers without
        deadlines of their own: it costs a timer for each packet.
        """
        self._wire_format = wire_format
        self._base_url = base_url.rstrip("/")
        self._headers = {**HEADERS, **wire_format.headers(key)}
        self._key = key
        self._socket = socket
        self._traits = traits
        self._refine = refine
        self._extra_fields = tuning
        self._read_timeout = read_timeout
        self._connect_timeout = connect
        self._escape_controls = disarm
        self._throttle = throttle or Throttle()
        self._proxy = proxy
        self._service = service
        self._look_up = ModelLookUp(look_up, wire_format.headers(key), proxy) if look_up else None
        self._pacer: ReadPacer | None = None
        self._session: aiohttp.ClientSession | None = None
        self._closed = False
        self._hides_reasoning: set[str] = set()
        """Models that refuse to show their thoughts to this account."""

    @property
    def traits(self) -> Traits:
        return self._traits

    @property
    def healthy(self) -> bool:
        """Whether its last calls were answered."""
        return self._throttle.healthy

    @property
    def down_for(self) -> float:
        """Seconds for which it is not called, because its last calls have failed; 0 where it may be."""
        return self._throttle.down_for

    def traits_of(self, model: str) -> Traits:
        return self._refine(model, self._traits)

    def report_timeout(self, model: Model) -> None:
        self._throttle.failed(Fault("timeout"), self._throttle.now())

    def pace_reads(self, pacer: ReadPacer) -> None:
        """Read replies once per tick of this pacer."""
        self._pacer = pacer

    async def look_up(self, model: Model) -> Fault | None:
        if self._look_up is None or self._closed:
            return None
        fault = await self._look_up.find_fault(self._get_session(), model.name)
        if fault is not None:
            fault.detail = self._redacted(fault.detail)[:MAX_DETAIL]
            if self._service is not None:
                explain(fault, self._service, model.name)
        return fault

    def admit(self, model: Model) -> AbstractAsyncContextManager[object]:
        return self._throttle.admit()

    def admit_at_once(self, model: Model) -> ExitStack | None:
        return self._throttle.admit_at_once()

    async def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        self._throttle.check()
        began = self._throttle.now()
        traits = self.traits_of(request.model.name)
        request = escape_control_tokens(request) if self._escape_controls else request
        if request.model.name in self._hides_reasoning:
            request = replace(request, thoughts=False)
        decoder = self._wire_format.decoder(request, traits)
        redactor = KeyRedactor(self._key)
        last: list[Chunk] = []
        received, answered = 0, False
        failure: Fault | None = None
        try:
            async with await self._post(request, traits) as response:
                decoder.request_id = self._redacted(_request_id(response.headers))
                await self._check_response(response)
                async for packet in response.content.iter_any():
                    received += len(packet)
                    if received > MAX_REPLY_BYTES:
                        raise Fault("malformed", "unusable", detail="a reply without end")
                    chunks = decoder.feed(packet)
                    if decoder.has_output and not answered:
                        answered = True
                        self._throttle.succeeded()
                    for chunk in merge_words(redactor.redact(chunks)):
                        yield chunk
                    if decoder.over:
                        await transport.drain(response)
                        break
                    if answered and len(packet) < SMALL_READ_BYTES:
                        self._pause_reading(response)
            last = decoder.end()
            if not answered:
                self._throttle.succeeded()
        except Fault as fault:
            failure = fault
        except (aiohttp.ClientError, OSError) as error:
            last, failure = _end_after_disconnect(error, decoder)
        except Exception as error:
            failure = _unreadable_reply(error, decoder)
        if failure is not None:
            # A reply that has begun is billed, and so are figures that the service reports with its failure.
            failure.billed = failure.billed or decoder.has_output or decoder.usage_is_final
            for chunk in redactor.flush():
                yield chunk
            if decoder.usage is not None:
                yield KeepAlive(decoder.usage, decoder.usage_is_final)
            raise self._record_failure(failure, decoder, request, began)
        for chunk in redactor.redact(last):
            yield chunk

    async def close(self) -> None:
        """Close the connections, also those of calls under way; a later call fails."""
        self._closed = True
        session, self._session = self._session, None
        try:
            await self._throttle.close()
        finally:
            if session is not None:
                await session.close()

    async def _post(self, request: Request, traits: Traits) -> aiohttp.ClientResponse:
        body = {**self._extra_fields(request), **self._wire_format.body(request, traits)}
        url = self._wire_format.url(self._base_url, request.model.name)
        return await transport.post(
            self._get_session(), url, msgspec.json.encode(body), self._headers, self._proxy
        )

    def _pause_reading(self, response: aiohttp.ClientResponse) -> None:
        """Let what follows arrive until the next tick, unless this was the end of the reply."""
        connection = response.connection
        if self._pacer is not None and connection is not None and connection.transport is not None:
            self._pacer.pause(connection.transport)

    def _get_session(self) -> aiohttp.ClientSession:
        if self._closed:
            # A call that waited for its turn meanwhile: nobody would close another session.
            raise Fault("disconnected", billed=False, detail="the client was closed before the call")
        if self._session is None:
            self._session = transport.open_session(
                socket=self._socket, read_timeout=self._read_timeout, connect=self._connect_timeout
            )
        return self._session

    async def _check_response(self, response: aiohttp.ClientResponse) -> None:
        if response.status != 200:
            body = await transport.read_body(response, 64 * 1024)
            raise error_replies.fault_from_response(response.status, response.headers, body, time.time())
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise Fault("malformed", "unusable", detail="a packed reply was not asked for")
        if response.content_type not in READABLE_TYPES:
            detail = f"not a stream but {response.content_type}"
            raise Fault("malformed", "unusable", billed=False, detail=detail)

    def _record_failure(self, fault: Fault, decoder: Decoder, request: Request, began: float) -> Fault:
        """Log the service's own message for the operator, without a key that it may repeat."""
        # Shortened last: half a key would not be recognised.
        fault.detail = self._redacted(fault.detail)[:MAX_DETAIL]
        fault.request_id = fault.request_id or decoder.request_id
        if self._service is not None:
            explain(fault, self._service, request.model.name)
        self._throttle.failed(fault, began)
        if fault.kind == "summary_refused":
            self._hides_reasoning.add(request.model.name)
        log.info("%s: %s: %s", urlsplit(self._base_url).hostname, fault.kind, fault.detail)
        return fault

    def _redacted(self, text: str) -> str:
        return redact_error(text, self._key)


def merge_words(chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """The chunks of one read, with consecutive words of a segment as one: each chunk costs its reader a
    step."""
    if len(chunks) < 2:
        return chunks
    merged: list[Chunk] = []
    for chunk in chunks:
        last = merged[-1] if merged else None
        if (
            isinstance(chunk, ReplyDelta)
            and isinstance(last, ReplyDelta)
            and chunk.part is None
            and (chunk.segment, chunk.kind) == (last.segment, last.kind)
        ):
            merged[-1] = ReplyDelta(last.text + chunk.text, last.kind, last.segment, last.part)
        else:
            merged.append(chunk)
    return merged


def _end_after_disconnect(error: Exception, decoder: Decoder) -> tuple[list[Chunk], Fault | None]:
    """The last chunks, if the reply was complete when the connection broke, or the fault."""
    if not decoder.finished:
        return [], transport.fault_from_exception(error, began=decoder.started)
    try:
        return decoder.end(), None
    except Fault as fault:
        return [], fault
    except Exception as failure:
        return [], _unreadable_reply(failure, decoder)


def _unreadable_reply(error: Exception, decoder: Decoder) -> Fault:
    """The fault for a reply on which its decoder failed: it must not end the debate."""
    detail = f"{type(error).__name__}: {error}"
    return Fault("malformed", "unusable", billed=decoder.has_output, detail=detail)


def _request_id(headers: Mapping[str, str]) -> str:
    return next((headers[name][:200] for name in REQUEST_IDS if name in headers), "")
