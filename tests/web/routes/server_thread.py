"""A server whose loop runs in a thread of its own, for tests that do not wait in a loop themselves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tests.web.routes.served import Served, serving

T = TypeVar("T")
PATIENCE = 60.0


class ServerThread:
    served: Served

    def __init__(self, data: Path, *given: Any, **more: Any) -> None:
        self._serving = serving(data, *given, **more)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> ServerThread:
        self._thread.start()
        self.served = self.run(self._serving.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.run(self._serving.__aexit__(None, None, None))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE)
            self._loop.close()

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(PATIENCE)
