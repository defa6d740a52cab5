"""The hand-written base of the generated `Client`: runs an asynchronous client where there is no asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Generator
from typing import Any, Self, TypeVar

from moot.client.async_client import AsyncClient

T = TypeVar("T")


class SyncRunner:
    """Has an event loop of its own, which runs only while a method of the client does."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._runner = asyncio.Runner()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        if self._closed:
            return
        self._run(self._client.close())
        self._closed = True
        self._runner.close()

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        """Raises RuntimeError where an event loop is already running: use `AsyncClient` there."""
        try:
            return self._runner.run(call)
        finally:
            call.close()  # if it could not be started, Python would warn that it was never awaited

    def _iterate(self, stream: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        async def next_item() -> tuple[T] | None:
            async for item in stream:
                return (item,)
            return None

        try:
            while item := self._run(next_item()):
                yield item[0]
        finally:
            if not self._closed:
                self._run(stream.aclose())
