"""Follows one token and one pause through the running server, and compares the drawings in ARCHITECTURE.md.

Each line of a drawing names a file and a function. All of them must be called, in that order. To see how long
both ways are, and every function on them: `MOOT_SHOW_PATHS=1 pytest -s tests/web/test_paths.py`.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import moot
from moot.core.terms import Request
from moot.engine import followers
from moot.providers.contract import Chunk, ReplyDelta
from moot.providers.scripted import ScriptedProvider
from moot.store.sqlite.store import SqliteStore
from moot.web.streaming import feeds
from tests.web.routes.served import Served, serving

SOURCE = f"{Path(moot.__file__).parent}{os.sep}"
ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"
DRAWN_STEP = re.compile(r"^(\w+(?:/\w+)*\.py) +([\w.]+)", re.MULTILINE)
SECONDS = 60.0

Step = tuple[str, str]
"""A file below `src/moot` and the qualified name of a function in it."""


class CallTrace:
    """The functions of Moot that were called while `recording()` was on, in every thread."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._on = False

    @contextmanager
    def installed(self) -> Generator[None]:
        """Threads that start inside are traced as well."""
        previous = sys.getprofile()
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        try:
            yield
        finally:
            sys.setprofile(previous)
            threading.setprofile(previous)

    @contextmanager
    def recording(self) -> Generator[None]:
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def _on_event(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if self._on and event == "call" and code.co_filename.startswith(SOURCE):
            name = code.co_qualname.replace(".<locals>", "")
            self.steps.append((code.co_filename.removeprefix(SOURCE), name))

    def summary(self, title: str) -> str:
        functions = {step for step in self.steps if "<" not in step[1]}
        files = {path for path, _ in self.steps}
        figures = f"{len(self.steps)} calls, {len(functions)} functions, {len(files)} files"
        return "\n".join((f"\n{title}: {figures}", *(f"  {path:40} {name}" for path, name in self.steps), ""))


class GatedProvider(ScriptedProvider):
    """Sends one word, waits, sends the next, and waits until the runner cancels the call."""

    def __init__(self) -> None:
        super().__init__()
        self.next_word = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.trace = CallTrace()

    async def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        try:
            yield ReplyDelta("First ")
            await self.next_word.wait()
            yield ReplyDelta("second ")
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()


@asynccontextmanager
async def _speaking(data: Path) -> AsyncGenerator[tuple[Served, GatedProvider, str]]:
    """A debate on SQLite whose first speaker has said its first word and waits."""
    provider = GatedProvider()
    with provider.trace.installed():
        store = SqliteStore.open(data / "moot.db")
        async with serving(data, provider=provider, store=store) as served:
            debate_id = await served.open()
            async with _watching(served, debate_id):
                pass
            # Until the server has noticed that this viewer is gone.
            await asyncio.sleep(0.2)
            yield served, provider, debate_id


@asynccontextmanager
async def _watching(served: Served, debate_id: str) -> AsyncGenerator[AsyncIterator[bytes]]:
    """A viewer that has read the first word and waits for the next."""
    async with served.http.stream("GET", f"/api/v1/debates/{debate_id}/stream") as reply:
        pieces = reply.aiter_bytes()
        await _read_until(pieces, b"First")
        # What the server has to do after the first word is over.
        await asyncio.sleep(0.2)
        yield pieces


async def _read_until(pieces: AsyncIterator[bytes], text: bytes) -> None:
    seen = b""
    async with asyncio.timeout(SECONDS):
        async for piece in pieces:
            seen += piece
            if text in seen:
                return
    raise AssertionError(f"{text!r} did not come")


@pytest.fixture(autouse=True)
def _no_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers look at the store now and then, and a feed outlives its last reader: neither is part of these
    ways."""
    monkeypatch.setattr(followers, "CHANGE_CHECK_SECONDS", SECONDS)
    monkeypatch.setattr(feeds, "IDLE_SECONDS", 0.0)


async def test_the_way_of_a_token_is_as_drawn(tmp_path: Path) -> None:
    async with _speaking(tmp_path) as (served, provider, debate_id), _watching(served, debate_id) as pieces:
        with provider.trace.recording():
            provider.next_word.set()
            await _read_until(pieces, b"second")
    _compare("The way of a token", provider.trace)


async def test_the_way_of_a_pause_is_as_drawn(tmp_path: Path) -> None:
    async with _speaking(tmp_path) as (served, provider, debate_id), asyncio.timeout(SECONDS):
        with provider.trace.recording():
            reply = await served.post(debate_id, "pause", {"now": True})
            await provider.cancelled.wait()
            # The task that reads the provider ends before the call that waits for it is resumed. What the
            # runner records of the cancelled call is not waited for: how far it gets here is chance.
            for _ in range(100):
                if ("engine/call.py", "stream_call") in provider.trace.steps:
                    break
                await asyncio.sleep(0)
        assert reply.status_code == 200
    _compare("The way of a pause", provider.trace)


def _compare(heading: str, trace: CallTrace) -> None:
    if os.environ.get("MOOT_SHOW_PATHS"):
        sys.stdout.write(trace.summary(heading))
    drawn = _drawn_steps(heading)
    position = 0
    for step in drawn:
        if step not in trace.steps:
            pytest.fail(f"{heading}: {step[0]} {step[1]} is drawn, and was not called")
        try:
            position = trace.steps.index(step, position) + 1
        except ValueError:
            pytest.fail(f"{heading}: {step[0]} {step[1]} is drawn later than it is called")


def _drawn_steps(heading: str) -> list[Step]:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    steps = DRAWN_STEP.findall(section)
    assert len(steps) >= 8, f"ARCHITECTURE.md does not draw: {heading}"
    return steps
