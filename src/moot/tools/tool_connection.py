"""One connection to one tool server, from its opening to its end.

The SDK wants a connection to be opened and closed by the same task, so each has a task of its own; calls come
from whoever needs one. A line that has ended is not mended: the next one who wants the server opens another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

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
from moot.tools import http_transport
from moot.tools.argument_check import ConnectionLost, ToolCallFailed, clean_text, result_text
from moot.tools.child_transport import run_child
from moot.tools.tool_listing import ListedTool
from moot.tools.tool_settings import ToolServer, secret_values

OPEN_SECONDS = 60.0
"""A command may fetch what it runs."""
LIST_SECONDS = 10.0
CLOSE_SECONDS = 5.0
MAX_PAGES = 20

# What it tells us by an exception it logs as well, with a traceback and what the server had sent.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)


class ToolConnection:
    def __init__(self, server: ToolServer, environ: Mapping[str, str]) -> None:
        self.server = server
        self.changed = False
        """The server has said that its tools are others now."""
        self.unresponsive = False
        """The last call was given up: nobody knows whether anybody is still there."""
        self._environ = environ
        self._secrets = secret_values(server, environ)
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(), name=f"tools {server.name}")

    @property
    def closed(self) -> bool:
        return self._closing.is_set() or self._task.done()

    async def open(self, seconds: float) -> bool:
        """Whether it is open within this time. Raises Broken where it will never be."""
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
        """What it answered, and whether that is a complaint."""
        async with self._request(self.server.seconds) as client:
            result = await client.call_tool(tool, arguments)
        return clean_text(result_text(result.content, result.structured_content), self._secrets), bool(
            result.is_error
        )

    async def close(self) -> None:
        """In a time that is bounded: a server that does not hear the farewell does not keep us."""
        self._closing.set()
        if self._opened.done():
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def redact(self, text: str) -> str:
        return clean_text(text, self._secrets, 1_000)

    # --- inside ---------------------------------------------------------------------------------------

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
                self._opened.exception()  # nobody may have asked
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
        """Servers of today tell only those who ask to be told."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with suppress(Exception):  # one that has no such stream is looked at from time to time all the same
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.changed = True

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed = True

    @asynccontextmanager
    async def _transport(self) -> AsyncGenerator[Any, None]:
        """The SDK enters it; what is to be put away after it is put away here."""
        if self.server.command:
            yield run_child(self.server, self._environ, self.redact, self._closing.set)
            return
        async with http_transport.http_client(self.server, self._environ) as http:
            yield streamable_http_client(self.server.url, http_client=http)

    @asynccontextmanager
    async def _request(self, seconds: float) -> AsyncGenerator[Client, None]:
        """Every way in which a request can come to nothing, as Broken or Failed with a sentence."""
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
    """The SDK would hold a result against the schema that its own server gave, and both may be made so that
    this never ends. It is anybody's words all the same."""


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
