"""One connection to one tool server, by HTTP or to a child process, from its opening to its end.

The SDK requires that a connection is opened and closed by the same task, so each has a task of its own; calls
come from any task. A connection that has ended is not reopened: the next use of the server opens another.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import msgspec
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    CallToolResult,
    Implementation,
    ToolListChangedNotification,
)
from mcp_types import Tool as Listed
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from moot import __version__
from moot.providers.contract import CONNECT_SECONDS
from moot.providers.endpoints import proxy_to
from moot.providers.redaction import MASK, MIN_KEY_LENGTH, redact
from moot.tools.child_transport import run_child
from moot.tools.contract import MAX_RESULT_LENGTH, ConnectionLost, ToolCallFailed, shortened
from moot.tools.tool_listing import ListedTool
from moot.tools.tool_settings import ToolServerSettings, secret_values
from moot.views.text import clean

OPEN_SECONDS = 60.0
"""A command may download the program that it runs."""
LIST_SECONDS = 10.0
CLOSE_SECONDS = 5.0
MAX_PAGES = 20
MAX_ANSWER_BYTES = 4 * 1024 * 1024
EVENT_STREAM = "text/event-stream"
CUT_NOTE = "\n[The rest of {} characters is left out.]"

# The SDK also logs what it raises, with a traceback and what the server sent.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)


class ToolConnection:
    def __init__(self, server: ToolServerSettings, environ: Mapping[str, str]) -> None:
        self.server = server
        self.changed = False
        """The server has reported that its tools have changed."""
        self.unresponsive = False
        """The last call timed out: it is not known whether the server still works."""
        self._environ = environ
        self._secrets = secret_values(server, environ)
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(), name=f"tools {server.name}")

    @property
    def closed(self) -> bool:
        return self._closing.is_set() or self._task.done()

    async def open(self, seconds: float) -> bool:
        """Whether it is open within this time. Raises ConnectionLost if it failed."""
        await asyncio.wait([self._opened], timeout=seconds)
        if not self._opened.done():
            return False
        if error := self._opened.exception():
            raise ConnectionLost(self.redact(f"{type(error).__name__}: {error}")) from None
        return True

    async def list_tools(self) -> tuple[ListedTool, ...]:
        """All its tools, page by page."""
        self.changed = False
        offers: list[ListedTool] = []
        cursor: str | None = None
        async with self._request(LIST_SECONDS) as client:
            for _ in range(MAX_PAGES):
                page = await client.list_tools(cursor=cursor, cache_mode="refresh")
                offers += [_listed_tool(tool) for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    break
        self.unresponsive = False
        return tuple(offers)

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The text of the result, and whether it is an error."""
        async with self._request(self.server.seconds) as client:
            result = await client.call_tool(tool, arguments)
        return clean_text(result_text(result.content, result.structured_content), self._secrets), bool(
            result.is_error
        )

    async def close(self) -> None:
        """Close within a limited time, even if the server does not react."""
        self._closing.set()
        if self._opened.done():
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def redact(self, text: str) -> str:
        return clean_text(text, self._secrets, 1_000)

    async def _run(self) -> None:
        try:
            async with asyncio.timeout(OPEN_SECONDS) as opening, self._transport() as transport:
                client = Client(
                    transport,
                    message_handler=self._on_message,
                    client_info=Implementation(name="moot", version=__version__),
                    cache=None,
                )
                async with client:
                    opening.reschedule(None)
                    client.session.validate_tool_result = _skip_validation
                    self._opened.set_result(client)
                    await self._wait_until_closed(client)
        except BaseException as error:
            if not self._opened.done():
                self._opened.set_exception(ConnectionLost("was closed") if _cancelled(error) else error)
                self._opened.exception()  # marks it as retrieved: there may be no caller
            if _cancelled(error):
                raise
        finally:
            self._closing.set()

    async def _wait_until_closed(self, client: Client) -> None:
        watching = asyncio.create_task(self._watch_changes(client), name=f"tools {self.server.name}: changes")
        try:
            await self._closing.wait()
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _watch_changes(self, client: Client) -> None:
        """Newer servers report changes only to clients that listen for them."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with suppress(Exception):  # without such a stream the list is refreshed from time to time
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.changed = True

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed = True

    @asynccontextmanager
    async def _transport(self) -> AsyncGenerator[Any, None]:
        """The transport that the SDK enters; its HTTP client is closed here."""
        if self.server.command:
            yield run_child(self.server, self._environ, self.redact, self._closing.set)
            return
        async with http_client(self.server, self._environ) as http:
            yield streamable_http_client(self.server.url, http_client=http)

    @asynccontextmanager
    async def _request(self, seconds: float) -> AsyncGenerator[Client, None]:
        """The client for one request. A failure is ConnectionLost or ToolCallFailed, with a sentence."""
        if self.closed or not self._opened.done():
            raise ConnectionLost("The tool's server is not there.")
        try:
            async with asyncio.timeout(seconds):
                yield self._opened.result()
        except TimeoutError:
            self.unresponsive = True
            raise ToolCallFailed(f"The tool did not answer within {seconds:g} seconds.") from None
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                self.unresponsive = True
            if error.code == CONNECTION_CLOSED or self.closed:
                raise ConnectionLost("The tool's server has gone.") from None
            raise ToolCallFailed(self.redact(f"The tool's server refuses: {error.message}")) from None
        except (RuntimeError, ValidationError):
            raise ToolCallFailed("The tool's answer is not what its server promised.") from None
        except Exception as error:
            raise ConnectionLost(f"The tool's server cannot be reached ({type(error).__name__}).") from None


async def _skip_validation(name: str, result: CallToolResult) -> None:
    """Replaces the check of a result against its schema: both come from the server, and it may not end."""


def _listed_tool(tool: Listed) -> ListedTool:
    hints = tool.annotations
    return ListedTool(
        name=tool.name,
        title=tool.title or (hints.title if hints else None) or "",
        description=tool.description or "",
        schema=tool.input_schema,
        read_only=bool(hints and hints.read_only_hint and not hints.destructive_hint),
    )


def _cancelled(error: BaseException) -> bool:
    return isinstance(error, asyncio.CancelledError | KeyboardInterrupt | SystemExit)


# --- results ------------------------------------------------------------------------------------------


def result_text(content: Iterable[Any], structured: Any) -> str:
    """The result as one text: text as it is, data as JSON, everything else by its name."""
    parts = [_content_text(item) for item in content]
    data = _structured_text(structured, parts)
    return "\n\n".join([*(part for part in parts if part), *([data] if data else [])])


def clean_text(text: str, secrets: Sequence[str] = (), max_length: int = MAX_RESULT_LENGTH) -> str:
    """The text without control characters, secrets and anything like a key, cut to a length."""
    # A text that is far too long is cut first, so that it costs nothing.
    length, text = len(text), text[: 4 * max_length]
    for secret in secrets:
        if len(secret) >= MIN_KEY_LENGTH:
            text = text.replace(secret, MASK)
    text = redact(clean(text))
    if len(text) <= max_length:
        return text
    note = CUT_NOTE.format(f"{length:,}")
    return text[: max_length - len(note)] + note


def _content_text(item: Any) -> str:
    match item.type:
        case "text":
            return str(item.text)
        case "image" | "audio":
            return f"[{item.type}: {shortened(str(item.mime_type))}, not shown]"
        case "resource_link":
            return f"[a resource, not shown: {shortened(str(item.name))}]"
        case "resource":
            text = getattr(item.resource, "text", None)
            return text if isinstance(text, str) else "[a resource, not shown]"
        case _:
            return "[something else, not shown]"


def _structured_text(structured: Any, parts: Sequence[str]) -> str:
    """The data as JSON; empty if the text says the same already, as the protocol recommends."""
    if structured is None:
        return ""
    text = "\n\n".join(parts)
    if structured == {"result": text}:
        return ""
    try:
        if msgspec.json.decode(text) == structured:
            return ""
    except (msgspec.DecodeError, RecursionError):
        pass
    return msgspec.json.encode(structured).decode()


# --- HTTP ---------------------------------------------------------------------------------------------


def http_client(server: ToolServerSettings, environ: Mapping[str, str]) -> httpx2.AsyncClient:
    """Sends the key of a server only to its address. The environment may name a proxy."""
    headers = {"Accept-Encoding": "identity"}
    if key := environ.get(server.key_variable, "").strip() if server.key_variable else "":
        headers["Authorization"] = f"Bearer {key}"
    # The caller limits the time of an answer.
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    return httpx2.AsyncClient(
        transport=LimitedTransport(server.url, environ), headers=headers, timeout=timeout
    )


class LimitedTransport(httpx2.AsyncHTTPTransport):
    """Refuses compressed answers, and limits the size of those that are no stream of events.

    The SDK limits the events of a stream itself.
    """

    def __init__(self, url: str, environ: Mapping[str, str]) -> None:
        super().__init__(verify=_ssl_context(url), trust_env=False, proxy=proxy_to(url, environ))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.RemoteProtocolError("the answer is compressed")
        kind = response.headers.get("content-type", "").lower()
        if not kind.startswith(EVENT_STREAM) and isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = LimitedStream(response.stream)
        return response


class LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = MAX_ANSWER_BYTES
        async for piece in self._stream:
            remaining -= len(piece)
            if remaining < 0:
                raise httpx2.StreamError("the answer is too long")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _ssl_context(url: str) -> ssl.SSLContext | bool:
    """The certificates of the machine; none are read for an address without encryption."""
    return ssl.create_default_context() if url.startswith("https:") else False
