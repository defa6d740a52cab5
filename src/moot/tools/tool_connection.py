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
from moot.tools.argument_check import Broken, Failed, told, words_of
from moot.tools.child_transport import spoken_to
from moot.tools.tool_listing import Offer
from moot.tools.tool_settings import ToolServer, words

OPEN_SECONDS = 60.0
"""A command may fetch what it runs."""
LIST_SECONDS = 10.0
LEAVE_SECONDS = 5.0
MOST_PAGES = 20

# What it tells us by an exception it logs as well, with a traceback and what the server had sent.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)


class Line:
    def __init__(self, server: ToolServer, environ: Mapping[str, str]) -> None:
        self.server = server
        self.changed = False
        """The server has said that its tools are others now."""
        self.silent = False
        """The last call was given up: nobody knows whether anybody is still there."""
        self._environ = environ
        self._secrets = words(server, environ)
        self._leaving = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live(), name=f"tools {server.name}")

    @property
    def over(self) -> bool:
        return self._leaving.is_set() or self._life.done()

    async def open(self, seconds: float) -> bool:
        """Whether it is open within this time. Raises Broken where it will never be."""
        await asyncio.wait([self._opened], timeout=seconds)
        if not self._opened.done():
            return False
        if error := self._opened.exception():
            raise Broken(self.hush(f"{type(error).__name__}: {error}")) from None
        return True

    async def offers(self) -> tuple[Offer, ...]:
        """All its tools, page by page."""
        self.changed = False
        offers: list[Offer] = []
        cursor: str | None = None
        async with self._asking(LIST_SECONDS) as client:
            for _ in range(MOST_PAGES):
                page = await client.list_tools(cursor=cursor, cache_mode="refresh")
                offers += [_offer(tool) for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    break
        self.silent = False
        return tuple(offers)

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """What it answered, and whether that is a complaint."""
        async with self._asking(self.server.seconds) as client:
            result = await client.call_tool(tool, arguments)
        return told(words_of(result.content, result.structured_content), self._secrets), bool(result.is_error)

    async def close(self) -> None:
        """In a time that is bounded: a server that does not hear the farewell does not keep us."""
        self._leaving.set()
        if self._opened.done():
            await asyncio.wait([self._life], timeout=LEAVE_SECONDS)
        self._life.cancel()
        await asyncio.gather(self._life, return_exceptions=True)

    def hush(self, text: str) -> str:
        return told(text, self._secrets, 1_000)

    # --- inside ---------------------------------------------------------------------------------------

    async def _live(self) -> None:
        try:
            async with asyncio.timeout(OPEN_SECONDS) as opening, self._transport() as transport:
                client = Client(
                    transport,
                    message_handler=self._heed,
                    client_info=Implementation(name="moot", version=__version__),
                    cache=None,
                )
                async with client:
                    opening.reschedule(None)
                    client.session.validate_tool_result = _as_it_is
                    self._opened.set_result(client)
                    await self._stay(client)
        except BaseException as error:
            if not self._opened.done():
                self._opened.set_exception(Broken("was closed") if _cancelled(error) else error)
                self._opened.exception()  # nobody may have asked
            if _cancelled(error):
                raise
        finally:
            self._leaving.set()

    async def _stay(self, client: Client) -> None:
        hearing = asyncio.create_task(
            self._hear_of_changes(client), name=f"tools {self.server.name}: changes"
        )
        try:
            await self._leaving.wait()
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)

    async def _hear_of_changes(self, client: Client) -> None:
        """Servers of today tell only those who ask to be told."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with suppress(Exception):  # one that has no such stream is looked at from time to time all the same
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.changed = True

    async def _heed(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed = True

    @asynccontextmanager
    async def _transport(self) -> AsyncGenerator[Any, None]:
        """The SDK enters it; what is to be put away after it is put away here."""
        if self.server.command:
            yield spoken_to(self.server, self._environ, self.hush, self._leaving.set)
            return
        async with http_transport.client(self.server, self._environ) as http:
            yield streamable_http_client(self.server.url, http_client=http)

    @asynccontextmanager
    async def _asking(self, seconds: float) -> AsyncGenerator[Client, None]:
        """Every way in which a request can come to nothing, as Broken or Failed with a sentence."""
        if self.over or not self._opened.done():
            raise Broken("The tool's server is not there.")
        try:
            async with asyncio.timeout(seconds):
                yield self._opened.result()
        except TimeoutError:
            self.silent = True
            raise Failed(f"The tool did not answer within {seconds:g} seconds.") from None
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                self.silent = True
            if error.code == CONNECTION_CLOSED or self.over:
                raise Broken("The tool's server has gone.") from None
            raise Failed(self.hush(f"The tool's server refuses: {error.message}")) from None
        except (RuntimeError, ValidationError):
            raise Failed("The tool's answer is not what its server promised.") from None
        except Exception as error:
            raise Broken(f"The tool's server cannot be reached ({type(error).__name__}).") from None


async def _as_it_is(name: str, result: CallToolResult) -> None:
    """The SDK would hold a result against the schema that its own server gave, and both may be made so that
    this never ends. It is anybody's words all the same."""


def _offer(tool: Listed) -> Offer:
    hints = tool.annotations
    return Offer(
        name=tool.name,
        title=tool.title or (hints.title if hints else None) or "",
        description=tool.description or "",
        schema=tool.input_schema,
        read_only=bool(hints and hints.read_only_hint and not hints.destructive_hint),
    )


def _cancelled(error: BaseException) -> bool:
    return isinstance(error, asyncio.CancelledError | KeyboardInterrupt | SystemExit)
