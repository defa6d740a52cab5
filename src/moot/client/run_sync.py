"""What runs an asynchronous client to its end for those who simply wait: an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Generator
from typing import Any, TypeVar

from moot.client.async_client import AsyncClient

T = TypeVar("T")


class SyncRunner:
    """The loop turns only while something is being waited for."""

    def __init__(self, asks: AsyncClient) -> None:
        self._asks = asks
        self._runner = asyncio.Runner()
        self._closed = False

    def close(self) -> None:
        if self._closed:
            return
        self._run(self._asks.close())
        self._closed = True
        self._runner.close()

    def _run(self, asked: Coroutine[Any, Any, T]) -> T:
        try:
            return self._runner.run(asked)
        finally:
            asked.close()  # where there was no way to run it, nobody awaits it

    def _each(self, coming: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        async def following() -> tuple[T] | None:
            async for one in coming:
                return (one,)
            return None

        try:
            while got := self._run(following()):
                yield got[0]
        finally:
            if not self._closed:
                self._run(coming.aclose())
